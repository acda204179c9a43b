"""A document, whole: its words by their weight, near documents, where it is from; and why a result is here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from germane.engine.requests import SearchRequest
from germane.engine.reranked import RerankedExplanation
from germane.errors import GermaneError
from germane.rank.registry import DEFAULT_MODEL, MODEL_TITLES
from germane.rank.snippets import LONGEST, marks
from germane.refine.refinement import Refinement
from germane.server.listing import about, ranking_of, safe_link, title_of
from germane.server.view_state import ViewState
from germane.types import Document, text_of
from germane.wording import counted, people

if TYPE_CHECKING:
    from germane.server.library import Library

BARS = 12
LEVELS = 4
NEAR = 6
NEAR_CHARACTERS = 2_000
"""Of a document's beginning, by which others are found."""
SHOWN_APART = {"title", "text", "abstract", "author", "journal", "year"}
Pieces = tuple[tuple[str, int], ...]
"""A text in pieces, and how much each matters: 0 for not at all."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a score: its name, its amount, and its share of the largest part, from 0 to 1."""

    name: str
    amount: float
    share: float


@dataclass(frozen=True, slots=True)
class Why:
    """Why a result stands where it does: parts that add up to the score."""

    id: str
    title: str
    words: tuple[Bar, ...]
    others: tuple[Bar, ...]
    score: float
    called: str
    sentence: str


def why(library: "Library", place: ViewState, document: str) -> Why:
    """The parts of a result's score: of its refinement where something is marked, else of the ranking model."""
    engine = library.engine(place.c)
    if place.s:
        refined = library.saved_searches.refined(
            place.s, method=place.method, dropped=place.drop, added=place.add, weighed=place.factors
        )
        if document in refined.results:
            title = title_of(Document(document, refined.results[document].fields))
            if refined.refinement.marks or place.add:
                return _by_marks(refined.refinement, document, title)
    title = title_of(engine.document(document))
    ranking, learnt = ranking_of(engine, place)
    told = engine.explain(place.effective or place.q, document, model=ranking.model, rerank=learnt)
    if isinstance(told, RerankedExplanation) and told.latent is not None:
        words = [(part.word, part.impact) for part in told.latent.parts]
        others = [("what it has in common with any query", told.latent.constant)]
        others += [("the plain ranking", told.first_weight * told.first_score)] if told.first_weight else []
        sentence = f"The score of {told.stage}, learnt from clicks: the sum of these parts."
        return _why(document, title, words, others, told.score, "score", sentence)
    words = [(part.word or part.term, told.norm * part.impact) for part in told.parts if part.impact]
    rest = told.constant + told.document
    others = [("the document's length", rest)] if rest else []
    others += [("prior", told.prior)] if told.prior else []
    sentence = (
        f"The score of the ranking model ({MODEL_TITLES[ranking.model or DEFAULT_MODEL]}): the sum of these parts."
    )
    return _why(document, title, words, others, told.score, "score", sentence)


def _by_marks(found: Refinement, document: str, title: str) -> Why:
    told = found.explain(document, 1000)
    words = [(word.word, word.amount) for word in (*told.in_favour, *told.against)]
    log_odds = told.log_odds or 0.0
    result = found[found.ranks[document] - 1]
    if result.mark is not None:
        sentence = f"You marked it {'relevant' if result.mark else 'not relevant'}; its words alone would say this."
    elif result.passed_over:
        sentence = "It stands above a result that you marked relevant, unmarked, so it counts as passed over."
    else:
        sentence = f"Learned from your marks ({found.method}). Log-odds of being relevant: the sum of these parts."
    others = [("the prior, by its place in the list", log_odds - told.of_words)]
    return _why(document, title, words, others, log_odds, "log-odds", sentence)


def _why(
    document: str, title: str, words: list[tuple[str, float]], others: list[tuple[str, float]], score: float,
    called: str, sentence: str,
) -> Why:  # fmt: skip
    words.sort(key=lambda each: -abs(each[1]))
    most = max((abs(amount) for _, amount in (*words, *others)), default=1.0) or 1.0
    shown, rest = words[:BARS], words[BARS:]
    if rest:
        others = [(f"{counted(len(rest), 'more word')}", sum(amount for _, amount in rest)), *others]
    bars = [tuple(Bar(name, amount, min(abs(amount) / most, 1.0)) for name, amount in some) for some in (shown, others)]
    return Why(document, title, bars[0], bars[1], score, called, sentence)


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it is read."""

    id: str
    title: str
    about: tuple[str, ...]
    authors: str
    text: tuple[Pieces, ...]
    fields: tuple[tuple[str, str], ...]
    link: str
    near: tuple[tuple[str, str, tuple[str, ...]], ...]
    provenance: tuple[str, ...]
    history: tuple[tuple[str, str], ...]
    mark: bool | None
    collection: str


def document_view(library: "Library", place: ViewState, name: str) -> Shown:
    """The document of that id: of the saved search, where there is one, else of the collection."""
    engine = library.engine(place.c)
    weights: dict[str, float] = {}
    mark, history, provenance = None, [], [f"in the collection {place.c or library.first}, as {name}"]
    document = None
    if place.s:
        refined = library.saved_searches.refined(
            place.s, method=place.method, dropped=place.drop, added=place.add, weighed=place.factors
        )
        weights = {word.term: abs(word.amount) for word in refined.interest.wanted}
        if name in refined.results:
            result = refined.results[name]
            document = Document(name, result.fields)
            mark = refined.refinement.marks.get(name)
            given = result.provenance if isinstance(result.provenance, list) else []
            provenance = [f"{one['source']}, rank {one['rank']}, as {one['id']}" for one in given] or provenance
            provenance.append(f"fetched {refined.search.at[:16].replace('T', ' ')}")
        said = {1: "marked relevant", 0: "marked not relevant", -1: "mark taken back"}
        history = [
            (entry.at[:16].replace("T", " "), said[int(entry.mark)])
            for entry in library.workspace.marks.history(refined.search)
            if entry.document == name
        ]
    document = document or engine.document(name)
    for term in engine.analyzer.terms(place.q):
        weights.setdefault(term, max(weights.values(), default=1.0))
    text = text_of(document.fields, ("text", "abstract"))
    names = people(document.fields.get("author"))
    return Shown(
        name,
        title_of(document),
        about(document.fields)[-2:] if names else about(document.fields),
        ", ".join(names),
        _paragraphs(text, weights, engine.analyzer),
        tuple((key, _shown(value)) for key, value in document.fields.items() if key not in SHOWN_APART and value),
        safe_link(document.fields),
        _near(library, place, document),
        tuple(provenance),
        tuple(history),
        mark,
        place.c or library.first,
    )


def _near(library: "Library", place: ViewState, document: Document) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    text = text_of(document.fields, ("title", "text"))[:NEAR_CHARACTERS]
    try:
        found = library.answer(place.c, SearchRequest(text, NEAR + 1, syntax=False, rerank=None))
    except GermaneError:
        return ()
    return tuple(
        (hit.id, title_of(Document(hit.id, hit.fields)), about(hit.fields))
        for hit in found.hits
        if hit.id != document.id
    )[:NEAR]


def _paragraphs(text: str, weights: dict[str, float], analyzer: "object") -> tuple[Pieces, ...]:
    """The paragraphs of a text, its words by their weight; of a whole book those of its beginning."""
    found, left = [], LONGEST
    for part in filter(str.strip, text.split("\n")):
        found.append((*_weighted(part[:left], weights, analyzer), *([(part[left:], 0)] if part[left:] else [])))
        left = max(left - len(part), 0)
    return tuple(found)


def _weighted(text: str, weights: dict[str, float], analyzer: "object") -> Pieces:
    most = max(weights.values(), default=1.0) or 1.0
    found: list[tuple[str, int]] = []
    at = 0
    for span in marks(text, weights.keys(), analyzer):  # type: ignore[arg-type]
        if span.start > at:
            found.append((text[at : span.start], 0))
        level = max(1, round(LEVELS * weights[span.term] / most))
        found.append((text[span.start : span.end], level))
        at = span.end
    if at < len(text):
        found.append((text[at:], 0))
    return tuple(found)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

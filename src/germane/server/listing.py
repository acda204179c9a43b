"""From a place in the search view to what it shows: rows with snippets, marks and reasons; facets; the interest."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from germane.deadline import looking
from germane.engine.registry import PROMOTED
from germane.engine.requests import RankingRequest, SearchRequest
from germane.engine.responses import HitResponse, SearchResponse
from germane.engine.result_groups import GROUPED, ResultGroup
from germane.errors import QueryError
from germane.rank.registry import MODEL_NAMES
from germane.rank.scoring.facets import Facet
from germane.rank.snippets import longest_of, marks, snippet
from germane.refine.reasons import Change, Reason
from germane.refine.registry import METHOD_TITLES
from germane.server.problems import ProblemError
from germane.server.saved_searches import Refined, within_bound
from germane.server.view_state import PAGE, ViewState, value_filter
from germane.types import RESULT_FIELDS, Document, FieldValue, text_of
from germane.wording import people
from germane.workspace.values import Result, Search

if TYPE_CHECKING:
    from germane import Analyzer
    from germane.engine import Engine
    from germane.server.library import Library

CHIP_WORDS = 2
MOST_GROUPS = 6
NAMING_WORDS = 3
LEAST = 0.08
"""The least share of the strongest word that is told."""
Pieces = tuple[tuple[str, bool], ...]
"""A text in pieces, and whether each is a word of the query: templates escape each by itself."""
MOST_TITLE = 2_000
"""Characters of a title that a list shows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One result as it is shown. `moved`: places up by the last step; `why` the words for that."""

    id: str
    rank: int
    title: Pieces
    about: tuple[str, ...]
    snippet: Pieces
    link: str = ""
    mark: bool | None = None
    probability: float | None = None
    moved: int = 0
    why: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FacetView:
    """A field to narrow by: values with their counts and the address that takes them in or out."""

    field: str
    numeric: bool
    values: tuple[tuple[str, int, str, bool], ...]


@dataclass(frozen=True, slots=True)
class GroupView:
    """Results that are alike: the words that name them, how many, and the address that shows them alone or all again;
    none where a list is not narrowed."""

    words: str
    n: int
    address: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the interest; `share` of the strongest as it was learnt, `base` its own share as it was learnt."""

    word: str
    share: float
    base: float
    drop: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """The right column: words for and against, those dropped and added, how it was learnt, and what can be undone."""

    words: tuple[Word, ...]
    against: tuple[Word, ...]
    dropped: tuple[tuple[str, str], ...]
    added: tuple[tuple[str, str], ...]
    weighed: tuple[tuple[str, float, str], ...]
    method: str
    reason: str
    relevant: int
    not_relevant: int
    can_undo: bool
    can_redo: bool
    moved: int


@dataclass(frozen=True, slots=True)
class Listing:
    """All that the search view shows."""

    place: ViewState
    rows: tuple[Row, ...]
    total: int
    exact: bool
    pages: int
    milliseconds: float
    facets: tuple[FacetView, ...] = ()
    suggestion: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    wanted: Wanted | None = None
    error: str | None = None
    sources: tuple[Mapping[str, Any], ...] = ()
    groups: tuple[GroupView, ...] = ()
    reranked_by: str | None = None


def listing(library: "Library", place: ViewState) -> Listing:
    """The view of a place. A query that cannot be understood becomes a sentence in it, not an error."""
    began = time.perf_counter()
    engine = library.engine(place.c)
    if place.s:
        shown = saved_listing(library, place)
    elif not place.q and not place.f:
        return Listing(place, (), 0, True, 0, 0.0)
    else:
        try:
            shown = _found(library, engine, place)
        except QueryError as error:
            return Listing(place, (), 0, True, 0, 0.0, error=str(error))
    return replace(shown, milliseconds=1000.0 * (time.perf_counter() - began))


def request_of(
    engine: "Engine", place: ViewState, k: int, offset: int, facets: tuple[str, ...] = (), groups: int | None = None
) -> SearchRequest:
    """The engine's request for a place; where that is one group, for all results that were put in groups."""
    ranking, learnt = ranking_of(engine, place)
    sort = place.sort or None
    if place.g:
        k, offset, groups = GROUPED, 0, MOST_GROUPS
    return SearchRequest(
        place.effective, k, ranking, rerank=learnt, offset=offset, sort=sort, facets=facets, groups=groups,
        filter=place.filter,
    )  # fmt: skip


def ranking_of(engine: "Engine", place: ViewState) -> tuple[RankingRequest, str]:
    """The ranking model of a place, and the learnt one above it: what it names, or what was promoted."""
    if place.model in MODEL_NAMES or not place.model:
        return RankingRequest(place.model or None), PROMOTED
    return RankingRequest(None), learnt_model(engine, place.model)


def learnt_model(engine: "Engine", name: str) -> str:
    """The name of a learnt model of the collection. Nothing else is taken from a request: the engine would take the
    path of a file too, and tell of any file on this machine whether it is there."""
    if not name.isascii() or name not in engine.models:
        known = ", ".join(engine.models.names()) or "none yet"
        raise ProblemError(404, f"there is no learnt model '{name[:80]}' in this collection; there are: {known}")
    return name


def _found(library: "Library", engine: "Engine", place: ViewState) -> Listing:
    fields = library.facet_fields(engine)
    first = (place.page - 1) * PAGE
    answer = library.answer(place.c, request_of(engine, place, PAGE, first, fields))
    assert answer.result is not None
    hits, total, exact = answer.hits, answer.total, answer.total_is_exact
    if place.g:
        members = group_hits(answer, place)
        hits, total, exact = members[first : first + PAGE], len(members), True
    terms, analyzer = answer.result.query.weights.keys(), engine.analyzer
    rows = []
    for hit in looking(hits):
        piece = answer.result.snippet_of(hit.fields, longest=longest_of(len(hits)))
        rows.append(
            Row(
                hit.id,
                hit.rank,
                pieces(_title(hit.fields, hit.id), terms, analyzer),
                about(hit.fields),
                cut(piece.text, piece.marks),
                safe_link(hit.fields),
            )
        )
    pages = min(-(-total // PAGE), library.settings.max_depth // PAGE)
    views = tuple(view for facet in answer.facets or () if (view := facet_view(place, facet)) is not None)
    notes = [*(answer.notes or ()), *([answer.not_reranked] if answer.not_reranked else [])]
    if answer.reranked_by:
        notes.append(f"Ranked by {answer.reranked_by}, learned from clicks. The menu 'Ranking' has the plain ones.")
    return Listing(
        place, tuple(rows), total, exact, pages, 0.0, views, answer.suggestion, answer.reason, tuple(notes),
        groups=_group_views(place, answer.groups or ()), reranked_by=answer.reranked_by,
    )  # fmt: skip


def groups_of(library: "Library", place: ViewState) -> tuple[GroupView, ...]:
    """The groups of a place's results; of a saved list those in what is not wanted, which narrow nothing."""
    if place.s:
        found = library.saved_searches.groups(place.s)
        return tuple(GroupView(" · ".join(words[:NAMING_WORDS]), len(ids)) for words, ids in found)
    engine = library.engine(place.c)
    answer = library.answer(place.c, request_of(engine, place, 1, 0, groups=MOST_GROUPS))
    return _group_views(place, answer.groups or ())


def _group_views(place: ViewState, groups: Sequence[ResultGroup]) -> tuple[GroupView, ...]:
    return tuple(
        GroupView(
            " · ".join(group.words[:NAMING_WORDS]),
            len(group.ids),
            place.url(g=0 if number == place.g else number),
            number == place.g,
        )
        for number, group in enumerate(groups, start=1)
    )


def group_hits(answer: SearchResponse, place: ViewState) -> tuple[HitResponse, ...]:
    """The hits of an answer that are of the place's group; all where it names none."""
    if not place.g:
        return answer.hits
    groups = answer.groups or ()
    if place.g > len(groups):
        raise ProblemError(404, f"there is no group {place.g} of these results; there are {len(groups)}")
    return tuple(answer.hits[rank - 1] for rank in groups[place.g - 1].ranks)


def saved_listing(library: "Library", place: ViewState) -> Listing:
    """The view of a saved search in its new order."""
    at = slice((place.page - 1) * PAGE, place.page * PAGE)
    refined = library.saved_searches.refined(
        place.s, method=place.method, dropped=place.drop, added=place.add, weighed=place.factors, page=at
    )
    engine = library.engine(place.c)
    place = replace(place, q=refined.search.query if not place.q else place.q)
    analyzer = engine.analyzer
    terms = set(analyzer.terms(refined.search.query))
    ranked = refined.refinement.results
    rows = []
    for one in looking(ranked[at]):
        result, change = refined.results[one.id], refined.changes.get(one.id)
        text = text_of(result.fields, RESULT_FIELDS[1:])
        piece = snippet(text, terms, analyzer, longest=longest_of(PAGE))
        rows.append(
            Row(
                one.id,
                one.rank,
                pieces(_title(result.fields, one.id), terms, analyzer),
                about(result.fields),
                cut(piece.text, piece.marks),
                safe_link(result.fields, result),
                one.mark,
                one.probability if one.mark is None else None,
                0 if change is None else change.moved,
                "" if change is None else _why(change),
                sources_of(result),
            )
        )
    total = len(ranked)
    told = refined.search.settings.get("answers", ())
    return Listing(
        place, tuple(rows), total, True, -(-total // PAGE), 0.0, wanted=wanted_of(place, refined),
        sources=tuple(told) if isinstance(told, list | tuple) else (),
    )  # fmt: skip


def save_search(library: "Library", place: ViewState, document: str) -> Search:
    """Keep what a place finds, so that a document of it can be marked: the first `depth` results."""
    engine = library.engine(place.c)
    answer = library.answer(place.c, request_of(engine, replace(place, g=0), library.settings.depth, 0))
    results = within_bound(Result(hit.id, hit.fields, hit.score) for hit in answer.hits)
    if all(result.document != document for result in results):
        deep = f"among the first {len(results)} results of this search, which are those that can be marked"
        raise ProblemError(422, f"'{document}' is not {deep}")
    narrowed = {} if place.filter is None else {"filter": place.filter.to_dict()}
    return library.saved_searches.save(
        place.effective, results, place.c or library.first, model=answer.model, **narrowed
    )


def wanted_of(place: ViewState, refined: Refined) -> Wanted:
    """The interest, with the addresses that change it."""
    found = refined.refinement
    marks_now = list(found.marks.values())
    both = (*refined.interest.wanted, *refined.interest.unwanted)
    factors = place.factors
    most = max((_learnt(word, factors) for word in both), default=0.0) or 1.0
    return Wanted(
        _words(place, refined.interest.wanted, most, factors),
        _words(place, refined.interest.unwanted, most, factors),
        tuple((word, place.without("drop", word)) for word in place.drop),
        tuple((word, place.without("add", word)) for word in place.add),
        tuple(
            (each.rpartition(":")[0], factors[each.rpartition(":")[0]], place.without("weigh", each))
            for each in place.weigh
        ),
        METHOD_TITLES[place.method],
        found.reason,
        marks_now.count(True),
        marks_now.count(False),
        refined.steps.undo > 0,
        bool(refined.steps.redo),
        refined.moved,
    )


def _learnt(word: Reason, factors: Mapping[str, float]) -> float:
    """The amount of a word before a person weighed it."""
    factor = factors.get(word.word, 1.0)
    return abs(word.amount) / factor if factor > 0.0 else 0.0


def _words(place: ViewState, words: Sequence[Reason], most: float, factors: Mapping[str, float]) -> tuple[Word, ...]:
    """Words with letters in them, of those that weigh something beside the strongest, or were weighed by a person."""
    told = [
        word
        for word in words
        if any(sign.isalpha() for sign in word.word) and (abs(word.amount) >= LEAST * most or word.word in factors)
    ]
    return tuple(
        Word(word.word, abs(word.amount) / most, _learnt(word, factors) / most, place.having("drop", word.word))
        for word in told
    )


def _why(change: Change) -> str:
    if change.cause != "words":
        return change.cause
    present = [word.word for word in change.words if word.present] or [f"no {word.word}" for word in change.words]
    return ", ".join(present[:CHIP_WORDS])


def facet_view(place: ViewState, facet: Facet) -> FacetView | None:
    """A facet with addresses; None where it would narrow nothing."""
    numeric = bool(facet.values) and not isinstance(facet.values[0].value, str)
    values = []
    for value in facet.values:
        label, own = str(value.value), value_filter(facet.field, value.value)
        if value.high is not None and value.high != value.value:
            label = f"{value.value}–{value.high}"
            own = f"{facet.field}:{value.value}..{value.high}"
        chosen = own in place.f
        address = place.without("f", own) if chosen else place.having("f", own)
        values.append((label, value.count, address, chosen))
    if not values or (len(values) == 1 and not values[0][3]):
        return None
    return FacetView(facet.field, numeric, tuple(values))


def pieces(text: str, terms: Collection[str], analyzer: "Analyzer") -> Pieces:
    """A text in pieces, the query's words apart."""
    return cut(text, [(span.start, span.end) for span in marks(text, terms, analyzer)])


def cut(text: str, places: Sequence[tuple[int, int]]) -> Pieces:
    """The text cut at [start, end) of each place.

    >>> cut("a heart attack", [(2, 7)])
    (('a ', False), ('heart', True), (' attack', False))
    """
    found: list[tuple[str, bool]] = []
    at = 0
    for start, end in places:
        if start > at:
            found.append((text[at:start], False))
        found.append((text[start:end], True))
        at = end
    if at < len(text):
        found.append((text[at:], False))
    return tuple(found)


def about(fields: Mapping[str, FieldValue]) -> tuple[str, ...]:
    """The line below a title: who, where, when."""
    names = people(fields.get("author"))
    who = f"{names[0]} and others" if len(names) > 2 else " and ".join(names)
    return tuple(str(each) for each in (who, fields.get("journal"), fields.get("year")) if each not in (None, ""))


def sources_of(result: Result) -> tuple[str, ...]:
    """The sources that found a result."""
    given = result.provenance if isinstance(result.provenance, list) else []
    return tuple(dict.fromkeys(str(one["source"]) for one in given if isinstance(one, dict) and "source" in one))


def safe_link(fields: Mapping[str, FieldValue], result: Result | None = None) -> str:
    """A page about the document, if it is on the web: no other kind of address is ever linked to."""
    given = result.provenance if result is not None and isinstance(result.provenance, list) else []
    links = [str(one.get("link") or "") for one in given if isinstance(one, dict)]
    doi = fields.get("doi")
    candidates = [*links, str(fields.get("url") or ""), f"https://doi.org/{doi}" if doi else ""]
    return next((link for link in candidates if link.startswith(("https://", "http://"))), "")


def _title(fields: Mapping[str, FieldValue], name: str) -> str:
    title = fields.get("title")
    text = " ".join(map(str, title)) if isinstance(title, list) else str(title or "")
    if not text.strip():
        text = text_of(fields, RESULT_FIELDS)[:120]
    return " ".join(text[:MOST_TITLE].split()) or name


def title_of(document: Document) -> str:
    """The title of a document in one line; else how it begins, or its id."""
    return _title(document.fields, document.id)

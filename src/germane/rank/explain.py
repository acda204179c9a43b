"""Why a document got its score: named parts that add up to it, to the last bit."""

from dataclasses import dataclass

from germane.arrays import Floats
from germane.index.snapshot import DocumentPlace
from germane.rank import kernels
from germane.rank.models import RankingModel
from germane.rank.searcher import Searcher


@dataclass(frozen=True, slots=True)
class TermPart:
    """What one query word gave: how often the document holds it, and its impact (0 where it does not)."""

    term: str
    word: str
    weight: float
    count: int
    df: int
    impact: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """score = norm · Σ impacts + (constant + document + prior), added in this order."""

    doc_id: str
    parts: tuple[TermPart, ...]
    norm: float
    constant: float
    document: float
    prior: float
    length: int

    @property
    def score(self) -> float:
        """The parts added up."""
        impacts = 0.0
        for part in self.parts:
            impacts += part.impact
        return impacts * self.norm + (self.constant + self.document + self.prior)


def explain(
    searcher: Searcher,
    weights: dict[str, float],
    model: RankingModel,
    doc_id: str,
    place: DocumentPlace,
    priors: list[Floats] | None,
) -> Explanation | None:
    """Explain the score of one document; None if no word of the query is known."""
    plan = searcher.plan(weights, model)
    if plan is None:
        return None
    snapshot = searcher.snapshot
    segment = snapshot.segments[place.segment].segment
    document_parts = searcher.document_parts(place.segment, model)
    numbers, counts = segment.forward(place.doc)
    held = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    size = float((segment.n_unique if plan.sized_by_unique else segment.doc_len)[place.doc])
    parts = []
    for i, term in enumerate(plan.terms):
        stats = snapshot.term_stats([term.term])[0]
        number = stats.numbers[place.segment]
        count = held.get(number, 0)
        impact = 0.0
        if count:
            impact = kernels.impact(
                plan.kind, plan.weight[i], plan.scale[i], plan.delta, plan.x0, plan.x1, float(count), size
            )
        word = snapshot.surface(term.term)
        parts.append(TermPart(term.term, word, term.weight, count, stats.df, float(impact)))
    norm = float(document_parts.norm.values[place.doc]) if len(document_parts.norm.values) else 1.0
    background = document_parts.background.values
    document = plan.mass * float(background[place.doc]) if len(background) else 0.0
    base = float(document_parts.base.values[place.doc]) if len(document_parts.base.values) else 0.0
    prior = base + (float(priors[place.segment][place.doc]) if priors is not None else 0.0)
    return Explanation(doc_id, tuple(parts), norm, plan.constant, document, prior, int(segment.doc_len[place.doc]))

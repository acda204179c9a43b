"""Why a document got its score: named parts that add up to it, to the last bit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats
from germane.index.snapshot import DocumentPlace
from germane.rank.models.base import RankingModel
from germane.rank.models.evidence import EvidenceModel, background_of, constant_of, impacts_of
from germane.rank.scoring.exact import impacts_in, size_of
from germane.rank.scoring.searcher import Searcher


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
class WordProbability:
    """One query word: P(w|d), P(w|C), the smoothed θ_D(w), and what that adds to the score.

    p_d = c/|d| (0 of an empty document), p_C = cf/|C|, theta_D = e_D(w) + a_D·p_C (`lm.smoothing`), and
    log_likelihood = α_w·log theta_D. Lecture ("Linear Smoothing", "Dirichlet Smoothing"). Over all words of the query
    the last adds up to the score without priors, but for rounding: the ranking adds the same in another order.
    """

    term: str
    word: str
    weight: float
    count: int
    p_d: float
    p_C: float
    theta_D: float
    log_likelihood: float


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
    probabilities: tuple[WordProbability, ...] | None = None
    """Those of the words, where they were asked for (`rank.scoring.probabilities`)."""

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
    priors: Sequence[Floats] | None,
) -> Explanation | None:
    """Explain the score of one document; None if no word of the query is known."""
    if isinstance(model, EvidenceModel):
        return _explain_evidence(searcher, weights, model, doc_id, place, priors)
    plan = searcher.plan(weights, model)
    if plan is None:
        return None
    segment = searcher.snapshot.segments[place.segment].segment
    document_parts = searcher.parts_of(place.segment, model)
    numbers, counts = segment.forward(place.doc)
    held = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    size = float(size_of(segment, plan)[place.doc])
    counts_held = [held.get(number, 0) for number in segment.numbers_of([term.term for term in plan.terms])]
    found = impacts_in(plan, size, np.array(counts_held, np.float64)).tolist()
    parts = tuple(
        TermPart(term.term, searcher.statistics.surface(term.term), term.weight, count, term.df, impact)
        for term, count, impact in zip(plan.terms, counts_held, found, strict=True)
    )
    norm = float(document_parts.norm.values[place.doc]) if len(document_parts.norm.values) else 1.0
    background = document_parts.background.values
    document = plan.mass * float(background[place.doc]) if len(background) else 0.0
    base = float(document_parts.base.values[place.doc]) if len(document_parts.base.values) else 0.0
    prior = base + (float(priors[place.segment][place.doc]) if priors is not None else 0.0)
    return Explanation(doc_id, parts, norm, plan.constant, document, prior, int(segment.doc_len[place.doc]))


def _explain_evidence(
    searcher: Searcher,
    weights: dict[str, float],
    model: EvidenceModel,
    doc_id: str,
    place: DocumentPlace,
    priors: Sequence[Floats] | None,
) -> Explanation | None:
    found = model.evidence(searcher, weights)
    if not found:
        return None
    segment, doc, surface = searcher.snapshot.segments[place.segment].segment, place.doc, searcher.statistics.surface
    parts: list[TermPart] = []
    for evidence in found:
        size = size_of(segment, evidence.plan)[doc : doc + 1]
        for item, (term, counted) in enumerate(zip(evidence.plan.terms, evidence.counted[place.segment], strict=True)):
            own = counted.docs == doc
            impact = float(impacts_of(evidence.plan, item, counted.counts[own], size).sum())
            n = int(counted.occurrences[own].sum())
            word = surface(term.term) if evidence.items is None else evidence.items[item].shown(surface)
            parts.append(TermPart(term.term, word, term.weight, n, term.df, impact))
    document = float(background_of(found, place.segment, segment.n_docs)[doc])
    prior = float(priors[place.segment][doc]) if priors is not None else 0.0
    return Explanation(doc_id, tuple(parts), 1.0, constant_of(found), document, prior, int(segment.doc_len[doc]))

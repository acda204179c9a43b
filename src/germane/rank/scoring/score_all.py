"""The score of every document, whether or not it holds a word of the query: what a search can add as a prior."""

import numpy as np

from germane.arrays import Floats
from germane.rank.models.base import RankingModel
from germane.rank.models.evidence import EvidenceModel, score_evidence
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.plan import QueryTerm
from germane.rank.scoring.arguments import TermArrays
from germane.rank.scoring.scorers import impact_sums
from germane.rank.scoring.searcher import Searcher, Weights


def scores_everywhere(searcher: Searcher, weights: Weights, model: RankingModel) -> list[Floats]:
    """For each segment the scores of all its documents under the query `weights`; zeros if no word is known."""
    segments = [live.segment for live in searcher.snapshot.segments]
    if isinstance(model, EvidenceModel) and (found := model.evidence(searcher, weights)):
        return [scored.scores(None) for scored in score_evidence(searcher, found)]
    plan = None if isinstance(model, EvidenceModel) else searcher.plan(weights, model)
    if plan is None:
        return [np.zeros(segment.n_docs) for segment in segments]
    everywhere = []
    for i, segment in enumerate(segments):
        scores = impact_sums(segment, searcher.terms_in(i, plan))
        parts = searcher.parts_of(i, model)
        doc, norm, base = parts.background.values, parts.norm.values, parts.base.values
        scores = scores * norm if len(norm) else scores
        everywhere.append(
            scores + plan.constant + (plan.mass * doc if len(doc) else 0.0) + (base if len(base) else 0.0)
        )
    return everywhere


def background_everywhere(searcher: Searcher, model: QueryLikelihood) -> list[Floats]:
    """-H(p_C, θ_D) = Σ_w p_C(w)·log θ_D(w) over the whole vocabulary, for every document; remembered.

    What a topic model's background share adds to T-cross-entropy: Σ_{w∈D} p_C·log(1 + e/(a·p_C)) + log a_D - H(p_C).
    """
    return searcher.remembered(("background", model, searcher.statistics.digest), lambda: _background(searcher, model))


def _background(searcher: Searcher, model: QueryLikelihood) -> list[Floats]:
    statistics = searcher.statistics
    # a word that is the whole collection: its scale is that of any word times p_C
    plan = model.plan([QueryTerm("", 1.0, 1, statistics.n_tokens)], searcher.collection)
    everywhere = []
    for i, live in enumerate(searcher.snapshot.segments):
        segment = live.segment
        p_C = statistics.frequencies_in(segment)[1] / max(statistics.n_tokens, 1)
        scale = np.divide(plan.scale[0], p_C, out=np.zeros(len(p_C)), where=p_C > 0)
        segment.verify_lists()
        terms = TermArrays(np.arange(segment.n_terms), p_C, scale, plan)
        scores = impact_sums(segment, terms)
        doc = searcher.parts_of(i, model).background.values
        everywhere.append(scores + (plan.constant - statistics.entropy) + (doc if len(doc) else 0.0))
    return everywhere

"""The score of every document, whether or not it holds a word of the query: what a search can add as a prior."""

import numpy as np

from germane.arrays import Floats
from germane.rank import document_kernels
from germane.rank.models import QueryLikelihood, QueryTerm, RankingModel
from germane.rank.searcher import Searcher, Weights


def scores_everywhere(searcher: Searcher, weights: Weights, model: RankingModel) -> list[Floats]:
    """For each segment the scores of all its documents under the query `weights`; zeros if no word is known."""
    terms = searcher.known_terms(weights)
    segments = [live.segment for live in searcher.snapshot.segments]
    if not terms:
        return [np.zeros(segment.n_docs) for segment in segments]
    plan = model.plan(terms, searcher.collection)
    stats = searcher.snapshot.term_stats([term.term for term in plan.terms])
    everywhere = []
    for i, segment in enumerate(segments):
        numbers = np.array([found.numbers[i] for found in stats], np.int64)
        held = numbers >= 0
        scores, b = np.empty(segment.n_docs), segment.blocks
        document_kernels.impact_sums(
            b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, segment.first_block[numbers[held]],
            segment.df[numbers[held]], plan.weight[held], plan.scale[held], plan.kind, plan.delta, plan.x0, plan.x1,
            segment.n_unique if plan.sized_by_unique else segment.doc_len, scores,
        )  # fmt: skip
        doc, norm, base = searcher.document_parts(i, model)
        scores = scores * norm.values if len(norm.values) else scores
        everywhere.append(
            scores + plan.constant + (plan.mass * doc.values if len(doc.values) else 0.0) + (base if len(base) else 0.0)
        )
    return everywhere


def background_everywhere(searcher: Searcher, model: QueryLikelihood) -> list[Floats]:
    """-H(p_C, θ_D) = Σ_w p_C(w)·log θ_D(w) over the whole vocabulary, for every document; remembered.

    What a topic model's background share adds to T-cross-entropy: Σ_{w∈D} p_C·log(1 + e/(a·p_C)) + log a_D - H(p_C).
    """
    return searcher.remembered(("background", model), lambda: _background(searcher, model))


def _background(searcher: Searcher, model: QueryLikelihood) -> list[Floats]:
    snapshot = searcher.snapshot
    # a word that is the whole collection: its scale is that of any word times p_C
    plan = model.plan([QueryTerm("", 1.0, 1, snapshot.n_tokens)], searcher.collection)
    everywhere = []
    for i, live in enumerate(snapshot.segments):
        segment = live.segment
        p_C = snapshot.live_frequencies(i)[1] / max(snapshot.n_tokens, 1)
        scale = np.divide(plan.scale[0], p_C, out=np.zeros(len(p_C)), where=p_C > 0)
        scores, b = np.empty(segment.n_docs), segment.blocks
        document_kernels.impact_sums(
            b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, segment.first_block[:-1], segment.df, p_C, scale,
            plan.kind, plan.delta, plan.x0, plan.x1, segment.n_unique if plan.sized_by_unique else segment.doc_len,
            scores,
        )  # fmt: skip
        doc = searcher.document_parts(i, model).term.values
        everywhere.append(scores + (plan.constant - snapshot.entropy()) + (doc if len(doc) else 0.0))
    return everywhere

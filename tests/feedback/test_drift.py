"""The guard against drift: its two measures written out, and when it falls back."""

from dataclasses import replace

import numpy as np
import pytest

from germane.feedback import RM3, Evidence
from germane.feedback.method import LEAST_COVERAGE, MOST_DISAGREEMENT


def entropy(p: np.ndarray) -> float:
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


def test_the_measures_as_written(filled_worlds) -> None:
    for world in filled_worlds:
        drift = RM3(guard=True).expand(world.evidence()).drift
        weights = RM3().document_weights(world.evidence())
        counts = world.counts[world.chosen]
        mle = counts / counts.sum(axis=1, keepdims=True)
        apart = entropy(weights @ mle) - sum(w * entropy(p) for w, p in zip(weights, mle, strict=True))
        assert drift.disagreement == pytest.approx(apart / entropy(weights), rel=1e-9)
        assert -1e-12 <= drift.disagreement <= 1 + 1e-12
        assert drift.coverage == pytest.approx(np.mean(weights @ (counts[:, world.query > 0] > 0)), rel=1e-9)
        assert drift.fell_back == (drift.disagreement > MOST_DISAGREEMENT and drift.coverage < LEAST_COVERAGE)


def scattered(marks: list[int]) -> Evidence:
    """Four documents without a word in common, of which none holds the query's word, the fifth."""
    return Evidence(
        query={4: 1.0}, starts=np.arange(5), ids=np.arange(4), counts=np.ones(4), lengths=np.ones(4),
        marks=np.array(marks, np.int8), p_C=np.full(5, 0.2), df=np.ones(5, int), n_docs=5,
    )  # fmt: skip


def test_documents_that_disagree_and_lack_the_query() -> None:
    evidence = scattered([-1, -1, -1, -1])
    guarded, unguarded = RM3(guard=True).expand(evidence), RM3().expand(evidence)
    assert (guarded.drift.disagreement, guarded.drift.coverage) == pytest.approx((1.0, 0.0))
    assert (guarded.drift.fell_back, guarded.learnt, guarded.topic) == (True, False, evidence.query_model)
    assert (unguarded.drift, unguarded.learnt) == (None, True)


def test_a_positive_mark_is_no_guess() -> None:
    expansion = RM3(guard=True).expand(scattered([1, -1, -1, -1]))
    assert (expansion.drift.fell_back, expansion.learnt) == (False, True)


@pytest.mark.parametrize("marks", [[0, 0, 0, -1], [0, 0, 0, 0]])
def test_nobody_to_disagree_with(marks: list[int]) -> None:
    drift = RM3(guard=True).expand(scattered(marks)).drift
    assert (drift.disagreement, drift.fell_back) == (0.0, False)


def test_no_query_to_fall_back_to() -> None:
    expansion = RM3(guard=True).expand(replace(scattered([-1, -1, -1, -1]), query={}))
    assert (expansion.drift.fell_back, expansion.learnt) == (False, True)

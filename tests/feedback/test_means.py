"""Sums over postings by a kernel are those of NumPy, to the last bit."""

import numpy as np
import pytest

from germane.feedback import Evidence, means
from germane.lm import MLE, AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing, TwoStage

SMOOTHINGS = [MLE(), JelinekMercer(0.3), Dirichlet(20.0), AbsoluteDiscounting(0.7), TwoStage(0.4, 30.0)]


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
@pytest.mark.parametrize("most", [1, 7, means.MOST_TABLED, means.MOST_TABLED + 1])
def test_means_by_a_kernel(smoothing: Smoothing, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(most)
    held = rng.integers(0, most + 1, (9, 50)) * (rng.random((9, 50)) < 0.4)
    held[4] = 0  # a document without words
    held[0, 0] = most
    documents, ids = np.nonzero(held)
    evidence = Evidence(
        query={0: 1.0},
        starts=np.concatenate([[0], np.cumsum((held > 0).sum(axis=1))]),
        ids=ids,
        counts=held[documents, ids].astype(np.float64),
        lengths=held.sum(axis=1).astype(np.float64),
        marks=np.full(9, -1, np.int8),
        p_C=np.full(50, 0.02),
        df=np.ones(50, np.int64),
        n_docs=100,
    )
    weights = rng.dirichlet(np.ones(9))
    expected = means.mean_excess(evidence, weights, smoothing)
    monkeypatch.setattr(Evidence, "is_counted", True)
    monkeypatch.setattr(means, "compiler_is_loaded", lambda: True)
    assert means.mean_excess(evidence, weights, smoothing).tobytes() == expected.tobytes()

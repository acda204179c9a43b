"""The non-relevant class without marks, as `benchmarks/inferred_negatives.py` infers it from a result list."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")
BENCHMARK = runpy.run_path(
    str(Path(__file__).parents[2] / "benchmarks" / "inferred_negatives.py"), run_name="inferred_negatives"
)
FIRST, LOOKED_AT, LISTED = (BENCHMARK[name] for name in ("FIRST", "LOOKED_AT", "LISTED"))


def planted(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A list of two topics, and which results are of the first: eight of the first ten, some of the others."""
    rng = np.random.default_rng(seed)
    wanted = rng.random(LISTED) < 0.3
    wanted[:FIRST] = True
    wanted[[3, 7]] = False
    rates = np.where(wanted[:, None], np.repeat([1.2, 0.1], 20), np.repeat([0.1, 1.2], 20))
    return rng.poisson(rates).astype(np.float64), wanted


@pytest.mark.parametrize("name", BENCHMARK["MIXTURES"])
def test_planted_topics_are_told_apart(name: str) -> None:
    for seed in range(3):
        counts, wanted = planted(seed)
        relevant, rejected = BENCHMARK["inferred"](sparse.csr_matrix(counts), BENCHMARK["MIXTURES"][name])
        assert relevant == np.flatnonzero(wanted[:FIRST]).tolist()
        assert rejected == np.flatnonzero(~wanted[:LOOKED_AT]).tolist()


def test_the_mixture_of_multinomials_is_em_from_the_first_ten() -> None:
    """Priors and multinomials by loops over documents, from the first ten against the rest."""
    counts, _ = planted(5)
    delta = 0.1
    model: Any = BENCHMARK["MIXTURES"]["multinomials"]
    relevant, rejected = BENCHMARK["inferred"](sparse.csr_matrix(counts), model)
    shares = np.array([[float(i < FIRST), float(i >= FIRST)] for i in range(LISTED)])
    for _ in range(model.n_iter_):
        prior = shares.sum(axis=0) / LISTED
        theta = [sum(s * row for s, row in zip(shares[:, c], counts, strict=True)) + delta for c in (0, 1)]
        theta = [own / own.sum() for own in theta]
        for i, row in enumerate(counts):
            joint = np.array([np.log(prior[c]) + float(row @ np.log(theta[c])) for c in (0, 1)])
            shares[i] = np.exp(joint - joint.max()) / np.exp(joint - joint.max()).sum()
    labels = shares.argmax(axis=1)
    assert relevant == [i for i in range(FIRST) if labels[i] == 0]
    assert rejected == [i for i in range(LOOKED_AT) if labels[i] == 1]


def test_nothing_is_inferred_where_the_first_results_are_all_gone() -> None:
    """Lists whose first ten are like the rest, so that a mixture may leave none of them in the first cluster."""

    class Elsewhere:
        labels_ = np.ones(LISTED, np.int64)

        def fit(self, counts: object, start: np.ndarray) -> "Elsewhere":
            assert start.tolist() == [0] * FIRST + [1] * (LISTED - FIRST)
            return self

    assert BENCHMARK["inferred"](sparse.csr_matrix(np.ones((LISTED, 2))), Elsewhere()) == ([], [])

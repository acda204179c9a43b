"""The index by its formula; planted drift is found, and chance is not taken for it."""

import numpy as np
import pytest

from germane.learning.drift import (
    distribution_of,
    population_stability,
    positions_stability,
    queries_stability,
)

NAMES = [f"query {i}" for i in range(400)]
CURVE = 1 / np.arange(1, 11)


def log(rng, shares, searches, curve=CURVE):
    counts = rng.multinomial(searches, shares / shares.sum())
    return dict(zip(NAMES, counts.tolist(), strict=True)), rng.multinomial(searches // 2, curve / curve.sum())


def zipf(order):
    return (1.0 + np.arange(len(NAMES)))[np.argsort(order)] ** -1.0


def test_the_formula():
    before, now = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    expected = sum((p - r) * np.log(p / r) for p, r in zip(now, before, strict=True))
    assert population_stability(before, now) == pytest.approx(expected)
    assert population_stability(before, before) == 0.0


@pytest.mark.parametrize("searches", [300, 3000, 30000])
def test_chance_is_no_drift(searches):
    order = np.arange(len(NAMES))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        before = distribution_of(*log(rng, zipf(order), searches))
        queries, clicks = log(rng, zipf(order), searches)
        assert queries_stability(before, queries).verdict == "stable"
        assert positions_stability(before, clicks).verdict == "stable"


def test_without_drift_the_mean_is_the_chance_value():
    rng = np.random.default_rng(1)
    order = np.arange(len(NAMES))
    found = [queries_stability(distribution_of(*log(rng, zipf(order), 2000)), log(rng, zipf(order), 3000)[0])
             for _ in range(100)]  # fmt: skip
    mean, chance = (np.mean([getattr(each, name) for each in found]) for name in ("psi", "chance"))
    assert mean == pytest.approx(chance, rel=0.15)


@pytest.mark.parametrize("searches", [1000, 10000])
def test_planted_drift_of_queries(searches):
    """Other queries come to the front; the positions stay as they are."""
    rng = np.random.default_rng(2)
    before = distribution_of(*log(rng, zipf(np.arange(len(NAMES))), searches))
    queries, clicks = log(rng, zipf(rng.permutation(len(NAMES))), searches)
    assert queries_stability(before, queries).verdict == "drifted"
    assert positions_stability(before, clicks).verdict == "stable"
    new, _ = log(rng, zipf(np.arange(len(NAMES))), searches)
    renamed = {f"new {query}" if i < 5 else query: n for i, (query, n) in enumerate(new.items())}
    assert queries_stability(before, renamed).verdict == "drifted"


def test_planted_drift_of_positions():
    """People look further down; the queries stay as they are."""
    rng = np.random.default_rng(3)
    shares = zipf(np.arange(len(NAMES)))
    before = distribution_of(*log(rng, shares, 5000))
    queries, clicks = log(rng, shares, 5000, np.ones(10))
    assert queries_stability(before, queries).verdict == "stable"
    assert positions_stability(before, clicks).verdict == "drifted"


def test_nothing_to_compare():
    before = distribution_of({}, np.zeros(10))
    assert queries_stability(before, {"a": 1}).verdict == "unknown"
    assert positions_stability(distribution_of({"a": 2}, [1, 1]), np.zeros(2)).verdict == "unknown"


def test_no_query_can_be_read():
    kept = distribution_of({"a very private query": 900, "other": 100}, [5, 3])
    assert "private" not in repr(kept)
    assert len(kept.heads) == 2

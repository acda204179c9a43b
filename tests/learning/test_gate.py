"""NDCG by its formula, and what passes."""

import math

import numpy as np
import pytest
from scipy import stats

from germane.evaluate import evaluate
from germane.learning.gate import GateQuery, compared, decided, ndcg

QUERIES = [GateQuery(f"query {i}", {}) for i in range(30)]


def test_ndcg_is_that_of_evaluate():
    rng = np.random.default_rng(3)
    for _ in range(20):
        names = [f"d{i}" for i in rng.permutation(40)[:15].tolist()]
        grades = {f"d{i}": int(grade) for i, grade in enumerate(rng.integers(0, 4, 30))}
        run = {"q": {name: float(-i) for i, name in enumerate(names)}}
        expected = evaluate(run, {"q": grades}, ["nDCG@10"])["nDCG@10"]
        assert ndcg(names, {name: float(grade) for name, grade in grades.items()}) == pytest.approx(expected)
    assert ndcg([], {"a": 1.0}) == 0.0
    assert ndcg(["a"], {}) == 0.0


def found(difference, name="clicks"):
    baseline = np.linspace(0.2, 0.6, 30)
    return compared(name, QUERIES, baseline + difference, baseline)


def test_wins_losses_and_the_worst_ten():
    difference = np.zeros(30)
    difference[:12], difference[12:15] = -np.arange(1, 13) / 100, 0.3
    result = found(difference)
    assert (result.wins, result.losses, result.ties) == (3, 12, 15)
    assert [loss.query for loss in result.worst] == [f"query {i}" for i in range(11, 1, -1)]
    assert result.worst[0].candidate == pytest.approx(result.worst[0].baseline - 0.12)
    interval = stats.ttest_1samp(difference, 0.0).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high))


def test_what_passes():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.02, 30)
    better, equal, worse = found(0.1 + noise), found(noise - noise.mean()), found(noise - 0.1)
    assert decided([better], 0.05, allow_equal=False)[0]
    assert not decided([worse], 0.05, allow_equal=True)[0]
    assert not decided([better, worse], 0.05, allow_equal=True)[0]
    slightly = found(noise - noise.mean() + 1e-4)
    assert not decided([slightly], 0.05, allow_equal=False)[0]
    assert decided([slightly], 0.05, allow_equal=True)[0]
    assert decided([better, slightly], 0.05, allow_equal=False)[0]
    assert "significantly above" in decided([better], 0.05, allow_equal=False)[1]
    assert "significantly below" in decided([worse], 0.05, allow_equal=False)[1]
    assert not math.isnan(equal.p_t)

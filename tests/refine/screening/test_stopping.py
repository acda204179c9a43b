"""The window test against SciPy and by hand, the stopping rule, and the estimate of what remains."""

import numpy as np
import pytest
from scipy import sparse, stats

from germane.errors import ParameterError
from germane.refine.screening.hypergeometric import largest_compatible, least_p, p_at_most, windows
from germane.refine.screening.ranking import Ranker
from germane.refine.screening.remaining import calibrated, can_calibrate, held_out, logistic, platt, remaining
from germane.refine.screening.stopping import StoppingRule, checkpoints
from germane.refine.screening.weighting import tf_idf


def flags(text):
    return np.array([mark == "1" for mark in text])


def test_windows_by_hand():
    found = windows(10, flags("01001"))
    assert found.unread.tolist() == [10, 8]  # the window after the last find would be empty
    assert found.drawn.tolist() == [5, 3]
    assert found.before.tolist() == [0, 1]
    assert found.found.tolist() == [2, 1]
    assert not len(windows(10, flags("")).unread)


def test_hypergeometric_against_scipy():
    rng = np.random.default_rng(0)
    unread = rng.integers(5, 60, 200)
    relevant, drawn = rng.integers(0, unread + 1), rng.integers(0, unread + 1)
    found = np.minimum(rng.integers(0, 10, 200), np.minimum(relevant, drawn))
    mine = p_at_most(found, unread, relevant, drawn)
    theirs = [
        sum(stats.hypergeom.pmf(x, u, k, n) for x in range(f + 1))
        for f, u, k, n in zip(found, unread, relevant, drawn, strict=True)
    ]
    assert mine == pytest.approx(theirs, abs=1e-9)
    assert p_at_most(found, unread, unread + 1, drawn).tolist() == [0.0] * 200


def test_odds_against_a_simulation_of_wallenius():
    rng = np.random.default_rng(0)
    u, k, n, omega = 200, 12, 60, 3.0
    weight = np.where(np.arange(u) < k, omega, 1.0)
    arrival = rng.exponential(1.0, (4000, u)) / weight  # drawn one by one with these odds
    hits = (np.argsort(arrival, axis=1)[:, :n] < k).sum(axis=1)
    for x in (3, 5, 8):
        one = np.array([x])
        p = p_at_most(one, np.array([u]), np.array([k]), np.array([n]), omega)[0]
        assert p == pytest.approx(np.mean(hits <= x), abs=0.06)
    assert p_at_most(one, np.array([u]), np.array([k]), np.array([n]), 1.0)[0] > p


def test_no_other_window_has_a_smaller_p():
    rng = np.random.default_rng(2)
    for _ in range(20):
        decisions = rng.random(40) < 0.15
        n, m = 120, int(rng.integers(1, 10))
        hits = np.concatenate([[0], np.cumsum(decisions)])
        every = [stats.hypergeom.cdf(hits[-1] - hits[s], n - s, hits[-1] - hits[s] + m, 40 - s) for s in range(40)]
        assert least_p(windows(n, decisions), m) == pytest.approx(min(every))


def test_the_upper_bound_is_the_largest_that_is_not_rejected():
    past = windows(300, flags("1101" + "0" * 60))
    high = largest_compatible(past, 236, 0.05)
    assert least_p(past, high) >= 0.05 > least_p(past, high + 1)
    assert largest_compatible(windows(300, flags("")), 300, 0.05) == 300
    assert largest_compatible(past, 236, 0.05, omega=2.0) < high


def test_the_p_value_is_that_of_the_smallest_total_below_the_target():
    decisions = flags("1" * 19 + "0" * 150)
    rule = StoppingRule()
    by_hand = min(stats.hypergeom.cdf(19 - s, 400 - s, 21 - s, 169 - s) for s in range(20))
    assert rule.p_value(400, decisions) == pytest.approx(by_hand)  # 19 of 20 would be 95 %, so 21 are needed


def test_recommendations():
    rule = StoppingRule()
    assert "no relevant" in rule.recommend(100, flags("0" * 50)).reason
    assert "first check" in rule.recommend(100, flags("1" * 5)).reason
    assert "read to its end" in rule.recommend(20, flags("1" * 19)).reason
    assert rule.recommend(3, flags("000")).stop
    assert rule.recommend(100, flags("1" + "0" * 98)).stop
    early = rule.recommend(1000, flags("1" * 10 + "0" * 30))
    assert not early.stop
    assert early.checked_at == 40
    assert str(early).startswith("Go on: ")
    late = rule.recommend(1000, flags("1" * 10 + "0" * 960))
    assert late.stop
    assert late.p_value < 0.05
    assert "95%" in str(late)
    assert checkpoints(1000)[1] == 30
    again = rule.recommend(1000, flags("1" * 10 + "0" * 960 + "1"))
    assert not again.stop
    assert "since the last check" in again.reason
    first = rule.first_stop(1000, flags("1" * 10 + "0" * 990))
    assert StoppingRule(omega=2.0).first_stop(1000, flags("1" * 10 + "0" * 990)) < first < 1000
    assert rule.first_stop(10, flags("1" + "0" * 9)) == 10


@pytest.mark.parametrize(
    "bad", [{"target": 0.0}, {"target": 1.0}, {"confidence": 1.5}, {"omega": 0.5}, {"omega": float("nan")}]
)
def test_bad_rules(bad):
    with pytest.raises(ParameterError):
        StoppingRule(**bad)


def test_random_reading_keeps_the_level():
    """Reading in random order is the worst that is assumed: how often does the rule stop below the target?"""
    rng = np.random.default_rng(0)
    rule = StoppingRule()
    short = 0
    for _ in range(100):
        decisions = rng.permutation(np.arange(400) < 30)
        stop = rule.first_stop(400, decisions)
        short += decisions[:stop].sum() / 30 < 0.95
    assert short <= 15  # many windows and many looks: the level is nominal, and says so


def test_platt():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=4000)
    relevant = rng.random(4000) < logistic(-2.0 + 1.5 * scores)
    a, b = platt(scores, relevant)
    assert (a, b) == (pytest.approx(-2.0, abs=0.2), pytest.approx(1.5, abs=0.2))
    a, b = platt(np.array([-1.0, -2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    assert np.isfinite([a, b]).all()
    assert logistic(np.array([-1e9, 0.0, 1e9])).tolist() == [0.0, 0.5, 1.0]


def test_calibration_learns_from_held_out_scores():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.2, (900, 40)).astype(float)
    truth = rng.random(900) < 0.2
    counts[truth, :4] += rng.poisson(1.0, (truth.sum(), 4))
    ranker = Ranker(tf_idf(sparse.csr_array(counts)))
    labels = np.where(np.arange(900) < 500, truth, -1).astype(np.int8)
    fit = ranker.fit(labels)
    out = held_out(ranker, labels, fit)
    assert (out[500:] == fit.scores[500:]).all()
    read = labels >= 0
    assert out[read & truth].mean() < fit.scores[read & truth].mean()
    p = calibrated(ranker, labels, fit)
    assert p[~read].sum() == pytest.approx(truth[~read].sum(), rel=0.3)
    few = np.where(np.arange(900) < 2, 1, -1).astype(np.int8)
    assert not can_calibrate(few)
    assert calibrated(ranker, few, ranker.fit(few)) == pytest.approx(logistic(ranker.fit(few).scores))


def test_remaining():
    found = remaining(200, flags("11" + "0" * 80), np.full(118, 0.01))
    assert found.expected == pytest.approx(1.18)
    assert (found.low, found.found, found.read, found.unread) == (0, 2, 82, 118)
    assert 1 < found.high < 20
    assert found.recall_low == pytest.approx(2 / (2 + found.high))
    assert str(found.high) in str(found)
    assert remaining(200, flags("11" + "0" * 80), np.full(118, 1.0)).expected == found.high
    assert remaining(2, flags("00"), np.zeros(0)).recall_low == 1.0
    assert "unknown" in str(remaining(9, flags("1"), None))

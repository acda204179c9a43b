"""Trials by topic against the pooled functions, the bootstrap written out, and SciPy's tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from germane.errors import ParameterError
from germane.evaluate import (
    Trials,
    compare_costs,
    detection_band,
    detection_curve,
    min_cost,
    min_cost_interval,
    plots,
    topic_costs,
    topic_curve,
    trial_costs,
)

scores = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=8)
topics = st.lists(st.tuples(scores, scores), min_size=1, max_size=5)


def trials_of(topics):
    return [Trials(f"t{i}", np.array(on), np.array(off)) for i, (on, off) in enumerate(topics)]


def pooled(trials):
    """Scores, targets and topics, one entry a trial."""
    rows = [(s, hit, t.topic) for t in trials for hit, values in ((1, t.targets), (0, t.others)) for s in values]
    return [list(column) for column in zip(*rows, strict=True)]


def some(n=12, seed=0):
    rng = np.random.default_rng(seed)
    return [Trials(f"t{i}", rng.normal(1.5 + 0.1 * i, 1, 20), rng.normal(0, 1, 200)) for i in range(n)]


@given(topics)
def test_topic_curve_has_the_least_cost(found):
    trials = trials_of(found)
    values, target, names = pooled(trials)
    whole = min_cost(detection_curve(values, target, names))
    best = min_cost(topic_curve(trials))
    assert best.cost == pytest.approx(whole.cost)
    assert trial_costs(trials, best.threshold) == pytest.approx(topic_costs(values, target, names, best.threshold))
    assert np.mean([*trial_costs(trials, best.threshold).values()]) == pytest.approx(best.cost)


def test_interval_of_min_cost_is_the_bootstrap_over_topics():
    trials = some()
    rng = np.random.default_rng(9)
    drawn = [
        min_cost(topic_curve([trials[place] for place in rng.integers(0, len(trials), len(trials))])).cost
        for _ in range(1000)
    ]
    assert min_cost_interval(trials) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)
    assert min_cost_interval(trials) == min_cost_interval(trials)
    assert min_cost_interval(trials, random_state=1) != min_cost_interval(trials)
    narrow, wide = min_cost_interval(trials, confidence=0.5), min_cost_interval(trials, confidence=0.99)
    assert wide[0] < narrow[0] < min_cost(topic_curve(trials)).cost < narrow[1] < wide[1]


def test_band_lies_about_the_curve_and_covers_the_truth():
    """For normal scores P_Miss(P_FA) is known; of topics all alike the band has no width."""
    band = detection_band(some(40))
    assert (band.low <= band.p_miss + 1e-12).all()
    assert (band.p_miss <= band.high + 1e-12).all()
    truth = np.mean([stats.norm.cdf(stats.norm.isf(band.p_fa) - 1.5 - 0.1 * i) for i in range(40)], axis=0)
    middle = (band.p_fa > 0.02) & (band.p_fa < 0.8)
    assert np.mean((band.low <= truth) & (truth <= band.high), where=middle) > 0.8
    alike = detection_band([Trials(str(i), np.array([1.0, 3.0]), np.array([0.0, 2.0])) for i in range(5)])
    assert alike.low == pytest.approx(alike.high)
    figure = plots.detection_error_tradeoff({"x": topic_curve(some(40))}, bands={"x": band})
    assert len(figure.axes[0].collections) == 1


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=2, max_size=12))
def test_costs_are_compared_as_scipy_does(pairs):
    a = {f"t{i}": x for i, (x, _) in enumerate(pairs)}
    b = {f"t{i}": y for i, (_, y) in enumerate(pairs)}
    found = compare_costs(a, dict(reversed(b.items())))
    d = np.array([x - y for x, y in pairs])
    assert found.difference == pytest.approx(d.mean())
    assert (found.cheaper, found.dearer) == ((d < 0).sum(), (d > 0).sum())
    if found.cheaper + found.dearer:
        expected = stats.binomtest(found.cheaper, found.cheaper + found.dearer).pvalue
        assert found.sign.p_value == pytest.approx(expected)
    if d.std() > 1e-6:
        assert found.t.p_value == pytest.approx(stats.ttest_rel([*a.values()], [*b.values()]).pvalue, abs=1e-9)


def test_what_cannot_be_measured():
    with pytest.raises(ParameterError, match="same topics"):
        compare_costs({"a": 1.0}, {"b": 1.0})
    for trials in ([], [Trials("a", np.array([]), np.array([1.0]))]):
        with pytest.raises(ParameterError, match="every topic"):
            topic_curve(trials)
    with pytest.raises(ParameterError, match="resample"):
        detection_band(some(), n_resamples=0)
    with pytest.raises(ParameterError, match="confidence"):
        min_cost_interval(some(), confidence=1.0)

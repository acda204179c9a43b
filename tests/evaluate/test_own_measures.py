"""Break-even precision, F1, detection cost, work saved and calibration against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.evaluate import (
    accuracy,
    break_even_precision,
    confusion_matrix,
    detection_curve,
    f1,
    f1_multilabel,
    macro_bep,
    micro_bep,
    min_cost,
    normalised_cost,
    reliability,
    topic_costs,
    work_saved_over_sampling,
)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6))
def test_break_even_is_the_mean_over_all_orders_of_ties(trials):
    scores, labels = [score for score, _ in trials], [label for _, label in trials]
    n_rel = sum(labels)
    if not n_rel:
        with pytest.raises(ParameterError):
            break_even_precision(scores, labels)
        return
    orders = [p for p in itertools.permutations(range(len(scores))) if sorted(p, key=lambda i: -scores[i]) == list(p)]
    expected = np.mean([sum(labels[i] for i in order[:n_rel]) / n_rel for order in orders])
    assert break_even_precision(scores, labels) == pytest.approx(expected)


def test_macro_and_micro():
    assert macro_bep([1.0, 0.5]) == 0.75
    assert micro_bep([1.0, 0.5], [1, 3]) == pytest.approx((1 + 1.5) / 4)
    with pytest.raises(ParameterError):
        macro_bep([])
    with pytest.raises(ParameterError):
        micro_bep([1.0], [0])


def test_f1_by_hand():
    truth, predicted = ["a", "a", "a", "b", "b", "c"], ["a", "a", "b", "b", "c", "b"]
    found = f1(truth, predicted)
    # a: TP 2 FP 0 FN 1; b: TP 1 FP 2 FN 1; c: TP 0 FP 1 FN 1
    assert found.per_class == pytest.approx({"a": 4 / 5, "b": 2 / 5, "c": 0.0})
    assert found.macro == pytest.approx((0.8 + 0.4) / 3)
    assert found.micro == pytest.approx(accuracy(truth, predicted)) == pytest.approx(0.5)
    names, counts = confusion_matrix(truth, predicted)
    assert names == ["a", "b", "c"]
    assert counts.tolist() == [[2, 1, 0], [0, 1, 1], [0, 1, 0]]
    with pytest.raises(ParameterError, match="'c' is not among"):
        confusion_matrix(truth, predicted, ["a", "b"])
    with pytest.raises(ParameterError):
        accuracy([], [])


def test_f1_with_several_labels():
    found = f1_multilabel([{"a", "b"}, {"b"}, set()], [{"a"}, {"b"}, {"a"}], ["a", "b", "z"])
    assert found.per_class == pytest.approx({"a": 2 / 3, "b": 2 / 3, "z": 0.0})
    assert found.micro == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from("xyz")), min_size=2, max_size=25).filter(
        lambda rows: {label for _, label, _ in rows} == {True, False}
    ),
    st.booleans(),
)
def test_detection_curve_by_counting(trials, weighted):
    scores, labels, topics = (list(column) for column in zip(*trials, strict=True))
    curve = detection_curve(scores, labels, topics if weighted else None)
    names = sorted(set(topics)) if weighted else [None]
    assert list(curve.thresholds) == [np.inf, *sorted(set(scores), reverse=True)]
    for threshold, p_miss, p_fa in zip(*curve, strict=True):
        misses, alarms = [], []
        for name in names:
            own = [(s, on) for s, on, t in trials if name in (None, t)]
            targets = [s < threshold for s, on in own if on]
            others = [s >= threshold for s, on in own if not on]
            misses += [np.mean(targets)] if targets else []
            alarms += [np.mean(others)] if others else []
        assert p_miss == pytest.approx(np.mean(misses), abs=1e-12)
        assert p_fa == pytest.approx(np.mean(alarms), abs=1e-12)
    assert (curve.p_miss[0], curve.p_fa[0]) == (1.0, 0.0)
    best = min(10 * 0.02 * m + 0.98 * f for m, f in zip(curve.p_miss, curve.p_fa, strict=True)) / 0.2
    assert min_cost(curve).cost == pytest.approx(best)
    assert min_cost(curve).cost <= 1.0 + 1e-12


def test_cost_of_trivial_systems():
    assert normalised_cost(1.0, 0.0) == pytest.approx(1.0)  # accept nothing
    assert normalised_cost(0.0, 1.0) == pytest.approx(0.98 / 0.2)
    assert normalised_cost(0.0, 1.0, p_target=0.5) == pytest.approx(1.0)  # now the cheaper one
    with pytest.raises(ParameterError):
        normalised_cost(0.0, 1.0, p_target=0.0)


def test_topic_costs_average_to_the_topic_weighted_cost():
    scores, labels = [3, 2, 1, 3, 2, 1], [1, 0, 0, 0, 1, 1]
    topics = ["x", "x", "x", "y", "y", "y"]
    best = min_cost(detection_curve(scores, labels, topics))
    costs = topic_costs(scores, labels, topics, best.threshold)
    assert np.mean(list(costs.values())) == pytest.approx(best.cost)


@pytest.mark.parametrize("labels", [[1, 1], [0, 0]])
def test_detection_needs_both_kinds(labels):
    with pytest.raises(ParameterError, match="on topic"):
        detection_curve([1.0, 2.0], labels)


def test_work_saved():
    labels = [1] * 19 + [0] * 80 + [1]
    scores = list(range(100, 0, -1))
    assert work_saved_over_sampling(scores, labels) == pytest.approx(81 / 100 - 0.05)
    assert work_saved_over_sampling(scores, labels, 1.0) == pytest.approx(0.0)
    assert work_saved_over_sampling([1.0] * 100, labels) == pytest.approx(1 / 100 - 0.05)  # ties: at worst
    with pytest.raises(ParameterError):
        work_saved_over_sampling([1.0], [0])


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40), st.integers(1, 12))
def test_reliability_by_counting(pairs, n_bins):
    found = reliability([p for p, _ in pairs], [y for _, y in pairs], n_bins)
    edges = np.linspace(0, 1, n_bins + 1)
    ece, used = 0.0, 0
    for b in range(n_bins):
        last = b == n_bins - 1
        own = [(p, y) for p, y in pairs if edges[b] <= p and (p < edges[b + 1] or last)]
        if own:
            used += 1
            ece += len(own) / len(pairs) * abs(np.mean([y for _, y in own]) - np.mean([p for p, _ in own]))
    assert found.ece == pytest.approx(ece, abs=1e-12)
    assert len(found.count) == used
    assert found.count.sum() == len(pairs)
    assert found.brier == pytest.approx(np.mean([(p - y) ** 2 for p, y in pairs]))


def test_reliability_refuses_what_is_no_probability():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        reliability([1.5], [1])
    with pytest.raises(ParameterError, match="not empty"):
        reliability([], [])

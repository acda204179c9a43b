"""Probabilities and predicted sets."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.refine.calibration import LIKENESS, Calibration, f1_threshold, likeness, predicted_set
from germane.refine.registry import METHOD_NAMES, method_named, probabilities


def test_every_method_is_calibrated() -> None:
    """Each by numbers of its own: a method that inherits another's was forgotten."""
    methods = [name for name in METHOD_NAMES if name != "paper"]  # which chooses among the others
    own = {name: vars(type(method_named(name)))["calibration"] for name in methods}
    assert len(set(own.values())) == len(methods)


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_probabilities_keep_the_order_and_do_not_saturate(example, name: str) -> None:
    results, labels = example
    log_odds = method_named(name).refine(results, labels).log_odds
    probability = probabilities(log_odds, labels, name)
    order = np.argsort(log_odds, kind="stable")
    assert (np.diff(probability[order]) >= 0).all()
    assert ((probability > 1e-6) & (probability < 1 - 1e-6)).all()


@pytest.mark.parametrize("n_relevant", [1, 5, 100])
@pytest.mark.parametrize("name", [name for name in METHOD_NAMES if name != "auto"])
def test_the_slope_is_positive_whatever_the_marks(name: str, n_relevant: int) -> None:
    labels = np.array([1] * n_relevant + [0] + [-1] * 10)
    probability = probabilities(np.arange(len(labels)), labels, name)
    assert (np.diff(probability) > 0).all()


def test_likeness_by_all_pairs(example) -> None:
    results, labels = example
    A = results.carried_unit.toarray()[labels < 0]
    pairs = [A[i] @ A[j] for i in range(len(A)) for j in range(len(A)) if i != j]
    assert likeness(results.carried_unit, labels) == pytest.approx(np.mean(pairs))
    assert likeness(results.carried_unit[:1], np.array([-1])) == 0.0


def test_a_list_of_one_subject_has_more_relevant_results() -> None:
    line = Calibration(0.5, 1.0, 0.0, alike=2.0).line
    scores, labels = np.array([0.0, 1.0, -1.0]), np.array([1, -1, -1], np.int8)
    assert line(scores, labels, 0.06) == (pytest.approx(0.5 + 2.0 * np.log(0.06)), 1.0)
    assert line(scores, labels, 0.9)[0] == pytest.approx(0.5 + 2.0 * LIKENESS[1])
    assert line(scores, labels, 0.0)[0] == pytest.approx(0.5 + 2.0 * LIKENESS[0])


def test_an_unknown_method() -> None:
    with pytest.raises(ParameterError, match="no calibration for 'svm'"):
        probabilities([0.0], [1], "svm")


def expected_f1(p: np.ndarray, k: int) -> float:
    return 2 * np.sort(p)[::-1][:k].sum() / (k + p.sum())


@pytest.mark.parametrize("seed", range(20))
def test_the_predicted_set_has_the_highest_expected_f1(seed: int) -> None:
    p = np.random.default_rng(seed).beta(0.5, 2, 30)
    chosen = predicted_set(p)
    best = max(range(1, 31), key=lambda k: expected_f1(p, k))
    assert chosen.sum() == best
    assert p[chosen].min() > p[~chosen].max()
    assert f1_threshold(p) == p[chosen].min()


def test_the_ratio_is_close_to_the_true_expected_f1() -> None:
    """The plug-in value against simulation, so that it means something."""
    random = np.random.default_rng(0)
    p = random.beta(0.7, 2, 150)
    k = int(predicted_set(p).sum())
    order = np.argsort(-p)
    truth = random.random((20_000, 150)) < p
    simulated = (2 * truth[:, order[:k]].sum(axis=1) / (k + truth.sum(axis=1))).mean()
    assert simulated == pytest.approx(expected_f1(p, k), abs=0.01)


def test_a_given_threshold_and_the_marks() -> None:
    p = np.array([0.9, 0.8, 0.4, 0.1])
    assert predicted_set(p, threshold=0.4).tolist() == [True, True, True, False]
    assert predicted_set(p, [0, -1, -1, 1], 0.5).tolist() == [False, True, False, True]
    assert predicted_set(p, [0, 0, 1, 1]).tolist() == [False, False, True, True]
    assert predicted_set(np.zeros(0)).tolist() == []
    with pytest.raises(ParameterError, match="threshold"):
        predicted_set(p, threshold=1.5)
    with pytest.raises(ParameterError, match="as many labels"):
        predicted_set(p, [1])


def test_equal_probabilities_are_chosen_together() -> None:
    chosen = predicted_set(np.full(7, 0.2))
    assert chosen.all()

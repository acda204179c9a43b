"""SciPy is the oracle where it has the test; enumeration on small n elsewhere."""

import itertools

import numpy as np
import pytest
from scipy import stats

from germane.errors import ParameterError
from germane.evaluate.significance import (
    ALTERNATIVES,
    holm,
    paired_effect,
    paired_t,
    randomisation_test,
    sign_test,
    wilcoxon,
)

CASES = [(seed, n) for n in (2, 5, 12, 60, 200) for seed in range(2)]


def _pair(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    a, b = rng.random(n), rng.random(n)
    if ties:
        a, b = np.round(a, 1), np.round(b, 1)
    return a, b


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("seed", "n"), CASES)
def test_equal_to_scipy(seed, n, alternative):
    for ties in (False, True):
        a, b = _pair(seed, n, ties)
        if ties:
            a[0], b[0] = 1.0, 0.3  # not all differences are zero, nor equal
        expected = stats.ttest_rel(a, b, alternative=alternative)
        assert paired_t(a, b, alternative) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)
        expected = stats.wilcoxon(a, b, alternative=alternative)
        assert wilcoxon(a, b, alternative) == pytest.approx((expected.statistic, expected.pvalue))
        wins, n_moved = int((a > b).sum()), int((a != b).sum())
        expected = stats.binomtest(wins, n_moved, 0.5, alternative=alternative)
        assert sign_test(a, b, alternative) == pytest.approx((wins, expected.pvalue))


def _enumerated(d, alternative, statistic):
    """The share of all 2^n signs whose statistic is at least as extreme."""
    observed = statistic(d)
    values = [statistic(np.abs(d) * signs) for signs in itertools.product((-1, 1), repeat=len(d))]
    if alternative == "greater":
        return np.mean([value >= observed - 1e-12 for value in values])
    if alternative == "less":
        return np.mean([value <= observed + 1e-12 for value in values])
    return np.mean([abs(value) >= abs(observed) - 1e-12 for value in values])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_by_enumeration(n, alternative):
    for seed in range(5):
        a, b = _pair(seed, n, ties=seed % 2 == 0)
        d = (a - b)[a != b]
        if not len(d):
            continue
        assert randomisation_test(a, b, alternative).p_value == pytest.approx(_enumerated(d, alternative, np.mean))
        by_signs = _enumerated(np.sign(d), alternative, np.sum)
        assert sign_test(a, b, alternative).p_value == pytest.approx(by_signs)
        if len(d) == n and len({*np.abs(d)}) == n:  # exact: neither zeros nor ties

            def signed_ranks(x):
                return float(np.sign(x) @ stats.rankdata(np.abs(x)))

            assert wilcoxon(a, b, alternative).p_value == pytest.approx(_enumerated(d, alternative, signed_ranks))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sampled_randomisation_agrees_with_scipy(alternative):
    a, b = _pair(1, 40)
    b += 0.05
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(7),
    ).pvalue
    found = randomisation_test(a, b, alternative, n_resamples=20_000)
    assert found.p_value == pytest.approx(expected, abs=0.015)
    assert found == randomisation_test(a, b, alternative, n_resamples=20_000)  # seeded


def test_nothing_differs():
    for test in (paired_t, wilcoxon, sign_test, randomisation_test):
        assert test([1.0, 2.0], [1.0, 2.0]).p_value == 1.0
    assert paired_t([2.0, 3.0], [1.0, 2.0]).p_value == 0.0
    assert paired_t([2.0, 3.0], [1.0, 2.0], "less").p_value == 1.0


def test_swapping_the_runs_swaps_the_tails():
    a, b = _pair(3, 25)
    for test in (paired_t, wilcoxon, sign_test):
        assert test(a, b, "greater").p_value == pytest.approx(test(b, a, "less").p_value)


def test_holm_by_hand():
    # sorted .01 .02 .03 .04 -> 4*.01, 3*.02, 2*.03, 1*.04 made monotone
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert len(holm([])) == 0
    with pytest.raises(ParameterError):
        holm([1.5])


def test_effect():
    a, b = _pair(0, 30)
    found = paired_effect(a, b, 0.9)
    expected = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx(np.mean(a - b))
    assert found.d_z == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))
    assert paired_effect([1.0, 1.0], [1.0, 1.0]).d_z == 0.0
    assert paired_effect([2.0, 2.0], [1.0, 1.0]).d_z == np.inf


def test_bad_arguments():
    with pytest.raises(ParameterError, match="one length"):
        paired_t([1.0], [1.0, 2.0])
    with pytest.raises(ParameterError, match="finite"):
        sign_test([float("nan")], [1.0])
    with pytest.raises(ParameterError, match="two queries"):
        paired_t([1.0], [2.0])
    with pytest.raises(ParameterError, match="alternative is one of"):
        paired_t([1.0, 2.0], [2.0, 1.0], "both")

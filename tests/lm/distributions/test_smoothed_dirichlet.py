import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import beta, betainc

from germane.errors import ParameterError
from germane.lm import JelinekMercer, LanguageModel
from germane.lm.distributions import (
    LogProportions,
    SmoothedDirichlet,
    SmoothedDocuments,
    approximate_log_normaliser,
    exact_log_normaliser,
)

ALPHA = np.array([0.4, 1.2, 2.4])
P_C = np.array([0.2, 0.3, 0.5])
LAM = 0.6
COUNTS = np.array([[5.0, 0, 1], [0, 4, 1], [1, 0, 6], [0, 0, 0], [2, 9, 2]])
some_counts = arrays(np.float64, (8, 3), elements=st.integers(0, 6).map(float))


def smoothed(counts, lam=LAM, p_C=P_C):
    lengths = counts.sum(axis=1, keepdims=True)
    return np.where(lengths > 0, lam * counts / np.maximum(lengths, 1) + (1 - lam) * p_C, p_C)


def test_density_as_printed() -> None:
    """SD (3.25)."""
    S = ALPHA.sum()
    literal = S**S / np.prod(ALPHA**ALPHA) * np.prod(smoothed(COUNTS) ** (ALPHA - 1), axis=1)
    np.testing.assert_allclose(np.exp(SmoothedDirichlet(ALPHA, P_C, LAM).log_density(COUNTS)), literal, rtol=1e-12)


def test_approximate_normaliser() -> None:
    """SD (3.24), and its bounded values where an α_j is 0."""
    assert np.exp(approximate_log_normaliser([0.3, 0.7])) == pytest.approx(0.3**0.3 * 0.7**0.7)
    assert np.exp(approximate_log_normaliser([0.0, 1.0])) == 1.0


@pytest.mark.parametrize("a", [0.05, 0.3, 0.5, 0.99])
def test_exact_normaliser_of_two_words(a) -> None:
    """The incomplete beta function, with the setting of SD figure 3.4(a)."""
    lam, p = 0.2, np.array([0.5, 0.5])
    low, high = 0.8 * 0.5, 1 - 0.8 * 0.5
    expected = beta(a, 1 - a) * (betainc(a, 1 - a, high) - betainc(a, 1 - a, low))
    assert np.exp(exact_log_normaliser([a, 1 - a], p, lam)) == pytest.approx(expected, rel=1e-8)


def test_exact_normaliser_stays_finite_at_the_boundary() -> None:
    """α = (0, 1): ∫ θ⁻¹ dθ from 0.4 to 0.6."""
    assert np.exp(exact_log_normaliser([0.0, 1.0], [0.5, 0.5], 0.2)) == pytest.approx(np.log(0.6 / 0.4), rel=1e-9)


def test_exact_normaliser_is_the_integral_over_the_smoothed_simplex(integral_over_triangle) -> None:
    """SD (3.14) directly, and (3.15) with λ^(V-1): the erratum."""
    exact = np.exp(exact_log_normaliser(ALPHA, P_C, LAM))
    direct = integral_over_triangle(lambda t: np.prod(t ** (ALPHA - 1)), (1 - LAM) * P_C)
    assert exact == pytest.approx(direct, rel=1e-6)
    mapped = integral_over_triangle(lambda t: np.prod((LAM * t + (1 - LAM) * P_C) ** (ALPHA - 1)))
    assert exact == pytest.approx(LAM**2 * mapped, rel=1e-6)


def test_exact_density_integrates_to_one(integral_over_triangle) -> None:
    model = SmoothedDirichlet(ALPHA, P_C, LAM)
    normaliser = exact_log_normaliser(ALPHA, P_C, LAM)
    total = integral_over_triangle(lambda t: np.exp((ALPHA - 1) @ np.log(t) - normaliser), (1 - LAM) * P_C)
    assert total == pytest.approx(1.0, rel=1e-6)
    shift = approximate_log_normaliser(ALPHA) - normaliser
    np.testing.assert_allclose(model.exact_log_density(COUNTS), model.log_density(COUNTS) + shift, rtol=1e-10)


def test_no_smoothing_is_the_dirichlet() -> None:
    """λ → 1: (3.12)."""
    assert exact_log_normaliser([1.5, 2.5], [0.5, 0.5], 1.0) == pytest.approx(np.log(beta(1.5, 2.5)))
    assert exact_log_normaliser([1.5, 2.5], [0.5, 0.5], 1 - 1e-9) == pytest.approx(np.log(beta(1.5, 2.5)), abs=1e-6)


def test_four_words_and_no_more() -> None:
    uniform = exact_log_normaliser(np.ones(4), np.full(4, 0.25), 0.5)
    assert np.exp(uniform) == pytest.approx(0.5**3 / 6, rel=1e-8)
    with pytest.raises(ParameterError, match="at most 4 words"):
        exact_log_normaliser(np.ones(5), np.full(5, 0.2), 0.5)


def test_fit_is_the_geometric_mean() -> None:
    """SD (3.28) on dense models, and `LanguageModel.geometric_mean`, which is (3.33) by another road."""
    weights = np.array([1, 2, 0.5, 3, 1])
    model = SmoothedDirichlet.fit(LogProportions.of(COUNTS, P_C, LAM, weights), S=7.0)
    mean = np.exp(np.average(np.log(smoothed(COUNTS)), axis=0, weights=weights))
    np.testing.assert_allclose(model.alpha, 7 * mean / mean.sum(), rtol=1e-12)
    parts = [JelinekMercer(LAM).model(np.flatnonzero(row), row[row > 0]) for row in COUNTS]
    other = LanguageModel.geometric_mean(parts, weights, P_C).probability(np.arange(3), P_C)
    np.testing.assert_allclose(model.alpha / 7, other, rtol=1e-12)


@pytest.mark.parametrize("S", [0.5, 1.0, 20.0])
def test_fit_is_the_maximum(S) -> None:
    def cost(logs):
        alpha = S * np.exp(logs) / np.exp(logs).sum()
        return -SmoothedDirichlet(alpha, P_C, LAM).log_density(COUNTS).sum()

    best = np.exp(minimize(cost, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).x)
    fitted = SmoothedDirichlet.fit(LogProportions.of(COUNTS, P_C, LAM), S=S)
    np.testing.assert_allclose(fitted.alpha, S * best / best.sum(), rtol=1e-4)


@settings(max_examples=50)
@given(some_counts, st.integers(1, 7), st.permutations(range(3)), st.floats(0.01, 0.99))
def test_merging_and_permutation(counts, cut, order, lam) -> None:
    whole = SmoothedDirichlet.fit(LogProportions.of(counts, P_C, lam))
    merged = LogProportions.of(counts[:cut], P_C, lam) + LogProportions.of(counts[cut:], P_C, lam)
    np.testing.assert_allclose(SmoothedDirichlet.fit(merged).alpha, whole.alpha, rtol=1e-10)
    permuted = SmoothedDirichlet.fit(LogProportions.of(counts[:, order], P_C[order], lam))
    np.testing.assert_allclose(permuted.alpha, whole.alpha[order], rtol=1e-10)
    np.testing.assert_allclose(permuted.log_density(counts[:, order]), whole.log_density(counts), rtol=1e-9, atol=1e-9)


def test_marginal_as_printed() -> None:
    """SD (3.49); for two words it is the density itself."""
    S, a, theta = ALPHA.sum(), ALPHA[1], np.array([0.1, 0.4])
    literal = S**S / (a**a * (S - a) ** (S - a)) * theta ** (a - 1) * (1 - theta) ** (S - a - 1)
    np.testing.assert_allclose(np.exp(SmoothedDirichlet(ALPHA, P_C, LAM).log_marginal(1, theta)), literal)
    two = SmoothedDirichlet([0.4, 2.0], [0.3, 0.7], 0.5)
    at = smoothed(np.array([[1.0, 3.0]]), 0.5, np.array([0.3, 0.7]))[0, 0]
    assert two.log_marginal(0, at) == pytest.approx(two.log_density([[1, 3]])[0])


def test_mass_bound() -> None:
    """SD (7.15) with λ^(V-1), (7.13), and the mass itself by integration over the cell (7.4) for two words."""
    model = SmoothedDirichlet(ALPHA, P_C, LAM)
    lengths = COUNTS.sum(axis=1)
    used = lengths > 0
    literal = np.exp(model.log_density(COUNTS))[used] * LAM**2 / lengths[used] ** 2
    np.testing.assert_allclose(np.exp(model.log_mass_bound(COUNTS))[used], literal, rtol=1e-12)
    assert model.log_mass_bound(COUNTS)[3] == 0.0
    absent = (COUNTS == 0).sum(axis=1)[used]
    edges = np.exp(model.log_mass_bound(COUNTS, at_edges=True))[used]
    np.testing.assert_allclose(edges, literal / 2.0**absent, rtol=1e-12)

    two, n = SmoothedDirichlet([1.0, 1.0], [0.5, 0.5], 0.5), 10  # a uniform density: the bound is exact inside
    cells = np.exp(two.log_mass_bound([[f, n - f] for f in range(n + 1)], at_edges=True))
    assert cells.sum() == pytest.approx(np.exp(two.log_density([[5, 5]])[0]) * 0.5)


def test_longer_documents_have_smaller_masses() -> None:
    model = SmoothedDirichlet(ALPHA, P_C, LAM)
    bounds = model.log_mass_bound([[1, 2, 3], [2, 4, 6], [10, 20, 30]])
    assert (np.diff(bounds) < 0).all()


def test_samples(integral_over_triangle) -> None:
    """Inside the smoothed simplex, with the exact mean of (3.16)."""
    model = SmoothedDirichlet(ALPHA, P_C, LAM)
    drawn = model.sample(4000, random_state=5, sweeps=40)
    least = (1 - LAM) * P_C
    assert (drawn >= least - 1e-12).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    normaliser = exact_log_normaliser(ALPHA, P_C, LAM)

    def moment(function):
        return integral_over_triangle(lambda t: function(t) * np.exp((ALPHA - 1) @ np.log(t) - normaliser), least)

    for j in range(3):
        mean = moment(lambda t, j=j: t[j])
        deviation = np.sqrt(moment(lambda t, j=j: t[j] ** 2) - mean**2)
        assert drawn[:, j].mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(4000))
        assert drawn[:, j].std() == pytest.approx(deviation, rel=0.06)
    np.testing.assert_array_equal(model.sample(3, random_state=1, sweeps=2), model.sample(3, random_state=1, sweeps=2))
    with pytest.raises(ParameterError, match="greater than 0"):
        SmoothedDirichlet([0.0, 1.0], [0.5, 0.5], 0.5).sample(1)


def test_sparse_logs_agree_with_dense() -> None:
    weights = np.array([0.3, -1.0, 2.0])
    expected = np.log(smoothed(COUNTS)) @ weights
    np.testing.assert_allclose(SmoothedDocuments.of(COUNTS, P_C, LAM).weighted_logs(weights), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "p_C", "lam"),
    [
        ([0.0, 0.0, 0.0], P_C, 0.5),
        ([-1.0, 1.0, 1.0], P_C, 0.5),
        ([np.nan, 1.0, 1.0], P_C, 0.5),
        ([1.0, 1.0], P_C, 0.5),
        (ALPHA, [0.5, 0.5, 0.0], 0.5),
        (ALPHA, [0.5, 0.4, 0.2], 0.5),
        (ALPHA, P_C, 0.0),
        (ALPHA, P_C, 1.0),
        (ALPHA, P_C, -0.1),
    ],
)
def test_bad_parameters(alpha, p_C, lam) -> None:
    with pytest.raises(ParameterError):
        SmoothedDirichlet(alpha, p_C, lam)


def test_bad_fits_and_normalisers() -> None:
    statistics = LogProportions.of(COUNTS, P_C, LAM)
    for S in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match="S must be"):
            SmoothedDirichlet.fit(statistics, S=S)
    with pytest.raises(ParameterError, match="greater than 0"):
        exact_log_normaliser(ALPHA, P_C, 0.0)
    with pytest.raises(ParameterError, match="p_C has 3"):
        exact_log_normaliser([1.0, 1.0], P_C, 0.5)

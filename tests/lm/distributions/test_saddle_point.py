"""The exact SD by its saddle point: against quadrature, against the sampler, and what its fit promises."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from germane.errors import ParameterError
from germane.lm.distributions.saddle_point import (
    cut_gammas,
    expected_logs,
    fit_exactly,
    log_query_integral,
    saddle_log_normaliser,
    saddle_point,
)
from germane.lm.distributions.smoothed_dirichlet import (
    SmoothedDirichlet,
    approximate_log_normaliser,
    exact_log_normaliser,
)
from germane.lm.distributions.smoothed_documents import LogProportions


@pytest.mark.parametrize("alpha", [0.0, 1e-4, 0.3, 1.0, 2.0, 7.5, 40.0])
def test_cut_gammas_are_integrals(alpha: float) -> None:
    """log r and the mean beyond x, by quadrature of y^(α-1) e^-y relative to its value at x."""
    for x in (1e-3, 0.5, 1.4, 3.0, 30.0, 500.0):

        def density(w: float, x: float = x) -> float:
            return float(np.exp((alpha - 1.0) * np.log1p(w / x) - w))

        end = 60.0 + 3.0 * alpha
        ends = sorted({0.0, *(x * 10.0**k for k in range(-3, 5) if x * 10.0**k < end), 0.5 * alpha, alpha, end})
        mass, first = (
            sum(quad(lambda w, n=n: density(w) * w**n, low, high, epsrel=1e-11)[0]
                for low, high in pairwise(ends))
            for n in (0, 1)
        )  # fmt: skip
        found = cut_gammas(np.array([alpha]), np.array([x]))
        assert found.log_r[0] == pytest.approx(np.log(x / mass), rel=1e-7, abs=1e-8)
        assert 1.0 - found.delta[0] == pytest.approx(first / mass, rel=1e-6)


@pytest.mark.parametrize("n_words", [2, 3, 4])
def test_the_normaliser_is_the_integral(n_words: int) -> None:
    rng = np.random.default_rng(n_words)
    for lam in (0.01, 0.3, 0.9) if n_words < 4 else (0.3,):
        for size in (0.3, 2.0, 20.0) if n_words < 4 else (2.0,):
            alpha, p_C = rng.gamma(1.0, size, n_words), rng.dirichlet(np.full(n_words, 3.0))
            exact = exact_log_normaliser(alpha, p_C, lam)
            found = saddle_log_normaliser(alpha, p_C, lam)
            assert found == pytest.approx(exact, abs=0.02)
            assert abs(found - exact) < abs(approximate_log_normaliser(alpha) - exact)


def test_without_a_bound_it_is_the_dirichlets() -> None:
    alpha = 1.0 + np.random.default_rng(0).gamma(1.0, 1.0, 200)
    exact = float(gammaln(alpha).sum() - gammaln(alpha.sum()))
    assert saddle_log_normaliser(alpha, np.full(200, 1 / 200), 1.0 - 1e-9) == pytest.approx(exact, abs=1e-3)


def test_means_are_those_of_the_sampler() -> None:
    """E[log θ] of 50 words, within five standard errors of the Gibbs sampler's."""
    rng = np.random.default_rng(7)
    p_C = rng.dirichlet(np.ones(50)) * 0.9 + 0.002
    model = SmoothedDirichlet(rng.gamma(0.7, 3.0, 50), p_C / p_C.sum(), 0.6)
    logs = np.log(model.sample(250, random_state=1, sweeps=60))
    found = expected_logs(model.alpha, model.p_C, model.lam)
    error = logs.std(axis=0) / np.sqrt(len(logs))
    assert (np.abs(found - logs.mean(axis=0)) < 5.0 * error + 2e-3).all()


def test_ratios_of_normalisers_are_means_of_the_sampler() -> None:
    """Z(α+e_w)/Z(α) = E[θ_w], for each of 50 words within five standard errors of the Gibbs sampler's."""
    rng = np.random.default_rng(11)
    p_C = rng.dirichlet(np.ones(50)) * 0.9 + 0.002
    model = SmoothedDirichlet(rng.gamma(0.7, 3.0, 50), p_C / p_C.sum(), 0.6)
    theta = model.sample(250, random_state=2, sweeps=60)
    error = theta.std(axis=0) / np.sqrt(len(theta))
    base = saddle_log_normaliser(model.alpha, model.p_C, model.lam)
    ratios = np.exp([saddle_log_normaliser(model.alpha + e, model.p_C, model.lam) - base for e in np.eye(50)])
    assert ratios.sum() == pytest.approx(1.0, abs=1e-3)
    assert (np.abs(ratios - theta.mean(axis=0)) < 5.0 * error + 1e-4).all()


def test_the_gradient_is_the_means() -> None:
    rng = np.random.default_rng(2)
    alpha, p_C = rng.gamma(1.0, 2.0, 60), rng.dirichlet(np.full(60, 2.0))
    means = expected_logs(alpha, p_C, 0.2)
    for word in (0, 31):
        step = np.zeros(60)
        step[word] = 1e-3
        slope = saddle_log_normaliser(alpha + step, p_C, 0.2) - saddle_log_normaliser(alpha - step, p_C, 0.2)
        assert slope / 2e-3 == pytest.approx(means[word], abs=2e-2)


def test_the_fit_finds_the_parameters() -> None:
    """Documents whose mean logarithms are those of known parameters are fitted by these."""
    rng = np.random.default_rng(3)
    p_C, lam = rng.dirichlet(np.full(40, 5.0)), 0.5
    alpha = rng.gamma(2.0, 10.0, 40)
    means = expected_logs(alpha, p_C, lam)
    statistics = LogProportions(p_C, lam, means - np.log(p_C), 0.0, 1.0)
    np.testing.assert_allclose(fit_exactly(statistics, S=50.0), alpha, rtol=2e-3)


def test_the_fit_is_the_likeliest() -> None:
    """No other α near it, and not SD's own estimate at any S, has a higher exact likelihood; seldom words have 0."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(np.concatenate([np.full(8, 3.0), np.full(22, 0.15)]), (60, 30))
    p_C = (counts.sum(axis=0) + 1.0) / (counts.sum() + 30.0)
    statistics = LogProportions.of(counts, p_C, 0.8)
    fitted = fit_exactly(statistics, S=100.0)
    least = 0.2 * p_C
    ratios = statistics.mean_log - np.log(least)

    def likelihood(alpha: np.ndarray) -> float:
        return float((alpha - 1.0) @ ratios) - saddle_point(alpha, least, 0.8).log_normaliser

    best = likelihood(fitted)
    assert (fitted == 0).any()
    for S in (1.0, 10.0, 100.0, 1000.0):
        assert likelihood(SmoothedDirichlet.fit(statistics, S=S).alpha) < best
    for _ in range(10):
        assert likelihood(fitted * np.exp(rng.normal(0.0, 0.2, 30))) < best + 1e-3


def test_the_integral_of_a_query() -> None:
    """P(Q|D) of three words is the ratio of two exact normalisers."""
    p_C, lam = np.array([0.5, 0.3, 0.2]), 0.7
    for alpha in ([4.0, 2.0, 0.5], [20.0, 30.0, 9.0]):
        for query in ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]):
            a, q = np.array(alpha), np.array(query)
            exact = exact_log_normaliser(a + q, p_C, lam) - exact_log_normaliser(a, p_C, lam)
            assert log_query_integral(a, (1 - lam) * p_C, lam, q) == pytest.approx(exact, abs=0.12)


def test_what_cannot_be_used() -> None:
    with pytest.raises(ParameterError, match="two words"):
        saddle_log_normaliser([1.0, 2.0, 3.0], [0.5, 0.5], 0.5)
    with pytest.raises(ParameterError):
        saddle_log_normaliser([1.0, 2.0], [0.5, 0.5], 1.0)

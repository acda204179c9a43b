import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.optimize import approx_fprime, minimize
from scipy.special import polygamma, psi

from germane.errors import InputError, ParameterError
from germane.lm.distributions import DirichletDistribution, LogProportions, SmoothedDocuments, fit_dirichlet
from germane.lm.distributions.dirichlet import _Likelihood
from germane.lm.distributions.psi import inverse_psi, trigamma

ALPHA = np.array([0.7, 1.2, 2.5])
P_C = np.array([0.2, 0.3, 0.5])
COUNTS = np.array([[5.0, 0, 1], [0, 4, 1], [1, 0, 6], [0, 0, 0], [2, 9, 2]])
some_counts = arrays(np.float64, (8, 3), elements=st.integers(0, 6).map(float))


def smoothed(counts, lam):
    """SD (2.1), dense and literal; an empty document is p_C."""
    lengths = counts.sum(axis=1, keepdims=True)
    return np.where(lengths > 0, lam * counts / np.maximum(lengths, 1) + (1 - lam) * P_C, P_C)


def test_agrees_with_scipy_and_integrates_to_one(integral_over_triangle) -> None:
    theta = np.array([[0.2, 0.3, 0.5], [0.01, 0.98, 0.01]])
    np.testing.assert_allclose(
        DirichletDistribution(ALPHA).log_density(theta), [stats.dirichlet.logpdf(t, ALPHA) for t in theta]
    )
    model = DirichletDistribution([1.5, 2.0, 3.0])
    assert integral_over_triangle(
        lambda t: np.exp(stats.dirichlet.logpdf(t, model.alpha)) if (t > 0).all() else 0.0
    ) == pytest.approx(1, rel=1e-5)


def test_smoothed_documents_stay_sparse_and_agree() -> None:
    documents = SmoothedDocuments.of(COUNTS, P_C, 0.6)
    model = DirichletDistribution(ALPHA)
    np.testing.assert_allclose(model.log_density(documents), model.log_density(smoothed(COUNTS, 0.6)), rtol=1e-12)
    with pytest.raises(InputError, match="3 words"):
        DirichletDistribution([1.0, 2.0]).log_density(documents)


def test_mean_logarithms() -> None:
    weights = np.array([1, 2, 0.5, 3, 1])
    statistics = LogProportions.of(COUNTS, P_C, 0.6, weights)
    literal = np.average(np.log(smoothed(COUNTS, 0.6)), axis=0, weights=weights)
    np.testing.assert_allclose(statistics.mean_log, literal, rtol=1e-12)
    with pytest.raises(InputError, match="no document"):
        _ = LogProportions.of(COUNTS, P_C, 0.6, np.zeros(5)).mean_log


def test_trigamma() -> None:
    x = np.logspace(-12, 12, 10_000)
    np.testing.assert_allclose(trigamma(x), polygamma(1, x), rtol=1e-14)
    assert trigamma(1.0) == pytest.approx(np.pi**2 / 6, rel=1e-15)
    assert trigamma(x[:6].reshape(2, 3)).shape == (2, 3)


def test_inverse_psi() -> None:
    x = np.logspace(-8, 8, 60)
    np.testing.assert_allclose(inverse_psi(psi(x)), x, rtol=1e-8)


def test_gradient_and_curvature() -> None:
    likelihood = _Likelihood(np.log([0.15, 0.2, 0.4]), 3.0)
    at = likelihood.derivatives(ALPHA)
    np.testing.assert_allclose(at.g, approx_fprime(ALPHA, likelihood.log_likelihood, 1e-7), rtol=1e-5)
    hessian = approx_fprime(ALPHA, lambda a: likelihood.derivatives(a).g, 1e-7)
    np.testing.assert_allclose(np.diag(at.q) + at.z, hessian, rtol=1e-5)


def test_against_a_general_optimiser() -> None:
    t = np.log(smoothed(COUNTS, 0.8)).mean(axis=0)

    def cost(logs, S=None):
        alpha = np.exp(logs)
        return -_Likelihood(t, 1.0).log_likelihood(alpha if S is None else S * alpha / alpha.sum())

    free = np.exp(minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-7}).x)
    np.testing.assert_allclose(fit_dirichlet(t).alpha, free, rtol=1e-4)
    for S in (0.2, 400.0):
        fixed = np.exp(
            minimize(
                cost,
                np.zeros(3),
                args=(S,),
                method="Nelder-Mead",
                options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
            ).x
        )
        fit = fit_dirichlet(t, S=S)
        np.testing.assert_allclose(fit.alpha, S * fixed / fixed.sum(), rtol=1e-3)
        assert pytest.approx(S) == fit.S


def test_moments_match_at_the_optimum() -> None:
    """The gradient is 0: ψ(α_j) - ψ(S) = t_j; for a given S, up to a constant."""
    t = np.log(smoothed(COUNTS, 0.8)).mean(axis=0)
    free, fixed = fit_dirichlet(t), fit_dirichlet(t, S=7.0)
    np.testing.assert_allclose(psi(free.alpha) - psi(free.S), t, rtol=1e-5)
    assert np.ptp(psi(fixed.alpha) - t) < 1e-5


def test_the_trace_is_the_log_likelihood() -> None:
    statistics = LogProportions.of(COUNTS, P_C, 0.6)
    fit = fit_dirichlet(statistics.mean_log, weight=statistics.weight)
    model = DirichletDistribution.fit(statistics)
    np.testing.assert_array_equal(model.alpha, fit.alpha)
    assert fit.log_likelihoods[-1] == pytest.approx(model.log_density(SmoothedDocuments.of(COUNTS, P_C, 0.6)).sum())


@settings(max_examples=40, deadline=None)
@given(some_counts, st.floats(0.05, 0.95), st.one_of(st.none(), st.floats(1e-2, 1e4)), st.integers(1, 7))
def test_never_falls_and_merges(counts, lam, S, cut) -> None:
    counts[0], counts[1] = [1, 0, 0], [0, 1, 0]  # two different documents, so that S has a maximum
    whole = LogProportions.of(counts, P_C, lam)
    merged = LogProportions.of(counts[:cut], P_C, lam) + LogProportions.of(counts[cut:], P_C, lam)
    np.testing.assert_allclose(merged.mean_log, whole.mean_log, rtol=1e-12)
    fit = fit_dirichlet(whole.mean_log, S=S)
    assert (np.diff(fit.log_likelihoods) >= 0).all()
    order = [2, 0, 1]
    np.testing.assert_allclose(fit_dirichlet(merged.mean_log[order], S=S).alpha, fit.alpha[order], rtol=1e-3)


@pytest.mark.parametrize(("V", "S"), [(10, 5.0), (100, 40.0)])
def test_recovers_known_parameters(V, S) -> None:
    """20,000 sampled θ: S within 2%, and the mean's components within 2% on the average by their size."""
    rng = np.random.default_rng(V)
    mean = rng.dirichlet(np.full(V, 2.0))
    mean = (mean + 0.1 / V) / 1.1
    t = np.log(DirichletDistribution(S * mean).sample(20_000, random_state=rng)).mean(axis=0)
    free, fixed = fit_dirichlet(t, weight=20_000), fit_dirichlet(t, S=S)
    assert pytest.approx(S, rel=0.02) == free.S
    for fit in (free, fixed):
        assert np.abs(fit.alpha / fit.S - mean).sum() < 0.02
        assert (np.diff(fit.log_likelihoods) >= 0).all()


def test_beta_marginal() -> None:
    """SD (3.48)."""
    theta = np.array([0.01, 0.3, 0.9])
    model = DirichletDistribution(ALPHA)
    np.testing.assert_allclose(model.log_marginal(1, theta), stats.beta.logpdf(theta, 1.2, 3.2))
    assert model.log_marginal(np.arange(3)[:, None], theta).shape == (3, 3)
    with pytest.raises(ParameterError, match="strictly between"):
        model.log_marginal(0, [0.0])


def test_samples() -> None:
    drawn = DirichletDistribution(ALPHA).sample(20_000, random_state=1)
    expected = stats.dirichlet(ALPHA)
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    np.testing.assert_allclose(drawn.mean(axis=0), expected.mean(), atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.T), expected.cov(), atol=0.005)
    tiny = DirichletDistribution(np.full(5, 1e-9)).sample(100, random_state=1)
    np.testing.assert_allclose(tiny.max(axis=1), 1)
    assert DirichletDistribution(ALPHA).sample(0).shape == (0, 3)


@pytest.mark.parametrize("alpha", [[0.0, 1.0], [1.0], [-1.0, 2.0], [np.nan, 1.0]])
def test_bad_alpha(alpha) -> None:
    with pytest.raises(ParameterError):
        DirichletDistribution(alpha)


@pytest.mark.parametrize("theta", [[0.5, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 0.5], [np.nan, 0.5, 0.5]])
def test_bad_theta(theta) -> None:
    with pytest.raises(InputError):
        DirichletDistribution(ALPHA).log_density(theta)


@pytest.mark.parametrize("t", [[-1.0], [[-1.0, -2.0]], [-np.inf, -1.0], [np.nan, -1.0], [0.5, -1.0], [-0.1, -0.1]])
def test_bad_mean_logarithms(t) -> None:
    with pytest.raises(InputError):
        fit_dirichlet(t)


def test_equal_documents_have_no_S() -> None:
    with pytest.raises(InputError, match="give S"):
        fit_dirichlet(np.log(P_C))
    fit = fit_dirichlet(np.log(P_C), S=1000.0)
    np.testing.assert_allclose(fit.alpha / 1000, P_C, rtol=0.01)
    for S in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match="S must be"):
            fit_dirichlet([-1.0, -2.0], S=S)


@pytest.mark.parametrize(
    ("p_C", "lam"), [([0.5, 0.5, 0.0], 0.5), ([0.5, 0.6, 0.1], 0.5), (P_C, 0.0), (P_C, 1.0), (P_C, np.nan)]
)
def test_bad_smoothing(p_C, lam) -> None:
    with pytest.raises(ParameterError):
        SmoothedDocuments.of(COUNTS, p_C, lam)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array
from scipy.special import gamma

from germane.errors import InputError, ParameterError
from germane.lm.distributions import DCM, DCMFit, DCMStatistics, Multinomial, fit_dcm
from germane.lm.distributions.dcm import _Likelihood, log_rising, log_rising_curvature, log_rising_slope

ALPHA = np.array([0.3, 1.2, 2.5])
COUNTS = np.array([[5.0, 0, 1, 0], [0, 4, 1, 0], [1, 0, 6, 0], [3, 0, 0, 0], [0, 0, 0, 0], [2, 9, 2, 0]])
some_counts = arrays(np.float64, (8, 4), elements=st.integers(0, 6).map(float)).filter(lambda x: x.sum() > 0)


@pytest.mark.parametrize("a", [1e-8, 0.3, 1.0, 7.0, 999.9, 1000.1, 1e5, 1e9])
@pytest.mark.parametrize("f", [0, 1, 2, 17])
def test_rising_factorial(a, f) -> None:
    """The sums over k < f, written out, on both sides of the change to the series."""
    k = np.arange(f)
    at, times = np.array(a), np.array(float(f))
    assert log_rising(at, times) == pytest.approx(np.log(a + k).sum(), rel=1e-9, abs=1e-12)
    assert log_rising_slope(at, times) == pytest.approx((1 / (a + k)).sum(), rel=1e-9)
    assert log_rising_curvature(at, times) == pytest.approx(-(1 / (a + k) ** 2).sum(), rel=1e-8)


def test_mass_sums_to_one_and_agrees_with_scipy(all_documents) -> None:
    documents = all_documents(3, 6)
    logs = DCM(ALPHA).log_density(documents)
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(logs, stats.dirichlet_multinomial(ALPHA, 6).logpmf(documents), rtol=1e-11)


def test_words_in_order() -> None:
    """SD (3.2) as printed."""
    f = np.array([2.0, 0, 3])
    literal = gamma(ALPHA.sum()) / gamma(ALPHA).prod() * gamma(ALPHA + f).prod() / gamma((ALPHA + f).sum())
    assert DCM(ALPHA).log_density([f], coefficient=False)[0] == pytest.approx(np.log(literal))


def test_a_large_S_is_the_multinomial() -> None:
    theta = np.array([0.2, 0.3, 0.5])
    documents = [[3, 0, 4], [1, 1, 1]]
    expected = Multinomial(theta).log_density(documents)
    np.testing.assert_allclose(DCM(1e10 * theta).log_density(documents), expected, rtol=1e-8)


def test_impossible_and_empty_documents() -> None:
    logs = DCM([0.0, 1.0, 1.0]).log_density([[1, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert logs.tolist() == [-np.inf, 0.0, pytest.approx(np.log(0.5))]


def test_beta_binomial_marginal(all_documents) -> None:
    """SD (3.44), corrected: against SciPy, and against the sum over all documents."""
    model, f = DCM(ALPHA), np.arange(7)
    np.testing.assert_allclose(model.log_marginal(0, f, 6), stats.betabinom.logpmf(f, 6, 0.3, 3.7), rtol=1e-10)
    documents = all_documents(3, 6)
    mass = np.exp(model.log_density(documents))
    summed = [mass[documents[:, 1] == times].sum() for times in f]
    np.testing.assert_allclose(np.exp(model.log_marginal(1, f, 6)), summed, rtol=1e-10)
    assert np.exp(DCM([0.0, 1.0]).log_marginal(0, np.arange(3), 2)).tolist() == [1.0, 0.0, 0.0]
    assert np.exp(DCM([0.0, 1.0]).log_marginal(1, np.arange(3), 2)).tolist() == [0.0, 0.0, 1.0]


def test_gradient_and_curvature() -> None:
    statistics = DCMStatistics.of(COUNTS[:, :3], [1, 2, 0.5, 1, 1, 3])
    _, places = np.unique(statistics.words, return_inverse=True)
    likelihood = _Likelihood(statistics, places, 3)
    at = likelihood.derivatives(ALPHA)
    np.testing.assert_allclose(at.g, approx_fprime(ALPHA, likelihood.log_likelihood, 1e-7), rtol=1e-4)
    hessian = approx_fprime(ALPHA, lambda a: likelihood.derivatives(a).g, 1e-7)
    np.testing.assert_allclose(np.diag(at.q) + at.z, hessian, rtol=1e-4, atol=1e-4)


def test_the_trace_is_the_log_likelihood() -> None:
    weights = np.array([1, 2, 0.5, 1, 1, 3])
    for S in (None, 3.0):
        fit = fit_dcm(COUNTS, S=S, sample_weight=weights)
        assert fit.log_likelihoods[-1] == pytest.approx(weights @ DCM(fit.alpha).log_density(COUNTS, coefficient=False))
        assert pytest.approx(fit.alpha.sum()) == fit.S


def test_against_a_general_optimiser() -> None:
    counts = DCM(ALPHA).sample(np.full(200, 15), random_state=0).toarray()

    def cost(logs, S=None):
        alpha = np.exp(logs)
        return -DCM(alpha if S is None else S * alpha / alpha.sum()).log_density(counts, coefficient=False).sum()

    free = minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-5})
    np.testing.assert_allclose(fit_dcm(counts).alpha, np.exp(free.x), rtol=1e-4)
    for S in (0.5, 30.0):
        fixed = np.exp(minimize(cost, np.zeros(3), args=(S,), method="BFGS", options={"gtol": 1e-5}).x)
        np.testing.assert_allclose(fit_dcm(counts, S=S).alpha, S * fixed / fixed.sum(), rtol=1e-4)


def test_unseen_words_get_nothing() -> None:
    for S in (None, 2.0):
        fit = fit_dcm(COUNTS, S=S)
        assert fit.alpha[3] == 0
        assert (fit.alpha[:3] > 0).all()
    assert pytest.approx(2.0) == fit.S


@settings(max_examples=30, deadline=None)
@given(some_counts, arrays(np.float64, 8, elements=st.floats(0.1, 5)), st.permutations(range(4)), st.integers(1, 7))
def test_merging_and_permutation(counts, weights, order, cut) -> None:
    whole = DCMStatistics.of(counts, weights)
    merged = DCMStatistics.of(counts[:cut], weights[:cut]) + DCMStatistics.of(counts[cut:], weights[cut:])
    for name in ("words", "values", "weights", "lengths", "length_weights"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)
    fit = fit_dcm(whole, S=4.0)
    np.testing.assert_allclose(
        fit_dcm(counts[:, order], S=4.0, sample_weight=weights).alpha, fit.alpha[order], rtol=1e-3, atol=1e-6
    )
    np.testing.assert_allclose(DCM.fit(merged, S=4.0).alpha, fit.alpha, rtol=1e-3, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(some_counts, st.one_of(st.none(), st.floats(1e-2, 1e4)))
def test_the_likelihood_never_falls(counts, S) -> None:
    """Whatever the documents: one word only, all alike, one document, under-dispersed."""
    fit = fit_dcm(counts, S=S)
    assert (np.diff(fit.log_likelihoods) >= 0).all()
    assert np.isfinite(fit.alpha).all()
    assert (fit.alpha >= 0).all()


def test_a_repeated_document_is_a_weight() -> None:
    repeated = np.repeat(COUNTS, [1, 2, 3, 1, 1, 2], axis=0)
    np.testing.assert_allclose(
        fit_dcm(repeated).alpha, fit_dcm(COUNTS, sample_weight=[1, 2, 3, 1, 1, 2]).alpha, rtol=1e-8
    )
    np.testing.assert_allclose(fit_dcm(COUNTS[:4]).alpha, fit_dcm(COUNTS, sample_weight=[1, 1, 1, 1, 9, 0]).alpha)


def test_no_burstiness() -> None:
    """Multinomial documents: S grows until the likelihood is flat, and the mean is theirs."""
    counts = np.array([[5.0, 5.0], [5.0, 5.0], [4.0, 6.0]])
    fit = fit_dcm(counts)
    assert fit.S > 1e3
    np.testing.assert_allclose(fit.alpha / fit.S, [14 / 30, 16 / 30], rtol=1e-3)


def test_documents_of_one_word_say_nothing_of_S() -> None:
    fit = fit_dcm(np.eye(3)[[0, 0, 1, 2]])
    np.testing.assert_allclose(fit.alpha / fit.S, [0.5, 0.25, 0.25], rtol=1e-6)


@pytest.mark.parametrize(("V", "S"), [(10, 5.0), (100, 40.0)])
def test_recovers_known_parameters(V, S) -> None:
    """20,000 sampled documents: S within 2%, and the mean's components within 2% on the average by their size."""
    rng = np.random.default_rng(V)
    mean = rng.dirichlet(np.full(V, 2.0))
    counts = DCM(S * mean).sample(rng.poisson(80, size=20_000), random_state=rng)
    free, fixed = fit_dcm(counts), fit_dcm(counts, S=S)
    assert pytest.approx(S, rel=0.02) == free.S
    for fit in (free, fixed):
        assert isinstance(fit, DCMFit)
        assert np.abs(fit.alpha / fit.S - mean).sum() < 0.02
        assert (np.diff(fit.log_likelihoods) >= 0).all()
        assert fit.log_likelihoods[-1] >= DCM(S * mean).log_density(counts, coefficient=False).sum()


def test_samples() -> None:
    """Mean n·m and covariance n(n+S)/(1+S)·(diag m - m mᵀ); a tiny α gives one word over and over."""
    drawn = DCM(ALPHA).sample(np.full(20_000, 8), random_state=2)
    assert isinstance(drawn, csr_array)
    expected = stats.dirichlet_multinomial(ALPHA, 8)
    dense = drawn.toarray()
    assert (dense.sum(axis=1) == 8).all()
    np.testing.assert_allclose(dense.mean(axis=0), expected.mean(), atol=0.08)
    np.testing.assert_allclose(np.cov(dense.T), expected.cov(), atol=0.25)
    shares = np.bincount(dense[:, 1].astype(int), minlength=9) / 20_000
    np.testing.assert_allclose(shares, np.exp(DCM(ALPHA).log_marginal(1, np.arange(9), 8)), atol=0.015)
    bursty = DCM(np.full(1000, 1e-12)).sample([50, 0, 20], random_state=0)
    assert np.diff(bursty.indptr).tolist() == [1, 0, 1]
    np.testing.assert_array_equal(
        DCM(ALPHA).sample([5, 9], random_state=7).toarray(), DCM(ALPHA).sample([5, 9], random_state=7).toarray()
    )


@pytest.mark.parametrize("alpha", [[0.0, 0.0], [1.0], [-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [[1.0, 2.0]], []])
def test_bad_alpha(alpha) -> None:
    with pytest.raises(ParameterError):
        DCM(alpha)


def test_bad_fits() -> None:
    for counts in (np.zeros((3, 2)), np.zeros((0, 2))):
        with pytest.raises(InputError, match="no document with words"):
            fit_dcm(counts)
    with pytest.raises(InputError, match="no document with words"):
        fit_dcm(COUNTS, sample_weight=np.zeros(6))
    for S in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ParameterError, match="S must be"):
            fit_dcm(COUNTS, S=S)
    with pytest.raises(ParameterError, match="max_iter"):
        fit_dcm(COUNTS, max_iter=0)
    with pytest.raises(ParameterError, match="tol"):
        fit_dcm(COUNTS, tol=0.0)
    with pytest.raises(InputError, match="carry their weights"):
        fit_dcm(DCMStatistics.of(COUNTS), sample_weight=[1.0])
    with pytest.raises(ParameterError, match="len_d"):
        DCM(ALPHA).sample([-1])


def test_slow_cases_end() -> None:
    """Documents little burstier than a multinomial: the fixed point alone creeps for hundreds of iterations."""
    counts = [
        [5, 3, 3, 5],
        [1, 0, 1, 2],
        [4, 3, 1, 3],
        [3, 5, 3, 5],
        [5, 0, 0, 3],
        [2, 3, 4, 1],
        [0, 4, 0, 5],
        [0, 4, 4, 1],
    ]
    fit = fit_dcm(counts)
    assert fit.log_likelihoods.size < 30
    statistics = DCMStatistics.of(counts)
    _, places = np.unique(statistics.words, return_inverse=True)
    gradient = _Likelihood(statistics, places, 4).derivatives(fit.alpha).g
    np.testing.assert_allclose(gradient * fit.alpha, 0, atol=1e-4)

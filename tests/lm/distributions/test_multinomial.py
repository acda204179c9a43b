import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from germane.errors import InputError, ParameterError
from germane.lm import MLE, Dirichlet, JelinekMercer, Laplace, perplexity
from germane.lm.distributions import CountStatistics, Multinomial, MultipleBernoulli, TwoPoisson, document_perplexity

COUNTS = np.array([[2.0, 0, 1, 0], [0, 4, 1, 0], [1, 1, 1, 0]])
P_C = np.array([0.1, 0.2, 0.3, 0.4])
some_counts = arrays(np.float64, (6, 4), elements=st.integers(0, 5).map(float))


def test_mass_sums_to_one_and_agrees_with_scipy(all_documents) -> None:
    documents = all_documents(4, 5)
    logs = Multinomial(P_C).log_density(documents)
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(logs, stats.multinomial(5, P_C).logpmf(documents), rtol=1e-12)


def test_words_in_order() -> None:
    logs = Multinomial(P_C).log_density(COUNTS, coefficient=False)
    np.testing.assert_allclose(logs, COUNTS @ np.log(P_C))
    np.testing.assert_allclose(document_perplexity(logs[:1], [3]), perplexity(COUNTS[0] / 3, P_C))


def test_impossible_and_empty_documents() -> None:
    model = Multinomial([0.5, 0.5, 0.0])
    assert model.log_density([[0, 0, 1], [0, 0, 0], [1, 0, 0]]).tolist() == [-np.inf, 0.0, pytest.approx(np.log(0.5))]


def test_fits() -> None:
    """(1.7), add-δ, (2.1) and (5.33), written out."""
    statistics = CountStatistics.of(COUNTS)
    cf = COUNTS.sum(axis=0)
    np.testing.assert_allclose(Multinomial.fit(statistics).theta, cf / 11)
    np.testing.assert_allclose(Multinomial.fit(statistics, MLE()).theta, cf / 11)
    np.testing.assert_allclose(Multinomial.fit(statistics, Laplace(0.5)).theta, (cf + 0.5) / 13)
    np.testing.assert_allclose(Multinomial.fit(statistics, JelinekMercer(0.7), P_C).theta, 0.7 * cf / 11 + 0.3 * P_C)
    np.testing.assert_allclose(Multinomial.fit(statistics, Dirichlet(5.0), P_C).theta, (cf + 5 * P_C) / 16)


def test_the_fit_is_the_maximum() -> None:
    fitted = Multinomial.fit(CountStatistics.of(COUNTS))
    best = fitted.log_density(COUNTS).sum()
    rng = np.random.default_rng(0)
    for theta in rng.dirichlet(50 * (fitted.theta + 0.01), size=50):
        assert Multinomial(theta).log_density(COUNTS).sum() < best


def test_fit_without_words() -> None:
    nothing = CountStatistics.of(np.zeros((2, 4)))
    np.testing.assert_allclose(Multinomial.fit(nothing, Laplace(1.0)).theta, 0.25)
    np.testing.assert_allclose(Multinomial.fit(nothing, JelinekMercer(0.5), P_C).theta, P_C)
    with pytest.raises(InputError, match="no words"):
        Multinomial.fit(nothing)
    with pytest.raises(ParameterError, match="p_C"):
        Multinomial.fit(CountStatistics.of(COUNTS), JelinekMercer(0.5))


@given(some_counts, arrays(np.float64, 6, elements=st.floats(0.1, 5)), st.permutations(range(4)))
def test_merging_weights_and_permutation(counts, weights, order) -> None:
    whole = CountStatistics.of(counts, weights)
    merged = CountStatistics.of(counts[:2], weights[:2]) + CountStatistics.of(counts[2:], weights[2:])
    for name in ("cf", "df", "n_docs"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)
    permuted = CountStatistics.of(counts[:, order], weights)
    for fit in (lambda s: Multinomial.fit(s, Laplace(0.1)).theta, lambda s: MultipleBernoulli.fit(s, 0.1).beta):
        np.testing.assert_allclose(fit(permuted), fit(whole)[order], rtol=1e-12)
        np.testing.assert_allclose(fit(merged), fit(whole), rtol=1e-12)


def test_binomial_marginal(all_documents) -> None:
    """SD (3.43): against SciPy, and against the sum over all documents."""
    model, f = Multinomial(P_C), np.arange(6)
    np.testing.assert_allclose(model.log_marginal(1, f, 5), stats.binom.logpmf(f, 5, 0.2), rtol=1e-12)
    documents = all_documents(4, 5)
    mass = np.exp(model.log_density(documents))
    summed = [mass[documents[:, 2] == times].sum() for times in f]
    np.testing.assert_allclose(np.exp(model.log_marginal(2, f, 5)), summed, rtol=1e-10)
    assert model.log_marginal(np.arange(4)[:, None], f, 5).shape == (4, 6)
    with pytest.raises(ParameterError, match="larger than the length"):
        model.log_marginal(0, 6, 5)
    with pytest.raises(ParameterError, match="outside the vocabulary"):
        model.log_marginal(4, 1, 5)


def test_samples() -> None:
    lengths = np.array([0, 1, 20_000, 3])
    drawn = Multinomial([0.0, 0.25, 0.75, 0.0]).sample(lengths, random_state=1)
    np.testing.assert_array_equal(drawn.sum(axis=1), lengths)
    dense = drawn.toarray()
    assert (dense[:, [0, 3]] == 0).all()
    assert dense[2, 1] / 20_000 == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 20_000))
    again = Multinomial([0.0, 0.25, 0.75, 0.0]).sample(lengths, random_state=1)
    np.testing.assert_array_equal(again.toarray(), dense)


@pytest.mark.parametrize("theta", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [[0.5, 0.5]]])
def test_bad_theta(theta) -> None:
    with pytest.raises(ParameterError):
        Multinomial(theta)


class TestMultipleBernoulli:
    BETA = np.array([0.2, 0.5, 0.9])
    EVERY = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)

    def test_literal(self) -> None:
        """SD (1.12), and the eight documents sum to 1."""
        literal = np.prod(self.BETA**self.EVERY * (1 - self.BETA) ** (1 - self.EVERY), axis=1)
        logs = MultipleBernoulli(self.BETA).log_density(self.EVERY * 3)
        np.testing.assert_allclose(np.exp(logs), literal, rtol=1e-12)
        assert np.exp(logs).sum() == pytest.approx(1.0)

    def test_certain_words(self) -> None:
        logs = MultipleBernoulli([0.0, 0.5, 1.0]).log_density(self.EVERY)
        possible = (self.EVERY[:, 0] == 0) & (self.EVERY[:, 2] == 1)
        np.testing.assert_allclose(np.exp(logs), np.where(possible, 0.5, 0.0))

    def test_ratio(self) -> None:
        """SD (1.13), written out."""
        beta_N = np.array([0.3, 0.1, 0.6])
        x = self.EVERY
        literal = np.prod((self.BETA / beta_N) ** x * ((1 - self.BETA) / (1 - beta_N)) ** (1 - x), axis=1)
        ratio = MultipleBernoulli(self.BETA).log_ratio(MultipleBernoulli(beta_N), x)
        np.testing.assert_allclose(ratio, np.log(literal), rtol=1e-10)

    def test_fit(self) -> None:
        statistics = CountStatistics.of(COUNTS)
        np.testing.assert_allclose(MultipleBernoulli.fit(statistics).beta, [2 / 3, 2 / 3, 1, 0])
        np.testing.assert_allclose(MultipleBernoulli.fit(statistics, 1.0).beta, [3 / 5, 3 / 5, 4 / 5, 1 / 5])
        np.testing.assert_allclose(MultipleBernoulli.fit(CountStatistics.of(np.zeros((0, 2))), 1.0).beta, 0.5)
        with pytest.raises(InputError, match="no document"):
            MultipleBernoulli.fit(CountStatistics.of(np.zeros((0, 2))))
        with pytest.raises(ParameterError):
            MultipleBernoulli.fit(statistics, -1.0)

    def test_samples(self) -> None:
        drawn = MultipleBernoulli(self.BETA).sample(4000, random_state=0)
        assert set(drawn.data) == {1.0}
        np.testing.assert_allclose(drawn.mean(axis=0), self.BETA, atol=0.03)
        assert MultipleBernoulli(self.BETA).sample(0).shape == (0, 3)

    @pytest.mark.parametrize("beta", [[1.5], [-0.1], [np.nan], []])
    def test_bad_beta(self, beta) -> None:
        with pytest.raises(ParameterError):
            MultipleBernoulli(beta)


class TestTwoPoisson:
    MODEL = TwoPoisson([0.3, 0.0, 1.0], [4.0, 2.0, 1.5], [0.2, 0.5, 0.0])

    def test_literal(self) -> None:
        """SD (1.14), written out, also where p is 0 or 1 and a mean is 0."""
        f = np.array([[0.0, 0, 0], [3, 1, 2], [0, 5, 0]])
        p, elite, other = self.MODEL.elite_share, self.MODEL.elite_mean, self.MODEL.other_mean
        literal = (p * stats.poisson.pmf(f, elite) + (1 - p) * stats.poisson.pmf(f, other)).prod(axis=1)
        np.testing.assert_allclose(np.exp(self.MODEL.log_density(f)), literal, rtol=1e-12)

    def test_sums_to_one(self) -> None:
        f = np.stack(np.meshgrid(np.arange(40), np.arange(25)), axis=-1).reshape(-1, 2)
        model = TwoPoisson([0.3, 0.6], [4.0, 2.0], [0.2, 0.5])
        assert np.exp(model.log_density(f)).sum() == pytest.approx(1.0, abs=1e-12)

    def test_samples(self) -> None:
        drawn = self.MODEL.sample(4000, random_state=3).toarray()
        means = np.array([0.3 * 4 + 0.7 * 0.2, 0.5, 1.5])
        np.testing.assert_allclose(drawn.mean(axis=0), means, atol=0.12)
        between = 0.3 * 0.7 * 3.8**2
        assert drawn[:, 0].var() == pytest.approx(means[0] + between, rel=0.1)

    @pytest.mark.parametrize(
        "parameters",
        [([0.5], [1.0, 2.0], [1.0]), ([1.5], [1.0], [1.0]), ([0.5], [-1.0], [1.0]), ([0.5], [1.0], [np.nan])],
    )
    def test_bad_parameters(self, parameters) -> None:
        with pytest.raises(ParameterError):
            TwoPoisson(*parameters)


def test_two_poisson_marginals_are_checked() -> None:
    model = TwoPoisson([0.5, 0.5], [3.0, 1.0], [0.1, 0.2])
    assert model.log_marginal(0, [[0], [1]]).shape == (2, 1)
    with pytest.raises(ParameterError, match="word id 5"):
        model.log_marginal(5, 1)
    with pytest.raises(ParameterError, match="not negative"):
        model.log_marginal(0, -1)

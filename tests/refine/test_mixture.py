"""Naive Bayes and EM: the formulas multiplied out, the likelihood that never falls, the marks that stay."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from germane.errors import ParameterError
from germane.refine.em import COOLINGS, EM, SAEM, NaiveBayes, temperatures
from germane.refine.mixture import fit_mixture
from germane.refine.multi_mixture import MultiMixtureAIB, MultiMixtureKL, MultiMixtureRandom
from germane.refine.weighting import ResultList

COUNTS = np.array(
    [[2, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 2, 1, 0], [0, 1, 0, 2, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
)
LABELS = np.array([1, 1, 0, 0, -1, -1], np.int8)


def literal_posteriors(N: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Refine (7), (8) and (9) as printed: sums and products, no logarithms."""
    n_docs, V = N.shape
    p = np.array([[float(label == c) for c in (0, 1)] for label in labels])
    marked = [i for i in range(n_docs) if labels[i] >= 0]
    theta, prior = np.zeros((2, V)), np.zeros(2)
    for c in (0, 1):
        total = sum(N[i, s] * p[i, c] for s in range(V) for i in marked)
        for t in range(V):
            theta[c, t] = (1 + sum(N[i, t] * p[i, c] for i in marked)) / (V + total)
        prior[c] = (1 + sum(p[i, c] for i in marked)) / (2 + len(marked))
    posterior = np.zeros((n_docs, 2))
    for i in range(n_docs):
        for c in (0, 1):
            product = prior[c]
            for t in range(V):
                product *= theta[c, t] ** N[i, t]
            posterior[i, c] = product
    return posterior / posterior.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", ["counts", "tfidf"])
def test_naive_bayes_is_the_formula(weights: str) -> None:
    results = ResultList(COUNTS)
    N = results.weighted(weights).toarray()
    posterior = literal_posteriors(N, LABELS)
    refined = NaiveBayes(weights=weights).refine(results, LABELS)
    assert_allclose(refined.log_odds, np.log(posterior[:, 1] / posterior[:, 0]), atol=1e-12)


def test_the_weights_of_the_paper() -> None:
    results = ResultList(COUNTS)
    df = [3, 3, 3, 2, 0]
    for i in range(6):
        for w in range(5):
            expected = COUNTS[i, w] * log(6 / df[w]) if COUNTS[i, w] else 0.0
            assert results.weights[i, w] == pytest.approx(expected)
    lengths = np.sqrt(np.asarray(results.unit.multiply(results.unit).sum(axis=1)).ravel())
    assert_allclose(lengths, [1, 1, 1, 1, 1, 0])


def test_naive_bayes_is_em_without_iterations(example) -> None:
    assert_allclose(
        EM(iterations=0).refine(*example).log_odds, NaiveBayes().refine(*example).log_odds, rtol=1e-12, atol=1e-12
    )


def literal_em(N: np.ndarray, labels: np.ndarray, lam: float, T: list[float]) -> np.ndarray:
    """Log-odds after E (15) and M (7), (8) steps with loops; small lists only, so nothing underflows."""
    n, V = N.shape
    h = np.array([[float(label == c) for c in (0, 1)] for label in labels])
    weight = np.where(labels >= 0, 1.0, lam)
    for temperature in [None, *T]:
        if temperature is not None:
            for i in range(n):
                if labels[i] < 0:
                    part = [prior[c] * np.prod(theta[c] ** N[i]) ** (1 / temperature) for c in (0, 1)]  # noqa: F821
                    h[i] = np.array(part) / sum(part)
        mass = h * weight[:, None]
        theta = np.array([(1 + mass[:, c] @ N) / (V + (mass[:, c] @ N).sum()) for c in (0, 1)])
        prior = (1 + mass.sum(0)) / (2 + mass.sum())
    return np.array(
        [np.log(prior[1] * np.prod(theta[1] ** N[i]) / (prior[0] * np.prod(theta[0] ** N[i]))) for i in range(n)]
    )


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_em_and_saem_are_the_formulas(lam: float) -> None:
    results = ResultList(COUNTS)
    N = results.weights.toarray()
    em = EM(unlabelled_weight=lam, weights="tfidf").refine(results, LABELS)
    assert_allclose(em.log_odds, literal_em(N, LABELS, lam, [1.0] * 10), rtol=1e-9, atol=1e-10)
    saem = SAEM(unlabelled_weight=lam, weights="tfidf").refine(results, LABELS)
    falling = [5 - 4 * t / 9 for t in range(10)]
    assert_allclose(saem.log_odds, literal_em(N, LABELS, lam, falling), rtol=1e-9, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    lam=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    n_rejected=st.integers(1, 4),
    weights=st.sampled_from(["tfidf", "counts"]),
)
def test_the_penalised_likelihood_never_falls(seed: int, lam: float, n_rejected: int, weights: str) -> None:
    """log p(θ|D), Refine (6), at T = 1, with any number of components."""
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 30))
    results = ResultList(random.poisson(0.5, (n, int(random.integers(2, 30)))))
    labels = random.choice([-1, -1, 0, 1], n).astype(np.int8)
    labels[:2] = 0, 1
    classes = np.array([0] * n_rejected + [1])
    start = np.where(labels == 0, random.integers(n_rejected, size=n), np.where(labels == 1, n_rejected, -1))
    mixture = fit_mixture(
        results.weighted(weights), labels, start, classes, temperatures=[1.0] * 15, unlabelled_weight=lam
    )
    trace = np.array(mixture.log_posterior)
    assert len(trace) == 16
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


def test_the_penalised_likelihood_is_the_formula() -> None:
    results = ResultList(COUNTS)
    mixture = EM(iterations=3, unlabelled_weight=0.3, weights="counts").fit(results, LABELS)
    theta, prior = np.exp(mixture.log_theta), np.exp(mixture.log_prior)
    value = np.log(prior).sum() + np.log(theta).sum()  # α - 1 = 1
    for i, label in enumerate(LABELS):
        p = [prior[c] * np.prod(theta[:, c] ** COUNTS[i]) for c in (0, 1)]
        value += np.log(p[label]) if label >= 0 else 0.3 * np.log(sum(p))
    assert mixture.log_posterior[-1] == pytest.approx(value)
    assert_allclose(theta.sum(axis=0), 1)
    assert prior.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "method", [EM(), SAEM(), MultiMixtureKL(), MultiMixtureAIB(), MultiMixtureRandom(components=3)]
)
def test_marked_results_keep_their_class(example, method) -> None:
    mixture = method.fit(*example)
    relevant = mixture.responsibilities[:, mixture.classes == 1].sum(axis=1)
    assert_allclose(relevant[example.labels == 1], 1)
    assert_allclose(relevant[example.labels == 0], 0)


def test_several_components_are_formula_10(example) -> None:
    """Σ_{c∈G} p(c|d), with exact products."""
    results, labels = example
    mixture = MultiMixtureKL(components=3).fit(results, labels)
    theta, prior = np.exp(mixture.log_theta), np.exp(mixture.log_prior)
    N = results.weights.toarray() / 8  # short documents, or the products underflow
    p = np.array([[prior[j] * np.prod(theta[:, j] ** row) for j in range(4)] for row in N])
    expected = np.log(p[:, 3] / p[:, :3].sum(axis=1))
    assert_allclose(mixture.log_odds_of(sparse.csr_matrix(N)), expected, rtol=1e-9, atol=1e-9)


def test_components_describe_the_rejected(example) -> None:
    results, labels = example
    refined = MultiMixtureAIB(components=2).refine(results, labels)
    assert len(refined.components) == 2
    members = np.concatenate([component.members for component in refined.components])
    assert len(set(members)) == len(members)
    assert set(np.flatnonzero(labels == 0)) <= set(members)
    assert not set(np.flatnonzero(labels == 1)) & set(members)
    for component in refined.components:
        assert len(component.words) == len(component.weights) == 10
        assert (np.diff(component.weights) <= 0).all()


def test_random_components_depend_on_the_seed_alone(example) -> None:
    first, same, other = (
        MultiMixtureRandom(components=3, random_state=seed).fit(*example).log_theta for seed in (4, 4, 5)
    )
    assert (first == same).all()
    assert (first != other).any()
    with pytest.raises(ParameterError, match="need their number"):
        MultiMixtureRandom(components=None)


def test_more_rejected_than_are_clustered() -> None:
    random = np.random.default_rng(1)
    labels = np.zeros(260, np.int8)
    labels[::50] = 1
    labels[-30:] = -1
    mixture = MultiMixtureAIB().fit(ResultList(random.poisson(0.3, (260, 40))), labels)
    assert_allclose(mixture.responsibilities.sum(axis=1), 1)
    assert np.isfinite(mixture.log_odds).all()


def test_few_rejected_make_plain_em() -> None:
    results, labels = ResultList(COUNTS), LABELS
    assert_allclose(
        MultiMixtureKL().refine(results, labels).log_odds,
        EM(weights="tfidf").refine(results, labels).log_odds,
        atol=1e-12,
    )


def test_cooling_schedules() -> None:
    assert_allclose(temperatures("linear", 5.0, 10), [5 - 4 * t / 9 for t in range(10)])
    assert_allclose(temperatures("geometric", 5.0, 3), [5, 5**0.5, 1])
    logarithmic = temperatures("logarithmic", 5.0, 10)
    g = [1 / log(t + 2) for t in range(10)]
    assert_allclose(logarithmic, [1 + 4 * (x - g[-1]) / (g[0] - g[-1]) for x in g])
    for cooling in COOLINGS:
        assert temperatures(cooling, 5.0, 0) == ()
        assert temperatures(cooling, 5.0, 1)[-1] == 1
        falling = temperatures(cooling, 5.0, 7)
        assert falling[0] == pytest.approx(5)
        assert falling[-1] == pytest.approx(1)
        assert (np.diff(falling) < 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SAEM(cooling="quadratic"),
        lambda: SAEM(T0=0.5),
        lambda: EM(iterations=-1),
        lambda: EM(unlabelled_weight=2),
        lambda: EM(weights="bm25"),
        lambda: MultiMixtureKL(components=0),
    ],
)
def test_parameters_out_of_range(wrong) -> None:
    with pytest.raises(ParameterError):
        wrong()


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_seen_words_are_all_there_is(lam):
    """Weights "seen": (7) over words of marked texts alone, each text's tf-idf vector cut to them, of length 30."""
    counts = np.column_stack([COUNTS, [0, 0, 0, 0, 3, 1]])  # the last word is of unmarked texts alone
    marked = LABELS != -1
    seen = np.flatnonzero(counts[marked].sum(axis=0) > 0)
    assert len(seen) < counts.shape[1]
    vectors = (counts * np.log(len(counts) / np.maximum((counts > 0).sum(axis=0), 1)))[:, seen]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    N = 30.0 * vectors / np.where(lengths > 0, lengths, 1.0)
    results = ResultList(counts)
    em = EM(unlabelled_weight=lam, weights="seen").refine(results, LABELS)
    assert_allclose(em.log_odds, literal_em(N, LABELS, lam, [1.0] * 10), rtol=1e-9, atol=1e-9)
    for i in range(len(counts)):
        own = em.contributions(i)
        assert set(own.words.tolist()) <= set(seen.tolist())
    assert_allclose(em.decide(results.like(counts)), em.log_odds, rtol=1e-12)
    topics = MultiMixtureAIB(components=1, weights="seen", unlabelled_weight=lam).refine(results, LABELS)
    assert_allclose(topics.log_odds, em.log_odds, rtol=1e-9, atol=1e-9)
    assert {word for part in topics.components for word in part.words.tolist()} <= set(seen.tolist())

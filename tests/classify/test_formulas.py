"""Every rule against its formula, transcribed over dense arrays: SD chapter 4."""

from collections.abc import Callable
from math import exp, lgamma, log
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from germane.classify import (
    BernoulliClassifier,
    DCMClassifier,
    DirichletClassifier,
    MultinomialClassifier,
    OneVersusRestRanker,
    SmoothedDirichletClassifier,
    SmoothedLogRatio,
)
from germane.classify.tfidf import RawTfidf
from germane.errors import ParameterError

# Repeated words, a word (5) in no training document, an empty document among the training documents.
TRAIN = np.array(
    [
        [3, 1, 0, 0, 2, 0],
        [1, 0, 2, 0, 0, 0],
        [0, 0, 1, 4, 0, 0],
        [0, 1, 0, 2, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 2, 1, 1, 7, 0],
    ]
)
LABELS = np.array(["a", "a", "b", "b", "b", "c"])
TEST = np.array([[2, 0, 1, 0, 0, 0], [0, 1, 0, 3, 0, 1], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 4]])
V = TRAIN.shape[1]
EMPTY = np.zeros((1, V))


def theta_GE(beta: float) -> list[float]:
    """(4.10)."""
    return [(sum(f[j] for f in TRAIN) + beta) / (TRAIN.sum() + V * beta) for j in range(V)]


def smoothed(f: Any, lam: float, beta: float) -> list[float]:
    """θ^D = λθ̂^D + (1-λ)θ^GE, (2.1); an empty document is θ^GE up to the factor that every class shares."""
    n = sum(f)
    return [lam * (f[j] / n if n else 0) + (1 - lam) * theta_GE(beta)[j] for j in range(V)]


def own(label: str) -> list[Any]:
    return [f for f, other in zip(TRAIN, LABELS, strict=True) if other == label]


def sd_alpha(documents: list[Any], lam: float, beta: float) -> np.ndarray:
    """(3.28): the normalised geometric mean of the smoothed documents."""
    product = np.prod([smoothed(f, lam, beta) for f in documents], axis=0) ** (1 / len(documents))
    return np.asarray(product / product.sum())


def differences(scores: Any) -> Any:
    """Scores count up to a constant of the document."""
    scores = np.asarray(scores, float)
    return scores - scores[:, :1]


def assert_scores(model: Any, literal: Callable[[Any, str], float], atol: float = 1e-10) -> None:
    expected = [[literal(f, label) for label in "abc"] for f in TEST]
    for X, T in ((TRAIN, TEST), (sparse.csr_matrix(TRAIN), sparse.csr_array(TEST)), (TRAIN.tolist(), TEST.tolist())):
        model.fit(X, LABELS)
        np.testing.assert_allclose(
            differences(model.predict_joint_log_proba(T)), differences(expected), rtol=1e-10, atol=atol
        )
        assert list(model.predict(T)) == [str("abc"[np.argmax(row)]) for row in expected]


def test_multinomial_laplace() -> None:
    """(4.8)."""

    def literal(f: Any, label: str) -> float:
        total, delta = sum(own(label)), 0.3
        return float(sum(f[j] * log((total[j] + delta) / (sum(total) + V * delta)) for j in range(V)))

    assert_scores(MultinomialClassifier(delta=0.3), literal)


def test_multinomial_jelinek_mercer() -> None:
    """(4.9)."""

    def literal(f: Any, label: str) -> float:
        total = sum(own(label))
        theta = [0.7 * total[j] / sum(total) + 0.3 * theta_GE(0.5)[j] for j in range(V)]
        return float(sum(f[j] * log(theta[j]) for j in range(V)))

    model = MultinomialClassifier("jm", lam=0.7, beta=0.5)
    assert_scores(model, literal)
    np.testing.assert_allclose(model.theta_.sum(axis=1), 1)


def test_bernoulli() -> None:
    """(1.12)."""

    def literal(f: Any, label: str) -> float:
        documents, total = own(label), 0.0
        for j in range(V):
            beta = (sum(d[j] > 0 for d in documents) + 0.4) / (len(documents) + 0.8)
            total += log(beta) if f[j] > 0 else log(1 - beta)
        return total

    assert_scores(BernoulliClassifier(delta=0.4), literal)


@pytest.mark.parametrize(("lam", "beta"), [(0.3, 0.5), (1e-4, 0.1), (0.9, 1e-3)])
def test_smoothed_dirichlet(lam: float, beta: float) -> None:
    """(4.24): -KL(α^T ‖ θ^D)."""

    def literal(f: Any, label: str) -> float:
        alpha, theta = sd_alpha(own(label), lam, beta), smoothed(f, lam, beta)
        return -float(sum(alpha[j] * log(alpha[j] / theta[j]) for j in range(V)))

    model = SmoothedDirichletClassifier(lam, beta, S=1.0)
    assert_scores(model, literal)
    np.testing.assert_allclose(model.alpha_, [sd_alpha(own(label), lam, beta) for label in "abc"], rtol=1e-12)
    np.testing.assert_allclose(model.theta_GE_, theta_GE(beta), rtol=1e-14)


@pytest.mark.parametrize(("lam", "beta"), [(0.3, 0.5), (1e-4, 1e-3)])
def test_smoothed_dirichlet_cross_entropy(lam: float, beta: float) -> None:
    """SD-CE as the errata have it: the document's part of (4.29) alone."""

    def literal(f: Any, label: str) -> float:
        alpha, ge, n = sd_alpha(own(label), lam, beta), theta_GE(beta), sum(f)
        return float(sum(alpha[j] * log(lam * f[j] / n / ((1 - lam) * ge[j]) + 1) for j in range(V) if f[j]))

    model = SmoothedDirichletClassifier(lam, beta, rule="ce", S=1.0)
    assert_scores(model, literal)


def test_many_documents_overflow_no_product() -> None:
    """The product of a class is turned into its logarithm before it overflows."""
    X = np.tile([[50.0, 1.0], [1.0, 50.0]], (2000, 1))
    y = np.tile([0, 1], 2000)
    model = SmoothedDirichletClassifier(lam=0.99, beta=1.0).fit(X, y)
    theta = 0.99 * np.array([50, 1]) / 51 + 0.01 * 0.5
    np.testing.assert_allclose(model.alpha_[0], theta / theta.sum(), rtol=1e-11)


def test_products_equal_weighted_logarithms() -> None:
    random = np.random.default_rng(3)
    X, y = random.poisson(0.3, (300, 40)), random.integers(0, 3, 300)
    for lam in (1e-5, 0.1, 0.999):
        plain = SmoothedDirichletClassifier(lam).fit(X, y).statistics_.sums
        weighted = SmoothedDirichletClassifier(lam).fit(X, y, np.ones(300)).statistics_.sums
        np.testing.assert_allclose(plain, weighted, rtol=1e-13)


def test_scale_of_smoothed_dirichlet() -> None:
    """S is (3.25)'s: it multiplies the log density; None gives training documents the documented margin."""
    one, ten = (SmoothedDirichletClassifier(0.3, 0.5, S=S).fit(TRAIN, LABELS) for S in (1.0, 10.0))
    a, b = (differences(model.predict_joint_log_proba(TEST)) for model in (one, ten))
    np.testing.assert_allclose(b, 10 * a, rtol=1e-10)
    from germane.classify.smoothed_dirichlet import MARGIN

    full, labels = TRAIN[TRAIN.any(axis=1)], LABELS[TRAIN.any(axis=1)]
    auto = SmoothedDirichletClassifier(0.3, 0.5, rule="ce").fit(full, labels)
    scores = auto.predict_joint_log_proba(full)
    by_class = np.array([scores[labels == label].mean(axis=0) for label in "abc"])
    margin = np.trace(by_class) / 3 - (by_class.sum() - np.trace(by_class)) / 6
    assert margin == pytest.approx(MARGIN)


def test_dcm() -> None:
    """(4.11), (4.14)."""
    S, delta = 5.0, 0.01

    def literal(f: Any, label: str) -> float:
        alpha = model.alpha_["abc".index(label)]
        total = lgamma(sum(alpha)) - lgamma(sum(alpha) + sum(f))
        return total + float(sum(lgamma(alpha[j] + f[j]) - lgamma(alpha[j]) for j in range(V)))

    model = DCMClassifier(S=S, delta=delta).fit(TRAIN, LABELS)
    np.testing.assert_allclose(model.alpha_.sum(axis=1), S)
    # In class a, word 5 never occurs: its α̂ is 0.
    assert model.alpha_[0, 5] == pytest.approx(S * delta / (S + V * delta))
    assert_scores(model, literal)
    free = DCMClassifier().fit(TRAIN, LABELS)
    assert len(set(free.S_)) == 3


def test_dirichlet() -> None:
    """§4.4: -Σ_j log Γ(α_j) - H(α, θ^D), and α maximises the likelihood for the fixed S."""
    S, lam, beta = 8.0, 0.2, 0.5

    def literal(f: Any, label: str) -> float:
        alpha, theta = model.alpha_["abc".index(label)], smoothed(f, lam, beta)
        return float(sum(-lgamma(alpha[j]) + alpha[j] * log(theta[j]) for j in range(V)))

    model = DirichletClassifier(S, lam, beta, tol=1e-14, max_iter=2000).fit(TRAIN, LABELS)
    assert_scores(model, literal)

    def likelihood(alpha: Any, label: str) -> float:
        logs = np.log([smoothed(f, lam, beta) for f in own(label)]).mean(axis=0)
        return -float(sum(lgamma(a) for a in alpha)) + float((np.asarray(alpha) - 1) @ logs)

    random = np.random.default_rng(0)
    for label, alpha in zip("abc", model.alpha_, strict=True):
        assert sum(alpha) == pytest.approx(S)
        for _ in range(20):
            other = alpha * np.exp(0.1 * random.normal(size=V))
            assert likelihood(other * S / other.sum(), label) < likelihood(alpha, label)


@pytest.mark.parametrize(
    "model", [MultinomialClassifier(), SmoothedDirichletClassifier(0.1), DCMClassifier(S=5), DirichletClassifier(S=5)]
)
def test_an_empty_document_has_the_prior(model: Any) -> None:
    model.set_params(prior=[0.2, 0.5, 0.3]).fit(TRAIN, LABELS)
    np.testing.assert_allclose(model.predict_proba(EMPTY), [[0.2, 0.5, 0.3]])
    assert model.predict(EMPTY) == ["b"]
    zeros = sparse.csr_matrix((np.zeros(2), [0, 3], [0, 2]), shape=(1, V))
    np.testing.assert_allclose(model.predict_proba(zeros), [[0.2, 0.5, 0.3]])
    assert model.set_params(prior="uniform").fit(TRAIN, LABELS).predict(EMPTY) == ["a"]


def test_priors() -> None:
    model = MultinomialClassifier(prior="empirical").fit(TRAIN, LABELS)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [2 / 6, 3 / 6, 1 / 6])
    uniform = MultinomialClassifier().fit(TRAIN, LABELS)
    joint = uniform.predict_joint_log_proba(TEST) - log(1 / 3) + np.log([2 / 6, 3 / 6, 1 / 6])
    np.testing.assert_allclose(model.predict_joint_log_proba(TEST), joint)
    expected = [[exp(s) / sum(map(exp, row)) for s in row] for row in joint]
    np.testing.assert_allclose(model.predict_proba(TEST), expected)


def test_log_ratio() -> None:
    lam, beta, ge = 0.1, 1.0, theta_GE(1.0)
    expected = [[log(1 + lam * f[j] / sum(f) / ((1 - lam) * ge[j])) for j in range(V)] for f in TEST]
    plain = SmoothedLogRatio(lam, beta, norm=None).fit(TRAIN).transform(TEST)
    assert sparse.issparse(plain)
    np.testing.assert_allclose(plain.toarray(), expected, atol=1e-12)
    scaled = SmoothedLogRatio(lam, beta).fit(TRAIN).transform(TEST).toarray()
    np.testing.assert_allclose(scaled, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-12)
    assert SmoothedLogRatio().fit(TRAIN).transform(EMPTY).nnz == 0


def test_the_features_of_the_svm() -> None:
    """tf × log((N+1)/(n+0.5)), normalised, §4.4: over the words of each document, one by one."""
    made = RawTfidf().fit(TRAIN).transform(sparse.csr_matrix(TEST)).toarray()
    for f, row in zip(TEST, made, strict=True):
        weights = [f[j] * log((len(TRAIN) + 1) / (sum(g[j] > 0 for g in TRAIN) + 0.5)) for j in range(V)]
        length = sum(w * w for w in weights) ** 0.5
        np.testing.assert_allclose(row, [w / length for w in weights], rtol=1e-12)
    assert RawTfidf().fit(TRAIN).transform(EMPTY).nnz == 0
    with pytest.raises(ValueError, match="features"):
        RawTfidf().fit(TRAIN).transform(TEST[:, :3])


LABEL_SETS = [{"x"}, {"x", "y"}, {"y"}, set(), {"y"}, {"x", "z"}]


def test_ranking_smoothed_dirichlet() -> None:
    """(4.31)."""
    lam, beta = 0.2, 0.5
    ranker = OneVersusRestRanker(SmoothedDirichletClassifier(lam, beta, S=1.0)).fit(TRAIN, LABEL_SETS)
    ge = theta_GE(beta)
    for k, label in enumerate("xyz"):
        R = sd_alpha([f for f, own in zip(TRAIN, LABEL_SETS, strict=True) if label in own], lam, beta)
        N = sd_alpha([f for f, own in zip(TRAIN, LABEL_SETS, strict=True) if label not in own], lam, beta)
        expected = [
            sum((R[j] - N[j]) * log(lam * f[j] / sum(f) / ((1 - lam) * ge[j]) + 1) for j in range(V)) for f in TEST
        ]
        np.testing.assert_allclose(ranker.decision_function(TEST)[:, k], expected, rtol=1e-10, atol=1e-12)


def test_ranking_dcm() -> None:
    """(4.22)."""
    ranker = OneVersusRestRanker(DCMClassifier(S=4.0, delta=0.1)).fit(TRAIN, LABEL_SETS)
    N, R = ranker.estimators_[0].alpha_
    expected = [
        sum(lgamma(R[j] + f[j]) - lgamma(R[j]) - lgamma(N[j] + f[j]) + lgamma(N[j]) for j in range(V)) for f in TEST
    ]
    np.testing.assert_allclose(ranker.decision_function(TEST)[:, 0], expected)


def test_ranking_dcm_with_a_precision_for_each_class() -> None:
    """Where R and N differ in S, Γ(S)/Γ(S+|D|) depends on the document, and ranks it."""
    documents = TRAIN[[0, 1, 2, 3, 5]]
    ranker = OneVersusRestRanker(DCMClassifier(delta=0.1)).fit(TRAIN, LABEL_SETS)
    for one, scores in zip(ranker.estimators_, ranker.decision_function(documents).T, strict=True):
        assert one.S_[0] != pytest.approx(one.S_[1])
        np.testing.assert_allclose(scores, one.decision_function(documents), atol=1e-9)  # the prior is uniform


def test_ranking_multinomial_and_thresholds() -> None:
    """(1.15), and as many training documents above the threshold as have the label."""
    indicator = np.array([[label in own for label in "xyz"] for own in LABEL_SETS])
    ranker = OneVersusRestRanker(MultinomialClassifier(delta=0.5)).fit(TRAIN, indicator)
    named = OneVersusRestRanker(MultinomialClassifier(delta=0.5)).fit(TRAIN, LABEL_SETS)
    assert list(named.classes_) == ["x", "y", "z"]
    assert list(ranker.classes_) == [0, 1, 2]
    total_R, total_N = TRAIN[indicator[:, 0]].sum(axis=0) + 0.5, TRAIN[~indicator[:, 0]].sum(axis=0) + 0.5
    expected = TEST @ np.log(total_R / total_R.sum()) - TEST @ np.log(total_N / total_N.sum())
    np.testing.assert_allclose(ranker.decision_function(TEST)[:, 0], expected)
    np.testing.assert_array_equal(ranker.predict(TRAIN).sum(axis=0), indicator.sum(axis=0))


def others_as_printed(label: str) -> list[Any]:
    """N of (4.6): for each other class, each of its documents."""
    return [
        f
        for other in sorted({name for names in LABEL_SETS for name in names} - {label})
        for f, names in zip(TRAIN, LABEL_SETS, strict=True)
        if other in names
    ]


def test_the_others_as_printed() -> None:
    """(4.6): a document of two classes is also among the others of each; θ^GE counts it once, (4.10)."""
    lam, beta, ge = 0.2, 0.5, theta_GE(0.5)
    sd = OneVersusRestRanker(SmoothedDirichletClassifier(lam, beta, S=1.0), "classes").fit(TRAIN, LABEL_SETS)
    jm = OneVersusRestRanker(MultinomialClassifier("jm", lam=lam, beta=beta), "classes").fit(TRAIN, LABEL_SETS)
    for k, label in enumerate("xyz"):
        own = [f for f, names in zip(TRAIN, LABEL_SETS, strict=True) if label in names]
        R, N = (sd_alpha(documents, lam, beta) for documents in (own, others_as_printed(label)))
        ratios = np.log(lam * TEST / TEST.sum(axis=1, keepdims=True) / ((1 - lam) * np.array(ge)) + 1)
        np.testing.assert_allclose(sd.decision_function(TEST)[:, k], ratios @ (R - N), rtol=1e-10, atol=1e-12)
        totals = np.array([np.sum(documents, axis=0) for documents in (own, others_as_printed(label))])
        r, n = lam * totals / totals.sum(axis=1, keepdims=True) + (1 - lam) * np.array(ge)
        np.testing.assert_allclose(jm.decision_function(TEST)[:, k], TEST @ np.log(r / n), rtol=1e-10, atol=1e-12)


def test_the_others_have_labels_that_are_not_ranked() -> None:
    every = np.array([[label in own for label in "xyz"] for own in LABEL_SETS])
    whole = OneVersusRestRanker(MultinomialClassifier(), "classes").fit(TRAIN, every)
    part = OneVersusRestRanker(MultinomialClassifier(), "classes")
    part.fit(TRAIN, every[:, :2], n_labels=every.sum(axis=1))
    np.testing.assert_array_equal(part.decision_function(TEST), whole.decision_function(TEST)[:, :2])
    with pytest.raises(ParameterError, match="n_labels is a number for each document"):
        part.fit(TRAIN, every[:, :2], n_labels=np.zeros(len(TRAIN)))
    with pytest.raises(ParameterError, match="no document has another label"):
        part.fit(TRAIN, every[:, 2:])
    with pytest.raises(ParameterError, match="'rest' or 'classes', not 'none'"):
        OneVersusRestRanker(MultinomialClassifier(), "none").fit(TRAIN, every)

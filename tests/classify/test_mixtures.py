"""Mixtures that cluster: scikit-learn's contract, EM step by step against the formulas, what EM promises."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

from germane.classify import MultinomialMixture, SmoothedDirichletMixture
from germane.errors import ParameterError
from germane.lm.distributions.mixtures import MARGIN

RANDOM = np.random.default_rng(5)
X = RANDOM.poisson(0.5, (40, 12)).astype(float)
X[7] = 0  # an empty document
NEGATIVE = dict.fromkeys(("check_clustering",), "it gives negative numbers, and counts are 0 or more")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [SmoothedDirichletMixture(), MultinomialMixture()], ids=repr)
def test_scikit_learn_contract(estimator: Any) -> None:
    check_estimator(estimator.set_params(n_clusters=2), expected_failed_checks=NEGATIVE)


def smoothed(lam: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """θ^GE and θ^D of every document, dense, SD (4.10), (2.1)."""
    ge = (X.sum(axis=0) + beta) / (X.sum() + X.shape[1] * beta)
    theta = np.array([lam * row / row.sum() + (1 - lam) * ge if row.sum() else ge for row in X])
    return ge, theta


@pytest.mark.parametrize("rule", ["kl", "ce"])
def test_an_iteration_is_the_formulas(rule: str) -> None:
    """Two steps of EM written out, one document and one cluster at a time, from the first partition."""
    lam, beta, S, k = 0.3, 0.5, 7.0, 3
    ge, theta = smoothed(lam, beta)
    model = SmoothedDirichletMixture(k, lam, beta, rule, S, max_iter=2, tol=0, random_state=1).fit(X)
    shares = np.eye(k)[np.random.RandomState(1).permutation(len(X)) % k]
    for _ in range(2):
        pi = shares.sum(axis=0) / len(X)
        alpha = []
        for c in range(k):
            geometric = np.exp(
                sum(r * np.log(t) for r, t in zip(shares[:, c], theta, strict=True)) / shares[:, c].sum()
            )
            alpha.append(geometric / geometric.sum())
        joint = np.empty((len(X), k))
        for d, t in enumerate(theta):
            for c, a in enumerate(alpha):
                kl = float(np.sum(a * np.log(a / t)))  # -S·KL(α‖θ^D), but for what is one for all clusters
                to_ge = float(np.sum(a * np.log(a / ge)))
                value = -kl if rule == "kl" else to_ge - kl
                if not X[d].sum():
                    value = 0.0
                joint[d, c] = np.log(pi[c]) + S * value
        shares = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-9)
    np.testing.assert_allclose(model.weights_, pi, rtol=1e-9)
    np.testing.assert_allclose(model.responsibilities(X), shares, rtol=1e-7)
    assert model.labels_.tolist() == shares.argmax(axis=1).tolist() == model.predict(sparse.csr_array(X)).tolist()


def test_the_likelihood_never_falls() -> None:
    for seed in range(4):
        sd = SmoothedDirichletMixture(4, 0.5, 0.1, "kl", S=20.0, max_iter=30, tol=-1, random_state=seed).fit(X)
        assert sd.n_iter_ == 30
        assert (np.diff(sd.log_likelihood_) >= -1e-10).all()
        multinomial = MultinomialMixture(4, delta=1e-9, max_iter=30, tol=-1, random_state=seed).fit(X)
        assert (np.diff(multinomial.log_likelihood_) >= -1e-10).all()


def test_multinomials_are_the_formula() -> None:
    model = MultinomialMixture(2, delta=0.5, max_iter=1, random_state=3).fit(X)
    part = np.random.RandomState(3).permutation(len(X)) % 2
    for c in (0, 1):
        counts = X[part == c].sum(axis=0) + 0.5
        np.testing.assert_allclose(model.theta_[c], counts / counts.sum(), rtol=1e-12)
    joint = X @ np.log(model.theta_).T + np.log(model.weights_)
    assert model.labels_.tolist() == joint.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    "model", [SmoothedDirichletMixture(3), SmoothedDirichletMixture(3, rule="kl"), MultinomialMixture(3)]
)
def test_topics_that_are_apart_are_found(model: Any) -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    rates = np.full((3, 30), 0.15)
    for c in range(3):
        rates[c, c * 10 : (c + 1) * 10] = 1.5
    found = [model.set_params(random_state=seed).fit_predict(rng.poisson(rates[truth])) for seed in range(3)]
    assert max(adjusted_rand_score(truth, own) for own in found) > 0.95


def test_the_scale_puts_documents_a_margin_apart() -> None:
    model = SmoothedDirichletMixture(3, random_state=0, max_iter=300, tol=-1).fit(X)
    ge, theta = smoothed(0.01, 0.1)
    evidence = model.S_ * np.array([[np.sum(a * np.log(t / (0.99 * ge))) for a in model.alpha_] for t in theta])
    evidence[7] = 0
    shares = model.responsibilities(X)
    own, other = (shares * evidence).sum(), ((1 - shares) * evidence).sum() / 2
    assert (own - other) / len(X) == pytest.approx(MARGIN, rel=1e-3)


def test_what_cannot_be_used() -> None:
    for wrong in ({"rule": "x"}, {"lam": 1.0}, {"S": 0.0}, {"n_clusters": 0}, {"n_clusters": 41}, {"max_iter": 0}):
        with pytest.raises(ParameterError):
            SmoothedDirichletMixture(**wrong).fit(X)
    with pytest.raises(ParameterError):
        MultinomialMixture(delta=0).fit(X)
    for wrong_start in ([0] * 39, [2] * 40):
        with pytest.raises(ParameterError, match="start"):
            MultinomialMixture(2).fit(X, start=wrong_start)


def test_it_may_begin_with_a_given_partition() -> None:
    drawn = np.random.RandomState(3).permutation(len(X)) % 2
    given = MultinomialMixture(2, random_state=9).fit(X, start=drawn)
    np.testing.assert_array_equal(given.theta_, MultinomialMixture(2, random_state=3).fit(X).theta_)

"""What all methods promise: finite, deterministic, explained by words; and what they say to odd lists."""

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from germane.errors import GermaneError, MissingExtraError, ParameterError
from germane.refine.calibration import predicted_set
from germane.refine.linear import Rocchio
from germane.refine.multi_mixture import MultiMixtureAIB, MultiMixtureRandom
from germane.refine.neighbours import Neighbours
from germane.refine.registry import METHOD_NAMES, method_named, probabilities
from germane.refine.smoothed_dirichlet import MultiMixtureSD, SmoothedDirichletEM
from germane.refine.transductive_svm import TransductiveSVM
from germane.refine.weighting import ResultList

NO_REJECTED_NEEDED = {"auto", "paper", "knn", "rocchio"}
every_method = pytest.mark.parametrize("name", METHOD_NAMES)


def test_names() -> None:
    assert METHOD_NAMES == (
        "auto", "paper", "nb", "em", "mmem-kl", "mmem-aib", "mmem-sd", "saem", "knn", "tsvm", "sd", "rocchio",
        "logistic",
    )  # fmt: skip
    for name in METHOD_NAMES:
        assert method_named(name).name == name
        assert method_named(name).needs_rejected == (name not in NO_REJECTED_NEEDED)


def test_unknown_names_and_parameters() -> None:
    with pytest.raises(ParameterError, match="no method 'svm'; choose one of auto, paper, nb"):
        method_named("svm")
    with pytest.raises(
        ParameterError, match="'em' has no parameter k; it takes iterations, unlabelled_weight, weights"
    ):
        method_named("em", k=3)
    assert method_named("em", iterations=None, weights="counts") == method_named("em", weights="counts")


@every_method
def test_finite_and_deterministic(example, name: str) -> None:
    first, second = (method_named(name).refine(*example) for _ in range(2))
    assert np.isfinite(first.log_odds).all()
    assert (first.log_odds == second.log_odds).all()


@every_method
def test_relevant_marks_rise(example, name: str) -> None:
    """A mark says what it says: marked relevant results stand above rejected ones on average."""
    log_odds = method_named(name).refine(*example).log_odds
    assert log_odds[example.labels == 1].mean() > log_odds[example.labels == 0].mean()


@every_method
def test_equal_texts_get_equal_odds(example, name: str) -> None:
    method = method_named(name, rank_weight=0.0) if name == "auto" else method_named(name)
    log_odds = method.refine(*example).log_odds
    assert log_odds[-2] == pytest.approx(log_odds[-3], abs=1e-9)


@every_method
def test_contributions(example, name: str) -> None:
    results, labels = example
    method = method_named(name)
    refined = method.refine(results, labels)
    constants = []
    for i in np.flatnonzero(labels < 0):
        words, amounts = refined.contributions(i)
        assert set(words) <= set(results.counts[i].indices)
        assert np.isfinite(amounts).all()
        constants.append(refined.log_odds[i] - amounts.sum())
    if method.contributions_add_up and name != "auto":  # auto's constant is the prior of rank
        assert np.ptp(constants) < 1e-8 * max(1, np.abs(refined.log_odds).max())
    again = method.contributions(results, labels, 20)
    assert_allclose(again.amounts, refined.contributions(20).amounts)


def test_contributions_of_auto_add_up_without_the_prior(example) -> None:
    results, labels = example
    refined = method_named("auto", rank_weight=0.0).refine(results, labels)
    filled = np.flatnonzero((labels < 0) & (np.diff(results.counts.indptr) > 0))
    constants = [refined.log_odds[i] - refined.contributions(i).amounts.sum() for i in filled]
    assert np.ptp(constants) < 1e-9


@every_method
def test_new_texts(example, name: str) -> None:
    """What was in the list is decided as in the list; auto leaves a result's own part out there, and knows its rank."""
    results, labels = example
    refined = method_named(name).refine(results, labels)
    decided = refined.decide(results.like(results.counts))
    assert np.isfinite(decided).all()
    if name != "auto":
        assert_allclose(decided, refined.log_odds, rtol=1e-9, atol=1e-9)
    with pytest.raises(ParameterError, match="words"):
        refined.decide(results.like(sparse.csr_matrix((2, 3))))


@pytest.mark.parametrize("name", sorted(set(METHOD_NAMES) - {"auto", "paper", "sd", "mmem-sd"}))
def test_plain_counts(example, name: str) -> None:
    log_odds = method_named(name, weights="counts").refine(*example).log_odds
    assert np.isfinite(log_odds).all()
    assert (log_odds != method_named(name).refine(*example).log_odds).any()


def test_rocchio_is_the_difference_of_means(example) -> None:
    results, labels = example
    unit = results.unit.toarray()
    query = 0.7 * unit[labels == 1].mean(axis=0) - 0.3 * unit[labels == 0].mean(axis=0)
    assert_allclose(Rocchio(beta=0.7, gamma=0.3).refine(results, labels).log_odds, unit @ query, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 50])
def test_neighbours(example, k: int) -> None:
    results, labels = example
    cosine = (results.unit @ results.unit.T).toarray()
    expected = [
        np.mean(sorted(cosine[i, labels == 1])[-k:]) - np.mean(sorted(cosine[i, labels == 0])[-k:])
        for i in range(len(results))
    ]
    assert_allclose(Neighbours(k=k).refine(results, labels).log_odds, expected, atol=1e-12)


def test_smoothed_dirichlets_in_mmem_are_the_formula(example) -> None:
    """Dense, one component and one result at a time, from the clusters that `mmem-aib` starts with."""
    results, labels = example
    X, lam, S, unlabelled, iterations = results.counts.toarray(), 0.3, 40.0, 0.25, 3
    X = X[:, X.any(axis=0)]
    p_C = X.sum(axis=0) / X.sum()
    theta = [lam * x / x.sum() + (1 - lam) * p_C if x.any() else (1 - lam) * p_C for x in X]
    start, classes = MultiMixtureAIB(components=2).start(results, labels)
    shares = np.array([[at == c for c in range(3)] for at in start], float)
    for step in range(iterations + 1):
        weighted = shares * np.where(labels == -1, unlabelled, 1.0)[:, None]
        joint = np.empty(shares.shape)
        for c in range(3):
            logs = sum(w * np.log(t) for w, t in zip(weighted[:, c], theta, strict=True)) / weighted[:, c].sum()
            alpha = np.exp(logs) / np.exp(logs).sum()
            prior = (1 + weighted[:, c].sum()) / (3 + weighted.sum())
            for d, t in enumerate(theta):
                joint[d, c] = np.log(prior) + S * np.sum(alpha * np.log(t / ((1 - lam) * p_C)))
        if step < iterations:
            allowed = [[label in (-1, own) for own in classes] for label in labels]
            shares = np.where(allowed, np.exp(joint), 0.0)
            shares /= shares.sum(axis=1, keepdims=True)
    expected = joint[:, 2] - np.log(np.exp(joint[:, 0]) + np.exp(joint[:, 1]))
    method = MultiMixtureSD(lam=lam, S=S, components=2, iterations=iterations, unlabelled_weight=unlabelled)
    assert_allclose(method.refine(results, labels).log_odds, expected, rtol=1e-8, atol=1e-8)


def test_smoothed_dirichlet_is_the_formula(example) -> None:
    """Dense, with loops over the iterations: geometric means, exp(-S·KL)."""
    results, labels = example
    X, lam, S = results.counts.toarray(), 0.8, 20.0
    X = X[:, X.any(axis=0)]
    p_C = X.sum(axis=0) / X.sum()
    theta_d = np.array([lam * x / x.sum() + (1 - lam) * p_C if x.any() else p_C for x in X])
    shares = np.array([[label == 0, label == 1] for label in labels], float)
    for step in range(4):
        n = shares.sum(axis=0)
        theta = np.exp(shares.T @ np.log(theta_d) / n[:, None])
        theta /= theta.sum(axis=1, keepdims=True)
        divergence = (theta[None] * np.log(theta[None] / theta_d[:, None])).sum(axis=2)
        joint = np.log((1 + n) / (2 + n.sum())) - S * divergence
        if step < 3:
            posterior = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
            shares = np.where(labels[:, None] < 0, posterior, shares)
    method = SmoothedDirichletEM(lam=lam, S=S, iterations=3)
    assert_allclose(method.refine(results, labels).log_odds, joint[:, 1] - joint[:, 0], atol=1e-8)


def test_the_class_ratio_of_the_transductive_svm() -> None:
    """The share of relevant results among the unmarked decides how many the separating plane takes in."""
    random = np.random.default_rng(0)
    X = np.vstack([random.poisson([3, 0.2, 1, 0.5], (30, 4)), random.poisson([0.2, 3, 1, 0.5], (30, 4))])
    labels = np.full(60, -1)
    labels[[0, 1]], labels[[30, 31]] = 1, 0
    few, many = (
        (TransductiveSVM(relevant_share=share, weights="counts").refine(ResultList(X), labels).log_odds > 0).sum()
        for share in (0.1, 0.9)
    )
    assert few < many


# ---------------------------------------------------------------- odd lists

WORDS = np.array([[2, 1, 0], [0, 1, 1], [1, 0, 3], [0, 2, 0], [1, 1, 1], [3, 0, 0]])


def odd_lists() -> dict[str, tuple[Any, list[int]]]:
    empty_text = WORDS.copy()
    empty_text[[0, 4]] = 0
    long_text = WORDS.copy()
    long_text[4] = 50_000, 49_999, 1
    return {
        "all marked": (WORDS, [1, 0, 1, 0, 1, 0]),
        "one unmarked": (WORDS, [1, 0, 1, 0, 1, -1]),
        "empty texts": (empty_text, [1, 0, -1, -1, -1, -1]),
        "only empty texts": (WORDS * 0, [1, 0, -1, -1, -1, -1]),
        "no words": (np.zeros((4, 0)), [1, 0, -1, -1]),
        "identical texts": (np.tile(WORDS[:1], (6, 1)), [1, 0, -1, -1, -1, -1]),
        "identical texts, marked differently": (WORDS[[0, 0, 1, 2]], [1, 0, -1, -1]),
        "identical rejected texts": (WORDS[[0, 1, 1, 1, 1, 1, 2]], [1, 0, 0, 0, 0, 0, -1]),
        "two results": (WORDS[:2], [1, 0]),
        "a text of 100,000 words": (long_text, [1, 0, -1, -1, -1, -1]),
        "a marked text of 100,000 words": (long_text, [1, 0, -1, -1, 0, -1]),
        "no word shared": (np.eye(5), [1, 0, -1, -1, -1]),
        "a word of no result": (np.pad(WORDS, ((0, 0), (0, 2))), [1, 0, -1, -1, -1, -1]),
    }


@every_method
@pytest.mark.parametrize("kind", odd_lists())
def test_odd_lists(name: str, kind: str) -> None:
    counts, labels = odd_lists()[kind]
    results = ResultList(counts)
    refined = method_named(name).refine(results, labels)
    assert np.isfinite(refined.log_odds).all()
    probability = probabilities(refined.log_odds, labels, name)
    assert ((probability >= 0) & (probability <= 1)).all()
    chosen = predicted_set(probability, labels)
    assert chosen[np.array(labels) == 1].all()
    assert not chosen[np.array(labels) == 0].any()
    for i in range(len(results)):
        assert np.isfinite(refined.contributions(i).amounts).all()
    for component in refined.components:
        assert np.isfinite(component.weights).all()


@every_method
def test_one_result_only(name: str) -> None:
    if name in NO_REJECTED_NEEDED:
        refined = method_named(name).refine(ResultList(WORDS[:1]), [1])
        assert np.isfinite(refined.log_odds).all()
        assert np.isfinite(probabilities(refined.log_odds, [1], name)).all()
    else:
        with pytest.raises(ParameterError, match="marked as not relevant"):
            method_named(name).refine(ResultList(WORDS[:1]), [1])


@every_method
def test_missing_marks(name: str) -> None:
    method, results = method_named(name), ResultList(WORDS)
    for labels in ([-1] * 6, [0, 0, -1, -1, -1, -1]):
        with pytest.raises(ParameterError, match=f"method '{name}' needs at least one result marked as relevant"):
            method.refine(results, labels)
    only_relevant = [1, -1, 1, -1, -1, -1]
    if name in NO_REJECTED_NEEDED:
        assert np.isfinite(method.refine(results, only_relevant).log_odds).all()
    else:
        with pytest.raises(ParameterError, match="not relevant; 'auto', 'paper', 'knn' and 'rocchio' do without"):
            method.refine(results, only_relevant)


def test_no_results() -> None:
    with pytest.raises(ParameterError, match="marked as relevant"):
        method_named("auto").refine(ResultList(np.zeros((0, 3))), [])


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 0], "6 results need as many labels"), ([1, 0, 2, -1, -1, -1], "labels are 1"), ([[1] * 6], "6 results")],
)
def test_wrong_labels(labels: list[Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        method_named("nb").refine(ResultList(WORDS), labels)


@pytest.mark.parametrize("counts", [[[1, -1]], [[np.nan]], [[np.inf]], [["a"]], "text"])
def test_wrong_counts(counts: Any) -> None:
    with pytest.raises(ParameterError, match="counts must be"):
        ResultList(counts)


def test_counts_are_not_changed() -> None:
    counts = sparse.csr_matrix(WORDS.astype(float))
    before = counts.copy()
    for name in METHOD_NAMES:
        method_named(name).refine(ResultList(counts), [1, 0, -1, -1, -1, -1])
    assert (counts != before).nnz == 0


def test_random_state(example) -> None:
    first, same = (method_named("tsvm", random_state=3).refine(*example).log_odds for _ in range(2))
    assert (first == same).all()


@pytest.mark.parametrize(("name", "module"), [("tsvm", "sklearn.svm"), ("logistic", "sklearn.linear_model")])
def test_without_scikit_learn(example, monkeypatch: pytest.MonkeyPatch, name: str, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'germane\[learn\]'"):
        method_named(name).refine(*example)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: method_named("tsvm", C=0),
        lambda: method_named("tsvm", relevant_share=1.5),
        lambda: method_named("tsvm", random_state=-1),
        lambda: method_named("logistic", C=-1),
        lambda: method_named("knn", k=0),
        lambda: method_named("sd", lam=1),
        lambda: method_named("sd", S=0),
        lambda: method_named("auto", keep=float("nan")),
        lambda: method_named("rocchio", beta="much"),
        lambda: MultiMixtureRandom(random_state=-1),
    ],
)
def test_parameters_out_of_range(wrong) -> None:
    with pytest.raises(GermaneError):
        wrong()

"""scikit-learn's contract, batches and merging, and input that cannot be used."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from germane.classify import (
    BernoulliClassifier,
    DCMClassifier,
    DirichletClassifier,
    MultinomialClassifier,
    OneVersusRestRanker,
    SmoothedDirichletClassifier,
    SmoothedLogRatio,
    smoothed_svm,
)
from germane.errors import ParameterError

CLASSIFIERS = [
    MultinomialClassifier(),
    MultinomialClassifier("jm"),
    BernoulliClassifier(),
    SmoothedDirichletClassifier(),
    SmoothedDirichletClassifier(rule="ce"),
    DCMClassifier(),
    DCMClassifier(S=10.0),
    DirichletClassifier(),
]
INCREMENTAL = [model for model in CLASSIFIERS if hasattr(model, "partial_fit")]
RANDOM = np.random.default_rng(1)
X = RANDOM.poisson(0.4, (90, 30)).astype(float)
y = RANDOM.choice(["ham", "maybe", "spam"], 90)
OF_RANKER = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "predict gives an indicator matrix, also where every training document has one label",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [*CLASSIFIERS, SmoothedLogRatio()], ids=repr)
def test_scikit_learn_contract(estimator: Any) -> None:
    check_estimator(estimator)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract_of_the_ranker() -> None:
    check_estimator(OneVersusRestRanker(MultinomialClassifier()), expected_failed_checks=OF_RANKER)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_decision_and_probability_agree(model: Any) -> None:
    """What check_decision_proba_consistency would ask, on counts."""
    model = clone(model).fit(X, y)
    log_proba = model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1)
    assert np.isfinite(log_proba).all()
    np.testing.assert_array_equal(model.classes_[log_proba.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.diff(model.decision_function(X)), np.diff(log_proba), atol=1e-8)
    two = clone(model).fit(X[y != "maybe"], y[y != "maybe"])
    proba, decision = two.predict_log_proba(X), two.decision_function(X)
    np.testing.assert_allclose(decision, proba[:, 1] - proba[:, 0], atol=1e-8)


@pytest.mark.parametrize("model", INCREMENTAL, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_equal_all_at_once(model: Any, weighted: bool) -> None:
    """Also with a first batch that lacks a class; SD and the Dirichlet need a background for it to be exact."""
    weight = RANDOM.uniform(0.1, 3, 90) if weighted else None
    model = clone(model)
    if "background" in model.get_params():
        model.set_params(background=X.sum(axis=0))
    whole = clone(model).fit(X, y, weight)
    order = np.argsort(y, kind="stable")
    parts = np.array_split(order, 4)
    pieces = clone(model)
    for part in parts:
        w = None if weight is None else weight[part]
        pieces.partial_fit(sparse.csr_matrix(X[part]), y[part], classes=np.unique(y), sample_weight=w)
    np.testing.assert_allclose(pieces.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-6, atol=1e-8)
    statistics = [
        clone(model)
        .partial_fit(X[part], y[part], ["ham", "maybe", "spam"], None if weight is None else weight[part])
        .statistics_
        for part in parts
    ]
    merged = statistics[0]
    for other in statistics[1:]:
        merged = merged.merge(other)
    np.testing.assert_allclose(merged.sums, whole.statistics_.sums, rtol=1e-12, atol=1e-15)
    again = clone(model).fit_statistics(merged)
    np.testing.assert_allclose(again.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-6, atol=1e-8)


def test_a_class_not_seen_yet_is_never_predicted() -> None:
    for model in INCREMENTAL:
        early = clone(model).partial_fit(X[y == "ham"], y[y == "ham"], classes=["ham", "spam"])
        assert set(early.predict(X)) == {"ham"}
        np.testing.assert_allclose(early.predict_proba(X)[:, 0], 1)


def test_background_of_the_first_batch_is_kept() -> None:
    model = SmoothedDirichletClassifier(beta=1.0)
    model.partial_fit(X[:40], y[:40], classes=np.unique(y))
    first = model.theta_GE_
    model.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(model.theta_GE_, first)
    given = SmoothedDirichletClassifier(beta=1.0, background=X[:40].sum(axis=0)).fit(X, y)
    np.testing.assert_allclose(model.alpha_, given.alpha_, rtol=1e-12)


def test_statistics_that_cannot_be_merged() -> None:
    one = SmoothedDirichletClassifier().fit(X[:50], y[:50]).statistics_
    other = SmoothedDirichletClassifier().fit(X[50:], y[50:]).statistics_
    with pytest.raises(ParameterError, match="different backgrounds"):
        one.merge(other)
    with pytest.raises(ParameterError, match="30 and 29 words"):
        one.merge(SmoothedDirichletClassifier().fit(X[:, 1:], y).statistics_)


def test_merging_takes_the_union_of_classes() -> None:
    early, late = y != "spam", y != "ham"
    one = MultinomialClassifier().fit(X[early], y[early]).statistics_
    other = MultinomialClassifier().fit(X[late], y[late]).statistics_
    merged = one.merge(other)
    assert list(merged.classes) == ["ham", "maybe", "spam"]
    expected = [X[early & (y == "ham")], np.vstack([X[early & (y == "maybe")]] * 2), X[late & (y == "spam")]]
    np.testing.assert_allclose(merged.sums, [part.sum(axis=0) for part in expected])


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_weights_are_repetitions(model: Any) -> None:
    weight = RANDOM.integers(0, 4, 90)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = clone(model).fit(X, y, weight)
    np.testing.assert_allclose(repeated.predict_log_proba(X), weighted.predict_log_proba(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_unusable_input(model: Any) -> None:
    def refused(match: str, counts: Any = X, labels: Any = y, weight: Any = None) -> None:
        with pytest.raises(ValueError, match=match):
            clone(model).fit(counts, labels, weight)

    refused("Negative values", np.where(X > 2, -1, X))
    refused("Negative values", sparse.csr_matrix(np.where(X > 2, -1, X)))
    refused("NaN", np.where(X > 2, np.nan, X))
    refused("1 class: 'ham'", X[y == "ham"], y[y == "ham"])
    refused("class 'spam' all weigh 0", weight=np.where(y == "spam", 0, 1))
    refused("Negative values in data passed to `sample_weight`|sample_weight", weight=-np.ones(90))
    refused("inconsistent numbers", X[1:])
    refused("Unknown label type", labels=RANDOM.normal(size=90))
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="29 features"):
        fitted.predict(X[:, 1:])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MultinomialClassifier("kneser-ney"), "'laplace' or 'jm'"),
        (MultinomialClassifier(delta=0), "delta must be greater than 0"),
        (MultinomialClassifier("jm", lam=1.0), "less than 1"),
        (MultinomialClassifier(prior="flat"), "'uniform', 'empirical'"),
        (MultinomialClassifier(prior=[0.5, 0.5]), "2 probabilities for 3 classes"),
        (MultinomialClassifier(prior=[0.5, 0.4, 0.2]), "must sum to 1"),
        (BernoulliClassifier(delta=-1), "delta"),
        (SmoothedDirichletClassifier(lam=1.0), "lam must lie strictly between 0 and 1"),
        (SmoothedDirichletClassifier(beta=0), "beta"),
        (SmoothedDirichletClassifier(rule="js"), "'kl' or 'ce'"),
        (SmoothedDirichletClassifier(S=-1), "S must be"),
        (SmoothedDirichletClassifier(background=[1.0]), "the background counts 1 words"),
        (DCMClassifier(S=0), "S must be"),
        (DirichletClassifier(S=0), "S must be"),
        (SmoothedLogRatio(norm="max"), "norm is"),
        (SmoothedLogRatio(lam=0), "lam"),
    ],
)
def test_parameters(model: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model.fit(X, y)


def test_first_batch_must_name_the_classes() -> None:
    with pytest.raises(ParameterError, match="needs `classes`"):
        MultinomialClassifier().partial_fit(X, y)
    model = MultinomialClassifier().partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(ParameterError, match="'eggs' is not among"):
        model.partial_fit(X[:1], ["eggs"])
    with pytest.raises(ParameterError, match="differ"):
        model.partial_fit(X, y, classes=["ham", "spam"])


def test_ranker_input() -> None:
    model = OneVersusRestRanker(MultinomialClassifier())
    with pytest.raises(ParameterError, match="no document has the label"):
        model.fit(X, np.zeros((90, 2)))
    with pytest.raises(ParameterError, match="all documents have"):
        model.fit(X, [["a"]] * 90)
    with pytest.raises(ParameterError, match="0 and 1 only"):
        model.fit(X, np.full((90, 2), 2))
    with pytest.raises(ParameterError, match="must be a classifier of"):
        OneVersusRestRanker(smoothed_svm()).fit(X, np.eye(90)[:, :2])
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, [["a"], ["b"]])
    ranker = model.fit(X, sparse.csr_matrix(np.eye(90)[:, :3]))
    assert ranker.decision_function(np.zeros((1, 30))).tolist() == [[0, 0, 0]]


def test_entries_of_one_word_are_added_up() -> None:
    """A CSR matrix may hold a word twice; log(1+2x) is not 2·log(1+x). The caller's matrix stays as it was."""
    twice = sparse.csr_matrix((np.ones(4), [0, 0, 1, 2], [0, 3, 4]), shape=(2, 3))
    expected = SmoothedDirichletClassifier(0.5, 1.0).fit(twice.toarray(), [0, 1]).alpha_
    np.testing.assert_allclose(SmoothedDirichletClassifier(0.5, 1.0).fit(twice, [0, 1]).alpha_, expected)
    assert twice.nnz == 4


def test_takes_the_place_of_tfidf() -> None:
    texts = ["the cat sat", "a cat and a hat", "dogs bark", "the dog barks at dogs"] * 5
    labels = ["cat", "cat", "dog", "dog"] * 5
    pipeline = make_pipeline(CountVectorizer(), *(step for _, step in smoothed_svm(random_state=0).steps))
    assert pipeline.fit(texts, labels).predict(["cat hat", "dogs"]).tolist() == ["cat", "dog"]
    names = pipeline[:-1].get_feature_names_out().tolist()
    assert names == pipeline[0].get_feature_names_out().tolist()
    search = GridSearchCV(pipeline, {"smoothedlogratio__lam": [0.01, 0.1, 0.5]}, cv=2).fit(texts, labels)
    assert search.best_score_ == 1
    assert smoothed_svm(0.2, 3.0).get_params()["svm__C"] == 3.0

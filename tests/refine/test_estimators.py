"""scikit-learn's contract for the semi-supervised classifier."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from germane.errors import ParameterError
from germane.refine.estimators import RefineClassifier
from germane.refine.registry import METHOD_NAMES, method_named

NOT_HERE = {"check_classifiers_classes": "labels -1 and 1 are unlabelled and relevant, by convention"}
OF_ONE = NOT_HERE | {"check_classifiers_one_label": "relevant labels alone do not make every document relevant"}
every_method = pytest.mark.parametrize("name", METHOD_NAMES)


@pytest.mark.filterwarnings("ignore")
@every_method
def test_scikit_learn_contract(name: str) -> None:
    failing = NOT_HERE if method_named(name).needs_rejected else OF_ONE
    check_estimator(RefineClassifier(name), expected_failed_checks=failing)


@every_method
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_labels_and_transduction(example, name: str, form: Any) -> None:
    X, y = form(example.results.counts.toarray()), example.labels
    model = RefineClassifier(name).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert (model.transduction_[y >= 0] == y[y >= 0]).all()
    assert (model.transduction_[y < 0] == (model.label_log_odds_[y < 0] > 0)).all()
    probability = model.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1)
    assert np.isfinite(probability).all()
    assert (model.predict(X) == probability.argmax(axis=1)).all()


@every_method
def test_as_the_method_itself(example, name: str) -> None:
    parameters = {"rank_weight": 0.0} if name == "auto" else {}
    expected = method_named(name, **parameters).refine(*example)
    model = RefineClassifier(name).fit(example.results.counts, example.labels)
    assert_allclose(model.label_log_odds_, expected.log_odds)


def test_unlabelled_only_beside_the_relevant(example) -> None:
    y = np.where(example.labels == 1, 1, -1)
    model = RefineClassifier("knn").fit(example.results.counts, y)
    assert set(model.transduction_) <= {0, 1}
    with pytest.raises(ParameterError, match="'em' needs a label 0"):
        RefineClassifier("em").fit(example.results.counts, y)


def test_other_labels(example) -> None:
    y = np.where(example.labels == 1, 7, np.where(example.labels == 0, 3, -1))
    model = RefineClassifier("nb").fit(example.results.counts, y)
    assert model.classes_.tolist() == [3, 7]
    same = RefineClassifier("nb").fit(example.results.counts, example.labels)
    assert (model.label_log_odds_ == same.label_log_odds_).all()
    with pytest.raises(ParameterError, match="Only binary classification"):
        RefineClassifier("nb").fit(example.results.counts, np.arange(len(y)) % 3)


def test_parameters(example) -> None:
    model = clone(RefineClassifier("em", {"iterations": 0})).fit(example.results.counts, example.labels)
    naive = RefineClassifier("nb").fit(example.results.counts, example.labels)
    assert_allclose(model.label_log_odds_, naive.label_log_odds_)
    with pytest.raises(ParameterError, match="no parameter k"):
        RefineClassifier("em", {"k": 3}).fit(example.results.counts, example.labels)

"""Ranking documents for each label by P(R|D), SD (4.13): for documents with several labels, or none."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from germane.arrays import AnyArray, Floats, Integers, Mask
from germane.classify.generative import GenerativeClassifier, counts_of
from germane.classify.statistics import word_counts
from germane.errors import ParameterError


class OneVersusRestRanker(BaseEstimator):  # type: ignore[misc]
    """For each label a model of the documents that have it (R) and one of the others (N), SD (4.5), (4.6).

    `others`: "rest", the default, takes for N the documents that have not the label, each once. "classes" is (4.6) as
    printed, a product over the other classes and over their documents: a document with the labels T and T′ is also
    among the others of T, one with two other labels counts twice, and one without a label is in no N.
    Documents are ranked by log P(D|R) - log P(D|N), (4.13): (4.22) for DCM, (4.31) for SD and alike for the Dirichlet.
    What does not depend on the document is left out, so the numbers order documents for a label, and an empty document
    gets 0. `predict` gives a label to the documents that reach its `thresholds_`: so chosen that as many training
    documents do as have the label (break-even).

    `estimator`: one of this package's classifiers, which is cloned.
    Attributes: `classes_`, `estimators_`, `thresholds_`.
    """

    def __init__(self, estimator: GenerativeClassifier, others: str = "rest") -> None:
        self.estimator = estimator
        self.others = others

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: npt.ArrayLike | None = None,
        n_labels: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from counts and labels: an indicator matrix (documents × labels), or for each document a set, or one.

        `n_labels`: how many labels each document has, where `y` does not hold them all; for `others="classes"`.
        With an indicator matrix the labels are numbers, 0 for the first column. `ParameterError` for a label that all
        documents have, or none.
        """
        if not isinstance(self.estimator, GenerativeClassifier):
            raise ParameterError(f"the estimator must be a classifier of germane.classify, not {self.estimator!r}")
        if self.others not in ("rest", "classes"):
            raise ParameterError(f"the others of a label are 'rest' or 'classes', not {self.others!r}")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        indicator, self.classes_ = _indicator(y)
        check_consistent_length(X, indicator)
        for label, column in zip(self.classes_.tolist(), indicator.T, strict=True):
            if column.all() or not column.any():
                which = "all documents have" if column.any() else "no document has"
                raise ParameterError(f"{which} the label {label!r}, so there is nothing to tell it from")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.others == "rest":
            self.estimators_ = [clone(self.estimator).fit(X, column, sample_weight) for column in indicator.T]
        else:
            labels = indicator.sum(axis=1) if n_labels is None else np.asarray(n_labels)
            if labels.shape != weight.shape or (labels < indicator.sum(axis=1)).any():
                raise ParameterError("n_labels is a number for each document, at least that of its labels in y")
            learner = _over_background(self.estimator, X, weight)
            self.estimators_ = [_against_classes(learner, X, column, labels - column, weight) for column in indicator.T]
        scores = self.decision_function(X)
        self.thresholds_ = np.array(
            [
                _break_even(scores_of_class, weight, has)
                for scores_of_class, has in zip(scores.T, indicator.T, strict=True)
            ]
        )
        return self

    def decision_function(self, X: Any) -> Floats:
        """log P(D|R) - log P(D|N) up to a constant of each label: documents × labels, also of one or two labels."""
        check_is_fitted(self)
        X = counts_of(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False), type(self).__name__)
        scores = np.empty((X.shape[0], len(self.classes_)))
        for k, estimator in enumerate(self.estimators_):
            evidence = estimator._log_evidence(X)
            scores[:, k] = evidence[:, 1] - evidence[:, 0]
        return scores

    def predict(self, X: Any) -> Integers:
        """An indicator matrix: 1 where a document reaches the label's threshold."""
        return (self.decision_function(X) >= self.thresholds_).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags


def _over_background(estimator: GenerativeClassifier, X: Any, weight: Floats) -> GenerativeClassifier:
    """The estimator with θ^GE of the training documents, each once, SD (4.10), where it has one and none was given."""
    learner: GenerativeClassifier = clone(estimator)
    if getattr(learner, "background", X) is None:
        learner.set_params(background=word_counts(counts_of(X, type(estimator).__name__), weight))
    return learner


def _against_classes(learner: GenerativeClassifier, X: Any, column: Mask, n_others: Integers, weight: Floats) -> Any:
    """The model of a label: its documents against all documents, each as often as it has another label, SD (4.6)."""
    members, other = np.flatnonzero(column), np.flatnonzero(n_others > 0)
    if not len(other):
        raise ParameterError("no document has another label, so there is nothing to tell this one from")
    rows = np.concatenate([members, other])
    times = np.concatenate([weight[members], weight[other] * n_others[other]])
    return clone(learner).fit(X[rows], np.arange(len(rows)) < len(members), times)


def _break_even(scores: Floats, weight: Floats, relevant: Mask) -> float:
    """A score above which the documents weigh as much as the relevant ones; halfway to the next score below."""
    order = np.argsort(-scores, kind="stable")
    order = order[weight[order] > 0]
    place = int(np.searchsorted(weight[order].cumsum(), weight[relevant].sum() * (1 - 1e-12)))
    below = min(place + 1, len(order) - 1)
    return float((scores[order[place]] + scores[order[below]]) / 2)


def _indicator(y: Any) -> tuple[Mask, AnyArray]:
    """Labels as a Boolean matrix, and the label of each column."""
    if getattr(y, "ndim", 0) == 2:
        matrix = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        if not np.isin(matrix, (0, 1)).all():
            raise ParameterError("an indicator matrix holds 0 and 1 only")
        return matrix.astype(bool), np.arange(matrix.shape[1])
    sets = [{label} if np.isscalar(label) else label for label in _plain(y)]
    binarizer = MultiLabelBinarizer()
    return binarizer.fit_transform(sets).astype(bool), binarizer.classes_


def _plain(y: Any) -> list[Any]:
    """The entries of `y`, a list or any one-dimensional array, as Python's own values."""
    if isinstance(y, (list, tuple)):
        return list(y)
    return list(column_or_1d(y).tolist())

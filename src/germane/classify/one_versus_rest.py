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
from germane.errors import ParameterError


class OneVersusRestRanker(BaseEstimator):  # type: ignore[misc]
    """For each label a model of the documents that have it (R) and one of those that have not (N), SD (4.5), (4.6).

    Documents are ranked by log P(D|R) - log P(D|N), (4.13): (4.22) for DCM, (4.31) for SD and alike for the Dirichlet.
    What does not depend on the document is left out, so the numbers order documents for a label, and an empty document
    gets 0. `predict` gives a label to the documents that reach its `thresholds_`: so chosen that as many training
    documents do as have the label (break-even).

    `estimator`: one of this package's classifiers, which is cloned.
    Attributes: `classes_`, `estimators_`, `thresholds_`.
    """

    def __init__(self, estimator: GenerativeClassifier) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from counts and labels: an indicator matrix (documents × labels), or for each document a set, or one.

        With an indicator matrix the labels are numbers, 0 for the first column. `ParameterError` for a label that all
        documents have, or none.
        """
        if not isinstance(self.estimator, GenerativeClassifier):
            raise ParameterError(f"the estimator must be a classifier of germane.classify, not {self.estimator!r}")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        indicator, self.classes_ = _indicator(y)
        check_consistent_length(X, indicator)
        for label, column in zip(self.classes_.tolist(), indicator.T, strict=True):
            if column.all() or not column.any():
                which = "all documents have" if column.any() else "no document has"
                raise ParameterError(f"{which} the label {label!r}, so there is nothing to tell it from")
        self.estimators_ = [clone(self.estimator).fit(X, column, sample_weight) for column in indicator.T]
        scores, weight = self.decision_function(X), _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.thresholds_ = np.array(
            [_break_even(own, weight, has) for own, has in zip(scores.T, indicator.T, strict=True)]
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

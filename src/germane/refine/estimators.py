"""The methods as scikit-learn estimators: `fit(X, y)` on counts, y = -1 for the unlabelled."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from germane.arrays import AnyArray, Floats, Labels
from germane.errors import ParameterError
from germane.refine.calibration import spread
from germane.refine.method import Estimate
from germane.refine.registry import method_named
from germane.refine.weighting import ResultList
from germane.types import Mark


class RefineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method of refinement as a semi-supervised classifier of two classes, 1 relevant and 0 not; -1 is unlabelled.

    `method` is a name of `METHOD_NAMES`, `parameters` its parameters. Other labels than 0 and 1 may be used, if there
    are two; the second in order is then the relevant one. Rows have no order of retrieval here, so "auto" goes without
    its prior of rank unless `parameters` ask for it.

    `predict` is the papers' decision, log-odds > 0. `predict_proba` tempers the posterior, which saturates, by the
    spread of the log-odds over the unlabelled: monotone and on the same side of ½, not calibrated to the share of
    relevant documents (except "auto"); `registry.probabilities` is, for lists of results.

    Attributes: `classes_`; `transduction_`, the label of each row of `fit`'s X, those given kept; `label_log_odds_`,
    their log-odds; `estimate_`, the `Estimate`.
    """

    def __init__(self, method: str = "em", parameters: dict[str, Any] | None = None) -> None:
        self.method = method
        self.parameters = parameters

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from counts `X` (documents × words, sparse or dense) and a label or -1 for each."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self._labels = _marks(np.asarray(y))
        unranked = {"rank_weight": 0.0} if self.method == "auto" else {}
        self._method = method_named(self.method, **{**unranked, **(self.parameters or {})})
        needed = (Mark.RELEVANT, Mark.NOT_RELEVANT) if self._method.needs_rejected else (Mark.RELEVANT,)
        missing = [self.classes_[label] for label in needed if not (self._labels == label).any()]
        if missing:
            raise ParameterError(f"method '{self.method}' needs a label {missing[0]!s}; one class alone is not enough")
        self._list = self._counts(X)
        self.estimate_: Estimate = self._method.refine(self._list, self._labels)
        self.label_log_odds_ = self.estimate_.log_odds
        self.temperature_ = 1.0 if self.method == "auto" else spread(self.label_log_odds_, self._labels)
        guessed = np.where(self.label_log_odds_ > 0, Mark.RELEVANT, Mark.NOT_RELEVANT)
        self.transduction_ = self.classes_[np.where(self._labels == Mark.UNMARKED, guessed, self._labels)]
        return self

    # From fit on only: wherever an unfitted estimator has it, scikit-learn's check_decision_proba_consistency fits
    # negative numbers, whatever the tag positive_only says.
    @available_if(lambda self: hasattr(self, "classes_"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class."""
        check_is_fitted(self)
        return self._log_odds(X)

    def _log_odds(self, X: Any) -> Floats:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.estimate_.decide(self._list.like(self._counts(X).counts))

    def predict(self, X: Any) -> AnyArray:
        """The second class where the log-odds are above 0."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self._log_odds(X) > 0).astype(np.intp)])

    def predict_proba(self, X: Any) -> Floats:
        """The tempered posterior of either class."""
        check_is_fitted(self)
        half = np.tanh(self._log_odds(X) / (2 * self.temperature_)) / 2
        return np.column_stack([0.5 - half, 0.5 + half])

    def __getstate__(self) -> dict[str, Any]:
        """All but `estimate_`, which holds functions; the copy refines again, with the same result."""
        return {key: value for key, value in super().__getstate__().items() if key != "estimate_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_method" in state:
            self.estimate_ = self._method.refine(self._list, self._labels)

    def _counts(self, X: Any) -> ResultList:
        try:
            return ResultList(X)
        except ParameterError as error:
            raise ParameterError(f"Negative values in data passed to {type(self).__name__}: {error}") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # counts are asked for, and the checks give measurements
        return tags


def _marks(y: AnyArray) -> tuple[AnyArray, Labels]:
    """The two classes, and each label as 1, 0 or -1."""
    unlabelled = y == Mark.UNMARKED if y.dtype.kind in "iuf" else np.zeros(len(y), bool)
    found = np.unique(y[~unlabelled])
    if y.dtype.kind in "iufb" and np.isin(found, (Mark.NOT_RELEVANT, Mark.RELEVANT)).all():
        found = np.array([Mark.NOT_RELEVANT, Mark.RELEVANT]).astype(y.dtype)
    if len(found) != 2:
        raise ParameterError(
            "Only binary classification is supported: the labels are 0, 1 and -1 for unlabelled; "
            f"there are {len(found)} classes"
        )
    labels = np.where(y == found[1], Mark.RELEVANT, Mark.NOT_RELEVANT)
    return found, np.where(unlabelled, Mark.UNMARKED, labels).astype(np.int8)

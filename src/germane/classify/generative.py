"""What generative classifiers share: P(T|D) ∝ P(D|T)·P(T), SD (4.12), in scikit-learn's grammar."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from germane.arrays import AnyArray, Floats
from germane.classify.statistics import ClassStatistics
from germane.errors import ParameterError
from germane.lm.parameters import distribution


class GenerativeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A density of documents for each class, and a prior.

    A distribution supplies `_learn` (documents to parameters) and `_log_density` (documents × classes; constants that
    are the same for all classes may be left out). An empty document is no evidence: the answer is the prior.
    """

    prior: str | npt.ArrayLike

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from counts `X` (documents × vocabulary, sparse or dense) and one label a document.

        A weight counts a document that many times. `ParameterError` for a class whose documents all weigh 0.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        if y.dtype.kind not in "biuU":  # those are labels; of others scikit-learn refuses measurements
            check_classification_targets(y)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ParameterError(
                f"a classifier needs documents of two classes or more; there is 1 class: {y.tolist()[0]!r}"
            )
        X, weight = counts_of(X, type(self).__name__), self._weights(X, sample_weight)
        n_docs = np.bincount(number, weight, minlength=len(self.classes_)).astype(np.float64)
        empty = self.classes_[n_docs <= 0].tolist()
        if empty:
            raise ParameterError(f"the documents of class {empty[0]!r} all weigh 0: weigh one more, or leave them out")
        self._learn(X, number, weight)
        self._set_prior(n_docs)
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log P(D|T) + log P(T) for each document and class, up to a constant of the document."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(self._log_density(counts_of(X, type(self).__name__)) + self.class_log_prior_)

    def predict(self, X: Any) -> AnyArray:
        """The class of the highest posterior probability; of equals, the first in `classes_`."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(T|D), columns in the order of `classes_`."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Floats:
        """P(T|D), columns in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    # From fit on only: wherever an unfitted estimator has it, scikit-learn's check_decision_proba_consistency fits
    # negative numbers, whatever the tag positive_only says.
    @available_if(lambda self: hasattr(self, "classes_"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """`predict_joint_log_proba`; of two classes, as scikit-learn wants it, the second's minus the first's."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint[:, 1] - joint[:, 0]) if len(self.classes_) == 2 else joint

    @abstractmethod
    def _learn(self, X: Any, number: NDArray[np.intp], weight: Floats | None) -> None:
        """Set the parameters from counts, the number of each document's class, and weights (None: all 1)."""

    @abstractmethod
    def _log_density(self, X: Any) -> Floats:
        """log P(D|T), documents × classes; 0 for an empty document."""

    @abstractmethod
    def _log_evidence(self, X: Any) -> Floats:
        """`_log_density` without what depends on the class alone: the part that ranks documents, SD (4.31)."""

    def _weights(self, X: Any, sample_weight: npt.ArrayLike | None) -> Floats | None:
        if sample_weight is None:
            return None
        weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return weight

    def _set_prior(self, n_docs: Floats) -> None:
        """log P(T): uniform over the classes that have documents, by their share of documents, or as given."""
        seen = n_docs > 0
        if isinstance(self.prior, str):
            if self.prior not in ("uniform", "empirical"):
                raise ParameterError(
                    f"the prior is 'uniform', 'empirical' or a probability for each class, not {self.prior!r}"
                )
            share = seen / seen.sum() if self.prior == "uniform" else n_docs / n_docs.sum()
        else:
            share = distribution("prior", self.prior)
            if len(share) != len(n_docs):
                raise ParameterError(f"the prior has {len(share)} probabilities for {len(n_docs)} classes")
            share = np.where(seen, share, 0)
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(share)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # counts are asked for, and the checks give measurements
        return tags


class StatisticsClassifier(GenerativeClassifier):
    """A generative classifier whose parameters follow from sums over each class's documents.

    So it learns batch by batch (`partial_fit`), and from `ClassStatistics` that were merged (`fit_statistics`). A
    class that was announced but has no documents yet is never predicted.
    """

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from one batch more. The first call must name all `classes`."""
        first = not hasattr(self, "statistics_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        known = self._announced(classes, first)
        number = np.searchsorted(known, y).clip(0, len(known) - 1)
        strange = known[number] != y
        if np.any(strange):
            raise ParameterError(
                f"the label {y[strange].tolist()[0]!r} is not among the classes of the first partial_fit"
            )
        X, weight = counts_of(X, type(self).__name__), self._weights(X, sample_weight)
        self.classes_ = known
        batch = self._statistics(X, number, weight, None if first else self.statistics_)
        return self.fit_statistics(batch if first else self.statistics_.merge(batch))

    def fit_statistics(self, statistics: ClassStatistics) -> Self:
        """Learn from statistics, for instance those of several estimators, merged: the same as from their documents."""
        self.statistics_ = statistics
        self.classes_ = statistics.classes
        self.n_features_in_ = statistics.sums.shape[1]
        self._estimate(statistics)
        self._set_prior(statistics.n_docs)
        return self

    def _learn(self, X: Any, number: NDArray[np.intp], weight: Floats | None) -> None:
        self.statistics_ = self._statistics(X, number, weight, None)
        self._estimate(self.statistics_)

    @abstractmethod
    def _statistics(
        self, X: Any, number: NDArray[np.intp], weight: Floats | None, known: ClassStatistics | None
    ) -> ClassStatistics:
        """The statistics of these documents, to be merged with those `known`."""

    @abstractmethod
    def _estimate(self, statistics: ClassStatistics) -> None:
        """Set the parameters."""

    def _announced(self, classes: npt.ArrayLike | None, first: bool) -> AnyArray:
        if not first:
            known: AnyArray = self.classes_
            if classes is not None and not np.array_equal(np.unique(classes), known):
                raise ParameterError("`classes` differ from those of the first partial_fit")
            return known
        if classes is None:
            raise ParameterError("the first partial_fit needs `classes`: all labels that will ever come")
        known = np.unique(classes)
        if len(known) < 2:
            raise ParameterError(f"a classifier needs two classes or more, not {len(known)} class")
        return known


def counts_of(X: Any, whose: str) -> Any:
    """`X` as a CSR matrix in which a row's words stand once each, with counts above 0; copied only to change it.

    A CSR matrix may hold several entries of a word, whose sum is the count: a logarithm is to be taken of that sum. It
    may hold zeros, and a document of zeros is empty.
    """
    counts = X if sparse.issparse(X) else sparse.csr_matrix(X)
    least = counts.data.min() if counts.nnz else 1
    if least < 0:
        raise ParameterError(f"Negative values in data passed to {whose}: counts of words are 0 or more")
    if least == 0 or not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def ones_if_none(weight: Floats | None, n_docs: int) -> Floats:
    """Weights, 1 each where none are given."""
    return np.ones(n_docs) if weight is None else weight

"""Sufficient statistics of classes: computed apart, on any machine, and merged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from germane.arrays import AnyArray, Floats
from germane.classify import kernels
from germane.classify.background import general_english, log_ratio_weights
from germane.errors import ParameterError


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """What a model keeps of its training documents: for each class a sum over its documents, and their number.

    `sums`: classes × vocabulary. `n_docs`: the documents of each class, or their weights added up. `background`: the
    counts behind θ^GE where the sums depend on it, else None.
    """

    classes: AnyArray
    sums: Floats
    n_docs: Floats
    background: Floats | None = None

    def merge(self, other: "ClassStatistics") -> "ClassStatistics":
        """The statistics of both sets of documents, over the classes of either; one vocabulary, one background."""
        if self.sums.shape[1] != other.sums.shape[1]:
            raise ParameterError(
                f"statistics over {self.sums.shape[1]} and {other.sums.shape[1]} words cannot be merged: "
                "count both over one vocabulary"
            )
        if not _same(self.background, other.background):
            raise ParameterError(
                "these statistics were taken against different backgrounds: give both estimators one `background`"
            )
        if np.array_equal(self.classes, other.classes):
            sums, n_docs = self.sums + other.sums, self.n_docs + other.n_docs
            return ClassStatistics(self.classes, sums, n_docs, self.background)
        classes = np.union1d(self.classes, other.classes)
        sums, n_docs = np.zeros((len(classes), self.sums.shape[1])), np.zeros(len(classes))
        for part in (self, other):
            place = np.searchsorted(classes, part.classes)
            sums[place] += part.sums
            n_docs[place] += part.n_docs
        return ClassStatistics(classes, sums, n_docs, self.background)


def word_counts(X: Any, weight: Floats) -> Floats:
    """Σ_i w_i f^i over all documents."""
    counts = np.zeros(X.shape[1])
    kernels.column_sums(X.indptr, X.indices, X.data, weight, counts)
    return counts


def class_counts(X: Any, number: NDArray[np.intp], weight: Floats, classes: AnyArray) -> ClassStatistics:
    """Σ_{i∈T} w_i f^i for each class T: the statistics of the multinomial, SD (4.7)."""
    sums = np.zeros((len(classes), X.shape[1]))
    kernels.class_sums(X.indptr, X.indices, X.data, number, weight, sums)
    return ClassStatistics(classes, sums, _n_docs(number, weight, classes))


def class_log_ratios(
    X: Any,
    number: NDArray[np.intp],
    weight: Floats | None,
    classes: AnyArray,
    background: Floats,
    *,
    lam: float,
    beta: float,
) -> ClassStatistics:
    """Σ_{i∈T} w_i log(1 + λθ̂^i/((1-λ)θ^GE)) for each class T: the statistics of SD and of the Dirichlet, SD (3.33).

    `weight=None` counts every document once, which is faster than weights of 1.
    """
    sums = np.zeros((len(classes), X.shape[1]))
    ratio = log_ratio_weights(general_english(background, beta), lam)
    if weight is None:
        order = np.argsort(number, kind="stable")
        kernels.class_log_products(X.indptr, X.indices, X.data, ratio, number, order, sums)
    else:
        kernels.class_log_sums(X.indptr, X.indices, X.data, ratio, number, weight, sums)
    return ClassStatistics(classes, sums, _n_docs(number, weight, classes), background)


def _n_docs(number: NDArray[np.intp], weight: Floats | None, classes: Sequence[Any] | AnyArray) -> Floats:
    return np.bincount(number, weight, minlength=len(classes)).astype(np.float64)


def _same(one: Floats | None, other: Floats | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)

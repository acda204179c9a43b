"""The common opponent: tf-idf and a linear SVM."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data


def tfidf_svm(C: float = 1.0, random_state: Any = None) -> Pipeline:
    """A linear SVM on (1 + log f)·idf, each document scaled to length 1: a pipeline for counts, "weights" and "svm"."""
    return Pipeline(
        [("weights", TfidfTransformer(sublinear_tf=True)), ("svm", LinearSVC(C=C, random_state=random_state))]
    )


class RawTfidf(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts to f_j·log((N+1)/(n_j+0.5)), each document scaled to length 1: the features of SD's SVM (§4.4).

    N training documents, n_j of them with word j. SD says 'normalized' and not by what: by the Euclidean length here. A
    word of no training document has its weight, too, and so a part in the length. Attributes: `idf_`.
    """

    def fit(self, X: Any, y: npt.ArrayLike | None = None) -> Self:
        """Learn n_j from counts; `y` is not used."""
        X = sparse.csr_matrix(validate_data(self, X, accept_sparse="csr", dtype=np.float64))
        n = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
        self.idf_ = np.log((X.shape[0] + 1) / (n + 0.5))
        return self

    def transform(self, X: Any) -> Any:
        """The weights, a CSR matrix of the shape of `X`."""
        check_is_fitted(self)
        X = sparse.csr_matrix(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))
        weights = sparse.csr_matrix((X.data * self.idf_[X.indices], X.indices, X.indptr), X.shape)
        return normalize(weights, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

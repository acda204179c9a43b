"""Smoothed log ratios as term weights: a replacement for tf-idf, alone or before a linear SVM."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from germane.classify.background import general_english, log_ratio_weights
from germane.classify.generative import counts_of
from germane.classify.smoothed_dirichlet import log_ratio_matrix
from germane.classify.statistics import word_counts
from germane.errors import ParameterError
from germane.lm.parameters import open_fraction, positive


class SmoothedLogRatio(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts to log(1 + λθ̂_j/((1-λ)θ^GE_j)), the weight of a word in SD (4.29), each document scaled to length 1.

    θ̂_j is the word's share of the document, θ^GE its share of the training set, smoothed by β, SD (4.10): a logarithm
    of tf × idf. Takes the place of scikit-learn's TfidfTransformer. `norm`: "l2", "l1", or None for the weights
    themselves. An empty document stays empty. `y` and weights are not used.

    Attributes: `theta_GE_`.
    """

    def __init__(self, lam: float = 0.1, beta: float = 1.0, norm: str | None = "l2") -> None:
        self.lam = lam
        self.beta = beta
        self.norm = norm

    def fit(self, X: Any, y: npt.ArrayLike | None = None) -> Self:
        """Learn θ^GE from counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        open_fraction("lam", self.lam)
        if self.norm not in ("l2", "l1", None):
            raise ParameterError(f"norm is 'l2', 'l1' or None, not {self.norm!r}")
        counts = word_counts(counts_of(X, type(self).__name__), np.ones(X.shape[0]))
        self.theta_GE_ = general_english(counts, positive("beta", self.beta))
        return self

    def transform(self, X: Any) -> Any:
        """The weights, a CSR matrix of the shape of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        ratio = log_ratio_weights(self.theta_GE_, open_fraction("lam", self.lam))
        weights = log_ratio_matrix(counts_of(X, type(self).__name__), ratio)
        return weights if self.norm is None else normalize(weights, norm=self.norm, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def smoothed_svm(
    lam: float = 0.1, C: float = 1.0, random_state: int | np.random.RandomState | None = None, *, beta: float = 1.0
) -> Pipeline:
    """A linear SVM on `SmoothedLogRatio`: a pipeline with the steps "weights" and "svm", for counts."""
    return Pipeline(
        [("weights", SmoothedLogRatio(lam=lam, beta=beta)), ("svm", LinearSVC(C=C, random_state=random_state))]
    )

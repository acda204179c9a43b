"""What each word of a document adds to the score of each class: every model here is a sum over words and a constant."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from germane.arrays import Floats
from germane.classify.one_versus_rest import OneVersusRestRanker
from germane.classify.smoothed_dirichlet import LogRatioClassifier, SmoothedDirichletClassifier, log_ratio_matrix


def word_contributions(estimator: Any, counts: sparse.csr_array) -> Floats:
    """Words × classes, for one document: a row of counts, whose words are in the order of its `indices`.

    A multinomial adds f_j log θ_j^T, SD (2.11); the Bernoulli its log-odds; DCM log Γ(α_j^T+f_j)/Γ(α_j^T), (4.17); SD
    and the Dirichlet α_j^T log(1 + λθ̂_j/((1-λ)θ^GE_j)), (4.29); a linear SVM its coefficient times the weight of the
    word; the ranker the difference of the two classes of each label, (4.13).
    """
    if isinstance(estimator, OneVersusRestRanker):
        pairs = [word_contributions(one, counts) for one in estimator.estimators_]
        return np.column_stack([pair[:, 1] - pair[:, 0] for pair in pairs])
    if isinstance(estimator, Pipeline):
        weights = estimator[:-1].transform(counts)
        parts: Floats = weights.data[:, np.newaxis] * _coefficients(estimator[-1])[:, weights.indices].T
        return np.column_stack([-parts, parts]) if parts.shape[1] == 1 else parts
    if isinstance(estimator, LogRatioClassifier):
        ratios = log_ratio_matrix(counts, estimator._ratio).data
        scale = estimator.S_ if isinstance(estimator, SmoothedDirichletClassifier) else 1.0
        return np.asarray(scale * ratios[:, np.newaxis] * estimator._alpha[counts.indices])
    n_words = counts.nnz
    alone = sparse.csr_array((counts.data, counts.indices, np.arange(n_words + 1)), shape=(n_words, counts.shape[1]))
    # No look at the document's length: `TextClassifier` gives DCM one S for all classes.
    return np.asarray(estimator._log_evidence(alone), np.float64)


def _coefficients(svm: Any) -> Floats:
    if isinstance(svm, OneVsRestClassifier):
        return np.vstack([one.coef_ for one in svm.estimators_])
    return np.asarray(svm.coef_)

"""General English: the language model θ^GE that smooths documents and classes, SD (4.10)."""

import numpy as np

from germane.arrays import Floats


def general_english(counts: Floats, beta: float) -> Floats:
    """θ^GE_j = (Σ_i f_j^i + β) / (Σ_i Σ_j f_j^i + Vβ), SD (4.10); `counts` are Σ_i f^i of the training documents.

    >>> general_english(np.array([3.0, 0.0]), beta=1.0).tolist()
    [0.8, 0.2]
    """
    smoothed = counts + beta
    return np.asarray(smoothed / smoothed.sum())


def log_ratio_weights(theta_GE: Floats, lam: float) -> Floats:
    """λ/((1-λ)θ^GE_j): what a word's share θ̂_j of a document is multiplied by in log(1 + ·), SD (4.29)."""
    return np.asarray(lam / ((1 - lam) * theta_GE))

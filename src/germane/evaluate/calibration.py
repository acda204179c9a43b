"""Reliability of probabilities: does what is said with 70 % come true in 70 of 100 cases?"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError


@dataclass(frozen=True)
class Reliability:
    """Bins of predictions, and the errors over them. Empty bins are left out.

    `ece` = Σ_b (n_b/N)·|accuracy_b - confidence_b| (expected calibration error), `mce` the largest gap of a bin,
    `brier` = mean (p - y)².
    """

    edges: Floats
    count: npt.NDArray[np.int64]
    confidence: Floats
    accuracy: Floats
    ece: float
    mce: float
    brier: float


def reliability(probability: npt.ArrayLike, outcome: npt.ArrayLike, n_bins: int = 10) -> Reliability:
    """Bins of equal width, [0, 1/n), ..., [1-1/n, 1]. Source: Naeini, Cooper & Hauskrecht 2015 (AAAI), eq. for ECE."""
    p, y = np.asarray(probability, np.float64), np.asarray(outcome, np.float64)
    if p.shape != y.shape or p.ndim != 1 or not len(p):
        raise ParameterError("probabilities and outcomes must be two lists of one length, and not empty")
    if not ((p >= 0.0) & (p <= 1.0)).all() or not ((y == 0.0) | (y == 1.0)).all():
        raise ParameterError("probabilities must lie between 0 and 1, and outcomes be 0 or 1")
    if n_bins < 1:
        raise ParameterError("at least one bin is needed")
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bin_of = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, n_bins - 1)
    count = np.bincount(bin_of, minlength=n_bins)
    used = np.flatnonzero(count)
    confidence = np.bincount(bin_of, p, n_bins)[used] / count[used]
    accuracy = np.bincount(bin_of, y, n_bins)[used] / count[used]
    gap = np.abs(accuracy - confidence)
    return Reliability(
        np.stack([edges[used], edges[used + 1]], axis=1),
        count[used],
        confidence,
        accuracy,
        float(gap @ count[used] / len(p)),
        float(gap.max()),
        float(np.mean((p - y) ** 2)),
    )

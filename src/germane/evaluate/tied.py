"""NDCG of a list whose scores tie: the mean over all orders of the tied, McSherry & Najork (2008)."""

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError


def tied_ndcg(scores: npt.ArrayLike, gains: npt.ArrayLike, k: int) -> float:
    """DCG@k / ideal DCG@k with the discount 1/log2(1 + rank); each of some tied documents has their mean gain.

    0 where nothing has a gain. Models of few words tie often: whichever order a sort leaves would be luck.

    >>> tied_ndcg([1.0, 1.0], [1.0, 0.0], 1)
    0.5
    """
    values, gain = np.asarray(scores, np.float64), np.asarray(gains, np.float64)
    if values.shape != gain.shape or values.ndim != 1 or k < 1:
        raise ParameterError("NDCG needs a score and a gain for each document, and k of 1 or more")
    _, group, size = np.unique(-values, return_inverse=True, return_counts=True)
    expected = np.repeat(np.bincount(group, gain) / size, size)[:k]
    ideal = -np.sort(-gain)[:k]
    discount = 1 / np.log2(np.arange(2, len(ideal) + 2))
    best = float(ideal @ discount)
    return float(expected @ discount) / best if best > 0 else 0.0

"""How large a difference is, and how well it is known."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from germane.errors import ParameterError


class Effect(NamedTuple):
    """The mean difference with its confidence interval, and Cohen's d_z = mean(d)/sd(d)."""

    mean: float
    low: float
    high: float
    d_z: float


def paired_effect(a: npt.ArrayLike, b: npt.ArrayLike, confidence: float = 0.95) -> Effect:
    """mean(d) ± t_{n-1,(1+c)/2}·sd(d)/√n, which is the interval of `scipy.stats.ttest_rel`; d_z as in Cohen 1988.

    Where all differences are equal, d_z is 0 if they are 0, else infinite.
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise ParameterError("an effect needs two lists of one length, with two queries at least")
    if not 0.0 < confidence < 1.0:
        raise ParameterError("confidence must lie strictly between 0 and 1")
    d = x - y
    mean, sd = float(d.mean()), float(d.std(ddof=1))
    half = float(stats.t.ppf((1.0 + confidence) / 2.0, len(d) - 1)) * sd / np.sqrt(len(d))
    d_z = mean / sd if sd > 0.0 else 0.0 if mean == 0.0 else float(np.copysign(np.inf, mean))
    return Effect(mean, mean - half, mean + half, d_z)

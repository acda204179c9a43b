"""Is one run better than another, or was it luck? Paired tests over queries, and how large the difference is.

`alternative` is "two-sided", "greater" (a is better than b) or "less". d_i = a_i - b_i throughout.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import stats

from germane.arrays import Floats
from germane.errors import ParameterError

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")
EXHAUSTIVE = 16
"""Up to this many non-zero differences the randomisation test goes through all 2^n signs."""


class Significance(NamedTuple):
    """The statistic and the probability of one at least as extreme if the two runs were alike."""

    statistic: float
    p_value: float


def paired_t(a: npt.ArrayLike, b: npt.ArrayLike, alternative: Alternative = "two-sided") -> Significance:
    """Student's t = mean(d)/(sd(d)/√n) with n-1 degrees of freedom; equals `scipy.stats.ttest_rel`.

    Where all differences are equal sd is 0: p is 1 if they are 0 too, else the limit of an infinite t.
    """
    d = _differences(a, b, alternative)
    if len(d) < 2:
        raise ParameterError("the t-test needs two queries at least")
    mean, error = float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))
    if error == 0.0:
        return Significance(0.0, 1.0) if mean == 0.0 else _infinite(mean, alternative)
    t = mean / error
    return Significance(t, _tail(lambda x: float(stats.t.sf(x, len(d) - 1)), t, alternative))


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike, alternative: Alternative = "two-sided") -> Significance:
    """Wilcoxon signed-rank test, zeros dropped; equals `scipy.stats.wilcoxon`.

    The statistic is W+ = Σ ranks of positive |d|, or min(W+, W-) two-sided. Exact up to 50 differences without ties
    or zeros, otherwise the normal approximation, as SciPy's method "auto" has it.
    """
    d = _differences(a, b, alternative)
    if not d.any():
        return Significance(0.0, 1.0)
    result = stats.wilcoxon(d, alternative=alternative)
    return Significance(float(result.statistic), float(result.pvalue))


def sign_test(a: npt.ArrayLike, b: npt.ArrayLike, alternative: Alternative = "two-sided") -> Significance:
    """Wins among wins and losses, binomial with p = ½; equals `scipy.stats.binomtest`. Ties are dropped."""
    d = _differences(a, b, alternative)
    wins, n = int((d > 0).sum()), int((d != 0).sum())
    if n == 0:
        return Significance(0.0, 1.0)
    return Significance(float(wins), float(stats.binomtest(wins, n, 0.5, alternative=alternative).pvalue))


def randomisation_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    alternative: Alternative = "two-sided",
    *,
    n_resamples: int = 100_000,
    random_state: int = 0,
) -> Significance:
    """Fisher's randomisation test of mean(d): how often do random signs reach the observed mean?

    With at most 16 differences that are not 0, all 2^n signs are tried and p is exact; otherwise `n_resamples` random
    ones, and p = (reached + 1)/(n_resamples + 1), Smucker, Allan & Carterette 2007 (CIKM), Phipson & Smyth 2010.
    """
    d = _differences(a, b, alternative)
    observed = float(d.mean())
    moving = d[d != 0.0]
    n = len(moving)
    if n == 0:
        return Significance(0.0, 1.0)
    if n <= EXHAUSTIVE:
        sums = np.zeros(1)
        for value in np.abs(moving):
            sums = np.concatenate([sums - value, sums + value])
        return Significance(observed, float(np.mean(_reached(sums, float(moving.sum()), alternative))))
    if n_resamples < 1:
        raise ParameterError("at least one resample is needed")
    rng = np.random.default_rng(random_state)
    reached = 0
    chunk = max(1, 4_000_000 // n)
    for start in range(0, n_resamples, chunk):
        signs = rng.integers(0, 2, (min(chunk, n_resamples - start), n), np.int8) * 2 - 1
        reached += int(_reached(signs @ moving, float(moving.sum()), alternative).sum())
    return Significance(observed, (reached + 1) / (n_resamples + 1))


TESTS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike, Alternative], Significance]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "randomisation": randomisation_test,
}


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's step-down correction: p̃_(i) = max_{j<=i} min(1, (m-j+1)·p_(j)), Holm 1979. Same order as given."""
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise ParameterError("p-values must be a list of numbers between 0 and 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    corrected = np.empty(len(p))
    corrected[order] = stepped
    return corrected


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


def _reached(sums: Floats, observed: float, alternative: Alternative) -> npt.NDArray[np.bool_]:
    """Which sums are at least as extreme; sums that differ by rounding alone count as equal."""
    slack = 1e-9 * max(abs(observed), 1e-12)
    if alternative == "greater":
        return sums >= observed - slack
    if alternative == "less":
        return sums <= observed + slack
    return np.abs(sums) >= abs(observed) - slack


def _tail(upper: Callable[[float], float], statistic: float, alternative: Alternative) -> float:
    if alternative == "greater":
        return upper(statistic)
    if alternative == "less":
        return upper(-statistic)
    return 2.0 * upper(abs(statistic))


def _infinite(mean: float, alternative: Alternative) -> Significance:
    against = (alternative == "greater" and mean < 0) or (alternative == "less" and mean > 0)
    return Significance(float(np.copysign(np.inf, mean)), 1.0 if against else 0.0)


def _differences(a: npt.ArrayLike, b: npt.ArrayLike, alternative: str) -> Floats:
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ParameterError("a paired test needs two lists of one length, and not empty")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ParameterError("a paired test needs finite values")
    if alternative not in ALTERNATIVES:
        raise ParameterError(f"alternative is one of {', '.join(ALTERNATIVES)}, not '{alternative}'")
    difference: Floats = x - y
    return difference

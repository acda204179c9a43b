"""Choosing μ and λ from the collection alone, by leave-one-out likelihood.

Each token is predicted by the smoothed model of its document *without that token*; the parameter that predicts all
tokens best is chosen. No queries and no judgements are needed. Source: Zhai & Lafferty (2002), who estimate μ so;
the form for λ is the same idea with linear smoothing.

Postings are streamed: the functions take one `Postings`, or a callable that starts a fresh pass over chunks of them
(`lambda: read_chunks(index)`). The statistics of chunks add up, so passes can also be divided among workers.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.parameters import reals

TOLERANCE = 1e-6
"""The search ends when the next step would be smaller than this, in log μ or in λ."""


@dataclass(frozen=True, eq=False)
class Postings:
    """Some postings, each with its count c(w;d) ≥ 1, its word's p_C(w) > 0 and its document's length |d| ≥ c(w;d)."""

    c_wd: Floats
    p_C: Floats
    len_d: Floats

    def __init__(self, c_wd: npt.ArrayLike, p_C: npt.ArrayLike, len_d: npt.ArrayLike) -> None:
        for name, values in (("c_wd", c_wd), ("p_C", p_C), ("len_d", len_d)):
            object.__setattr__(self, name, reals(name, values))
        if not self.c_wd.shape == self.p_C.shape == self.len_d.shape:
            raise ParameterError(f"{self.c_wd.size} counts, {self.p_C.size} p_C and {self.len_d.size} lengths")
        if (self.c_wd < 1).any():
            raise ParameterError("leave-one-out needs counts of at least 1: it takes one occurrence away")
        if (self.len_d < self.c_wd).any():
            raise ParameterError("a document is shorter than the count of one of its words")
        if ((self.p_C <= 0) | (self.p_C > 1)).any():
            raise ParameterError("p_C of a word that occurs must be above 0 and at most 1")


Pass: TypeAlias = Callable[[], Iterable[Postings]]


@dataclass(frozen=True)
class LeaveOneOut:
    """The chosen value, its log-likelihood, how many passes over the postings it took, and whether the likelihood was
    still rising at the end of the range searched (the value is then that end, and not a maximum)."""

    value: float
    log_likelihood: float
    n_passes: int
    at_bound: bool


def optimal_mu(postings: Postings | Pass, *, low: float = 0.1, high: float = 1e7) -> LeaveOneOut:
    """μ of `Dirichlet`: argmax l(μ) = Σ_d Σ_w c·log((c - 1 + μ·p_C(w)) / (|d| - 1 + μ)), low ≤ μ ≤ high.

    Source: Zhai & Lafferty (2002), leave-one-out estimate of μ by Newton's method. Departures: Newton steps in log μ,
    kept inside a bracket found on a grid of powers of ten. A document of one word predicts it by p_C whatever μ is.
    """
    if not 0 < low < high < np.inf:
        raise ParameterError(f"low and high must satisfy 0 < low < high, not {low!r} and {high!r}")

    def of_log_mu(chunk: Postings, log_mu: float) -> Floats:
        mu = np.exp(log_mu)
        l0, l1, l2 = dirichlet_statistics(chunk, mu)
        return np.array([l0, mu * l1, mu * l1 + mu * mu * l2])

    n_points = int(np.ceil(np.log10(high / low))) + 1
    best = _maximise(of_log_mu, postings, np.linspace(np.log(low), np.log(high), max(n_points, 3)))
    return LeaveOneOut(float(np.exp(best.value)), best.log_likelihood, best.n_passes, best.at_bound)


def optimal_lam(postings: Postings | Pass) -> LeaveOneOut:
    """λ of `JelinekMercer`: argmax l(λ) = Σ_d Σ_w c·log(λ·(c-1)/(|d|-1) + (1-λ)·p_C(w)), 0 ≤ λ ≤ 1.

    l is concave. Limit case: a document of one word is empty without it, so p_C predicts it whatever λ is.
    """
    return _maximise(jelinek_mercer_statistics, postings, np.linspace(0.0, 1.0, 5))


def dirichlet_statistics(postings: Postings, mu: float) -> Floats:
    """l(μ), l'(μ) and l''(μ) of some postings; those of the collection are their sum."""
    c, length = postings.c_wd, postings.len_d - 1 + mu
    seen = c - 1 + mu * postings.p_C
    up, down = postings.p_C / seen, 1 / length
    return np.array([c @ np.log(seen / length), c @ (up - down), c @ (down * down - up * up)])


def jelinek_mercer_statistics(postings: Postings, lam: float) -> Floats:
    """l(λ), l'(λ) and l''(λ) of some postings; -∞ at λ = 1 if a word occurs once in a longer document."""
    c, p_C, rest = postings.c_wd, postings.p_C, postings.len_d - 1
    left = np.where(rest > 0, (c - 1) / np.where(rest > 0, rest, 1), p_C)
    theta = lam * left + (1 - lam) * p_C
    if (theta == 0).any():
        return np.array([-np.inf, -np.inf, -np.inf])
    slope = (left - p_C) / theta
    return np.array([c @ np.log(theta), c @ slope, -(c @ (slope * slope))])


def _maximise(statistics: Callable[[Postings, float], Floats], postings: Postings | Pass, grid: Floats) -> LeaveOneOut:
    """The maximum on [grid[0], grid[-1]]: bracket the best grid point, then Newton, halving where Newton leaves.

    The best point seen always lies inside the bracket, and every new point becomes the best or an end of the bracket.
    """
    start: Pass = (lambda: (postings,)) if isinstance(postings, Postings) else postings

    def one_pass(points: Floats) -> tuple[Floats, int]:
        totals, n_tried = np.zeros((points.size, 3)), 0
        for chunk in start():
            totals += [statistics(chunk, float(x)) for x in points]
            n_tried += int(np.count_nonzero(chunk.len_d > 1))
        return totals, n_tried

    table, n_postings = one_pass(grid)
    if n_postings == 0:
        raise ParameterError("no document has more than one word: there is nothing to choose the parameter by")
    i = int(np.argmax(table[:, 0]))
    x, (value, slope, bend), passes = float(grid[i]), table[i], 1
    outside = (i == 0 and slope <= 0) or (i == grid.size - 1 and slope >= 0)
    low, high = float(grid[max(i - 1, 0)]), float(grid[min(i + 1, grid.size - 1)])
    last = high - low
    while not outside:
        low, high = (x, high) if slope > 0 else (low, x)
        step = -slope / bend if bend < 0 else np.inf
        if abs(step) < TOLERANCE or high - low < TOLERANCE:
            break
        if not (low < x + step < high and abs(step) < last):
            step = (high if slope > 0 else low) / 2 - x / 2
        last, passes = abs(step) / 2, passes + 1
        (new,), n_now = one_pass(np.array([x + step]))
        if n_now != n_postings:
            raise ParameterError(f"a pass gave {n_now} postings, the first {n_postings}: start a fresh pass each time")
        if new[0] >= value:
            low, high = (x, high) if step > 0 else (low, x)
            x, (value, slope, bend) = float(x + step), new
        else:
            low, high = (low, x + step) if step > 0 else (x + step, high)
    return LeaveOneOut(x, float(value), passes, bool(outside))

"""How likely a result is looked at, by its position: θ_k, estimated from the log itself.

The position-based model: a result d at position k is clicked if it is examined and attractive,

    P(C = 1 | q, d, k) = θ_k · γ_{q,d}.

A log tells θ up to a factor, since half the examination and twice the attraction give the same clicks; θ_1 = 1 settles
it. Only pairs (q, d) that were shown at several positions tell anything: the same pair is as attractive at each.

Two estimators that share no step, the second to check the first:

- `em_curve`: maximum likelihood by EM over the pairs [craswell2008experimental; chuklin2015click].
- `ratio_curve`: of pairs shown at both k and k', the ratio of weighted click-through rates estimates θ_k/θ_k', whatever
  their attraction [agarwal2019estimating]; all ratios together by least squares of their logarithms.
"""

from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats, Integers, Mask
from germane.clicks.observations import Cells
from germane.errors import ParameterError

LEAST_CLICKS = 5.0
"""Weighted clicks that a ratio must have on either side to count."""
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class PositionCurve:
    """θ by position, from 1; NaN where the log does not tell. `pairs` is how many it was learnt from, `likelihoods` the
    logarithm of the likelihood at the start and after each step of EM."""

    theta: Floats
    pairs: int
    likelihoods: tuple[float, ...] = ()

    def filled(self, positions: int) -> Floats:
        """θ for so many positions: where it is not known, that of the nearest known position above it, else 1."""
        theta = np.ones(positions)
        known = 1.0
        for k in range(positions):
            if k < len(self.theta) and np.isfinite(self.theta[k]):
                known = float(self.theta[k])
            theta[k] = known
        return theta


def em_curve(cells: Cells, *, positions: int, iterations: int = 500, tolerance: float = 1e-6) -> PositionCurve:
    """θ by EM, n_{pk} impressions and c_{pk} clicks of pair p at position k.

    E-step, of a result that was not clicked:  P(examined) = θ_k(1 - γ_p)/(1 - θ_kγ_p),
                                               P(attractive) = γ_p(1 - θ_k)/(1 - θ_kγ_p).
    M-step:  θ_k = Σ_p (c + (n - c)·P(examined)) / Σ_p n,   γ_p = Σ_k (c + (n - c)·P(attractive)) / Σ_k n.

    Steps are taken two at a time and extrapolated along their difference where the likelihood does not fall by it
    (SQUAREM, scheme S3 [varadhan2008simple]): plain EM crawls, as the scale of θ and γ is all but free. A pair that was
    never clicked says nothing of θ (γ = 0 explains it) and is left out beforehand.
    """
    _require(positions, iterations)
    if not len(cells.pair):
        return PositionCurve(_first_only(positions), 0)
    pair, place = _numbered(cells.pair), cells.position - 1
    n, c = cells.shown, cells.clicked
    at_position: Floats = np.bincount(place, n, positions).astype(np.float64)
    of_pair = np.bincount(pair, n)
    theta = np.bincount(place, c, positions) / np.maximum(at_position, 1.0)
    theta = np.clip(theta / max(theta.max(), 1e-12), 1e-6, 1 - 1e-6)
    gamma = np.clip(np.bincount(pair, c) / of_pair, 1e-6, 1 - 1e-6)

    def step(x: Floats) -> Floats:
        t, g = x[:positions], x[positions:]
        chance = t[place] * g[pair]
        unclicked = (n - c) / (1.0 - chance)
        examined = np.bincount(place, c + unclicked * (t[place] - chance), positions) / np.maximum(at_position, 1.0)
        attractive = np.bincount(pair, c + unclicked * (g[pair] - chance), len(of_pair)) / of_pair
        after: Floats = np.clip(np.concatenate([examined, attractive]), 1e-9, 1 - 1e-9)
        return after

    def likelihood(x: Floats) -> float:
        chance = x[:positions][place] * x[positions:][pair]
        return float(c @ np.log(chance) + (n - c) @ np.log1p(-chance))

    x = np.concatenate([theta, gamma])
    values = [likelihood(x)]
    for _ in range(iterations):
        once = step(x)
        twice = step(once)
        r, v = once - x, twice - 2.0 * once + x
        size = float(np.linalg.norm(v))
        after, value = twice, likelihood(twice)
        if size > 0.0:
            alpha = -max(float(np.linalg.norm(r)) / size, 1.0)
            leap = step(np.clip(x - 2.0 * alpha * r + alpha * alpha * v, 1e-9, 1 - 1e-9))
            leapt = likelihood(leap)
            if leapt >= value:
                after, value = leap, leapt
        before = _relative(x[:positions], at_position)
        x = after
        values.append(value)
        moved = np.nanmax(np.abs(_relative(x[:positions], at_position) - before), initial=0.0)
        if moved < tolerance and values[-1] - values[-2] < tolerance * abs(values[-1]):
            break
    return PositionCurve(_relative(x[:positions], at_position), len(of_pair), tuple(values))


def ratio_curve(cells: Cells, *, positions: int) -> PositionCurve:
    """θ from the ratios of all pairs of positions.

    A_{kk'} = Σ_p w_p c_{pk}/n_{pk}, with w_p = min(n_{pk}, n_{pk'}) over pairs p shown at both, has the expectation
    θ_k Σ_p w_p γ_p, so that A_{kk'}/A_{k'k} estimates θ_k/θ_k'. Then b = log θ minimises
    Σ m_{kk'} (b_k - b_k' - log(A_{kk'}/A_{k'k}))², with m the harmonic mean of the two, which is about one over the
    variance of the logarithm of their ratio.
    """
    _require(positions, 1)
    if not len(cells.pair):
        return PositionCurve(_first_only(positions), 0)
    pair, place = _numbered(cells.pair), cells.position - 1
    clicks = np.zeros((positions, positions))
    pairs = int(pair[-1]) + 1
    for start in range(0, pairs, _BLOCK):
        first, last = np.searchsorted(pair, [start, start + _BLOCK])
        shape = (min(_BLOCK, pairs - start), positions)
        n, c = np.zeros(shape), np.zeros(shape)
        n[pair[first:last] - start, place[first:last]] = cells.shown[first:last]
        c[pair[first:last] - start, place[first:last]] = cells.clicked[first:last]
        rate = np.divide(c, n, out=np.zeros(shape), where=n > 0)
        for k in range(positions):
            clicks[k] += rate[:, k] @ np.minimum(n, n[:, k, None])
    known = (np.minimum(clicks, clicks.T) >= LEAST_CLICKS) & ~np.eye(positions, dtype=np.bool_)
    theta = np.full(positions, np.nan)
    linked = _linked(known)
    if not linked[0] or linked.sum() < 2:
        return PositionCurve(_first_only(positions), pairs)
    ks, others = np.nonzero(np.triu(known & linked[:, None] & linked[None, :]))
    one, other = clicks[ks, others], clicks[others, ks]
    weight = np.sqrt(one * other / (one + other))
    design = np.zeros((len(ks), positions))
    design[np.arange(len(ks)), ks] = weight
    design[np.arange(len(ks)), others] = -weight
    unknown = np.flatnonzero(linked)[1:]  # log θ_1 = 0
    found, *_ = np.linalg.lstsq(design[:, unknown], weight * np.log(one / other), rcond=None)
    theta[0], theta[unknown] = 1.0, np.exp(found)
    return PositionCurve(theta, pairs)


def _linked(known: Mask) -> Mask:
    """The positions that a chain of ratios ties to the first."""
    linked = np.zeros(len(known), np.bool_)
    linked[0] = True
    for _ in range(len(known)):
        linked |= (known & linked[None, :]).any(axis=1)
    return linked


def _relative(theta: Floats, shown: Floats) -> Floats:
    """θ with θ_1 = 1, or the first position that was shown; NaN where none was."""
    there = np.flatnonzero(shown > 0)
    relative = np.full(len(theta), np.nan)
    relative[there] = theta[there] / theta[there[0]]
    return relative


def _first_only(positions: int) -> Floats:
    theta = np.full(positions, np.nan)
    theta[0] = 1.0
    return theta


def _numbered(pair: Integers) -> Integers:
    """Pairs as 0, 1, 2, ..., in the order in which they come."""
    found: Integers = np.concatenate([[0], np.cumsum(pair[1:] != pair[:-1])])
    return found


def _require(positions: int, iterations: int) -> None:
    if positions < 1 or iterations < 1:
        raise ParameterError("positions and iterations must be at least 1")

"""The derivative and the inverse of ψ = (log Γ)', for many numbers at once."""

import numpy as np
import numpy.typing as npt
from scipy.special import psi

from germane.arrays import Floats

SHIFT = 10
"""ψ'(x) = Σ_{k<SHIFT} 1/(x+k)² + ψ'(x+SHIFT): the series below is exact to rounding there."""
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""B_2, B_4, ..., B_14; the first term left out is 7.1/y¹⁷, below 10⁻¹⁶."""
BLOCK = 4096
"""Numbers at a time: as many as stay in the cache."""


def trigamma(x: npt.ArrayLike) -> Floats:
    """ψ'(x) for x > 0: shifted upwards, then 1/y + 1/(2y²) + Σ_k B_2k/y^(2k+1), Abramowitz & Stegun 6.4.6, 6.4.12.

    The same as SciPy's `polygamma(1, x)`, whose general zeta function takes many times as long.
    """
    at = np.asarray(x, dtype=np.float64)
    flat = at.reshape(-1)
    found = np.empty(flat.size)
    for start in range(0, flat.size, BLOCK):
        found[start : start + BLOCK] = _trigamma(flat[start : start + BLOCK])
    return found.reshape(at.shape)


def _trigamma(x: Floats) -> Floats:
    inverse = 1.0 / (x + SHIFT)
    square = inverse * inverse
    series = np.zeros_like(x)
    for number in reversed(BERNOULLI):
        series += number
        series *= square
    total = inverse * (1.0 + 0.5 * inverse + series)
    for k in range(SHIFT - 1, -1, -1):  # the largest last
        total += 1.0 / np.square(x + k)
    return np.asarray(total)


def inverse_psi(y: npt.ArrayLike) -> Floats:
    """The x > 0 with ψ(x) = y, by Newton's method. Source: Minka (2003), appendix C."""
    wanted = np.asarray(y, dtype=np.float64)
    # exp overflows only in the branch that is not taken.
    x = np.where(wanted >= -2.22, np.exp(np.minimum(wanted, 700.0)) + 0.5, -1 / np.minimum(wanted - psi(1.0), -1e-3))
    for _ in range(6):
        x = x - (psi(x) - wanted) / trigamma(x)
    return np.asarray(x)

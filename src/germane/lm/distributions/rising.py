"""The rising factorial a^(f) = Γ(a + f)/Γ(a) in logarithms, with its first two derivatives in a.

It is all that the DCM asks of the gamma function, SD (3.2). For a large a the difference of two nearly equal values
would lose its digits, so Stirling's series (SD (3.22), with more terms) is subtracted by hand there.
"""

import numpy as np
from scipy.special import gammaln, polygamma, psi

from germane.arrays import Floats

LARGE = 1e3
"""From here on the series is exact to rounding: its first neglected term is below 1/(1260·a⁵) = 10⁻¹⁸."""


def log_rising(a: Floats, f: Floats) -> Floats:
    """log Γ(a + f) - log Γ(a) for a > 0, f ≥ 0; for a whole f it is Σ_{k<f} log(a + k)."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = (top - 0.5) * np.log1p(f / A) + f * np.log(A) - f - f / (12 * A * top) - _cubes(A, top) / 360
    return np.asarray(np.where(large, series, gammaln(a + f) - gammaln(a)))


def log_rising_slope(a: Floats, f: Floats) -> Floats:
    """d/da of `log_rising`: ψ(a + f) - ψ(a) ≥ 0; for a whole f it is Σ_{k<f} 1/(a + k)."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = np.log1p(f / A) + f / (2 * A * top) + f * (A + top) / (12 * (A * top) ** 2)
    return np.asarray(np.where(large, series, psi(a + f) - psi(a)))


def log_rising_curvature(a: Floats, f: Floats) -> Floats:
    """d²/da² of `log_rising`: ψ'(a + f) - ψ'(a) ≤ 0; for a whole f it is -Σ_{k<f} 1/(a + k)²."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = -f / (A * top) - f * (A + top) / (2 * (A * top) ** 2) + _cubes(A, top) / 6
    return np.asarray(np.where(large, series, polygamma(1, a + f) - polygamma(1, a)))


def _cubes(A: Floats, top: Floats) -> Floats:
    """1/(A + f)³ - 1/A³, where top = A + f."""
    return np.asarray(top**-3.0 - A**-3.0)

"""The normaliser of the exact Smoothed Dirichlet at vocabulary size: a saddle-point expansion, SD (3.14).

With θ_j = l_j + w_j, l_j = (1-λ)p_C(j) the least that a smoothed model gives a word, and Σ_j w_j = λ,

    Z(α) = Π_j l_j^(α_j-1) · Z′(α),   Z′(α) = ∫_{w ≥ 0, Σw = λ} Π_j (1 + w_j/l_j)^(α_j-1) dw.

Under e^(-s·w_j) the factors are densities of independent variables W_j for any s > 0, gamma variables cut at l_j:

    Z′(α) = e^(sλ) · Π_j l_j/r_j · f_s(λ),   r = x^α e^-x/Γ(α, x),   x = s·l,

Γ(a, x) the upper incomplete gamma function and f_s the density of ΣW. With s such that E[ΣW] = λ,

    f_s(λ) = (2πκ₂)^-½ · (1 + κ₄/(8κ₂²) - 5κ₃²/(24κ₂³) + …),   κ the cumulants of ΣW

(Daniels 1954). The error falls with the number of words that share the mass. Z′ is what classes differ by, log P(θ^D|α)
= Σ_{j∈D} (α_j-1)·log(1 + λθ̂_j/l_j) - log Z′(α) + const(D), and large numbers that cancel are never written down.
"""

from math import log, pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import exp1, gammaincc, gammaln, softmax

from germane.arrays import Floats
from germane.errors import InputError, ParameterError
from germane.lm.distributions.smoothed_documents import LogProportions, full_background
from germane.lm.parameters import open_fraction, positive, precision_vector

FRACTIONS = 500
"""Terms of the continued fraction at most; it stops as soon as none changes anything."""
ROUNDS = 400
CAREFUL = 8
TOLERANCE = 1e-6
"""The fit ends when no word's E[log θ] is farther than this from what was seen."""
FAR = 1e3
SMALL = 1e-300
_STEP = 1e-4
"""Of derivatives by α, in α or relative to it."""


class CutGammas(NamedTuple):
    """Of Y ~ Gamma(α, 1) given Y ≥ x: log r, r = x^α e^-x/Γ(α, x), and δ = x + 1 - α - r, where E[Y] - x = 1 - δ."""

    log_r: Floats
    delta: Floats


def cut_gammas(alpha: Floats, x: Floats) -> CutGammas:
    """By the incomplete gamma function where x ≤ α + 1, by Legendre's continued fraction above. α ≥ 0, x > 0."""
    log_r, delta = np.empty_like(x), np.empty_like(x)
    tail = x > alpha + 1.0
    a, y = alpha[~tail], x[~tail]
    some = np.maximum(a, SMALL)
    log_mass = np.where(
        a > 0.0, gammaln(some) + np.log(np.maximum(gammaincc(some, y), SMALL)), np.log(exp1(np.minimum(y, 1.0)))
    )
    log_r[~tail] = a * np.log(y) - y - log_mass
    delta[~tail] = y + 1.0 - a - np.exp(log_r[~tail])
    delta[tail] = (1.0 - alpha[tail]) * _fraction(alpha[tail], x[tail])
    log_r[tail] = np.log(x[tail] + 1.0 - alpha[tail] - delta[tail])
    return CutGammas(log_r, delta)


def _fraction(a: Floats, x: Floats) -> Floats:
    """1/(x+3-a - 2(2-a)/(x+5-a - 3(3-a)/(x+7-a - …))), by Lentz's algorithm."""
    b = x + 3.0 - a
    c, d = np.full_like(b, 1.0 / SMALL), 1.0 / b
    value = d.copy()
    for i in range(2, FRACTIONS):
        numerator = -i * (i - a)
        b = b + 2.0
        d = 1.0 / (b + numerator * d)
        c = b + numerator / c
        value *= c * d
        if not len(b) or np.abs(c * d - 1.0).max() < 1e-15:
            break
    return value


class Saddle(NamedTuple):
    """The point s, log Z′(α) and E[log(1 + W/l)] of every word, to the first term."""

    s: float
    log_normaliser: float
    expected: Floats


def saddle_point(alpha: Floats, least: Floats, lam: float) -> Saddle:
    """The expansion of log Z′(α), for α ≥ 0, `least` = (1-λ)p_C > 0."""
    s = _root(alpha, least, lam)
    x = s * least
    words = cut_gammas(alpha, x)
    k2, k3, k4 = (float(each.sum()) for each in _cumulants(alpha, x, words))
    correction = k4 / (8.0 * k2 * k2) - 5.0 * k3 * k3 / (24.0 * k2**3)
    density = log(s) - 0.5 * log(2.0 * pi * k2) + float(np.log1p(max(correction, -0.5)))  # κ are those of s·W
    value = s * lam + float((np.log(x) - words.log_r).sum()) - len(x) * log(s) + density
    return Saddle(s, value, _mean_logs(alpha, x))


def saddle_log_normaliser(alpha: npt.ArrayLike, p_C: npt.ArrayLike, lam: float) -> float:
    """log Z(α) of the exact SD, SD (3.14), to the second term of the expansion."""
    a, least = _checked(alpha, p_C, lam)
    return saddle_point(a, least, lam).log_normaliser + float(((a - 1.0) * np.log(least)).sum())


def expected_logs(alpha: npt.ArrayLike, p_C: npt.ArrayLike, lam: float) -> Floats:
    """E[log θ_j] = ∂ log Z/∂α_j of every word, to the first term."""
    a, least = _checked(alpha, p_C, lam)
    return np.asarray(saddle_point(a, least, lam).expected + np.log(least))


def log_query_integral(alpha: Floats, least: Floats, lam: float, query: Floats) -> float:
    """log ∫ Π_w θ_w^q_w P(θ|α) dθ = log Z(α + q)/Z(α), to the first term at the saddle point of α.

    P(Q|D) of the whole integral over a document's model with an SD posterior, α = α⁰ + c. `query`: q of every word, of
    which it adds up log E[X_w^q_w] = q_w·log l_w + log r(α_w, x_w) - log r(α_w + q_w, x_w).
    """
    x = _root(alpha, least, lam) * least
    asked = np.flatnonzero(query)
    a, y, q = alpha[asked], x[asked], query[asked]
    return float((q * np.log(least[asked]) + cut_gammas(a, y).log_r - cut_gammas(a + q, y).log_r).sum())


def fit_exactly(statistics: LogProportions, *, S: float = 1e4) -> Floats:
    """α ≥ 0 of the exact SD that maximises the likelihood of the documents, Σα free: E[log θ_j] = (1/N) Σ_i log θ_j^i.

    By Newton's steps from the geometric mean times `S`. The Hessian of log Z is the covariance of log θ: of the
    independent variables, diag Var[log X_j], less what the sum tells, c·cᵀ/Var[ΣX] with c_j = Cov[log X_j, X_j]; its
    inverse is one of numbers (Sherman & Morrison). After a step that led away, a few are taken without the second part,
    each word by itself at the present s, which is slow and safe. A word that documents have so seldom that α_j = 0
    gives it too much already has α_j = 0: most words.
    """
    lam = statistics.lam
    a, least = _checked(positive("S", S) * softmax(statistics.mean_log), statistics.p_C, lam)
    wanted = np.maximum(statistics.mean_log - np.log(least), 0.0)
    s: float | None = None
    alone, before = 0, np.inf
    for _ in range(ROUNDS):
        s = _root(a, least, lam, s)
        x = s * least
        seldom = _mean_logs(np.zeros_like(x), x) >= wanted
        a = np.where(seldom, 0.0, np.maximum(a, _STEP))
        own = ~seldom
        here, y = a[own], x[own]
        found = _mean_logs(here, y)
        error = wanted[own] - found
        if not own.any() or np.abs(error).max() <= TOLERANCE:
            return a
        off = float(error @ error)
        alone, before = (CAREFUL if off > before else max(alone - 1, 0)), off
        more = 0.01 * here
        variance = np.maximum((_mean_logs(here + more, y) - found) / more, 1e-12)
        with_sum = (cut_gammas(here, y).delta - cut_gammas(here + more, y).delta) / more
        total = float(_cumulants(a, x, cut_gammas(a, x))[0].sum())
        together = max(total - float((with_sum**2 / variance).sum()), 1e-9 * total)
        shared = 0.0 if alone else float((with_sum * error / variance).sum()) / together
        a[own] = here * np.exp(np.clip((error + with_sum * shared) / variance / here, -1.0, 1.0))
    raise InputError(f"the exact SD was not fitted in {ROUNDS} rounds: E[log θ] is {np.abs(error).max():.2g} off")


def _checked(alpha: npt.ArrayLike, p_C: npt.ArrayLike, lam: float) -> tuple[Floats, Floats]:
    a, shares = precision_vector(alpha), full_background(p_C)
    if a.size != shares.size or a.size < 2:
        raise ParameterError(f"alpha and p_C are of the same two words or more, not of {a.size} and {shares.size}")
    return a, (1.0 - open_fraction("lam", lam)) * shares


def _mean_logs(a: Floats, x: Floats) -> Floats:
    """E[log(1 + W/l)] = -∂ log r/∂α of every word, by differences."""
    step = _STEP * np.maximum(a, 1.0)
    low = np.maximum(a - step, 0.0)
    high = low + 2.0 * step
    return np.asarray((cut_gammas(low, x).log_r - cut_gammas(high, x).log_r) / (high - low))


def _root(a: Floats, least: Floats, lam: float, near: float | None = None) -> float:
    """s with E[ΣW] = Σ_j (1 - δ_j)/s = λ; the mean falls from ∞ to 0. `near`: where to begin."""

    def excess(log_s: float) -> float:
        s = float(np.exp(log_s))
        return log(float((1.0 - cut_gammas(a, s * least).delta).sum()) / s / lam)

    start = log((a.size + float(a.sum())) / lam if near is None else near)  # 1 - δ is 1 at α = 1, and α at x = 0
    step = 1.0 if near is None else 0.05
    low, high = start - step, start + step
    while excess(low) < 0.0:
        low -= 4.0 * step
    while excess(high) > 0.0:
        high += 4.0 * step
    return float(np.exp(brentq(excess, low, high, xtol=1e-12)))


def _cumulants(a: Floats, x: Floats, words: CutGammas) -> tuple[Floats, Floats, Floats]:
    """κ₂, κ₃, κ₄ of each s·W, from r and its derivatives by D = x·d/dx: Dr = r(1-δ), Dδ = x - r(1-δ)."""
    r, d = np.exp(words.log_r), words.delta
    d1 = x - r * (1.0 - d)
    d2 = x - r * (1.0 - d) ** 2 + r * d1
    first = r * (1.0 - d) * d + r * d1
    second = r * ((1.0 - d) ** 2 * d - d1 * d + 2.0 * (1.0 - d) * d1 + d2)
    k2 = a + r * d
    k3 = 2.0 * k2 - first
    k4 = 3.0 * k3 - (2.0 * first - second)
    far = x > FAR * np.maximum(a, 1.0)  # where these are differences of large numbers, s·W is nearly exponential
    scale = np.where(far, 1.0 / (1.0 - (a - 1.0) / np.maximum(x, 1.0)), 1.0)
    return np.where(far, scale**2, k2), np.where(far, 2.0 * scale**3, k3), np.where(far, 6.0 * scale**4, k4)

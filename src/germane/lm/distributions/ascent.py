"""Maximum likelihood of a Dirichlet-like parameter vector α by Newton and fixed-point steps. Source: Minka (2003).

The log-likelihoods of the Dirichlet and of the DCM have the same shape: a term for each α_j, and one that depends only
on S = Σα. So the Hessian is diag(q) + z·11ᵀ, and a Newton step costs O(V). Newton is fast near the optimum and may
overshoot far from it; the fixed point is slow and safe. Each iteration tries both, halves a step that does not climb,
and keeps the better: the log-likelihood never falls.
"""

from typing import NamedTuple, Protocol

import numpy as np

from germane.arrays import Floats
from germane.lm.parameters import positive, whole

LARGEST_FACTOR = 10.0
"""A Newton step changes no α_j by more than this factor, which also keeps it positive."""
HALVINGS = 12


class Derivatives(NamedTuple):
    """Gradient g, and the Hessian diag(q) + z·11ᵀ."""

    g: Floats
    q: Floats
    z: float


class Objective(Protocol):
    """A log-likelihood of α > 0, of the shape described above."""

    def log_likelihood(self, alpha: Floats) -> float: ...

    def derivatives(self, alpha: Floats) -> Derivatives: ...

    def fixed_point(self, alpha: Floats, *, keep_S: bool) -> Floats:
        """Minka's update of α; with `keep_S`, of the mean alone."""


class Ascent(NamedTuple):
    """The estimate, and the log-likelihood at the start and after each iteration; it never falls."""

    alpha: Floats
    log_likelihoods: Floats


def ascend(objective: Objective, alpha: Floats, *, keep_S: bool, max_iter: int, tol: float) -> Ascent:
    """Climb from α until an iteration gains less than tol·|log-likelihood|, or for `max_iter` iterations."""
    whole("max_iter", max_iter, least=1)
    positive("tol", tol)
    reached = objective.log_likelihood(alpha)
    trace = [reached]
    for _ in range(max_iter):
        proposals = [_newton(objective.derivatives(alpha), alpha, keep_S), objective.fixed_point(alpha, keep_S=keep_S)]
        value, better = max(
            (_climb(objective, alpha, reached, proposal) for proposal in proposals), key=lambda climbed: climbed[0]
        )
        if not value > reached:
            break
        gain, alpha, reached = value - reached, better, value
        trace.append(reached)
        if gain <= tol * abs(reached):
            break
    return Ascent(alpha, np.array(trace))


def _climb(objective: Objective, alpha: Floats, reached: float, proposal: Floats) -> tuple[float, Floats]:
    """The proposal, or the first point halfway back to α, and again, that climbs above `reached`; else α."""
    for halving in range(HALVINGS):
        there = alpha + 0.5**halving * (proposal - alpha)
        value = objective.log_likelihood(there)
        if value > reached:
            return value, there
    return reached, alpha


def _newton(at: Derivatives, alpha: Floats, keep_S: bool) -> Floats:
    """α - H⁻¹g, or with Σα kept the same with a Lagrange multiplier; `_along_ray` where H has a rising direction.

    (diag(q) + z·11ᵀ)⁻¹g = (g - b)/q with b = Σ(g/q) / (1/z + Σ1/q); keeping Σα is the limit z → ∞.
    """
    sum_of_inverses = float((1 / at.q).sum())
    if keep_S:
        b = float((at.g / at.q).sum()) / sum_of_inverses
    elif 1 / at.z + sum_of_inverses > 0:
        b = float((at.g / at.q).sum()) / (1 / at.z + sum_of_inverses)
    else:
        return _along_ray(at, alpha)
    step = alpha - (at.g - b) / at.q
    bounded = np.clip(step, alpha / LARGEST_FACTOR, alpha * LARGEST_FACTOR)
    return bounded * (alpha.sum() / bounded.sum()) if keep_S else bounded


def _along_ray(at: Derivatives, alpha: Floats) -> Floats:
    """A Newton step in log S with the mean kept, or the largest step uphill where that curve is not concave either.

    Far from the optimum, and where the likelihood rises with S for ever, S is what the fixed point is slowest at.
    """
    slope = float(alpha @ at.g)
    curvature = float(alpha @ (at.q * alpha)) + at.z * float(alpha.sum()) ** 2 + slope
    furthest = np.log(LARGEST_FACTOR)
    step = -slope / curvature if curvature < 0 else np.copysign(furthest, slope)
    return np.asarray(alpha * np.exp(np.clip(step, -furthest, furthest)))

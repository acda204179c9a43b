# mypy: ignore-errors
"""Dual coordinate descent for weighted logistic regression; arrays in, arrays out."""

import numpy as np

from germane.jit import njit

NEWTON_STEPS = 8
EDGE = 1e-8
"""Dual variables stay inside (0, c): the entropy term's slope is infinite at both ends."""


@njit(cache=True)
def primal(indptr, indices, data, signs, alpha, w):
    """w += Σ_i y_i·α_i·(x_i, 1): the coefficients that dual variables stand for, the bias last.

    NumPy: `w[:-1] += X.T @ (signs * alpha); w[-1] += signs @ alpha`.
    """
    for i in range(len(alpha)):
        if alpha[i] > 0.0:
            step = signs[i] * alpha[i]
            w[-1] += step
            for k in range(indptr[i], indptr[i + 1]):
                w[indices[k]] += step * data[k]


@njit(cache=True)
def descend(indptr, indices, data, square, order, signs, costs, alpha, w, passes, tolerance):
    """Minimise ½|w|² + Σ_i c_i·ln(1 + exp(-y_i·w·(x_i, 1))) over the documents in `order`; alpha and w change.

    After Yu, Huang & Lin 2011: for one i after another, solve
    y_i·w·(x_i, 1) + (|x_i|² + 1)·(z - α_i) + ln(z/(c_i - z)) = 0 for z = the new α_i by Newton's method. A pass in
    which no α_i/c_i moves by `tolerance` is the last. Returns the number of passes.
    """
    for done in range(passes):
        worst = 0.0
        for i in order:
            cost = costs[i]
            margin = w[-1]
            for k in range(indptr[i], indptr[i + 1]):
                margin += data[k] * w[indices[k]]
            curve = square[i] + 1.0
            base = signs[i] * margin - curve * alpha[i]
            z = min(max(alpha[i], EDGE * cost), cost * (1.0 - EDGE))
            for _ in range(NEWTON_STEPS):
                slope = curve + cost / (z * (cost - z))
                new = z - (base + curve * z + np.log(z / (cost - z))) / slope
                if new <= 0.0:
                    new = 0.1 * z
                elif new >= cost:
                    new = cost - 0.1 * (cost - z)
                moved = abs(new - z)
                z = new
                if moved < 1e-7 * cost:
                    break
            z = min(max(z, EDGE * cost), cost * (1.0 - EDGE))
            step = (z - alpha[i]) * signs[i]
            worst = max(worst, abs(step) / cost)
            alpha[i] = z
            w[-1] += step
            for k in range(indptr[i], indptr[i + 1]):
                w[indices[k]] += step * data[k]
        if worst < tolerance:
            return done + 1
    return passes

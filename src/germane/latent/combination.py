"""A small learnt mixture of several models' scores: is the whole better than its best part?

Scores of one query are centred and divided by their standard deviation over its documents. The weights maximise the
likelihood of drawing documents in proportion to their gains, ListNet's cross-entropy (Cao et al. 2007), less a ridge.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from germane.arrays import AnyArray, Floats
from germane.errors import ParameterError
from germane.latent.pairs import check_above


@dataclass(frozen=True)
class Combination:
    """The estimator; `ridge` times Σ w² is taken from the mean log-likelihood."""

    ridge: float = 1e-3

    def __post_init__(self) -> None:
        check_above("ridge", self.ridge, 0)

    def fit(self, scores: Sequence[Floats], gains: Sequence[Floats]) -> "CombinedScores":
        """Learn from queries: `scores` of each are models × documents, `gains` a number 0 or more for each document."""
        return CombinedScores(self._weights([standardised(rows) for rows in scores], gains))

    def fit_weights(self, scores: Sequence[Floats], gains: Sequence[Floats], *, positive: bool = False) -> Floats:
        """The same for Σ_i w_i s_i of scores as they are, which are divided by their usual deviation within a query
        while the weights are learnt: they do not depend on which documents a query has (`ensemble`). With `positive` no
        weight is below 0."""
        centred = [rows - rows.mean(axis=1, keepdims=True) for rows in scores]
        variances = np.mean([rows.var(axis=1) for rows in centred], axis=0)
        deviation = np.where(variances > 1e-24, np.sqrt(variances), np.inf)
        return np.asarray(self._weights([rows / deviation[:, None] for rows in centred], gains, positive) / deviation)

    def _weights(self, scores: Sequence[Floats], gains: Sequence[Floats], positive: bool = False) -> Floats:
        used = [(rows, gain / gain.sum()) for rows, gain in zip(scores, gains, strict=True) if gain.any()]
        if not used:
            raise ParameterError("a combination is learnt from queries with relevant documents; there are none")

        def loss(weights: AnyArray) -> tuple[float, AnyArray]:
            total, slope = 0.0, np.zeros_like(weights)
            for rows, share in used:
                values = weights @ rows
                values -= values.max()
                log_sum = np.log(np.exp(values).sum())
                total += log_sum - share @ values
                slope += rows @ (np.exp(values - log_sum) - share)
            value = float(total / len(used) + self.ridge * weights @ weights)
            return value, slope / len(used) + 2 * self.ridge * weights

        start = np.full(len(used[0][0]), 1 / len(used[0][0]))
        bounds = [(0.0, None)] * len(start) if positive else None
        return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


@dataclass(frozen=True, eq=False)
class CombinedScores:
    """The weight of each model."""

    weights: Floats

    def score(self, scores: Floats) -> Floats:
        """The combined scores of one query's documents; `scores` are models × documents."""
        return np.asarray(self.weights @ standardised(scores))


def standardised(scores: Floats) -> Floats:
    """Each row with mean 0 and deviation 1; a row whose scores are all alike is 0."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    return np.asarray(centred / np.where(deviation > 1e-12, deviation, np.inf))

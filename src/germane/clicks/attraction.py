"""How attractive are results by and large? The distribution of γ, learnt from the log, and what it says of one pair.

C clicks in E examinations are about Poisson with mean γE. Over all pairs γ has some distribution, of which nothing is
assumed but levels: γ is one of g_1 < ... < g_J, with shares p_j that maximise the likelihood
Σ log Σ_j p_j g_j^C e^-g_jE of all pairs [kiefer1956consistency; koenker2014convex], by EM. A log in which few results
are good then takes more clicks to believe in one than a log in which many are, and no weight of a prior has to be
chosen. Of one pair it says, by Bayes' rule,

    P(γ = g_j | C, E) ∝ p_j g_j^C e^-g_jE.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats

LEVELS = 80
LOWEST, HIGHEST = 1e-5, 2.0
"""Of γ: it may exceed 1, since θ is an estimate and relative to the first position."""
STEPS = 300


@dataclass(frozen=True, slots=True)
class AttractionPrior:
    """Levels of γ and their shares, which add up to 1."""

    levels: Floats
    shares: Floats

    def posterior(self, clicks: npt.ArrayLike, examined: npt.ArrayLike) -> Floats:
        """P(γ = g_j | C, E), a row for each pair."""
        likely = _likelihoods(np.asarray(clicks, np.float64), np.asarray(examined, np.float64), self.levels)
        found: Floats = likely * self.shares
        found /= found.sum(axis=1, keepdims=True)
        return found


def attraction_prior(clicks: npt.ArrayLike, examined: npt.ArrayLike, pairs: npt.ArrayLike) -> AttractionPrior:
    """The shares of maximum likelihood, where `pairs[i]` pairs have `clicks[i]` clicks in `examined[i]` examinations.

    One more pair is added of which nothing is known, so that no level is impossible.
    """
    levels = np.geomspace(LOWEST, HIGHEST, LEVELS)
    likely = _likelihoods(np.asarray(clicks, np.float64), np.asarray(examined, np.float64), levels)
    count = np.asarray(pairs, np.float64)
    shares = np.full(LEVELS, 1.0 / LEVELS)
    for _ in range(STEPS):
        mixed = likely * shares
        shares = (count / mixed.sum(axis=1)) @ mixed + 1.0 / LEVELS
        shares /= shares.sum()
    return AttractionPrior(levels, shares)


def _likelihoods(clicks: Floats, examined: Floats, levels: Floats) -> Floats:
    """g^C e^-gE of each pair and level, over the greatest of the pair's."""
    logs = clicks[:, None] * np.log(levels) - examined[:, None] * levels
    found: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found

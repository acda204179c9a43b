"""Have clicks changed since a model was trained? The population stability index of queries and of positions.

    PSI = Σ_i (p_i - r_i) log(p_i/r_i)

for shares p now and r in training. Without drift its mean is about (B - 1)(1/n + 1/m) for B bins, n events in training
and m now, which is reported as `chance`: PSI/(1/n + 1/m) is about χ² with B - 1 degrees of freedom
[yurdakul2018statistical]. The verdict depends on what exceeds that mean by two standard deviations, so that a small log
does not look like a change. The usual bounds: below 0.1 stable, below 0.2 shifting, from there on drifted.
"""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.engine.models.values import Distribution
from germane.learning.values import Stability

HEADS, TAILS = 20, 20
"""Numbers of bins: of single queries with at least `HEAD_SHARE` of the searches, and of all others."""
HEAD_SHARE = 0.01
LEAST_SHARE = 0.01
"""Positions that have less of the clicks are counted with those below them."""
SHIFTING, DRIFTED = 0.1, 0.2
HALF = 0.5
"""Added to every count: a bin that one log lacks is no infinite change."""


def distribution_of(searches: Mapping[str, int], clicks_by_position: npt.ArrayLike) -> Distribution:
    """Distribution of a log, to compare later ones with. No query can be read from it."""
    total = sum(searches.values())
    frequent = sorted(searches, key=lambda query: (-searches[query], query))[:HEADS]
    heads = tuple(_digest(query) for query in frequent if searches[query] >= HEAD_SHARE * total)
    clicks = np.asarray(clicks_by_position, np.float64)
    return Distribution(
        heads, _shares(_counted(searches, heads)), total, _shares(_first_positions(clicks)), int(clicks.sum())
    )


def queries_stability(before: Distribution, searches: Mapping[str, int]) -> Stability:
    """Of the queries searched for."""
    return _stability(before.queries, before.searches, _counted(searches, before.heads))


def positions_stability(before: Distribution, clicks_by_position: npt.ArrayLike) -> Stability:
    """Of the positions clicked at."""
    clicks = np.asarray(clicks_by_position, np.float64)
    last = len(before.positions) - 1
    binned = np.concatenate([clicks[:last], [clicks[last:].sum()]])
    return _stability(before.positions, before.clicks, binned)


def population_stability(before: npt.ArrayLike, now: npt.ArrayLike) -> float:
    """PSI of two distributions over the same bins, given as numbers above 0 in proportion."""
    r, p = (np.asarray(each, np.float64) / np.sum(each) for each in (before, now))
    return float(((p - r) * np.log(p / r)).sum())


def _stability(before: Sequence[float], n: int, counts: Floats) -> Stability:
    m = float(counts.sum())
    if n == 0 or m == 0:
        return Stability(0.0, 0.0, "unknown")
    used = (np.asarray(before) > 0) | (counts > 0)
    psi = population_stability(n * np.asarray(before)[used] + HALF, counts[used] + HALF)
    freedom, unit = float(used.sum() - 1), 1 / n + 1 / m
    chance = freedom * unit
    excess = psi - (freedom + 2 * np.sqrt(2 * freedom)) * unit
    return Stability(psi, chance, "drifted" if excess >= DRIFTED else "shifting" if excess >= SHIFTING else "stable")


def _digest(query: str) -> str:
    return hashlib.sha256(f"drift\0{query}".encode()).hexdigest()[:16]


def _counted(searches: Mapping[str, int], heads: Sequence[str]) -> Floats:
    place = {head: i for i, head in enumerate(heads)}
    counts = np.zeros(len(heads) + TAILS)
    for query, n in searches.items():
        digest = _digest(query)
        counts[place.get(digest, len(heads) + int(digest[:8], 16) % TAILS)] += n
    return counts


def _first_positions(clicks: Floats) -> Floats:
    """Positions of a share worth a bin, and one bin for all below."""
    shares = clicks / max(clicks.sum(), 1.0)
    kept = int(np.argmax(shares < LEAST_SHARE)) if (shares < LEAST_SHARE).any() else len(clicks)
    return np.concatenate([clicks[:kept], [clicks[kept:].sum()]])


def _shares(counts: Floats) -> tuple[float, ...]:
    total = counts.sum()
    return tuple((counts / total if total else counts).tolist())

"""Several rankings of the same documents become one. Pure functions: they know neither index nor engine.

A ranking is a sequence of (id, score), best first; no id stands in it twice. What comes out is one too: ties are
ordered by id, and the order of the rankings given does not matter. `weights` has a number for each ranking, all 1 if
left out; a ranking of weight 0 is left out altogether.

>>> reciprocal_rank([[("a", 9.0), ("b", 8.0)], [("b", 0.7)]], k=1)
[('b', 0.8333333333333333), ('a', 0.5)]
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from germane.errors import ParameterError

Ranking: TypeAlias = Sequence[tuple[str, float]]
Fused: TypeAlias = list[tuple[str, float]]

DEFAULT_K = 60.0
"""Reciprocal rank fusion's k, as Cormack et al. fixed it."""


class Fusion(Protocol):
    """One ranking of several."""

    def __call__(self, rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None) -> Fused: ...


def reciprocal_rank(
    rankings: Sequence[Ranking], k: float = DEFAULT_K, *, weights: Sequence[float] | None = None
) -> Fused:
    """RRF(d) = Σ_r w_r/(k + rank_r(d)) over the rankings r that hold d (Cormack, Clarke & Büttcher 2009)."""
    if not (math.isfinite(k) and k >= 0.0):
        raise ParameterError(f"reciprocal rank fusion's k must be 0 or more, not {k}")
    parts = _parts(rankings, weights, lambda ranking: [1.0 / (k + rank) for rank in range(1, len(ranking) + 1)])
    return _ordered({doc: math.fsum(found) for doc, found in parts.items()})


def inverse_square_rank(rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None) -> Fused:
    """ISR(d) = n(d) · Σ_r w_r/rank_r(d)², n(d): the rankings that hold d (Mourão, Martins & Magalhães 2015)."""
    parts = _parts(rankings, weights, lambda ranking: [1.0 / rank**2 for rank in range(1, len(ranking) + 1)])
    return _ordered({doc: len(found) * math.fsum(found) for doc, found in parts.items()})


def comb_sum(
    rankings: Sequence[Ranking], normalise: str = "min-max", *, weights: Sequence[float] | None = None
) -> Fused:
    """CombSUM(d) = Σ_r w_r · s̃_r(d), s̃ the normalised score and 0 where r lacks d (Fox & Shaw 1994)."""
    parts = _parts(rankings, weights, normalisation_named(normalise))
    return _ordered({doc: math.fsum(found) for doc, found in parts.items()})


def comb_mnz(
    rankings: Sequence[Ranking], normalise: str = "min-max", *, weights: Sequence[float] | None = None
) -> Fused:
    """CombMNZ(d) = n(d) · CombSUM(d), n(d): the rankings that hold d (Fox & Shaw 1994; Lee 1997)."""
    parts = _parts(rankings, weights, normalisation_named(normalise))
    return _ordered({doc: len(found) * math.fsum(found) for doc, found in parts.items()})


# -- normalisation ---------------------------------------------------------------------------------------------------


def min_max(ranking: Ranking) -> list[float]:
    """s̃ = (s - min)/(max - min), in [0, 1]; 1 for all where all are equal (Lee 1997)."""
    scores = _finite(ranking)
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def z_score(ranking: Ranking) -> list[float]:
    """s̃ = (s - mean)/sd, the sd of a population; 0 for all where all are equal (Montague & Aslam 2001, ZMUV).

    A document that a ranking lacks counts as 0 there: as much as one in the middle of it.
    """
    scores = _finite(ranking)
    if len(set(scores)) < 2:  # by comparison: rounding can leave equal scores with a deviation
        return [0.0] * len(scores)
    mean = math.fsum(scores) / len(scores)
    sd = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / sd for score in scores]


def sum_to_one(ranking: Ranking) -> list[float]:
    """s̃ = (s - min)/Σ(s - min); 1/n for all where all are equal (Montague & Aslam 2001, Sum)."""
    scores = _finite(ranking)
    low = min(scores, default=0.0)
    total = math.fsum(score - low for score in scores)
    return [(score - low) / total if total > 0.0 else 1.0 / len(scores) for score in scores]


def as_they_are(ranking: Ranking) -> list[float]:
    """s̃ = s, for scores that are on one scale already."""
    return _finite(ranking)


NORMALISATIONS: Mapping[str, Callable[[Ranking], list[float]]] = {
    "min-max": min_max,
    "z-score": z_score,
    "sum": sum_to_one,
    "none": as_they_are,
}

FUSIONS: Mapping[str, Fusion] = {
    "rrf": reciprocal_rank,
    "isr": inverse_square_rank,
    "combsum": comb_sum,
    "combmnz": comb_mnz,
}
"""By the names that people write, with their defaults."""
COUNTING = frozenset({"isr", "combmnz"})
"""Those that multiply the weighted sum by n(d), the rankings that hold d; the others are the sum alone."""


def normalisation_named(name: str) -> Callable[[Ranking], list[float]]:
    """The normalisation of that name: from a ranking to its scores on a common scale."""
    if name not in NORMALISATIONS:
        raise ParameterError(f"there is no normalisation '{name}'; choose one of {', '.join(NORMALISATIONS)}")
    return NORMALISATIONS[name]


def fusion_named(name: str, *, k: float | None = None, normalise: str | None = None) -> Fusion:
    """The fusion of that name. `k` is reciprocal rank fusion's alone; `normalise` CombSUM's and CombMNZ's."""
    if name not in FUSIONS:
        raise ParameterError(f"there is no fusion '{name}'; choose one of {', '.join(FUSIONS)}")
    given: dict[str, float | str] = {}
    if k is not None:
        if name != "rrf":
            raise ParameterError(f"{name} has no k: it is rrf's")
        given["k"] = k
    if normalise is not None:
        if not name.startswith("comb"):
            raise ParameterError(f"{name} looks at ranks alone: there is nothing to normalise")
        normalisation_named(normalise)
        given["normalise"] = normalise
    chosen: Callable[..., Fused] = FUSIONS[name]

    def fuse(rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None) -> Fused:
        return chosen(rankings, **given, weights=weights)

    return fuse


def _parts(
    rankings: Sequence[Ranking], weights: Sequence[float] | None, values: Callable[[Ranking], list[float]]
) -> dict[str, list[float]]:
    """What each ranking that holds a document adds to it."""
    parts: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, _weights(weights, len(rankings)), strict=True):
        if len({doc for doc, _ in ranking}) != len(ranking):
            twice = next(doc for i, (doc, _) in enumerate(ranking) if any(doc == other for other, _ in ranking[:i]))
            raise ParameterError(f"'{twice}' stands twice in one ranking")
        if weight > 0.0:
            for (doc, _), value in zip(ranking, values(ranking), strict=True):
                parts.setdefault(doc, []).append(weight * value)
    return parts


def _weights(weights: Sequence[float] | None, n: int) -> Sequence[float]:
    if weights is None:
        return [1.0] * n
    if len(weights) != n:
        raise ParameterError(f"{n} rankings need {n} weights, not {len(weights)}")
    if not all(math.isfinite(weight) and weight >= 0.0 for weight in weights):
        raise ParameterError(f"weights must be 0 or more, not {', '.join(map(str, weights))}")
    if n and not any(weights):
        raise ParameterError("one weight at least must be above 0")
    return weights


def _finite(ranking: Ranking) -> list[float]:
    scores = [float(score) for _, score in ranking]
    for (doc, _), score in zip(ranking, scores, strict=True):
        if not math.isfinite(score):
            raise ParameterError(f"the score of '{doc}' is {score}: fuse such rankings by their ranks (rrf or isr)")
    return scores


def _ordered(scores: Mapping[str, float]) -> Fused:
    """Best first, ties by id."""
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))

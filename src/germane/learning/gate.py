"""Is a candidate better than what serves? Both rank the same queries, and paired tests tell.

Two kinds of queries: held-out clicks, where the gain of a document is its Score(d, q), and judged queries. A candidate
passes if its mean is not below the baseline's on any of them, and significantly above it on one at least; with
`allow_equal`, if it is not significantly below on any: enough for a model that is to be renewed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.engine.models.stage import LatentStage
from germane.engine.models.values import GateReport, GateSet, Loss
from germane.errors import ParameterError
from germane.evaluate.significance import paired_effect, paired_t, randomisation_test

if TYPE_CHECKING:
    from germane.engine.engine import Engine

CUT_OFF = 10
MEASURE = f"nDCG@{CUT_OFF}"
WORST = 10
PLAIN = "the plain ranking"


@dataclass(frozen=True, eq=False)
class GateQuery:
    """A query, the gains of its documents, and how many people typed it."""

    text: str
    gains: Mapping[str, float]
    users: int | None = None


def ndcg(ids: Sequence[str], gains: Mapping[str, float], k: int = CUT_OFF) -> float:
    """DCG@k over the best there could be, with the gain as it is and the discount 1/log2(1 + rank)."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    ranked_gains = np.array([gains.get(name, 0.0) for name in ids[:k]])
    ideal = np.array(sorted(gains.values(), reverse=True)[:k])
    best = float(ideal @ discounts[: len(ideal)])
    return float(ranked_gains @ discounts[: len(ranked_gains)]) / best if best > 0 else 0.0


def values_of(engine: "Engine", queries: Sequence[GateQuery], stage: LatentStage | None, depth: int) -> Floats:
    """The measure of each query, as the engine ranks with this second stage, or without one."""
    deep = None if stage is None else depth
    rankings = (engine.search(query.text, CUT_OFF, syntax=False, rerank=stage, depth=deep).ids for query in queries)
    return np.array([ndcg(ids, query.gains) for ids, query in zip(rankings, queries, strict=True)])


def compared(name: str, queries: Sequence[GateQuery], candidate: npt.ArrayLike, baseline: npt.ArrayLike) -> GateSet:
    """Both systems over one set of queries."""
    a, b = np.asarray(candidate, np.float64), np.asarray(baseline, np.float64)
    difference = a - b
    losing = [i for i in np.argsort(difference, kind="stable")[:WORST].tolist() if difference[i] < 0]
    return GateSet(
        name,
        MEASURE,
        len(queries),
        float(a.mean()),
        float(b.mean()),
        paired_t(a, b, "greater").p_value if len(a) > 1 else float("nan"),
        randomisation_test(a, b, "greater").p_value,
        int((difference > 0).sum()),
        int((difference < 0).sum()),
        int((difference == 0).sum()),
        tuple(Loss(queries[i].text, float(a[i]), float(b[i]), queries[i].users) for i in losing),
        *(map(float, paired_effect(a, b)[1:3]) if len(a) > 1 else (math.nan, math.nan)),
    )


def judged_at_gate(
    engine: "Engine",
    sets: Mapping[str, Sequence[GateQuery]],
    candidate: LatentStage | None,
    baseline: LatentStage | None,
    *,
    depth: int,
    alpha: float = 0.05,
    allow_equal: bool = False,
) -> GateReport:
    """Rank every set by both, compare, and decide."""
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must lie between 0 and 1, not {alpha}")
    results = []
    for name, queries in sets.items():
        values, other = (values_of(engine, queries, stage, depth) for stage in (candidate, baseline))
        results.append(compared(name, queries, values, other))
    against = PLAIN if baseline is None else baseline.name
    passed, reason = decided(results, alpha, allow_equal=allow_equal)
    return GateReport(against, passed, reason, tuple(results))


def decided(results: Sequence[GateSet], alpha: float, *, allow_equal: bool) -> tuple[bool, str]:
    """Whether the candidate passes, and why or why not."""
    for found in results:
        worse = 1 - found.p_randomisation < alpha and found.candidate < found.baseline
        if worse or (found.candidate < found.baseline and not allow_equal):
            how = "significantly below" if worse else "below"
            return (
                False,
                f"{MEASURE} on {found.name} is {how} the baseline: {found.candidate:.4f} < {found.baseline:.4f}",
            )
    better = [found for found in results if found.candidate > found.baseline and found.p_randomisation < alpha]
    if better:
        best = min(better, key=lambda found: found.p_randomisation)
        return True, (
            f"{MEASURE} on {best.name} is significantly above the baseline: {best.candidate:.4f} > "
            f"{best.baseline:.4f} (p = {best.p_randomisation:.2g})"
        )
    if allow_equal:
        return True, f"{MEASURE} is significantly below the baseline on no set"
    return False, f"{MEASURE} is significantly above the baseline on no set (p >= {alpha:g})"

"""The kinds of impact: how a count becomes what a term adds to a score. The one table of formulas.

A score is   norm_D · Σ_t impact_t(c_tD, size_D) + (constant + mass · background_D + prior_D)   over the query's terms
t. An impact is w · f(x), with w = `weight`, s = `scale`, by = x0 + x1·size:

| kind | x | f | models |
|---|---|---|---|
| LOG_COUNT_RATIO | s·c | log(1 + x) | Dirichlet query likelihood, T-cross-entropy: s = 1/(μ p_C) |
| LOG_SIZE_RATIO | s·(c - δ)/by | log(1 + x) | Jelinek-Mercer, two-stage, absolute discounting |
| SATURATION | c/(c + by) | x | BM25 |
| LOG_COUNT | c | 1 + log x | TF-IDF cosine |
| COUNT | c | x | D-cross-entropy |

`argument` is run as it stands here over NumPy's arrays (`rank.scoring.exact`), and compiled (`rank.maxscore`). Naming a
kind loads no compiler.
"""

from typing import Any

LOG_COUNT_RATIO = 0
LOG_SIZE_RATIO = 1
SATURATION = 2
LOG_COUNT = 3
COUNT = 4

SIZED = frozenset({LOG_SIZE_RATIO, SATURATION})
"""Kinds whose impact depends on the document's size, too."""


def argument(kind: int, scale: Any, delta: float, count: Any, by: Any) -> Any:
    """Return x of the table; `count` and `by` are floats, or arrays of them."""
    if kind == SATURATION:
        return count / (count + by)
    if kind == LOG_SIZE_RATIO:
        return scale * (count - delta) / by
    if kind == LOG_COUNT_RATIO:
        return scale * count
    return count

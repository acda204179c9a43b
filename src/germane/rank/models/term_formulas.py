"""Weights of a term by its frequencies, and what the term adds to a score's constant."""

import math
from typing import Any, NamedTuple

BURSTS, RATIO = 0.0, 1.0
USUAL_BURST, USUAL_DOCUMENTS = 1.5, 3
"""Every word counts as if so many documents more held it, each so often: rare words say little of themselves."""


class TermFormula(NamedTuple):
    """One of two formulas, by their `kind`, and its numbers. With N documents and |C| tokens in the collection:

    BURSTS, of BM25 and `adaptive` (Robertson & Zaragoza 2009, with the always positive idf of Lucene): weight =
    idf(w)^p · burst(w)^g · factor, and this is how strong a term is; idf(w) = log(1 + (N - df + ½)/(df + ½)), and
    burst(w) = (cf + 4½)/(df + 3), how often a document that holds the word holds it. `size` is N, `first` p, `second`
    g, `last` the factor.

    RATIO, of query likelihood (SD (2.3), (5.9); `models.QueryLikelihood` tells how it is split): scale =
    first/(second · p_C(w)), what the impact takes e_D(w)/a_D times; p_C(w) = cf/|C|. A term is as strong as one
    occurrence in a document of the usual size `last` makes it, log(1 + scale/last), weighs 1, and adds log p_C(w) to
    the constant. `size` is |C|.
    """

    kind: float
    size: float
    first: float
    second: float
    last: float


def numbers_of(df: Any, cf: Any, formula: Any) -> tuple[float, float, float, float]:
    """How strong a term that weighs 1 is, its impact's weight and scale, and what it adds to the constant."""
    kind, size, first, second, last = formula
    if kind == BURSTS:
        idf = math.log1p((size - df + 0.5) / (df + 0.5))
        burst = (cf + USUAL_BURST * USUAL_DOCUMENTS) / (df + USUAL_DOCUMENTS)
        weight = idf**first * burst**second * last
        return weight, weight, 0.0, 0.0
    p_C = cf / size
    scale = first / (second * p_C)
    return math.log1p(scale / last), 1.0, scale, math.log(p_C)

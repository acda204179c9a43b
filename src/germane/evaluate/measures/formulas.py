"""The formulas: each a pure function from the places of judged documents to one value for each query.

R is the number of relevant documents of a query (grade `rel` or more), r_1 < r_2 < ... are the ranks of those
retrieved, and k is the cutoff. A value whose denominator is 0 is 0. `judged_only` leaves unjudged documents out of the
rankings.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import InputError, ParameterError
from germane.evaluate.measures.judged import JudgedRankings, ordinals

Gains: TypeAlias = Mapping[int, float]

MIN_GEOMETRIC = 1e-5
"""The least value that enters a geometric mean, as in trec_eval."""
INFERRED_EPSILON = 1e-5
"""infAP's smoothing of a proportion, as in trec_eval."""
MAX_GRADE_OF_ERR = 4
"""The highest grade of the Web tracks' gdeval, which fixes ERR's scale."""
RECALL_LEVELS = tuple(level / 10 for level in range(11))


def average_precision(
    rankings: JudgedRankings, *, cutoff: int | None = None, rel: int = 1, judged_only: bool = False
) -> Floats:
    """AP@k = (1/R) Σ_{i: r_i <= k} i/r_i: the precision at each relevant document, averaged (Harman 1992)."""
    found = _only(rankings, judged_only).relevant(rel, cutoff)
    return _ratio(rankings.total(found.query, found.ordinal / found.rank), rankings.n_relevant(rel))


def precision(rankings: JudgedRankings, *, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    """P@k = |{i: r_i <= k}|/k; a shorter ranking is filled up with non-relevant documents (van Rijsbergen 1979)."""
    return rankings.count(_only(rankings, judged_only).relevant(rel, cutoff).query) / cutoff


def recall(rankings: JudgedRankings, *, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    """R@k = |{i: r_i <= k}|/R."""
    return _ratio(rankings.count(_only(rankings, judged_only).relevant(rel, cutoff).query), rankings.n_relevant(rel))


def success(rankings: JudgedRankings, *, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    """Success@k = 1 if r_1 <= k, else 0."""
    return np.sign(rankings.count(_only(rankings, judged_only).relevant(rel, cutoff).query)).astype(np.float64)


def reciprocal_rank(
    rankings: JudgedRankings, *, cutoff: int | None = None, rel: int = 1, judged_only: bool = False
) -> Floats:
    """RR@k = 1/r_1 if r_1 <= k, else 0 (Kantor & Voorhees 2000)."""
    found = _only(rankings, judged_only).relevant(rel, cutoff)
    first = found.ordinal == 1
    return rankings.total(found.query[first], 1.0 / found.rank[first])


def r_precision(rankings: JudgedRankings, *, rel: int = 1, judged_only: bool = False) -> Floats:
    """Rprec = P@R = |{i: r_i <= R}|/R (Buckley & Voorhees 2005)."""
    n_relevant = rankings.n_relevant(rel)
    found = _only(rankings, judged_only).relevant(rel)
    return _ratio(rankings.count(found.query[found.rank <= n_relevant[found.query]]), n_relevant)


def interpolated_precision(
    rankings: JudgedRankings, *, recall: float, rel: int = 1, judged_only: bool = False
) -> Floats:
    """IPrec@x = max {i/r_i: i >= c}: the best precision at recall x or more, c = x·R rounded to the nearest.

    Halves are rounded up, as in trec_eval since 9.0.8 (before, c was ⌊x·R + 0.9⌋), and the recall to the two digits
    that its names have.
    """
    found = _only(rankings, judged_only).relevant(rel)
    exact = round(recall, 2) * rankings.n_relevant(rel)
    needed = np.floor(exact) + (exact % 1.0 >= 0.5)
    enough = found.ordinal >= needed[found.query]
    best = np.zeros(rankings.n_queries)
    np.maximum.at(best, found.query[enough], found.ordinal[enough] / found.rank[enough])
    return best


def eleven_point_average(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """(1/11) Σ IPrec@x over x = 0, 0.1, ..., 1."""
    levels = [interpolated_precision(rankings, recall=level, rel=rel) for level in RECALL_LEVELS]
    return np.sum(levels, axis=0) / len(levels)  # type: ignore[no-any-return]


def ndcg(
    rankings: JudgedRankings,
    *,
    cutoff: int | None = None,
    dcg: str = "log2",
    gains: Gains | None = None,
    judged_only: bool = False,
) -> Floats:
    """nDCG@k = DCG@k / DCG@k of the best order, DCG@k = Σ_{rank <= k} gain/log2(rank + 1) (Järvelin & Kekäläinen 2002).

    The gain is the grade; with `gains={grade: gain}` what the mapping says, if anything; 0 where that is negative. With
    dcg="exp-log2" it is 2^grade - 1 (Burges et al. 2005).
    """
    if dcg not in ("log2", "exp-log2"):
        raise ParameterError(f"nDCG's dcg must be 'log2' or 'exp-log2', not {dcg!r}")
    if gains is not None:
        rankings = _regraded(rankings, gains)
    kept = _only(rankings, judged_only)
    reached = _discounted(rankings, kept.query, kept.rank, kept.grade, cutoff, dcg)
    query, grade = rankings.judged_query[rankings.best_first], rankings.judged_grade[rankings.best_first]
    return _ratio(reached, _discounted(rankings, query, ordinals(query, rankings.n_queries), grade, cutoff, dcg))


def expected_reciprocal_rank(rankings: JudgedRankings, *, cutoff: int | None = None) -> Floats:
    """ERR@k = Σ_{rank <= k} (1/rank) p_rank Π_{s < rank} (1 - p_s), p = (2^grade - 1)/2^4 (Chapelle et al. 2009).

    The scale is that of the Web tracks' gdeval: the highest grade is 4.
    """
    if len(rankings.judged_grade) and rankings.judged_grade.max() > MAX_GRADE_OF_ERR:
        raise InputError(f"ERR is defined for grades up to {MAX_GRADE_OF_ERR}: map higher ones to those first")
    found = rankings.relevant(1, cutoff)
    kept = (rankings.grade >= 1) & (rankings.rank <= (np.inf if cutoff is None else cutoff))
    stops = (2.0 ** rankings.grade[kept] - 1.0) / 2.0**MAX_GRADE_OF_ERR
    goes_on = np.ones((rankings.n_queries, int(found.ordinal.max(initial=0)) + 1))
    goes_on[found.query, found.ordinal] = 1.0 - stops
    arrives = np.cumprod(goes_on, axis=1)[found.query, found.ordinal - 1]
    return rankings.total(found.query, stops * arrives / found.rank)


def rank_biased_precision(
    rankings: JudgedRankings, *, p: float = 0.8, rel: int = 1, cutoff: int | None = None
) -> Floats:
    """RBP@k = (1 - p) Σ_{i: r_i <= k} p^(r_i - 1), 0 < p < 1 (Moffat & Zobel 2008): p to read on."""
    if not 0.0 < p < 1.0:
        raise ParameterError("RBP's p must lie strictly between 0 and 1")
    found = rankings.relevant(rel, cutoff)
    return (1.0 - p) * rankings.total(found.query, np.power(p, found.rank - 1.0))


def binary_preference(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """bpref = (1/R) Σ_i (1 - min(n_i, R)/min(N, R)) over the relevant documents retrieved (Buckley & Voorhees 2004).

    n_i of the N documents judged non-relevant stand above relevant document i; unjudged ones do not count.
    """
    relevant, other = rankings.grade >= rel, (rankings.grade >= 0) & (rankings.grade < rel)
    n_relevant = rankings.n_relevant(rel)
    n_other = rankings.count(rankings.judged_query[(rankings.judged_grade >= 0) & (rankings.judged_grade < rel)])
    query, above = rankings.query[relevant], rankings.above(other)[relevant]
    most = np.minimum(n_other, n_relevant)[query]
    broken = _ratio(np.minimum(above, n_relevant[query]), most)
    return _ratio(rankings.total(query, 1.0 - broken), n_relevant)


def inferred_average_precision(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """infAP = (1/R) Σ_i (1/r_i)(1 + pooled_i·(rel_i + ε)/(rel_i + nonrel_i + 2ε)) (Yilmaz & Aslam 2006).

    pooled_i documents of the pool stand above relevant document i, rel_i of them relevant and nonrel_i not; those of a
    negative grade are in the pool and not judged.
    """
    grade = rankings.grade
    relevant = grade >= rel
    rel_above = rankings.above(relevant)[relevant]
    other_above = rankings.above((grade >= 0) & (grade < rel))[relevant]
    pooled = rel_above + other_above + rankings.above(grade < 0)[relevant]
    share = (rel_above + INFERRED_EPSILON) / (rel_above + other_above + 2.0 * INFERRED_EPSILON)
    inferred = (1.0 + pooled * share) / rankings.rank[relevant]
    return _ratio(rankings.total(rankings.query[relevant], inferred), rankings.n_relevant(rel))


def judged(rankings: JudgedRankings, *, cutoff: int | None = None) -> Floats:
    """Judged@k: the share of judged documents among the first k (or all, if fewer); a negative grade counts too."""
    depth = rankings.n_retrieved if cutoff is None else np.minimum(rankings.n_retrieved, cutoff)
    return _ratio(rankings.count(rankings.query[rankings.rank <= depth[rankings.query]]), depth)


def set_precision(
    rankings: JudgedRankings, *, rel: int = 1, relative: bool = False, judged_only: bool = False
) -> Floats:
    """SetP = relevant and retrieved / retrieved; `relative` to the best possible: / min(retrieved, R)."""
    kept = _only(rankings, judged_only)
    best = np.minimum(kept.n_retrieved, rankings.n_relevant(rel)) if relative else kept.n_retrieved
    return _ratio(n_relevant_retrieved(kept, rel=rel), best)


def set_recall(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """SetR = relevant and retrieved / R."""
    return _ratio(n_relevant_retrieved(rankings, rel=rel), rankings.n_relevant(rel))


def set_f(rankings: JudgedRankings, *, rel: int = 1, beta: float = 1.0, judged_only: bool = False) -> Floats:
    """SetF = (β + 1)PR/(R + βP) of SetP and SetR; trec_eval's β is what others write as β²."""
    if not beta >= 0.0:
        raise ParameterError("SetF's beta must not be negative")
    p, r = set_precision(rankings, rel=rel, judged_only=judged_only), set_recall(rankings, rel=rel)
    return _ratio((beta + 1.0) * p * r, r + beta * p)


def set_average_precision(rankings: JudgedRankings, *, rel: int = 1, judged_only: bool = False) -> Floats:
    """SetAP = SetP·SetR."""
    return set_precision(rankings, rel=rel, judged_only=judged_only) * set_recall(rankings, rel=rel)


def n_queries(rankings: JudgedRankings) -> Floats:
    """NumQ: 1 for each judged query."""
    return np.ones(rankings.n_queries)


def n_relevant(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """NumRel = R."""
    return rankings.n_relevant(rel).astype(np.float64)


def n_retrieved(rankings: JudgedRankings, *, rel: int | None = None) -> Floats:
    """NumRet: the documents in the ranking; with `rel`, those of that grade or more."""
    return rankings.n_retrieved.astype(np.float64) if rel is None else n_relevant_retrieved(rankings, rel=rel)


def n_relevant_retrieved(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """NumRelRet: the relevant documents in the ranking."""
    return rankings.count(rankings.relevant(rel).query).astype(np.float64)


def log_average_precision(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """log max(AP, 10^-5), whose mean is the logarithm of GMAP (Robertson 2006)."""
    return np.log(np.maximum(average_precision(rankings, rel=rel), MIN_GEOMETRIC))


def log_binary_preference(rankings: JudgedRankings, *, rel: int = 1) -> Floats:
    """log max(bpref, 10^-5)."""
    return np.log(np.maximum(binary_preference(rankings, rel=rel), MIN_GEOMETRIC))


def _only(rankings: JudgedRankings, judged_only: bool) -> JudgedRankings:
    return rankings.condensed if judged_only else rankings


def _ratio(numerator: Floats | Integers, denominator: Floats | Integers) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def _discounted(
    rankings: JudgedRankings, query: Integers, rank: Integers, grade: Integers, cutoff: int | None, dcg: str
) -> Floats:
    kept = grade > 0 if cutoff is None else (grade > 0) & (rank <= cutoff)
    gain = grade[kept].astype(np.float64) if dcg == "log2" else 2.0 ** grade[kept] - 1.0
    return rankings.total(query[kept], gain / np.log2(rank[kept] + 1.0))


def _regraded(rankings: JudgedRankings, gains: Gains) -> JudgedRankings:
    """The rankings with other grades."""
    grades, inverse = np.unique(np.concatenate([rankings.grade, rankings.judged_grade]), return_inverse=True)
    mapped = np.array([gains.get(grade, grade) for grade in grades.tolist()])[inverse.reshape(-1)]
    n = len(rankings.grade)
    fields = (rankings.n_retrieved, rankings.query, rankings.rank, mapped[:n], rankings.judged_query, mapped[n:])
    return JudgedRankings(*fields)

"""Where the judged documents stand in the rankings: all that a measure needs to know of a run.

Rankings are long and judgements few, so no ranking is ever written out. All scores are sorted at once, as integers; the
rank of a judged document is found in them by bisection, and names are compared only where its score is tied.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers, Mask
from germane.errors import InputError
from germane.evaluate.rankings import Qrels, Run

_Keys = npt.NDArray[np.uint64]

MAX_GRADE = 1000
"""Beyond it lie slips of the pen, and gains of 2^grade that are no longer numbers."""

_LAST = np.uint64(2**64 - 1)


class Ranks(NamedTuple):
    """Some retrieved documents, by query and rank: their query, their rank (from 1), and which of the query's it is."""

    query: Integers
    rank: Integers
    ordinal: Integers


@dataclass(frozen=True)
class JudgedRankings:
    """The judged documents that each query retrieves, by query and rank, and all judgements.

    A query is a number below `n_queries`. `query`, `rank` (from 1) and `grade` have one element for each judged
    document in a ranking; `judged_query` and `judged_grade` one for each judgement. A negative grade says 'in the pool,
    but not judged', as in trec_eval.
    """

    n_retrieved: Integers
    query: Integers
    rank: Integers
    grade: Integers
    judged_query: Integers
    judged_grade: Integers

    @property
    def n_queries(self) -> int:
        """How many queries are judged."""
        return len(self.n_retrieved)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Ranks:
        """The retrieved documents of grade `rel` or more, down to the rank `cutoff`."""
        kept = self.grade >= rel
        if cutoff is not None:
            kept &= self.rank <= cutoff
        query = self.query[kept]
        return Ranks(query, self.rank[kept], ordinals(query, self.n_queries))

    def n_relevant(self, rel: int = 1) -> Integers:
        """How many documents of grade `rel` or more each query has, retrieved or not."""
        return self.count(self.judged_query[self.judged_grade >= rel])

    def count(self, query: Integers) -> Integers:
        """How often each query is among those given."""
        return np.bincount(query, minlength=self.n_queries).astype(np.int64)

    def total(self, query: Integers, value: Floats) -> Floats:
        """The sum of the values of each query, added up in their order."""
        return np.bincount(query, value, self.n_queries).astype(np.float64)

    def above(self, flags: Mask) -> Integers:
        """For each judged document in a ranking, how many flagged ones of its query stand above it."""
        before = np.concatenate(([0], np.cumsum(flags)))
        first = np.searchsorted(self.query, np.arange(self.n_queries))
        found: Integers = before[:-1] - before[first[self.query]]
        return found

    @cached_property
    def best_first(self) -> Integers:
        """The order of the judgements by query and then by grade, highest first."""
        return np.lexsort((-self.judged_grade, self.judged_query))

    @cached_property
    def condensed(self) -> "JudgedRankings":
        """The rankings without unjudged documents (trec_eval -J)."""
        kept = self.grade >= 0
        query = self.query[kept]
        rank = ordinals(query, self.n_queries)
        judged = (self.judged_query, self.judged_grade)
        return JudgedRankings(self.count(query), query, rank, self.grade[kept], *judged)


@dataclass(frozen=True)
class Case:
    """A run and its judgements, over the same queries in the same order."""

    run: Run
    qrels: Qrels

    @cached_property
    def rankings(self) -> JudgedRankings:
        """Where the judged documents stand."""
        return judged_rankings(self.run, self.qrels)


def judged_rankings(run: Run, qrels: Qrels) -> JudgedRankings:
    """Find the judged documents in rankings by score in single precision and then by name, both descending."""
    n_retrieved, n_judged = _lengths(run), _lengths(qrels)
    judged_grade = _grades(qrels)
    both = zip(run.values(), qrels.values(), strict=True)
    found = [[name for name in grades if name in scores] for scores, grades in both]
    n_found = np.fromiter(map(len, found), np.int64, len(found))
    query = np.repeat(np.arange(len(n_found)), n_found)
    grade = np.fromiter(_looked_up(qrels, found), np.int64, len(query))
    key = _keys(_looked_up(run, found), n_found, run)
    order = np.argsort(key, kind="stable")
    key, grade = key[order], grade[order]

    every = _keys(chain.from_iterable(scores.values() for scores in run.values()), n_retrieved, run)
    ascending = np.append(np.sort(every), _LAST)
    start = np.cumsum(n_retrieved) - n_retrieved
    place = np.searchsorted(ascending, key)
    rank: Integers = place - start[query] + 1
    tied = np.flatnonzero(ascending[place + 1] == key)
    if len(tied):
        flat = list(chain.from_iterable(found))
        names = [flat[i] for i in order[tied].tolist()]
        rank[tied] += _places_among_tied(run, every, start, key[tied], query[tied], names)
        order = np.lexsort((rank, query))
        rank, grade = rank[order], grade[order]
    return JudgedRankings(n_retrieved, query, rank, grade, np.repeat(np.arange(len(n_judged)), n_judged), judged_grade)


def _places_among_tied(
    run: Run, every: _Keys, start: Integers, key: _Keys, query: Integers, names: list[str]
) -> list[int]:
    """How many documents of the same query and key have a name after that of each document given, by code points."""
    rankings = list(run.values())
    tied: dict[int, list[str]] = {value: [] for value in key.tolist()}
    for which in np.unique(query).tolist():
        keys = every[start[which] : start[which] + len(rankings[which])].tolist()
        for name, value in zip(rankings[which], keys, strict=True):
            if value in tied:
                tied[value].append(name)
    for group in tied.values():
        group.sort()
    groups = map(tied.__getitem__, key.tolist())
    return [len(group) - 1 - bisect_left(group, name) for group, name in zip(groups, names, strict=True)]


def ordinals(query: Integers, n_queries: int) -> Integers:
    """1, 2, 3, ... within each query of an ascending list."""
    first = np.searchsorted(query, np.arange(n_queries))
    found: Integers = np.arange(1, len(query) + 1) - first[query]
    return found


def _looked_up(values: Run | Qrels, names: list[list[str]]) -> Iterator[float]:
    """The values of the names given for each query."""
    return (of[name] for of, wanted in zip(values.values(), names, strict=True) for name in wanted)


def _lengths(lists: Run | Qrels) -> Integers:
    return np.fromiter(map(len, lists.values()), np.int64, len(lists))


def _grades(qrels: Qrels) -> Integers:
    grades = np.array(list(chain.from_iterable(grades.values() for grades in qrels.values())))
    if len(grades) and grades.dtype.kind not in "iub":
        raise InputError("a grade must be a whole number")
    if len(grades) and not -MAX_GRADE <= grades.min() <= grades.max() <= MAX_GRADE:
        raise InputError(f"a grade must lie between -{MAX_GRADE} and {MAX_GRADE}")
    return grades.astype(np.int64)


def _keys(scores: Iterable[float], lengths: Integers, run: Run) -> _Keys:
    """Integers that ascend where queries ascend and, within a query, scores descend.

    The query's number is in the upper half; below it are the bits of the score in single precision, complemented but
    for the sign where it is positive: bits ascend with the magnitude, and the sign bit puts negative numbers last.
    """
    try:
        exact = np.fromiter(scores, np.float64, int(lengths.sum()))
    except (TypeError, ValueError):
        raise InputError("a score must be a number") from None
    if np.isnan(exact).any():
        where = np.searchsorted(np.cumsum(lengths), np.argmax(np.isnan(exact)), "right")
        raise InputError(f"query '{list(run)[int(where)]}' has a score that is not a number")
    with np.errstate(over="ignore"):  # what is too large for single precision is infinite there
        single = exact.astype(np.float32) + np.float32(0.0)  # -0 and 0 tie
    bits = single.view(np.uint32)
    descending = np.where(bits >> 31, bits, bits ^ np.uint32(0x7FFFFFFF))
    query = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    keys: _Keys = (query << np.uint64(32)) | descending
    return keys

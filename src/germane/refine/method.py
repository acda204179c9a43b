"""What every method of refinement takes and gives: marks in, log-odds of relevance and their words out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers, Labels
from germane.errors import ParameterError
from germane.refine.calibration import Calibration
from germane.refine.weighting import SEEN, ResultList
from germane.types import Mark

TOP_WORDS = 10
"""How many words describe a component."""


class Contributions(NamedTuple):
    """Words of a result and how much each moves its log-odds: amounts above 0 speak for relevance."""

    words: Integers
    amounts: Floats


@dataclass(frozen=True, eq=False)
class Component:
    """A topic found among the non-relevant: rows of `members`, most certain first; `words` (ids) with their `weights`.

    The words are those that set the topic apart: p(w|c)·log(p(w|c)/p(w)), largest first, p(w) over all components.
    """

    members: Integers
    words: Integers
    weights: Floats


def _own_list_only(_: ResultList) -> Floats:
    raise ParameterError("this refinement ranks its own list only")


@dataclass(frozen=True, eq=False)
class Estimate:
    """`log_odds` of relevance of each result (rank by these), and the `components` of MMEM.

    `contributions(i)` gives the words of result i; `decide(others)` the log-odds of texts that were not in the list
    (`ResultList.like`), under what was learnt from it.
    """

    log_odds: Floats
    components: tuple[Component, ...] = ()
    contributions: Callable[[int], Contributions] = field(repr=False, kw_only=True)
    decide: Callable[[ResultList], Floats] = field(repr=False, kw_only=True, default=_own_list_only)


class RefineMethod(ABC):
    """A way from marks to log-odds. Subclasses are frozen dataclasses of their parameters."""

    name: ClassVar[str]
    calibration: ClassVar[Calibration]
    needs_rejected: ClassVar[bool] = True
    """Whether it needs a result marked as not relevant."""
    contributions_add_up: ClassVar[bool] = True
    """Whether a result's contributions sum to its log-odds up to a constant that has nothing to do with its words."""

    def refine(self, results: ResultList, labels: npt.ArrayLike) -> Estimate:
        """Log-odds of all results from `labels`: 1 relevant, 0 not relevant, -1 unmarked.

        `ParameterError` without a mark of a class that the method needs.
        """
        marks = checked_labels(results, labels)
        if not (marks == Mark.RELEVANT).any():
            raise ParameterError(f"method '{self.name}' needs at least one result marked as relevant")
        if self.needs_rejected and not (marks == Mark.NOT_RELEVANT).any():
            raise ParameterError(
                f"method '{self.name}' needs at least one result marked as not relevant; "
                "'auto', 'paper', 'knn' and 'rocchio' do without"
            )
        if getattr(self, "weights", None) == SEEN:
            return over_seen_words(results, marks, self._refine)
        return self._refine(results, marks)

    def applied(self, labels: npt.ArrayLike) -> "RefineMethod":
        """The method that refines with these marks: this one, unless it is a policy that chooses among others."""
        return self

    @classmethod
    def probabilities(cls, log_odds: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
        """P(relevant) of each result from the method's log-odds; marked ones get the probability of their own score.

        Posteriors lie at 0 or 1 for nearly every result (Refine errata), so they are tempered by `calibration`.
        """
        return cls.calibration.probabilities(np.asarray(log_odds, np.float64), np.asarray(labels, np.int8))

    def contributions(self, results: ResultList, labels: npt.ArrayLike, i: int) -> Contributions:
        """Words of result `i` and their shares of its log-odds; for many results ask one `Estimate` instead."""
        return self.refine(results, labels).contributions(i)

    @abstractmethod
    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        """`refine` of checked labels."""


def over_seen_words(results: ResultList, labels: Labels, refine: Callable[[ResultList, Labels], Estimate]) -> Estimate:
    """What a method finds if only words of marked texts count, so that they alone are V of Refine (7): weights "seen".

    Over the whole list's vocabulary the class with fewer marked words gives each unseen word more probability, and the
    texts that are longest win it (Refine errata).
    """
    words = np.unique(results.counts[np.flatnonzero(labels != Mark.UNMARKED)].indices).astype(np.int64)
    words = words if len(words) else np.zeros(1, np.int64)  # marked texts without a word: one stands for none
    found = refine(results.only(words), labels)

    def contributions(i: int) -> Contributions:
        contributions_of = found.contributions(i)
        return Contributions(words[contributions_of.words], contributions_of.amounts)

    return Estimate(
        found.log_odds,
        tuple(replace(part, words=words[part.words]) for part in found.components),
        contributions=contributions,
        decide=lambda texts: found.decide(texts.only(words)),
    )


def checked_labels(results: ResultList, labels: npt.ArrayLike) -> Labels:
    """`labels` as int8, if there is one for each result and each is 1, 0 or -1."""
    array = np.asarray(labels)
    if array.shape != (len(results),):
        raise ParameterError(f"{len(results)} results need as many labels in one list, not an array of {array.shape}")
    if not np.isin(array, (Mark.RELEVANT, Mark.NOT_RELEVANT, Mark.UNMARKED)).all():
        raise ParameterError("labels are 1 (relevant), 0 (not relevant) or -1 (unmarked)")
    return array.astype(np.int8)


def linear_estimate(
    results: ResultList, rows_of: Callable[[ResultList], Any], beta: Floats, intercept: float
) -> Estimate:
    """x_i·β + b of each result, to which word w contributes x_iw·β_w; `rows_of` gives a list's x."""

    def decide(texts: ResultList) -> Floats:
        return np.asarray(rows_of(texts) @ beta + intercept)

    def contributions(i: int) -> Contributions:
        words, values = row_of(rows_of(results), i)
        return Contributions(words, values * beta[words])

    return Estimate(decide(results), contributions=contributions, decide=decide)


def row_of(matrix: Any, i: int) -> tuple[Integers, Floats]:
    """Columns and values stored in row `i`."""
    part = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return matrix.indices[part].astype(np.int64), matrix.data[part]

"""What a ranking says of a segment: the query's terms there, and what is known of each document."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.rank.plan import NOTHING, Plan

Mask: TypeAlias = npt.NDArray[np.uint8]
"""1 for each document that may be found; empty: all may."""
NO_MASK: Mask = np.empty(0, np.uint8)
ScoredDocs: TypeAlias = tuple[Floats, Integers]
"""Scores, and the documents of a segment that have them."""


class TermArrays(NamedTuple):
    """A plan in one segment: its terms that the segment holds, in canonical order, by their numbers there.

    `weight`, `scale`: of each one's impact; the rest is the plan's.
    """

    numbers: Integers
    weight: Floats
    scale: Floats
    plan: Plan

    @classmethod
    def of(cls, plan: Plan, numbers: list[int]) -> "TermArrays":
        """Those of the plan's terms that a segment holds, by their numbers there, -1 for one that it lacks."""
        local = np.array(numbers, np.int64)
        if -1 not in numbers:
            return cls(local, plan.weight, plan.scale, plan)
        present = local >= 0
        return cls(local[present], plan.weight[present], plan.scale[present], plan)


class DocumentPart(NamedTuple):
    """A number for each document of a segment; empty: none. `highest`: of all, else 0; `typical`: the mean."""

    values: Floats
    highest: float
    typical: float


def with_extremes(values: Floats) -> DocumentPart:
    """Prepare document values for the scorers."""
    if len(values) == 0:
        return NO_PART
    typical = float(values.mean())
    return DocumentPart(values, float(values.max()), typical if math.isfinite(typical) else 0.0)


class DocumentValues(NamedTuple):
    """What enters the score of a document whatever its postings: norm_D, the mass's background, prior_D."""

    norm: DocumentPart
    background: DocumentPart
    prior: DocumentPart


NO_PART = DocumentPart(NOTHING, 0.0, 0.0)
NO_VALUES = DocumentValues(NO_PART, NO_PART, NO_PART)

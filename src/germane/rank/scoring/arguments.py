"""What a ranking says of a segment: the query's terms there, and what is known of each document."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.rank.plan import Plan


class TermArrays(NamedTuple):
    """A plan in one segment: its terms that the segment holds, in canonical order, by their numbers there.

    `weight`, `scale`: of each one's impact; the rest is the plan's.
    """

    numbers: Integers
    weight: Floats
    scale: Floats
    plan: Plan


class DocumentPart(NamedTuple):
    """A number for each document of a segment; empty: none.

    `highest`: of all, 0 if there are none; `typical`: the mean. Of a background only, `rounded`: no value is above
    least + step·rounded, or below by more than two steps.
    """

    values: Floats
    highest: float
    typical: float
    rounded: npt.NDArray[np.uint16]
    least: float = 0.0
    step: float = 0.0


class DocumentValues(NamedTuple):
    """What enters the score of a document whatever its postings: norm_D, the mass's background, prior_D."""

    norm: DocumentPart
    background: DocumentPart
    prior: DocumentPart


class RecentDocuments(NamedTuple):
    """What is said of the documents of small segments: their sizes, norm, background and prior of each (or no rows: 1
    and 0), and which of them may be found (empty: all)."""

    size: npt.NDArray[np.uint32]
    values: Floats
    mask: npt.NDArray[np.uint8]

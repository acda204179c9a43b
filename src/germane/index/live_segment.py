"""A segment as one commit has it: with what is deleted in it, and with its vectors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.deletions import Deletions, no_deletions
from germane.index.manifest import SegmentEntry
from germane.index.segment import Segment
from germane.index.vectors import VectorFile


class LiveSegment(NamedTuple):
    """A segment, what is deleted in it, and by field the vectors of its documents."""

    segment: Segment
    deletions: Deletions
    entry: SegmentEntry
    vectors: Mapping[str, VectorFile] = MappingProxyType({})

    @property
    def n_docs(self) -> int:
        """Live documents."""
        return self.segment.n_docs - self.deletions.n_docs

    def frequencies(self) -> tuple[Integers, Integers]:
        """df and cf of each term among the segment's live documents."""
        df, cf = self.segment.df.astype(np.int64), self.segment.cf.astype(np.int64)
        df[self.deletions.terms] -= self.deletions.df
        cf[self.deletions.terms] -= self.deletions.cf
        self.require_possible(df[self.deletions.terms], cf[self.deletions.terms])
        return df, cf

    def frequencies_of(self, numbers: npt.NDArray[np.integer]) -> tuple[Integers, Integers]:
        """df and cf of some terms among the segment's live documents."""
        df, cf = self.segment.df.take(numbers), self.segment.cf.take(numbers)
        if len(self.deletions.terms):
            fallen_df, fallen_cf = self.deletions.frequencies_of(numbers)
            df, cf = df - fallen_df, cf - fallen_cf
            self.require_possible(df, cf)
        return df, cf

    def require_possible(self, df: npt.NDArray[np.integer], cf: npt.NDArray[np.integer]) -> None:
        """Frequencies that no live documents can have come of deletions that belong to another segment."""
        if np.any(df < 0) or np.any(cf < df) or np.any((df == 0) & (cf > 0)):
            raise self.segment.container.damage("the deletions of another segment")


def whole(segment: Segment) -> LiveSegment:
    """A new segment of which nothing is deleted."""
    return LiveSegment(segment, no_deletions(segment), SegmentEntry(segment.name, segment.container.size))

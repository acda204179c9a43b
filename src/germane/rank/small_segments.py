"""The small segments of a snapshot, searched as one: commits of a few documents leave some of them.

What a search does once for a segment would else be done for each, and take longer than the search of a large one beside
them. The lists of all of them but the newest, which the next commit replaces, lie unpacked one behind the other; a
searcher takes them over from the one before it while those segments stay.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.segment import Unpacked
from germane.index.snapshot import LiveSegment
from germane.rank.arguments import NOTHING, DocumentPart, DocumentValues
from germane.rank.plainly import NONE_FOUND
from germane.rank.plan import Plan
from germane.rank.records import Documents
from germane.rank.scoring import NO_MASK, Mask, score_lists

Counts = npt.NDArray[np.uint32]


class SmallSegments:
    """The small segments of a snapshot, by their places there, and their documents numbered through."""

    def __init__(self, segments: Sequence[LiveSegment], before: "SmallSegments | None" = None) -> None:
        self.places = [i for i, live in enumerate(segments) if live.segment.is_small]
        self._segments = [segments[i].segment for i in self.places]
        self._starts = list(accumulate((segment.n_docs for segment in self._segments), initial=0))
        stay = before is not None and before._segments[:-1] == self._segments[:-1]
        self._older: Unpacked | None = before._older if before is not None and stay else None
        self._sizes: dict[bool, Counts] = {}

    def values(self, parts: Sequence[DocumentValues]) -> DocumentValues:
        """What is said of the documents of the small ones, from what is said of those of each segment."""
        own = [parts[i] for i in self.places]
        return DocumentValues(*(_joined_part([each[part].values for each in own]) for part in range(3)))

    def mask(self, masks: Sequence[Mask]) -> Mask:
        """The masks of the small ones, some of which may be empty, as one."""
        if not any(map(len, masks)):
            return NO_MASK
        sizes = np.diff(self._starts)
        whole = (mask if len(mask) else np.ones(n, np.uint8) for mask, n in zip(masks, sizes, strict=True))
        return np.concatenate(list(whole))

    def top_k(
        self,
        plan: Plan,
        numbers: Sequence[Sequence[int]] | Integers,
        values: DocumentValues,
        mask: Mask,
        k: int,
        threshold: float,
    ) -> list[tuple[Floats, Integers]]:
        """For each of the segments its documents among the best k of all: what `rank.scoring.top_k` gives of it.

        `numbers`: those of each term of the plan in all segments of the snapshot.
        """
        size = self._size(plan.sized_by_unique)
        documents = Documents(size, values.norm.values, values.background.values, values.prior.values, mask)
        lists = self._joined(), self._segments[-1].unpacked
        found, scores = score_lists(plan, documents, *lists, self._numbering, numbers, threshold)
        if len(found) > k:  # ties with the last one stay in
            found, scores = (
                found[among := scores >= np.partition(scores, len(found) - k)[len(found) - k]],
                scores[among],
            )
        return self._apart(found, scores, k)

    def _joined(self) -> Unpacked:
        """The lists of all segments but the newest, with the documents numbered through."""
        if self._older is None:
            own = [segment.unpacked for segment in self._segments[:-1]]
            ends = accumulate((len(lists.docs) for lists in own), initial=0)
            self._older = Unpacked(
                _concatenated(lists.docs + np.uint32(start) for lists, start in zip(own, self._starts, strict=False)),
                _concatenated(lists.counts for lists in own),
                _concatenated((lists.starts + end for lists, end in zip(own, ends, strict=False)), np.int64),
            )
        return self._older

    @cached_property
    def _numbering(self) -> Integers:
        """Of each segment its place in the snapshot, and the first of its lists among the older ones' (each has one
        more entry there than terms), or of the newest its first document."""
        first = list(accumulate((segment.n_terms + 1 for segment in self._segments), initial=0))
        return np.array([*zip(self.places, [*first[:-2], self._starts[-2]], strict=True)], np.int64)

    def _size(self, by_unique: bool) -> Counts:
        """The size of each document: its distinct terms, or its tokens."""
        found = self._sizes.get(by_unique)
        if found is None:
            own = [segment.n_unique if by_unique else segment.doc_len for segment in self._segments]
            found = self._sizes[by_unique] = np.concatenate(own)
        return found

    def _apart(self, found: Integers, scores: Floats, k: int) -> list[tuple[Floats, Integers]]:
        """The documents of each segment, k at most, by its own numbers and in the total order."""
        results = [NONE_FOUND] * len(self.places)
        if not len(found):
            return results
        ends = np.searchsorted(found, self._starts).tolist()
        for i, segment in enumerate(self._segments):
            if ends[i] < ends[i + 1]:
                docs, own = found[ends[i] : ends[i + 1]] - self._starts[i], scores[ends[i] : ends[i + 1]]
                order = np.lexsort((segment.id_rank[docs], -own))[:k]
                results[i] = own[order], docs[order]
        return results


def _joined_part(values: Sequence[Floats]) -> DocumentPart:
    """A part of what is said of documents, for scoring each of them: nothing is bounded by it."""
    return DocumentPart(np.concatenate([NOTHING, *values]), NOTHING, NOTHING, 0.0, 0.0)


def _concatenated(arrays: Iterable[npt.NDArray[Any]], dtype: type = np.uint32) -> npt.NDArray[Any]:
    """The arrays, of which there may be none, one behind the other."""
    return np.concatenate([np.empty(0, dtype), *arrays])

"""The small segments of a snapshot, searched as one: commits of a few documents leave some of them.

What a search does once for a segment would else be done for each, and take longer than the search of a large one beside
them. A term's lists are joined once for all of them but the newest, which the next commit replaces; a searcher takes
them over from the one before it while those segments stay.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.snapshot import LiveSegment
from germane.rank.arguments import NOTHING, DocumentPart, DocumentValues
from germane.rank.plainly import NONE_FOUND
from germane.rank.plan import Plan
from germane.rank.records import Documents
from germane.rank.scoring import NO_MASK, Mask, score_lists

Counts = npt.NDArray[np.uint32]
Postings = tuple[Counts, Counts]
NO_POSTINGS: Postings = np.empty(0, np.uint32), np.empty(0, np.uint32)
MOST_JOINED = 1 << 14
"""Terms whose joined lists are remembered."""


class SmallSegments:
    """The small segments of a snapshot, by their places there, and their documents numbered through."""

    def __init__(self, segments: Sequence[LiveSegment], before: "SmallSegments | None" = None) -> None:
        self.places = [i for i, live in enumerate(segments) if live.segment.is_small]
        self._segments = [segments[i].segment for i in self.places]
        self._starts: list[int] = np.cumsum([0, *(segment.n_docs for segment in self._segments)]).tolist()
        stay = before is not None and before._segments[:-1] == self._segments[:-1]
        self._joined: dict[str, Postings] = before._joined if before is not None and stay else {}
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
        numbers: Sequence[Sequence[int]],
        values: DocumentValues,
        mask: Mask,
        k: int,
        threshold: float,
    ) -> list[tuple[Floats, Integers]]:
        """For each of the segments its documents among the best k of all: what `rank.scoring.top_k` gives of it.

        `numbers`: those of each term of the plan in all segments of the snapshot.
        """
        pieces, docs, counts, n = [], [], [], 0
        for i, (term, own) in enumerate(zip(plan.terms, numbers, strict=True)):
            for its_docs, its_counts in (self._older(term[0], own), self._newest(own)):
                if len(its_docs):
                    n += len(its_docs)
                    pieces.append((i, n))
                    docs.append(its_docs)
                    counts.append(its_counts)
        if not pieces:
            return [NONE_FOUND] * len(self.places)
        size = self._size(plan.sized_by_unique)
        documents = Documents(size, values.norm.values, values.background.values, values.prior.values, mask)
        postings = np.array(pieces), np.concatenate(docs), np.concatenate(counts)
        found, scores = score_lists(plan, documents, postings, threshold)
        if len(found) > k:  # ties with the last one stay in
            found, scores = (
                found[among := scores >= np.partition(scores, len(found) - k)[len(found) - k]],
                scores[among],
            )
        return self._apart(found, scores, k)

    def _older(self, term: str, numbers: Sequence[int]) -> Postings:
        """The documents that hold a term, and how often, in all segments but the newest."""
        found = self._joined.get(term)
        if found is None:
            lists = [self._list(numbers, i) for i in range(len(self.places) - 1)]
            found = np.concatenate([own for own, _ in lists]), np.concatenate([own for _, own in lists])
            if len(self._joined) >= MOST_JOINED:
                self._joined.clear()
            self._joined[term] = found
        return found

    def _newest(self, numbers: Sequence[int]) -> Postings:
        return self._list(numbers, len(self.places) - 1)

    def _list(self, numbers: Sequence[int], i: int) -> Postings:
        number = numbers[self.places[i]]
        if number < 0:
            return NO_POSTINGS
        docs, counts = self._segments[i].postings(number)
        return docs + np.uint32(self._starts[i]), counts

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

"""The documents of a snapshot's small segments, in memory as one: commits of a few documents leave some such segments.

What a search does once for a segment would else be done for each, and take longer than the search of a large one beside
them. A commit that adds documents adds them here too; older snapshots keep what they saw. Where segments were merged or
taken away, the documents of those before them stay.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.lists import transposed
from germane.index.live_segment import LiveSegment
from germane.index.segment import Segment
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.index import recent_kernels
else:
    recent_kernels = LazyModule("germane.index.recent_kernels")

Numbers = npt.NDArray[np.int32]
Sizes = npt.NDArray[np.uint32]
COLUMNS, DF, CF = 3, 1, 2
"""Of a term's list: where it begins, and df and cf."""
ROOM = 1 << 14
"""Postings that there is room for at first."""
UNUSED = 4
"""Lists may be so many times as many as those with postings: each commit copies where they begin."""


class TermStats(NamedTuple):
    """A term's frequencies over live documents."""

    df: int
    cf: int


class TermNumbers(defaultdict[str, int]):
    """The number of each term met; never taken back."""

    def __init__(self) -> None:
        super().__init__(count().__next__)
        self._lock = threading.Lock()

    def of(self, terms: Iterable[str]) -> list[int]:
        """The numbers of terms; one that has none gets the next."""
        with self._lock:
            return [*map(self.__getitem__, terms)]


class _Store:
    """Posting lists, (document, count) each, with room behind them. Several snapshots share them: each knows how far a
    list goes, and what it has seen never changes. One thread at a time adds to them (`LatestRecent`)."""

    def __init__(self) -> None:
        self.numbers = TermNumbers()
        self.room: Numbers = np.zeros(0, np.int32)
        """Postings that each list has room for; there may be more of them than terms."""
        self.postings: Numbers = np.empty((ROOM, 2), np.int32)
        self.end = 0
        self.n_docs = 0
        self.sizes: Sizes = np.zeros((2, 64), np.uint32)
        """Tokens and distinct terms of each document."""

    def begun(self, lists: Numbers, n_docs: int) -> "tuple[_Store, Numbers]":
        """A copy with the first documents alone, and its lists: those of others may be read while it is added to."""
        store, own = _Store(), lists.copy()
        recent_kernels.cut(own, self.postings, n_docs)
        if UNUSED * np.count_nonzero(own[:, DF]) < len(own):
            return _Store(), NO_LISTS
        store.numbers, store.room, store.end, store.n_docs = self.numbers, self.room.copy(), self.end, n_docs
        store.postings, store.sizes = np.empty_like(self.postings), self.sizes.copy()
        store.postings[: self.end] = self.postings[: self.end]  # behind it is memory that nobody has touched
        return store, own

    def reserve(self, n_terms: int, n: int, n_docs: int) -> None:
        """Room for so many terms and documents, and so many postings more."""
        if n_terms > len(self.room):
            self.room = np.pad(self.room, (0, 2 * n_terms - len(self.room)))
        if n_docs > self.sizes.shape[1]:
            self.sizes = np.pad(self.sizes, ((0, 0), (0, 2 * n_docs)))
        if self.end + n > len(self.postings):
            larger = np.empty((2 * (self.end + n), 2), np.int32)
            larger[: self.end] = self.postings[: self.end]
            self.postings = larger


class Recent:
    """The documents of small segments, numbered through. `before`: those of an earlier snapshot, which may be extended.

    `lists`: by a term's number, what COLUMNS says; `postings`: where they lie.
    """

    def __init__(self, lives: Sequence[LiveSegment], before: "Recent | None") -> None:
        self._lives = lives
        self.segments = [live.segment for live in lives]
        starts = list(accumulate((segment.n_docs for segment in self.segments), initial=0))
        self.starts = np.array(starts)
        """Where each segment's documents begin, and the last one's end."""
        self.n_docs = starts[-1]
        self._store, self.lists = _Store(), NO_LISTS
        if before is not None and before._store.n_docs == before.n_docs:  # else somebody was interrupted
            n_shared = _shared(before.segments, self.segments)
            if n_shared == before.n_docs:
                self._store, self.lists = before._store, before.lists
            elif n_shared:
                self._store, self.lists = before._store.begun(before.lists, n_shared)
        for start, segment in zip(starts, self.segments, strict=False):
            first = max(self._store.n_docs - start, 0)
            if first < segment.n_docs:
                self._add(segment, first)
        self.terms, self.postings = self._store.numbers, self._store.postings
        """The numbers of terms, and the lists; those of a term that `lists` does not have are not held."""
        self.doc_len, self.n_unique = self._store.sizes[:, : self.n_docs]
        """Tokens and distinct terms of each document."""

    def _add(self, segment: Segment, first: int) -> None:
        """Add a segment's documents from `first` on."""
        store = self._store
        starts, counts, names, places = _lists_from(segment, first)
        numbers = np.array(store.numbers.of(names), np.int64)
        n = len(self.lists)
        n_terms = max(n, int(numbers.max(initial=-1)) + 1)
        lists = np.empty((n_terms, COLUMNS), np.int32)
        lists[:n], lists[n:] = self.lists, 0
        n_docs, end = store.n_docs, store.n_docs + len(starts) - 1
        store.reserve(n_terms, 4 * (int(lists[numbers, DF].sum()) + len(counts)), end)  # each may move, more than once
        store.n_docs = end  # first: a store that was left half changed is not extended again
        added = starts, numbers[places], counts, n_docs
        store.end = recent_kernels.add(*added, lists, store.room, store.postings, store.end)
        store.sizes[0, n_docs:end], store.sizes[1, n_docs:end] = segment.doc_len[first:], segment.n_unique[first:]
        self.lists = lists

    @cached_property
    def live(self) -> Numbers:
        """`lists` with the frequencies among live documents."""
        lists = self.lists
        for live in self._lives:
            lost = live.deletions
            if not len(lost.terms):
                continue
            live.frequencies_of(lost.terms)  # refuses the deletions of another segment
            lists = lists.copy() if lists is self.lists else lists
            numbers = self.numbers(live.segment.terms(lost.terms))
            lists[numbers, DF] -= lost.df.astype(np.int32)
            lists[numbers, CF] -= lost.cf.astype(np.int32)
            live.require_possible(lists[numbers, DF], lists[numbers, CF])
        return lists

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The number of each term; those that `lists` does not have are not held."""
        numbers, n_terms = self.terms, len(self.lists)
        return [numbers.get(term, n_terms) for term in terms]

    def with_frequencies(self, terms: Iterable[str], older: Iterable[TermStats]) -> list[TermStats]:
        """The statistics of terms with those among the live documents here."""
        numbers, n_terms = np.array(self.numbers(terms), np.int64), len(self.lists)
        found = np.zeros((len(numbers), COLUMNS), np.int64)
        held = numbers < n_terms
        found[held] = self.live[numbers[held]]
        return [TermStats(df + more[DF], cf + more[CF]) for (df, cf), more in zip(older, found.tolist(), strict=True)]


class LatestRecent:
    """The recent documents of the newest snapshot that has asked for its own, which those of later ones add to.

    All snapshots of an index share it. If each asked the one before, all that came while the documents of one were made
    anew would begin at what that one began with, and be made anew as well.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._generation = -1
        self._recent: Recent | None = None

    def of(self, lives: Sequence[LiveSegment], generation: int) -> Recent:
        """The documents of these segments, those of a snapshot of this generation; `lock` is held."""
        made = Recent(lives, self._recent)
        if generation >= self._generation:
            self._generation, self._recent = generation, made
        return made


NO_LISTS = np.empty((0, COLUMNS), np.int32)


def _lists_from(segment: Segment, first: int) -> tuple[Integers, Sizes, list[str], Integers]:
    """The words of a segment's documents from `first` on: where each document's begin, counts, distinct terms, and
    which of these each entry is. They are its posting lists turned round, so that all scorers read the same."""
    docs, doc_counts, lists = segment.unpacked
    starts, terms, counts = transposed(lists, docs, doc_counts, segment.n_docs)
    begin, starts = starts[first], starts[first:] - starts[first]
    terms, counts = terms[begin:], counts[begin:]
    held = np.zeros(segment.n_terms, np.bool_)
    held[terms] = True
    places = np.cumsum(held) - 1
    return starts, counts, segment.terms(np.flatnonzero(held)), places[terms]


def _shared(before: Sequence[Segment], now: Sequence[Segment]) -> int:
    """How many of the documents before are the first of those now, in the same order."""
    n = 0
    for one, other in zip(before, now, strict=False):
        if one is not other:
            break
        n += one.n_docs
    return n

"""The documents of a snapshot's small segments, in memory as one: commits of a few documents leave some such segments.

What a search does once for a segment would else be done for each, and take longer than the search of a large one beside
them. A commit that adds documents adds them here too, whatever else lies in the segment that brings them; older
snapshots keep what they saw. Only what takes documents away or joins segments makes all this anew.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.segment import Segment
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.index import recent_kernels
    from germane.index.snapshot import LiveSegment
else:
    recent_kernels = LazyModule("germane.index.recent_kernels")

Numbers = npt.NDArray[np.int32]
Sizes = npt.NDArray[np.uint32]
COLUMNS, DF, CF = 3, 1, 2
"""Of a term's list: where it begins, and df and cf."""
ROOM = 1 << 14
"""Postings that there is room for at first."""


class TermStats(NamedTuple):
    """A term's frequencies over live documents."""

    df: int
    cf: int


_new_stats = tuple.__new__
"""`TermStats` of a tuple, in a third of the time."""


class _Numbers(dict[str, int]):
    """The number of each term met; never taken back. One that is asked for gets the next."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class _Store:
    """Posting lists, (document, count) each, with room behind them. Several snapshots share them: each knows how far a
    list goes, and what it has seen never changes. One thread at a time adds to them (`LatestRecent`)."""

    def __init__(self) -> None:
        self.numbers = _Numbers()
        self.room: Numbers = np.zeros(0, np.int32)
        """Postings that each list has room for; there may be more of them than terms."""
        self.postings: Numbers = np.empty((ROOM, 2), np.int32)
        self.end = 0
        self.n_docs = 0
        self.sizes: Sizes = np.zeros((2, 64), np.uint32)
        """Tokens and distinct terms of each document."""

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

    def __init__(self, lives: "Sequence[LiveSegment]", before: "Recent | None") -> None:
        self._lives = lives
        self.segments = [live.segment for live in lives]
        self.starts = list(accumulate((segment.n_docs for segment in self.segments), initial=0))
        """Where each segment's documents begin, and the last one's end."""
        self._store, self.lists = _Store(), _NO_LISTS
        whole = before is not None and before._store.n_docs == before.starts[-1]  # else somebody was interrupted
        if before is not None and whole and _begin_alike(before.segments, self.segments):
            self._store, self.lists = before._store, before.lists
        for start, segment in zip(self.starts, self.segments, strict=False):
            first = max(self._store.n_docs - start, 0)
            if first < segment.n_docs:
                self._add(segment, first)
        self._numbers, self.postings = self._store.numbers, self._store.postings
        self.doc_len, self.n_unique = self._store.sizes[:, : self.starts[-1]]
        """Tokens and distinct terms of each document."""
        self._n_terms, self._told = len(self.lists), self.lists.reshape(-1).data
        """How many terms there are here, and `lists`, read in a third of the time."""

    def _add(self, segment: Segment, first: int) -> None:
        """Add a segment's documents from `first` on."""
        store = self._store
        starts, counts, names, places = _lists_from(segment, first)
        own = store.numbers
        numbers = np.array([*map(own.__getitem__, names)], np.int64)
        lists, n = np.empty((len(own), COLUMNS), np.int32), len(self.lists)
        lists[:n], lists[n:] = self.lists, 0
        n_docs, end = store.n_docs, store.n_docs + len(starts) - 1
        store.reserve(len(own), 4 * (int(lists[numbers, DF].sum()) + len(counts)), end)  # each may move, more than once
        store.n_docs = end  # first: a store that was left half changed is not extended again
        added = starts, numbers[places], counts, n_docs
        store.end = recent_kernels.add(*added, lists, store.room, store.postings, store.sizes, store.end)
        self.lists = lists

    @cached_property
    def _fallen(self) -> Mapping[str, tuple[int, int]]:
        """By how much the frequencies of terms fell with deleted documents."""
        fallen: dict[str, tuple[int, int]] = {}
        for live in self._lives:
            lost = live.deletions
            if not len(lost.terms):
                continue
            live.frequencies_of(lost.terms)  # refuses the deletions of another segment
            names = live.segment.terms(lost.terms)
            for name, df, cf in zip(names, lost.df.tolist(), lost.cf.tolist(), strict=True):
                before = fallen.get(name, (0, 0))
                fallen[name] = before[0] + df, before[1] + cf
        return fallen

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The number of each term; those that `lists` does not have are not held."""
        numbers, n_terms = self._numbers, self._n_terms
        return [numbers.get(term, n_terms) for term in terms]

    def with_frequencies(self, terms: Iterable[str], older: Iterable[TermStats]) -> list[TermStats]:
        """The statistics of terms with those among the live documents here."""
        told = (self.with_frequency(term, *stats) for term, stats in zip(terms, older, strict=True))
        return [_new_stats(TermStats, (df, cf)) for df, cf, _ in told]

    def with_frequency(self, term: str, df: int, cf: int) -> tuple[int, int, int]:
        """The same of one term, and its number. Every search after a commit asks."""
        number = self._numbers.get(term, self._n_terms)
        if number >= self._n_terms:
            return df, cf, number
        at, told = COLUMNS * number, self._told
        if self._fallen:
            lost = self._fallen.get(term, (0, 0))
            df, cf = df - lost[0], cf - lost[1]
        return df + told[at + DF], cf + told[at + CF], number


class LatestRecent:
    """The recent documents of the newest snapshot that has asked for its own, which those of later ones add to.

    All snapshots of an index share it. If each asked the one before, all that came while the documents of one were made
    anew would begin at what that one began with, and be made anew as well.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._generation = -1
        self._recent: Recent | None = None

    def of(self, lives: "Sequence[LiveSegment]", generation: int) -> Recent:
        """The documents of these segments, those of a snapshot of this generation; `lock` is held."""
        made = Recent(lives, self._recent)
        if generation >= self._generation:
            self._generation, self._recent = generation, made
        return made


_NO_LISTS = np.empty((0, COLUMNS), np.int32)


def _lists_from(segment: Segment, first: int) -> tuple[Integers, Sizes, list[str], Integers | slice]:
    """The forward lists of a segment's documents from `first` on: starts and counts, distinct terms, and which of these
    each entry is."""
    latest = segment.latest
    if latest is not None and latest.first == first:
        return latest.starts, latest.counts, latest.terms, slice(None)
    starts, terms, counts = segment.forward_of(slice(first, segment.n_docs))
    held, places = np.unique(terms, return_inverse=True)
    return starts, counts, segment.terms(held.astype(np.int64)), places


def _begin_alike(before: Sequence[Segment], now: Sequence[Segment]) -> bool:
    """Whether the documents of these segments are the first of those, in the same order."""
    if len(before) > len(now) or not before:
        return False
    same = all(one is other for one, other in zip(before[:-1], now, strict=False))
    last, its_place = before[-1], now[len(before) - 1]
    return same and (last is its_place or its_place.begins_with(last))

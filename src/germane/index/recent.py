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

from germane.index.segment import Segment
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.index import recent_kernels
    from germane.index.snapshot import LiveSegment
else:
    recent_kernels = LazyModule("germane.index.recent_kernels")

Numbers = npt.NDArray[np.int32]
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


class _Store:
    """Posting lists, (document, count) each, with room behind them. Several snapshots share them: each knows how far a
    list goes, and what it has seen never changes. One thread at a time adds to them (`LatestRecent`)."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """Of each term met; never taken back."""
        self.room: Numbers = np.zeros(0, np.int32)
        """Postings that each list has room for; there may be more of them than terms."""
        self.postings: Numbers = np.empty((ROOM, 2), np.int32)
        self.end = 0
        self.n_docs = 0

    def reserve(self, n_terms: int, n: int) -> None:
        """Room for so many terms, and so many postings more."""
        if n_terms > len(self.room):
            room = np.zeros(2 * n_terms, np.int32)
            room[: len(self.room)] = self.room
            self.room = room
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
        self._n_terms, self._told = len(self.lists), self.lists.reshape(-1).data
        """How many terms there are here, and `lists`, read in a third of the time."""

    def _add(self, segment: Segment, first: int) -> None:
        """Add a segment's documents from `first` on."""
        store = self._store
        starts, terms, counts = segment.forward_of(slice(first, segment.n_docs))
        held, places = np.unique(terms, return_inverse=True) if len(starts) > 2 else (terms, slice(None))
        own = store.numbers
        names = segment.terms(held.astype(np.int64))
        numbers = np.array([own.setdefault(name, len(own)) for name in names], np.int64)
        lists, n = np.empty((len(own), COLUMNS), np.int32), len(self.lists)
        lists[:n], lists[n:] = self.lists, 0
        store.reserve(len(own), 4 * (int(lists[numbers, DF].sum()) + len(terms)))  # each may move, more than once
        # The number of documents first: a store that was left half changed is not extended again.
        n_docs, store.n_docs = store.n_docs, store.n_docs + len(starts) - 1
        added = starts, numbers[places], counts, n_docs
        store.end = recent_kernels.add(*added, lists, store.room, store.postings, store.end)
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
        return [_new_stats(TermStats, self.with_frequency(*told)[:2]) for told in zip(terms, older, strict=True)]

    def with_frequency(self, term: str, older: TermStats) -> tuple[int, int, int]:
        """The same of one term, and its number. Every search after a commit asks."""
        number, (df, cf) = self._numbers.get(term, self._n_terms), older
        if number < self._n_terms:
            df, cf = df + self._told[COLUMNS * number + DF], cf + self._told[COLUMNS * number + CF]
            if self._fallen:
                lost = self._fallen.get(term, (0, 0))
                df, cf = df - lost[0], cf - lost[1]
        return df, cf, number

    @cached_property
    def doc_len(self) -> npt.NDArray[np.uint32]:
        """Tokens of each document."""
        return np.concatenate([segment.doc_len for segment in self.segments])

    @cached_property
    def n_unique(self) -> npt.NDArray[np.uint32]:
        """Distinct terms of each document."""
        return np.concatenate([segment.n_unique for segment in self.segments])


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


def _begin_alike(before: Sequence[Segment], now: Sequence[Segment]) -> bool:
    """Whether the documents of these segments are the first of those, in the same order."""
    if len(before) > len(now) or not before:
        return False
    same = all(one is other for one, other in zip(before[:-1], now, strict=False))
    last, its_place = before[-1], now[len(before) - 1]
    return same and (last is its_place or its_place.begins_with(last))

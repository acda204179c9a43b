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

Chains = npt.NDArray[np.int32]
COLUMNS = 5
"""Of a posting: its document, its count, the posting of the same term before it (-1: none), and up to it df and cf."""
DF, CF = 3, 4
ROOM = 1 << 14
"""Postings that there is room for at first."""


class TermStats(NamedTuple):
    """A term's frequencies over live documents."""

    df: int
    cf: int


_new_stats = tuple.__new__
"""`TermStats` of a tuple, in a third of the time."""


class _Store:
    """Postings one behind the other, as their documents came. Several snapshots share them: those below `n_postings`
    never change."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.numbers: dict[str, int] = {}
        """Of each term met; never taken back."""
        self.postings: Chains = np.empty((ROOM, COLUMNS), np.int32)
        self.n_postings = 0
        self.n_docs = 0

    def reserve(self, n: int) -> None:
        """Room for so many postings more."""
        if self.n_postings + n > len(self.postings):
            larger = np.empty((2 * (self.n_postings + n), COLUMNS), np.int32)
            larger[: self.n_postings] = self.postings[: self.n_postings]
            self.postings = larger


class Recent:
    """The documents of small segments, numbered through. `before`: those of an earlier snapshot, which may be extended.

    A term's postings are a chain, from its newest one back.
    """

    def __init__(self, lives: "Sequence[LiveSegment]", before: "Recent | None") -> None:
        self._lives = lives
        self.segments = [live.segment for live in lives]
        self.starts = list(accumulate((segment.n_docs for segment in self.segments), initial=0))
        """Where each segment's documents begin, and the last one's end."""
        known = before is not None and _begin_alike(before.segments, self.segments)
        self._store, last = (before._store, before._last) if before is not None and known else (_Store(), _NO_CHAINS)
        with self._store.lock:
            if self._store.n_docs != (before.starts[-1] if before is not None and known else 0):
                self._store, last = _Store(), _NO_CHAINS  # somebody else has extended it otherwise
            for start, segment in zip(self.starts, self.segments, strict=False):
                first = max(self._store.n_docs - start, 0)
                if first < segment.n_docs:
                    last = self._add(segment, first, last)
            self._numbers, self._last, self._n_terms = self._store.numbers, last, len(last)
            self.postings = self._store.postings
        self._newest, self._told = last.data, self.postings.reshape(-1).data  # read in a third of the time

    def _add(self, segment: Segment, first: int, last: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Add a segment's documents from `first` on; where each term's chain begins then."""
        store = self._store
        starts, terms, counts = segment.forward_of(slice(first, segment.n_docs))
        held, places = np.unique(terms, return_inverse=True) if len(starts) > 2 else (terms, slice(None))
        own = store.numbers
        names = segment.terms(held.astype(np.int64))
        numbers = np.array([own.setdefault(name, len(own)) for name in names], np.int64)
        grown = np.full(len(own), -1, np.int32)
        grown[: len(last)] = last
        store.reserve(len(terms))
        recent_kernels.chain(starts, numbers[places], counts, store.n_docs, store.n_postings, grown, store.postings)
        store.n_postings += len(terms)
        store.n_docs += len(starts) - 1
        return grown

    @cached_property
    def _fallen(self) -> Mapping[str, tuple[int, int]]:
        """By how much the frequencies of terms fell with deleted documents."""
        fallen: dict[str, tuple[int, int]] = {}
        for live in self._lives:
            lost = live.deletions
            names = live.segment.terms(lost.terms) if len(lost.terms) else []
            for name, df, cf in zip(names, lost.df.tolist(), lost.cf.tolist(), strict=True):
                before = fallen.get(name, (0, 0))
                fallen[name] = before[0] + df, before[1] + cf
        return fallen

    def newest(self, terms: Iterable[str]) -> list[int]:
        """The newest posting of each term, -1 if there is none."""
        numbers, n_terms, newest = self._numbers, self._n_terms, self._newest
        return [newest[n] if (n := numbers.get(term, n_terms)) < n_terms else -1 for term in terms]

    def with_frequencies(self, terms: Iterable[str], older: Iterable[TermStats]) -> list[TermStats]:
        """The statistics of terms with those among the live documents here. Every search after a commit asks."""
        numbers, n_terms, newest, told, fallen = self._numbers, self._n_terms, self._newest, self._told, self._fallen
        found = []
        for term, stats in zip(terms, older, strict=True):
            number = numbers.get(term, n_terms)
            if number < n_terms and (last := newest[number]) >= 0:
                df, cf = stats
                df, cf = df + told[COLUMNS * last + DF], cf + told[COLUMNS * last + CF]
                if fallen:
                    lost = fallen.get(term, (0, 0))
                    df, cf = df - lost[0], cf - lost[1]
                stats = _new_stats(TermStats, (df, cf))
            found.append(stats)
        return found

    @cached_property
    def doc_len(self) -> npt.NDArray[np.uint32]:
        """Tokens of each document."""
        return np.concatenate([segment.doc_len for segment in self.segments])

    @cached_property
    def n_unique(self) -> npt.NDArray[np.uint32]:
        """Distinct terms of each document."""
        return np.concatenate([segment.n_unique for segment in self.segments])


_NO_CHAINS = np.empty(0, np.int32)


def _begin_alike(before: Sequence[Segment], now: Sequence[Segment]) -> bool:
    """Whether the documents of these segments are the first of those, in the same order."""
    if len(before) > len(now) or not before:
        return False
    same = all(one is other for one, other in zip(before[:-1], now, strict=False))
    last, its_place = before[-1], now[len(before) - 1]
    return same and (last is its_place or its_place.begins_with(last))

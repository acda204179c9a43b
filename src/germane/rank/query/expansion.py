"""The terms of a collection that a prefix or a misspelt word stands for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.index.strings import string_at
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.rank import suggest_kernels
else:
    suggest_kernels = LazyModule("germane.rank.suggest_kernels")

Numbers = npt.NDArray[np.int64]


class Expanded(NamedTuple):
    """The terms that most live documents hold, those first, with their df; `total`: how many there are in all."""

    terms: tuple[str, ...]
    df: tuple[int, ...]
    total: int

    @classmethod
    def of(cls, df: Mapping[str, int], most: int | None, beyond: int = 0) -> "Expanded":
        """The first `most` of terms with these df; `beyond`: others that come after these."""
        terms = tuple(sorted(df, key=lambda term: (-df[term], term)))[:most]
        return cls(terms, tuple(df[term] for term in terms), len(df) + beyond)

    @classmethod
    def merged(cls, parts: Sequence["Expanded"], most: int | None) -> "Expanded":
        """Add up the df of several parts, each of which gave all its terms."""
        df: dict[str, int] = {}
        for term, count in chain.from_iterable(zip(part.terms, part.df, strict=True) for part in parts):
            df[term] = df.get(term, 0) + count
        return cls.of(df, most)


class SnapshotVocabulary:
    """The terms of a snapshot. What it answers does not depend on how the documents lie in segments."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def starting_with(self, prefix: str, most: int | None, also: Iterable[str] = ()) -> Expanded:
        """The terms that begin with the prefix, and those of `also` that the collection holds."""
        begin = prefix.encode()
        return self._chosen(lambda segment: _beginning(segment, begin), most, also)

    def within(self, term: str, edits: int, most: int | None) -> Expanded:
        """The terms at most so many edits away: bytes changed, left out or put in, or neighbours exchanged."""
        typed = np.frombuffer(term.encode(), np.uint8)
        return self._chosen(lambda segment: _near(segment, typed, edits), most)

    def _chosen(self, find: Callable[[Segment], Numbers], most: int | None, also: Iterable[str] = ()) -> Expanded:
        df = {term: stats for term in also if (stats := self._snapshot.term_stats([term])[0].df)}
        own, beyond = list(df), 0
        for live in self._snapshot.segments:
            numbers = find(live.segment)
            numbers = numbers[~np.isin(numbers, live.segment.numbers_of(own))]
            held = live.frequencies_of(numbers)[0]
            numbers, held = numbers[held > 0], held[held > 0]
            if len(self._snapshot.segments) == 1 and most is not None and len(numbers) > most:  # else the sums decide
                best, beyond = np.argsort(-held, kind="stable")[:most], len(numbers) - most
                numbers, held = numbers[best], held[best]
            for term, count in zip(live.segment.terms(numbers), held.tolist(), strict=True):
                df[term] = df.get(term, 0) + count
        return Expanded.of(df, most, beyond)


def _beginning(segment: Segment, prefix: bytes) -> Numbers:
    """Numbers of the terms with this prefix: the dictionary is sorted."""

    def first(beyond: Callable[[bytes], bool]) -> int:
        low, high = 0, segment.n_terms
        packed = segment.packed("term")
        while low < high:
            middle = (low + high) // 2
            if beyond(string_at(*packed, middle)[: len(prefix)]):
                high = middle
            else:
                low = middle + 1
        return low

    return np.arange(first(lambda term: term >= prefix), first(lambda term: term > prefix))


def _near(segment: Segment, typed: npt.NDArray[np.uint8], edits: int) -> Numbers:
    data, offsets = segment.packed("term")
    none = np.zeros(len(offsets), offsets.dtype)  # no written forms: the terms themselves are compared
    none.flags.writeable = False
    distance = np.empty(segment.n_terms, np.uint8)
    suggest_kernels.edit_distances(data, offsets, data[:0], none, typed, edits, distance)
    return np.flatnonzero(distance <= edits)

"""What is remembered of the terms of one snapshot: their frequencies, and their numbers in each segment."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from germane.index.snapshot import Snapshot, TermStats

MOST_TERMS = 1 << 17
"""Terms that are remembered; then all are forgotten."""


class KnownTerm(NamedTuple):
    """A term's frequencies over live documents, and its number in each segment, -1 where it is not held."""

    stats: TermStats
    numbers: tuple[int, ...]


class TermCache:
    """Looks terms up, all that are unknown in one call a segment. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._segments = snapshot.segments
        self._known: dict[str, KnownTerm] = {}
        self._verified: set[str] = set()

    def stats(self, terms: Collection[str]) -> list[TermStats]:
        """The frequencies of terms."""
        return [known.stats for known in self.known(terms)]

    def known(self, terms: Collection[str]) -> list[KnownTerm]:
        """What is known of terms; frequencies are 0 where no live document holds one."""
        cache = self._known
        try:
            return [cache[term] for term in terms]
        except KeyError:
            unknown = [term for term in dict.fromkeys(terms) if term not in cache]
        if len(cache) + len(unknown) > MOST_TERMS:
            self._known, self._verified = {}, set()
            cache = self._known
            unknown = [*dict.fromkeys(terms)]
        cache.update(zip(unknown, self._found(unknown), strict=True))
        return [cache[term] for term in terms]

    def numbers(self, i: int, terms: Collection[str]) -> list[int]:
        """The number of each term in segment i; the lists of the terms are verified."""
        known = self.known(terms)
        if not self._verified.issuperset(terms):
            for live, numbers in zip(self._segments, zip(*(term.numbers for term in known), strict=True), strict=True):
                live.segment.verify_lists(numbers)
            self._verified.update(terms)
        return [term.numbers[i] for term in known]

    def _found(self, terms: list[str]) -> list[KnownTerm]:
        """Terms that were not asked for before."""
        counts, numbers = np.zeros((2, len(terms)), np.int64), []
        for live in self._segments:
            local = live.segment.find_terms(terms)
            held = local >= 0
            counts[:, held] += live.frequencies_of(local[held])
            numbers.append(local.tolist())
        rows = zip(*numbers, strict=True) if numbers else [()] * len(terms)
        stats = map(TermStats, *counts.tolist())
        return [KnownTerm(own, row) for own, row in zip(stats, rows, strict=True)]

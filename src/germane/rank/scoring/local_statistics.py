"""The statistics of one snapshot, counted when they are asked for: what `CollectionStatistics` are of several."""

from collections.abc import Collection

import numpy as np

from germane.arrays import Integers
from germane.index.segment import Segment
from germane.index.sequences import PairCounts, TextFields, field_lengths, pair_counts
from germane.index.snapshot import Snapshot, TermStats
from germane.rank.scoring.memory import remember
from germane.rank.scoring.priors import Prior
from germane.rank.scoring.statistics import CollectionStatistics, Need, Pair, PairStats, Vocabulary
from germane.rank.scoring.term_cache import TermCache

REMEMBERED_PAIRS, REMEMBERED_PRIORS = 32, 64


class LocalStatistics:
    """What rankings take from the collection, where the collection is one snapshot. Safe to use from many threads."""

    digest = ""

    def __init__(self, snapshot: Snapshot, texts: TextFields, terms: TermCache) -> None:
        self._snapshot, self._texts, self._terms = snapshot, texts, terms
        self.n_docs, self.n_tokens = snapshot.n_docs, snapshot.n_tokens
        self._field_tokens: tuple[int, ...] | None = None
        self._pair_counts: dict[Pair, list[PairCounts]] = {}
        self._least_priors: dict[Prior, tuple[float | None]] = {}

    def term_stats(self, terms: Collection[str]) -> list[TermStats]:
        """The frequencies of terms."""
        return self._terms.stats(terms)

    def pair_stats(self, pair: Pair) -> PairStats:
        """The frequencies of a pair."""
        ordered, unordered = np.zeros(2, np.int64), np.zeros(2, np.int64)
        for live, (docs, *counts) in zip(self._snapshot.segments, self.pair_counts(pair), strict=True):
            there = ~live.deletions.deleted[docs]
            for total, own in zip((ordered, unordered), counts, strict=True):
                total += np.count_nonzero(own[there]), own[there].sum()
        return PairStats(TermStats(*ordered.tolist()), TermStats(*unordered.tolist()))

    def pair_counts(self, pair: Pair) -> list[PairCounts]:
        """For each segment the documents that hold the pair, deleted ones too; remembered for the ranking by it."""
        found = self._pair_counts.get(pair)
        if found is None:
            segments = [live.segment for live in self._snapshot.segments]
            numbers = [segment.numbers_of(pair[:2]) for segment in segments]
            found = [
                pair_counts(segment, first, second, pair.window, self._texts)
                for segment, (first, second) in zip(segments, numbers, strict=True)
            ]
            remember(self._pair_counts, pair, found, REMEMBERED_PAIRS)
        return found

    def least_prior(self, prior: Prior) -> float | None:
        """The least log-prior that a live document has."""
        found = self._least_priors.get(prior)
        if found is None:
            found = (prior.least(self._snapshot),)
            remember(self._least_priors, prior, found, REMEMBERED_PRIORS)
        return found[0]

    def surface(self, term: str) -> str:
        """The commonest written form of a term."""
        return self._snapshot.surface(term)

    @property
    def field_tokens(self) -> tuple[int, ...]:
        """The tokens of each text field."""
        if self._field_tokens is None:
            total = np.zeros(len(self._texts.names), np.int64)
            for live in self._snapshot.segments:
                total += field_lengths(live.segment, self._texts)[~live.deletions.deleted].sum(axis=0)
            self._field_tokens = tuple(total.tolist())
        return self._field_tokens

    @property
    def entropy(self) -> float:
        """H(p_C), in nats."""
        return self._snapshot.entropy()

    def frequencies_in(self, segment: Segment) -> tuple[Integers, Integers]:
        """Return df and cf of each term of a segment, over all segments."""
        [i] = [i for i, live in enumerate(self._snapshot.segments) if live.segment is segment]
        return self._snapshot.live_frequencies(i)

    def count(self, need: Need) -> CollectionStatistics:
        """Count what is needed."""
        return CollectionStatistics(
            self.n_docs,
            self.n_tokens,
            dict(zip(need.terms, self.term_stats(need.terms), strict=True)),
            {pair: self.pair_stats(pair) for pair in need.pairs},
            {prior: self.least_prior(prior) for prior in need.priors},
            {term: self._snapshot.surfaces(term) for term in need.surfaces},
            self.field_tokens if need.fields else None,
            Vocabulary.of(self._snapshot) if need.vocabulary else None,
        )

"""Documents chosen from a ranking, with all that a second look at them may ask: one gathering for every such look.

Feedback learns from it, refinement and re-rankers order by it: counts from the forward lists, lengths, the scores of
the first ranking, and the stored fields when they are asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.engine.signed_topic import SignedTopic
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.lazy import LazyModule, is_few
from germane.rank.hits import Hits
from germane.rank.models import RankingModel
from germane.rank.searcher import Searcher

if TYPE_CHECKING:
    from germane.index import kernels
else:
    kernels = LazyModule("germane.index.kernels")

_NONE: Integers = np.empty(0, np.int64)


class Terms:
    """The words of gathered documents: their numbers there, and their index terms."""

    def __init__(self, snapshot: Snapshot, homes: Integers, numbers: Integers) -> None:
        self._snapshot, self._homes, self._numbers = snapshot, homes, numbers
        self._segments = [0] if len(snapshot.segments) == 1 else sorted(set(homes.tolist()))

    def __len__(self) -> int:
        return len(self._numbers)

    def among(self, words: list[int]) -> "Terms":
        """Some of the words."""
        own = np.array(words, np.int64)
        return Terms(self._snapshot, self._homes[own] if len(self._homes) else self._homes, self._numbers[own])

    @property
    def df(self) -> Integers:
        """How many documents of the live collection hold each word."""
        return self._frequencies[0] if self._whole is None else self._whole.df.take(self._numbers)

    @property
    def cf(self) -> Integers:
        """How often they hold it."""
        return self._frequencies[1] if self._whole is None else self._whole.cf.take(self._numbers)

    @cached_property
    def _whole(self) -> Segment | None:
        """The segment that is all there is, if there is one: none beside it, nothing deleted."""
        segments = self._snapshot.segments
        return segments[0].segment if len(segments) == 1 and not len(segments[0].deletions.terms) else None

    @cached_property
    def _frequencies(self) -> tuple[Integers, Integers]:
        if len(self._segments) == 1:
            return self._snapshot.frequencies_of(self._segments[0], self._numbers)
        df, cf = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        for i in self._segments:
            own = self._homes == i
            df[own], cf[own] = self._snapshot.frequencies_of(i, self._numbers[own])
        return df, cf

    @property
    def numbers(self) -> Integers | None:
        """The numbers of the words' terms in the only segment; None if there are several."""
        return self._numbers if len(self._snapshot.segments) == 1 else None

    def of(self, words: Integers) -> list[str]:
        """The index terms of words."""
        if len(self._segments) == 1:
            return self._snapshot.segments[self._segments[0]].segment.terms(self._numbers[words])
        names = [""] * len(words)
        homes, numbers = self._homes[words], self._numbers[words]
        for i in self._segments:
            own = np.flatnonzero(homes == i)
            for place, name in zip(own.tolist(), self._snapshot.segments[i].segment.terms(numbers[own]), strict=True):
                names[place] = name
        return names


class Gathered(NamedTuple):
    """The words of some documents, numbered from 0 on: words of these documents and of the query, nothing else.

    Document i holds the words `words[starts[i]:starts[i+1]]` (ascending) `counts` times; `lengths` are |D|. `query`:
    word -> weight, for the query's words that the collection holds.
    """

    query: dict[int, float]
    starts: Integers
    words: Integers
    counts: Floats
    lengths: Floats
    terms: Terms


def gather(snapshot: Snapshot, documents: Hits, weights: Mapping[str, float]) -> Gathered:
    """Read documents from the forward index, the words numbered anew. Neighbours in one segment are read at once.

    `weights`: those of the query.
    """
    held = zip(*(live.segment.numbers_of(list(weights)) for live in snapshot.segments), strict=True)
    known = [
        (home, numbers[home], weight)
        for stats, weight, numbers in zip(snapshot.term_stats(list(weights)), weights.values(), held, strict=False)
        if stats.df > 0 and weight > 0.0
        for home in [next(i for i, number in enumerate(numbers) if number >= 0)]
    ]
    parts = []
    for i, docs in [(0, documents.docs)] if len(snapshot.segments) == 1 else _runs(documents):
        segment = snapshot.segments[i].segment
        parts.append((i, segment.doc_len[docs], *segment.forward_of(docs)))
    numbers = np.concatenate([np.array([own for _, own, _ in known], np.uint32), *(part[3] for part in parts)])
    homes = *(home for home, _, _ in known), *(part[0] for part in parts)
    words, terms = _number_anew(snapshot, homes, [1] * len(known) + [len(part[3]) for part in parts], numbers)
    if len(parts) == 1:
        _, lengths, starts, _, counts = parts[0]
    else:
        starts = np.concatenate([[0], np.cumsum(np.concatenate([_NONE, *(np.diff(part[2]) for part in parts)]))])
        lengths, counts = (np.concatenate([_NONE, *(part[i] for part in parts)]) for i in (1, 4))
    query = dict(zip(words[: len(known)].tolist(), (weight for _, _, weight in known), strict=True))
    return Gathered(query, starts, words[len(known) :], counts.astype(np.float64), lengths.astype(np.float64), terms)


def _runs(documents: Hits) -> Iterator[tuple[int, Integers]]:
    """Neighbours in one segment, by the segment and their numbers there."""
    segments = documents.segments
    ends = [*(np.flatnonzero(segments[1:] != segments[:-1]) + 1).tolist(), len(segments)]
    return ((segments.item(begin), documents.docs[begin:end]) for begin, end in pairwise([0, *ends]) if begin < end)


def _number_anew(
    snapshot: Snapshot, homes: Sequence[int], sizes: Sequence[int], numbers: npt.NDArray[np.uint32]
) -> tuple[Integers, Terms]:
    """For each term number a word from 0 on, the same for the same term; so many at a time are of these segments."""
    if len(snapshot.segments) > 1:  # segments number their terms on their own: go by the terms themselves
        segments, lying = [live.segment for live in snapshot.segments], np.repeat(np.array(homes, np.int64), sizes)
        names = [segments[i].term(n) for i, n in zip(lying.tolist(), numbers.tolist(), strict=True)]
        _, first, words = np.unique(np.array(names, object), return_index=True, return_inverse=True)
        return words.astype(np.int64), Terms(snapshot, lying[first], numbers[first].astype(np.int64))
    n = len(numbers)
    if is_few(n):
        found, words = np.unique(numbers, return_inverse=True)
        return words, Terms(snapshot, _NONE, found.astype(np.int64))
    (words, distinct), orders = np.empty((2, n), np.int64), np.empty((2, n), np.uint64)
    n_distinct = kernels.number_anew(numbers, orders, np.empty(1 << kernels.DIGIT, np.int64), words, distinct)
    return words, Terms(snapshot, _NONE, distinct[:n_distinct])


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best documents of a first ranking, in its order, for a re-ranker to score again.

    `topic`: the query as the first ranking knew it, with feedback the one it learnt. `ids` and `scores` cost nothing;
    `gathered` (counts) and `fields` are read when they are first asked for.
    """

    topic: SignedTopic
    _hits: Hits = field(repr=False)
    _searcher: Searcher = field(repr=False)
    _priors: Sequence[Floats] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self._hits.docs)

    @property
    def located(self) -> tuple[Hits, Searcher]:
        """Where the documents lie, and in what."""
        return self._hits, self._searcher

    @property
    def scores(self) -> Floats:
        """The scores of the first ranking, descending; -inf for what a re-ranker brought itself (`Widening`)."""
        return self._hits.scores

    @cached_property
    def ids(self) -> list[str]:
        """The documents' ids."""
        return self._searcher.ids(self._hits)

    @cached_property
    def gathered(self) -> Gathered:
        """The documents' words and lengths."""
        return gather(self._searcher.snapshot, self._hits, self.topic.weights)

    def fields(self, i: int) -> dict[str, Any]:
        """The stored fields of candidate i (from 0)."""
        segment = self._searcher.snapshot.segments[int(self._hits.segments[i])].segment
        return segment.stored.fields(int(self._hits.docs[i]))

    def scores_by(self, model: RankingModel) -> Floats:
        """The candidates' exact scores by any ranking model, under the topic and the priors of the first ranking."""
        wanted, priors = self.topic.for_search(self._searcher, model, self._priors)
        return self._searcher.scores_by(self._hits, wanted, model, priors)

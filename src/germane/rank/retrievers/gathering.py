"""Read documents as counts of their terms, from the forward lists: what feedback, groups and re-rankers learn from."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.lazy import LazyModule, is_few
from germane.rank.retriever import Counts
from germane.rank.scoring.hits import Hits as Located
from germane.rank.scoring.searcher import Searcher

if TYPE_CHECKING:
    from germane.index import kernels
else:
    kernels = LazyModule("germane.index.kernels")

_NONE: Integers = np.empty(0, np.int64)


def gather(searcher: Searcher, documents: Located, terms: Sequence[str]) -> Counts:
    """Count the terms of documents. `terms` are numbered with the documents' own where the collection holds them."""
    known = searcher.homes_of(terms)
    parts = []
    for i, docs in _runs(documents):
        segment = searcher.snapshot.segments[i].segment
        parts.append((i, segment.doc_len[docs], *segment.forward_of(docs)))
    numbers = np.concatenate([np.array([number for _, number in known], np.uint32), *(part[3] for part in parts)])
    homes = [*(home for home, _ in known), *(part[0] for part in parts)]
    words, names, df, cf = _numbered(searcher, homes, [1] * len(known) + [len(part[3]) for part in parts], numbers)
    if len(parts) == 1:
        _, lengths, starts, _, counts = parts[0]
    else:
        sizes = np.concatenate([_NONE, *(np.diff(part[2]) for part in parts)])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        lengths, counts = (np.concatenate([_NONE, *(part[i] for part in parts)]) for i in (1, 4))
    return Counts(starts, words[len(known) :], counts.astype(np.float64), lengths.astype(np.float64), names, df, cf)


def _runs(documents: Located) -> Iterator[tuple[int, Integers]]:
    """Yield neighbours in one segment together: the segment, and their numbers there."""
    segments = documents.segments
    ends = [*(np.flatnonzero(segments[1:] != segments[:-1]) + 1).tolist(), len(segments)]
    return ((segments.item(begin), documents.docs[begin:end]) for begin, end in pairwise([0, *ends]) if begin < end)


def _numbered(
    searcher: Searcher, homes: Sequence[int], sizes: Sequence[int], numbers: npt.NDArray[np.uint32]
) -> tuple[Integers, list[str], Integers, Integers]:
    """Number terms from 0 in ascending order; also return each one's name, df and cf in the collection.

    `homes`, `sizes`: the segments in whose dictionaries runs of `numbers` count, and how long the runs are.
    """
    segments = [live.segment for live in searcher.snapshot.segments]
    if not len(numbers):
        return _NONE, [], _NONE, _NONE
    if len(segments) > 1:  # each segment has a dictionary of its own, so terms are compared by name
        lying = np.repeat(np.array(homes, np.int64), sizes)
        all_names = [segments[i].term(n) for i, n in zip(lying.tolist(), numbers.tolist(), strict=True)]
        found, places = np.unique(np.array(all_names, object), return_inverse=True)
        terms: list[str] = found.tolist()
        return places.astype(np.int64), terms, *searcher.frequencies(terms)
    distinct, words = _distinct(numbers)
    names = segments[0].terms(distinct) if len(distinct) else []
    return words, names, *searcher.frequencies_of(0, distinct)


def _distinct(numbers: npt.NDArray[np.uint32]) -> tuple[Integers, Integers]:
    """The distinct numbers, ascending, and for each number its place among them: `np.unique` with its inverse."""
    n = len(numbers)
    if is_few(n):
        distinct, places = np.unique(numbers, return_inverse=True)
        return distinct.astype(np.int64), places
    (places, found), orders = np.empty((2, n), np.int64), np.empty((2, n), np.uint64)
    n_found = kernels.number_anew(numbers, orders, np.empty(1 << kernels.DIGIT, np.int64), places, found)
    return found[:n_found], places

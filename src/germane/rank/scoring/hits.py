"""The documents that a search found: where they lie, their ids, and the one order of all results."""

from bisect import bisect_right
from collections.abc import Mapping
from operator import neg
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.snapshot import Snapshot
from germane.rank.plan import NOTHING
from germane.rank.scoring.arguments import ScoredDocs

_new = tuple.__new__
VERY_FEW = 4
"""So many ids are read one by one."""


class Hits(NamedTuple):
    """The best documents, best first: scores, and where each document lies."""

    scores: Floats
    segments: npt.NDArray[np.int64]
    docs: npt.NDArray[np.int64]

    def part(self, begin: int, end: int) -> "Hits":
        """Those from `begin` to before `end`."""
        return Hits(self.scores[begin:end], self.segments[begin:end], self.docs[begin:end])


NO_HITS = Hits(NOTHING, np.empty(0, np.int64), np.empty(0, np.int64))


def in_total_order(snapshot: Snapshot, results: Mapping[int, ScoredDocs], k: int) -> Hits:
    """Join the segments' results: score descending, then id ascending."""
    if len(results) == 1:
        [(i, (scores, docs))] = results.items()
        return _new(Hits, (scores, np.full(len(docs), i) if i else np.zeros(len(docs), np.int64), docs))
    if not results:
        return NO_HITS
    scores, docs = map(np.concatenate, zip(*results.values(), strict=True))
    segments = np.repeat(list(results), [len(own) for own, _ in results.values()])
    order = np.argsort(-scores, kind="stable")
    return by_id_where_tied(snapshot, Hits(scores[order], segments[order], docs[order]), k)


def by_id_where_tied(snapshot: Snapshot, hits: Hits, k: int) -> Hits:
    """The best k of documents whose scores descend: of equal ones those with the first ids."""
    scores, end = hits.scores.tolist(), 0
    for begin in np.flatnonzero(hits.scores[1:] == hits.scores[:-1]).tolist():
        if end <= begin < k:
            end = bisect_right(scores, -scores[begin], begin, key=neg)
            tied = hits.part(begin, end)
            ids = ids_of(snapshot, tied)
            order = sorted(range(end - begin), key=ids.__getitem__)
            tied.segments[:], tied.docs[:] = tied.segments[order], tied.docs[order]
    return hits.part(0, k)


def by_id(snapshot: Snapshot, hits: Hits) -> tuple[Integers, Integers]:
    """Where distinct documents lie among some, in the order of their ids, and for each its place in that order."""
    if len(snapshot.segments) == 1:
        ids: list[Any] = snapshot.segments[0].segment.id_rank[hits.docs].tolist()
    else:
        ids = ids_of(snapshot, hits)
    lying = {own: i for i, own in enumerate(ids)}
    place_of = {own: place for place, own in enumerate(sorted(lying))}
    chosen, places = [lying[own] for own in place_of], [place_of[own] for own in ids]
    return np.array(chosen, np.int64), np.array(places, np.int64)


def ids_of(snapshot: Snapshot, hits: Hits) -> list[str]:
    """The ids of the documents found."""
    if len(snapshot.segments) == 1:
        return snapshot.segments[0].segment.doc_ids(hits.docs)
    if len(hits.docs) <= VERY_FEW:
        lying = enumerate(hits.segments.tolist())
        return [snapshot.segments[i].segment.doc_ids(hits.docs[at : at + 1])[0] for at, i in lying]
    ids = [""] * len(hits.docs)
    for i in distinct(hits.segments):
        at = np.flatnonzero(hits.segments == i)
        for position, doc_id in zip(at.tolist(), snapshot.segments[i].segment.doc_ids(hits.docs[at]), strict=True):
            ids[position] = doc_id
    return ids


def distinct(segments: Integers) -> list[int]:
    """The segments that are among these, each once."""
    return sorted(set(segments.tolist()))


def kth_best(results: Mapping[int, ScoredDocs], k: int) -> float:
    """The score that k documents found so far reach, or -inf. Those of a segment descend."""
    if len(results) == 1:
        [(scores, _)] = results.values()
        return scores.item(k - 1) if len(scores) >= k else -np.inf
    scores = np.concatenate([scores for scores, _ in results.values()])
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf

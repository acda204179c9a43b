"""Several segments into one: which, and how: the live documents renumbered, the lists joined, nothing else changed.

Sizes fall in powers of FANOUT, and a full tier becomes one segment of the next.

Dictionaries are sorted, so merging is monotone: a term's new number grows with its old one, and a document's list stays
sorted when it is renumbered. Lists are joined piece by piece; memory does not grow with the collection.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index import kernels
from germane.index.blocks import BLOCK
from germane.index.columns import ColumnsWriter
from germane.index.lists import pieces_of
from germane.index.manifest import recovery_meta
from germane.index.segment import Segment
from germane.index.segment_writer import SegmentWriter
from germane.index.snapshot import LiveSegment
from germane.text import Analyzer

FANOUT = 8
MOSTLY_DELETED = 0.5


def choose_merge(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """Positions of segments to merge now, ascending; empty when all is well.

    `sizes` holds (live documents, all documents). A segment more than half deleted is rewritten by itself; otherwise
    the smallest tier [FANOUT^i, FANOUT^(i+1)) with FANOUT segments is merged.
    """
    for i, (live, everything) in enumerate(sizes):
        if everything and live < everything * (1 - MOSTLY_DELETED):
            return [i]
    tiers: dict[int, list[int]] = {}
    for i, (live, _) in enumerate(sizes):
        tiers.setdefault(int(math.log(max(live, 1), FANOUT) + 1e-9), []).append(i)
    for tier in sorted(tiers):
        if len(tiers[tier]) >= FANOUT:
            return tiers[tier]
    return []


def renumbering(segments: list[LiveSegment]) -> list[Integers]:
    """For each segment: old document number -> new one, -1 for deleted documents."""
    maps, n = [], 0
    for live in segments:
        kept = ~live.deletions.deleted
        maps.append(np.where(kept, n + np.cumsum(kept) - 1, -1).astype(np.int64))
        n += int(kept.sum())
    return maps


def merge_segments(
    segments: list[LiveSegment], text_fields: tuple[str, ...], path: Path, *, analyzer: Analyzer, merged_at: int
) -> list[Integers]:
    """Write the merged segment to `path`; return the renumbering of documents.

    `merged_at` is the generation whose deletions the merge knows of.
    """
    remap = renumbering(segments)
    doc_len = _join([live.segment.doc_len[m >= 0] for live, m in zip(segments, remap, strict=True)], np.uint32)
    with SegmentWriter(path, doc_len) as merged:
        term_maps = _merge_postings(merged, segments, remap)
        _merge_forward(merged, segments, remap, term_maps)
        ids: list[bytes] = []
        for live, m in zip(segments, remap, strict=True):
            ids += [doc_id.encode() for doc_id in live.segment.doc_ids(np.flatnonzero(m >= 0))]
        merged.documents(ids)
        _merge_fields(merged, segments, remap, text_fields)
        youngest = max((generation_of(live.segment) for live in segments), default=0)
        merged.finish(
            {
                **recovery_meta(analyzer, text_fields, youngest),
                "merged_at": merged_at,
                "replaces": [live.segment.name for live in segments],
            }
        )
    return remap


def generation_of(segment: Segment) -> int:
    """The commit that the segment's youngest documents came with; 0 where it does not say."""
    generation = segment.container.meta.get("generation")
    return generation if isinstance(generation, int) else 0


def _join(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _merge_postings(merged: SegmentWriter, segments: list[LiveSegment], remap: list[Integers]) -> list[Integers]:
    """Join the posting lists and dictionaries; return for each segment old term -> new term."""
    dictionaries = [live.segment.all_strings("term") for live in segments]
    union = sorted(set().union(*dictionaries))
    number = {term: i for i, term in enumerate(union)}
    places = [np.fromiter(map(number.__getitem__, terms), np.int64, len(terms)) for terms in dictionaries]
    df = np.zeros((len(segments), len(union)), np.int64)
    first = np.zeros((len(segments), len(union)), np.int64)
    for i, live in enumerate(segments):
        df[i, places[i]] = live.segment.df
        first[i, places[i]] = live.segment.first_block[:-1]
    postings = np.zeros(len(union) + 1, np.int64)
    np.cumsum(df.sum(axis=0), out=postings[1:])
    kept = np.zeros(len(union), np.bool_)  # a term whose every document was deleted goes with them
    for begin, end in pieces_of(postings):
        starts, docs, counts = join_lists(segments, remap, df[:, begin:end], first[:, begin:end])
        filled = np.diff(starts) > 0
        kept[begin:end] = filled
        merged.postings(np.append(starts[:-1][filled], starts[-1]), docs, counts)
        for live in segments:
            live.segment.container.release()
    survivors = np.flatnonzero(kept)
    merged.dictionary([union[i] for i in survivors], *_merge_surfaces(segments, places, survivors))
    renumbered = np.where(kept, np.cumsum(kept) - 1, -1)
    return [renumbered[place] for place in places]


def _merge_surfaces(
    segments: list[LiveSegment], places: list[Integers], survivors: Integers
) -> tuple[list[bytes], Integers]:
    """For each surviving term the form that is commonest in any one segment, and its count there."""
    n = int(max((place.max(initial=-1) for place in places), default=-1)) + 1
    counts = np.zeros((len(segments), n), np.int64)
    where = np.zeros((len(segments), n), np.int64)
    for i, live in enumerate(segments):
        counts[i, places[i]] = live.segment.container["surface_count"].astype(np.int64) + 1
        where[i, places[i]] = np.arange(len(places[i]))
    best = counts.argmax(axis=0)[survivors]
    forms = [live.segment.all_strings("surface") for live in segments]
    chosen = zip(best.tolist(), where[best, survivors].tolist(), strict=True)
    return [forms[i][at] for i, at in chosen], counts[best, survivors] - 1


def join_lists(
    segments: list[LiveSegment], remap: list[Integers], df: Integers, first: Integers
) -> tuple[Integers, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Decode, renumber and join lists (`df`, `first` block: segment × term): starts, documents, counts, no gaps."""
    room = np.zeros(df.shape[1] + 1, np.int64)
    np.cumsum(df.sum(axis=0), out=room[1:])
    docs, counts = np.empty(int(room[-1]), np.uint32), np.empty(int(room[-1]), np.uint32)
    ends = room[:-1].copy()
    for i, live in enumerate(segments):
        largest = int(df[i].max(initial=0)) + BLOCK
        buffers = np.empty(largest, np.uint32), np.empty(largest, np.uint32)
        kernels.merge_lists(
            *live.segment.blocks,
            np.ascontiguousarray(first[i]),
            np.ascontiguousarray(df[i]),
            remap[i],
            *buffers,
            docs,
            counts,
            ends,
        )
    starts = np.zeros(len(room), np.int64)
    np.cumsum(ends - room[:-1], out=starts[1:])
    kernels.close_gaps(room, ends, docs, counts)
    return starts, docs, counts


def _merge_forward(
    merged: SegmentWriter, segments: list[LiveSegment], remap: list[Integers], term_maps: list[Integers]
) -> None:
    step = 1 << 15
    for live, m, term_map in zip(segments, remap, term_maps, strict=True):
        for begin in range(0, live.segment.n_docs, step):
            end = min(begin + step, live.segment.n_docs)
            starts, terms, counts = live.segment.forward_of(slice(begin, end))
            kept = m[begin:end] >= 0
            sizes = np.diff(starts)
            if not kept.all():
                chosen = np.repeat(kept, sizes)
                terms, counts = terms[chosen], counts[chosen]
                sizes = sizes[kept]
            boundaries = np.zeros(len(sizes) + 1, np.int64)
            np.cumsum(sizes, out=boundaries[1:])
            merged.forward(boundaries, term_map[terms].astype(np.uint32), counts)
        live.segment.container.release()


def _merge_fields(
    merged: SegmentWriter, segments: list[LiveSegment], remap: list[Integers], text_fields: tuple[str, ...]
) -> None:
    """Copy the stored documents, whole blocks where none is deleted; make the columns anew."""
    stored, columns = merged.open_stored(), ColumnsWriter(frozenset(text_fields))
    for live, m in zip(segments, remap, strict=True):
        kept = m >= 0
        if kept.all():
            for block, n_docs in live.segment.stored.blocks():
                stored.add_block(block, n_docs)
        else:
            for keep, line in zip(kept.tolist(), live.segment.stored.all_json(), strict=True):
                if keep:
                    stored.add_json(line)
        if live.segment.column_kinds:
            for keep, fields in zip(kept.tolist(), live.segment.stored.all_fields(), strict=True):
                if keep:
                    columns.add(fields)
        else:
            columns.count += int(kept.sum())
        live.segment.container.release()
    merged.fields(stored, columns)

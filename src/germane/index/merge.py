"""Several segments into one: which, and how: the live documents renumbered, the lists joined, nothing else changed.

Sizes fall in powers of FANOUT, and a full tier becomes one segment of the next.

Dictionaries are sorted, so merging is monotone: a term's new number grows with its old one, and a document's list stays
sorted when it is renumbered. Lists are joined piece by piece; memory does not grow with the collection.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Words
from germane.index.blocks import BLOCK, PostingBlocks
from germane.index.columns import ColumnsWriter
from germane.index.heap import give_back
from germane.index.lists import PostingsReader, pieces_of, read_small
from germane.index.live_segment import LiveSegment
from germane.index.manifest import recovery_meta, whole_number
from germane.index.segment import Segment
from germane.index.segment_writer import SegmentWriter
from germane.index.strings import Packed, choose_packed, join_packed, sort_packed
from germane.index.vector_fields import VectorSource
from germane.lazy import LazyModule
from germane.text import Analyzer
from germane.text.word_table import WordTable

if TYPE_CHECKING:
    from germane.index import kernels
else:
    kernels = LazyModule("germane.index.kernels")


FANOUT = 8
MOSTLY_DELETED = 0.5
MOST_TERMS = 1 << 14
"""Terms merged at a time."""
STEP = 1 << 13
"""Documents whose own lists are merged at a time."""


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
    segments: list[LiveSegment],
    text_fields: tuple[str, ...],
    path: Path,
    *,
    analyzer: Analyzer,
    merged_at: int,
    replaces: Sequence[str],
) -> list[Integers]:
    """Write the merged segment to `path`; return the renumbering of documents.

    `merged_at` is the generation whose deletions the merge knows of. `replaces`: the names of those of its sources
    that the index may still hold when its manifest is lost.
    """
    remap = renumbering(segments)
    doc_len = _join([live.segment.doc_len[m >= 0] for live, m in zip(segments, remap, strict=True)], np.uint32)
    with SegmentWriter(path, doc_len) as merged:
        term_maps = _merge_postings(merged, segments, remap)
        give_back()
        _merge_forward(merged, segments, remap, term_maps)
        del term_maps
        give_back()
        ids = join_packed([live.segment.packed("id") for live in segments])
        merged.documents(choose_packed(ids, np.flatnonzero(np.concatenate(remap) >= 0)))
        if len(doc_len) and any(live.segment.keeps_order for live in segments):
            several = [m[live.segment.several_values] for live, m in _in_order(segments, remap)]
            field_len = _join_fields(segments, remap, len(text_fields))
            merged.sequences(_live_sequences(segments, remap), field_len, _live(several))
        _merge_fields(merged, segments, remap, text_fields)
        youngest = max((generation_of(live.segment) for live in segments), default=0)
        merged.finish(
            {
                **recovery_meta(analyzer, text_fields, youngest),
                "merged_at": merged_at,
                "replaces": list(replaces),
            }
        )
    return remap


def merged_vectors(segments: list[LiveSegment], remap: list[Integers]) -> dict[str, list[VectorSource]]:
    """By field the vectors of the live documents, for the files of the merged segment."""
    sources: dict[str, list[VectorSource]] = {}
    for live, m in zip(segments, remap, strict=True):
        for name, file in live.vectors.items():
            sources.setdefault(name, []).append(file.source(m))
    return sources


def generation_of(segment: Segment) -> int:
    """The commit that the segment's youngest documents came with; 0 where it does not say."""
    return _number(segment, "generation")


def merged_from(segment: Segment) -> tuple[frozenset[str], int]:
    """The names of the segments that a merged one replaces, and the generation whose deletions it knows of."""
    names = segment.container.meta.get("replaces")
    if not isinstance(names, list):
        return frozenset(), 0
    return frozenset(name for name in names if isinstance(name, str)), _number(segment, "merged_at")


def _number(segment: Segment, key: str) -> int:
    try:
        return whole_number(segment.container.meta.get(key), key)
    except ValueError:
        return 0


def _join(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _merge_postings(merged: SegmentWriter, segments: list[LiveSegment], remap: list[Integers]) -> list[Words]:
    """Join the posting lists and dictionaries; return for each segment old term -> new term."""
    for live in segments:
        live.segment.verify_lists()
        live.segment.verify_dictionary()
    union, places = _union(segments)
    give_back()
    postings = np.zeros(len(union[1]), np.int64)
    for live, place in zip(segments, places, strict=True):
        postings[place + 1] += read_small(live.segment.container, "df")
    np.cumsum(postings, out=postings)
    kept = np.zeros(len(postings) - 1, np.bool_)  # a term whose every document was deleted goes with them
    readers = [PostingsReader(live.segment.container) for live in segments]
    for begin, end in _pieces(postings):
        df, first = np.zeros((2, len(segments), end - begin), np.int64)
        blocks = []
        for i, (reader, place) in enumerate(zip(readers, places, strict=True)):
            own = place[reader.lists : np.searchsorted(place, place.dtype.type(end))] - place.dtype.type(begin)
            found, first[i, own], df[i, own] = reader.read(len(own))
            blocks.append(found)
        starts, docs, counts = join_lists(blocks, remap, df, first)
        filled = np.diff(starts) > 0
        kept[begin:end] = filled
        merged.postings(np.append(starts[:-1][filled], starts[-1]), docs, counts)
        for live in segments:
            live.segment.container.release()
    give_back()
    survivors = np.flatnonzero(kept)
    terms = union if kept.all() else choose_packed(union, survivors)
    merged.dictionary(terms, *_merge_surfaces(segments, places, survivors))
    if kept.all():
        return places
    renumbered = (np.cumsum(kept) - 1).astype(np.uint32)  # of those not kept nobody asks
    return [renumbered[place] for place in places]


def _pieces(postings: Integers) -> Iterator[tuple[int, int]]:
    """Runs of terms with few postings, and few enough for a table of all segments."""
    for begin, end in pieces_of(postings):
        for first in range(begin, end, MOST_TERMS):
            yield first, min(first + MOST_TERMS, end)


def _union(segments: list[LiveSegment]) -> tuple[Packed, list[Words]]:
    """The terms of all segments, sorted, and for each segment the place of each of its terms there."""
    table = WordTable()
    numbers = []
    for live in segments:
        data, offsets = live.segment.packed("term")
        bounds = offsets.astype(np.int64)
        numbers.append(table.enter_bytes(data, bounds[:-1], bounds[1:]))
        live.segment.container.release()
    give_back()
    order = sort_packed(table.packed, np.arange(len(table)))
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return choose_packed(table.packed, order), [rank[own] for own in numbers]


def _merge_surfaces(segments: list[LiveSegment], places: list[Words], terms: Integers) -> tuple[Packed, Integers]:
    """For each of these terms the form that is commonest in any one segment, of equals in the first, and how often."""
    n_terms = int(terms[-1]) + 1 if len(terms) else 0
    chosen, counts = np.zeros(n_terms, np.int16), np.full(n_terms, -1, np.int64)
    for i, (live, place) in enumerate(zip(segments, places, strict=True)):
        known = place[: np.searchsorted(place, n_terms)]
        own = live.segment.container["surface_count"][: len(known)].astype(np.int64)
        better = own > counts[known]
        chosen[known[better]], counts[known[better]] = i, own[better]
        live.segment.container.release()
    chosen = chosen[terms]
    forms = join_packed(
        [
            choose_packed(live.segment.packed("surface"), np.searchsorted(place, terms[chosen == i]))
            for i, (live, place) in enumerate(zip(segments, places, strict=True))
        ]
    )
    for live in segments:
        live.segment.container.release()
    back = np.empty(len(terms), np.int64)
    back[np.argsort(chosen, kind="stable")] = np.arange(len(terms))
    return choose_packed(forms, back), counts[terms]


def join_lists(
    blocks: Sequence[PostingBlocks], remap: list[Integers], df: Integers, first: Integers
) -> tuple[Integers, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Decode, renumber and join lists (`df`, `first` block: segment × term): starts, documents, counts, no gaps."""
    room = np.zeros(df.shape[1] + 1, np.int64)
    np.cumsum(df.sum(axis=0), out=room[1:])
    docs, counts = np.empty(int(room[-1]), np.uint32), np.empty(int(room[-1]), np.uint32)
    ends = room[:-1].copy()
    for i, own in enumerate(blocks):
        largest = int(df[i].max(initial=0)) + BLOCK
        buffers = np.empty(largest, np.uint32), np.empty(largest, np.uint32)
        kernels.merge_lists(
            *own,
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
    merged: SegmentWriter, segments: list[LiveSegment], remap: list[Integers], term_maps: list[Words]
) -> None:
    for live, m, term_map in zip(segments, remap, term_maps, strict=True):
        for begin in range(0, live.segment.n_docs, STEP):
            end = min(begin + STEP, live.segment.n_docs)
            starts, terms, counts = live.segment.forward_of(slice(begin, end))
            kept = m[begin:end] >= 0
            sizes = np.diff(starts)
            if not kept.all():
                chosen = np.repeat(kept, sizes)
                terms, counts = terms[chosen], counts[chosen]
                sizes = sizes[kept]
            boundaries = np.zeros(len(sizes) + 1, np.int64)
            np.cumsum(sizes, out=boundaries[1:])
            merged.forward(boundaries, term_map[terms], counts)
        live.segment.container.release()


def _in_order(segments: list[LiveSegment], remap: list[Integers]) -> list[tuple[LiveSegment, Integers]]:
    """The segments that keep the order of words."""
    return [(live, m) for live, m in zip(segments, remap, strict=True) if live.segment.keeps_order]


def _live(docs: list[Integers]) -> Integers:
    """The new numbers of documents, without the deleted ones."""
    joined = np.concatenate(docs)
    return joined[joined >= 0]


def _join_fields(segments: list[LiveSegment], remap: list[Integers], n_fields: int) -> Integers:
    """The tokens of each field of the live documents; none where the order of words is not known."""
    lengths = []
    for live, m in zip(segments, remap, strict=True):
        if not live.segment.keeps_order:
            lengths.append(np.zeros((int((m >= 0).sum()), n_fields), np.int64))
        elif live.segment.field_len.shape[1] == n_fields:
            lengths.append(live.segment.field_len[m >= 0].astype(np.int64))
        else:
            raise live.segment.container.damage("lengths of other fields than the index has")
    return np.concatenate(lengths)


def _live_sequences(segments: list[LiveSegment], remap: list[Integers]) -> Iterator[Words]:
    """The sequences of the live documents as they are: a document's terms keep their order, so each its place."""
    for live, m in _in_order(segments, remap):
        at = live.segment.sequence_at
        for begin in range(0, live.segment.n_docs, STEP):
            end = min(begin + STEP, live.segment.n_docs)
            words = live.segment.sequence_words(slice(begin, end))[at[begin] : at[end]]
            kept = m[begin:end] >= 0
            yield words if kept.all() else words[np.repeat(kept, np.diff(at[begin : end + 1]))]
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

"""Several segments into one: the live documents renumbered, the lists joined, nothing else changed.

Dictionaries are sorted, so merging is monotone: a term's new number grows with its old one, and a document's list stays
sorted when it is renumbered. Lists are joined piece by piece; memory does not grow with the collection.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index import kernels
from germane.index.builder import write_dictionary, write_ids
from germane.index.columns import ColumnsWriter
from germane.index.container import ContainerWriter
from germane.index.lists import ForwardWriter, PostingsWriter, pieces_of
from germane.index.manifest import recovery_meta
from germane.index.segment import Segment
from germane.index.snapshot import LiveSegment
from germane.index.stored import StoredWriter
from germane.text import Analyzer


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
    with ContainerWriter(path) as container:
        term_maps, n_terms, n_postings = _merge_postings(container, segments, remap, doc_len)
        _merge_forward(container, segments, remap, term_maps)
        container.section("doc_len", doc_len)
        ids: list[bytes] = []
        for live, m in zip(segments, remap, strict=True):
            ids += [doc_id.encode() for doc_id in live.segment.doc_ids(np.flatnonzero(m >= 0))]
        write_ids(container, ids)
        columns = _merge_stored(container, segments, remap, text_fields)
        meta: dict[str, Any] = {
            "n_docs": len(doc_len),
            "n_terms": n_terms,
            "n_tokens": int(doc_len.sum(dtype=np.int64)),
            "n_postings": n_postings,
            "columns": columns.write(container),
            **recovery_meta(analyzer, text_fields, max((generation_of(live.segment) for live in segments), default=0)),
            "merged_at": merged_at,
            "replaces": [live.segment.name for live in segments],
        }
        container.finish(meta)
    return remap


def generation_of(segment: Segment) -> int:
    """The commit that the segment's youngest documents came with; 0 where it does not say."""
    generation = segment.container.meta.get("generation")
    return generation if isinstance(generation, int) else 0


def _join(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _merge_postings(
    container: ContainerWriter, segments: list[LiveSegment], remap: list[Integers], doc_len: npt.NDArray[np.uint32]
) -> tuple[list[Integers], int, int]:
    """Join the posting lists; return for each segment old term -> new term, and the new numbers of terms, postings."""
    dictionaries = [_strings(live, "term") for live in segments]
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
    writer = PostingsWriter(container, doc_len)
    kept = np.zeros(len(union), np.bool_)  # a term whose every document was deleted goes with them
    n_postings = 0
    for begin, end in pieces_of(postings):
        starts, docs, counts = _join_lists(segments, remap, df[:, begin:end], first[:, begin:end])
        filled = np.diff(starts) > 0
        kept[begin:end] = filled
        writer.write(np.append(starts[:-1][filled], starts[-1]), docs, counts)
        n_postings += int(starts[-1])
        for live in segments:
            live.segment.container.release()
    writer.finish()
    survivors = np.flatnonzero(kept)
    write_dictionary(container, [union[i] for i in survivors], *_merge_surfaces(segments, places, survivors))
    renumbered = np.where(kept, np.cumsum(kept) - 1, -1)
    return [renumbered[place] for place in places], len(survivors), n_postings


def _strings(live: LiveSegment, kind: str) -> list[bytes]:
    """All terms ('term') or written forms ('surface') of a segment."""
    data = live.segment.container[f"{kind}_bytes"].tobytes()
    offsets = live.segment.container[f"{kind}_offsets"].tolist()
    return [data[begin:end] for begin, end in pairwise(offsets)]


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
    forms = [_strings(live, "surface") for live in segments]
    chosen = zip(best.tolist(), where[best, survivors].tolist(), strict=True)
    return [forms[i][at] for i, at in chosen], counts[best, survivors] - 1


def _join_lists(
    segments: list[LiveSegment], remap: list[Integers], df: Integers, first: Integers
) -> tuple[Integers, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Decode, renumber and join lists (`df`, `first` block: segment × term): starts, documents, counts, no gaps."""
    room = np.zeros(df.shape[1] + 1, np.int64)
    np.cumsum(df.sum(axis=0), out=room[1:])
    docs, counts = np.empty(int(room[-1]), np.uint32), np.empty(int(room[-1]), np.uint32)
    ends = room[:-1].copy()
    for i, live in enumerate(segments):
        b = live.segment.blocks
        largest = int(df[i].max(initial=0)) + kernels.BLOCK
        buffers = np.empty(largest, np.uint32), np.empty(largest, np.uint32)
        kernels.merge_lists(
            np.ascontiguousarray(first[i]), np.ascontiguousarray(df[i]), b.words, b.last, b.at, b.doc_bits, b.tf_bits,
            b.max_tf, remap[i], *buffers, docs, counts, ends,
        )  # fmt: skip
    starts = np.zeros(len(room), np.int64)
    np.cumsum(ends - room[:-1], out=starts[1:])
    kernels.close_gaps(room, ends, docs, counts)
    return starts, docs, counts


def _merge_forward(
    container: ContainerWriter, segments: list[LiveSegment], remap: list[Integers], term_maps: list[Integers]
) -> None:
    writer = ForwardWriter(container)
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
            writer.write(boundaries, term_map[terms].astype(np.uint32), counts)
        live.segment.container.release()
    writer.finish()


def _merge_stored(
    container: ContainerWriter, segments: list[LiveSegment], remap: list[Integers], text_fields: tuple[str, ...]
) -> ColumnsWriter:
    """Copy the stored documents (whole blocks where none is deleted); return the columns, still to be written."""
    stored, columns = StoredWriter(container), ColumnsWriter(frozenset(text_fields))
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
    stored.write(container)
    return columns

"""The Common Index File Format: an index out to other engines, and theirs in.

CIFF (Lin et al. 2020, "Supporting Interoperability Between Open-Source Search Engines with the Common Index File
Format", SIGIR; github.com/osirrc/ciff) is a stream of protobuf messages, each after its length:

    Header        version = 1, num_postings_lists = 2, num_docs = 3, total_postings_lists = 4, total_docs = 5,
                  total_terms_in_collection = 6, average_doclength = 7, description = 8
    PostingsList  term = 1, df = 2, cf = 3, postings = 4: { docid = 1, tf = 2 }        num_postings_lists times
    DocRecord     docid = 1, collection_docid = 2, doclength = 3                       num_docs times

Terms ascend by their UTF-8 bytes. A docid is the distance from the one before, the first of a list stands as it is.
CIFF carries counts and lengths, no stored fields: what comes back from it can be ranked, not shown.
"""

import gzip
import heapq
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

import numpy as np
import orjson

from germane.arrays import Integers, Words
from germane.data.owned import fsync_folder, storage_error
from germane.errors import InputError, ParameterError, StorageError
from germane.index import wire_kernels
from germane.index.builder import check_id
from germane.index.columns import ColumnsWriter
from germane.index.lists import PIECE, transposed
from germane.index.live_segment import LiveSegment
from germane.index.manifest import recovery_meta
from germane.index.merge import join_lists, renumbering
from germane.index.protobuf import BYTES, FAULTS, FIXED64, VARINT, MessageStream, WireError, delimited, field, fields
from germane.index.segment_writer import SegmentWriter
from germane.index.snapshot import Snapshot
from germane.index.stored_fields import StoredWriter
from germane.index.strings import pack_strings
from germane.index.writer import check_new, new_index
from germane.text import Analyzer
from germane.types import DEFAULT_FIELDS

VERSION = 1
BYTES_PER_POSTING = 16
"""What importing takes at its peak, beside the dictionary and the ids."""
_STEP = 1 << 16
_MAX_HEADER = 1 << 24

Lengths = Literal["exact", "recompute"]

_FAULTS = {
    **FAULTS,
    wire_kernels.NO_TERM: "a postings list without a term",
    wire_kernels.NO_POSTINGS: "a postings list without postings",
    wire_kernels.NEGATIVE_GAP: "a negative gap between docids",
    wire_kernels.REPEATED_DOC: "a docid twice in one list",
    wire_kernels.DOC_RANGE: "a docid outside the header's num_docs",
    wire_kernels.TF_RANGE: "a tf that is not from 1 to 2147483647",
    wire_kernels.DF: "df is not the number of postings",
    wire_kernels.CF: "cf is not the sum of the tf",
    wire_kernels.NO_ID: "a document without collection_docid",
    wire_kernels.LENGTH_RANGE: "a doclength that is not from 0 to 2147483647",
}


@dataclass(frozen=True, slots=True)
class CiffReport:
    """What was written or read. `lengths_changed`: documents whose doclength was not the sum of their counts."""

    documents: int
    terms: int
    postings: int
    tokens: int
    description: str
    lengths_changed: int = 0


class _Header(NamedTuple):
    version: int = 0
    num_postings_lists: int = 0
    num_docs: int = 0
    total_postings_lists: int = 0
    total_docs: int = 0
    total_terms_in_collection: int = 0
    average_doclength: float = 0.0
    description: str = ""

    def encode(self) -> bytes:
        values: tuple[int | float | str, ...] = self
        return delimited(b"".join(field(i, value) for i, value in enumerate(values, start=1)))


# -- export ------------------------------------------------------------------------------------------------------------


def export_ciff(folder: Path, target: Path) -> CiffReport:
    """Write the live documents of an index as CIFF, gzip-compressed where the name ends in '.gz'.

    Documents are renumbered without gaps, segment by segment; segments are joined term by term. Memory does not grow
    with the collection (but with its longest list). `target` is there whole or not at all.
    """
    snapshot = Snapshot.open(Path(folder))
    segments = snapshot.segments
    n_terms = snapshot.n_terms()
    longest = max((int(live.segment.doc_len.max(initial=0)) for live in segments), default=0)
    if max(snapshot.n_docs, n_terms, longest) > wire_kernels.MAX_INT32:
        raise InputError("too large for CIFF, which counts documents, terms and words in 31 bits", source=str(folder))
    description = "Germane; " + orjson.dumps(snapshot.manifest.analyzer.to_dict()).decode()
    mean = snapshot.n_tokens / snapshot.n_docs if snapshot.n_docs else 0.0
    header = _Header(VERSION, n_terms, snapshot.n_docs, n_terms, snapshot.n_docs, snapshot.n_tokens, mean, description)
    n_postings = 0
    with _replacing(Path(target)) as file:
        file.write(header.encode())
        for size, messages in _list_messages(segments):
            file.write(messages)
            n_postings += size
        for messages in _record_messages(segments):
            file.write(messages)
    return CiffReport(snapshot.n_docs, n_terms, n_postings, snapshot.n_tokens, description)


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """A file that takes the target's place once everything is on disk."""
    path = Path(os.path.realpath(target))
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        fsync_folder(path.parent)
    except OSError as error:
        raise storage_error(target, error) from error
    finally:
        with suppress(OSError):
            os.unlink(temporary)


class _Term(NamedTuple):
    """A term that occurs in live documents of a segment; `df` counts deleted ones too."""

    term: bytes
    segment: int
    first_block: int
    df: int


def _terms_of(i: int, live: LiveSegment) -> Iterator[_Term]:
    segment = live.segment
    data, offsets = segment.container["term_bytes"], segment.container["term_offsets"]
    alive, _ = live.frequencies()
    for begin in range(0, segment.n_terms, _STEP):
        at = offsets[begin : begin + _STEP + 1].tolist()
        text = data[at[0] : at[-1]].tobytes()
        first, df = segment.first_block[begin : begin + _STEP].tolist(), segment.df[begin : begin + _STEP].tolist()
        for j in np.flatnonzero(alive[begin : begin + _STEP]).tolist():
            yield _Term(text[at[j] - at[0] : at[j + 1] - at[0]], i, first[j], df[j])


def _pieces(segments: list[LiveSegment]) -> Iterator[list[_Term]]:
    """The dictionaries merged, in runs of about PIECE postings that do not cut a term in two."""
    piece: list[_Term] = []
    room = 0
    for entry in heapq.merge(*(_terms_of(i, live) for i, live in enumerate(segments))):
        if room >= PIECE and piece[-1].term != entry.term:
            yield piece
            piece, room = [], 0
        piece.append(entry)
        room += entry.df
    if piece:
        yield piece


def _list_messages(segments: list[LiveSegment]) -> Iterator[tuple[int, memoryview]]:
    """For each piece the number of its postings and its PostingsList messages."""
    for live in segments:
        live.segment.verify_lists()
    remap, blocks = renumbering(segments), [live.segment.blocks for live in segments]
    for piece in _pieces(segments):
        terms = list(dict.fromkeys(entry.term for entry in piece))
        column = {term: i for i, term in enumerate(terms)}
        df, first = (np.zeros((len(segments), len(terms)), np.int64) for _ in range(2))
        places = [entry.segment for entry in piece], [column[entry.term] for entry in piece]
        df[places] = [entry.df for entry in piece]
        first[places] = [entry.first_block for entry in piece]
        starts, docs, counts = join_lists(blocks, remap, df, first)
        data, offsets = pack_strings(terms)
        n = int(starts[-1])
        out = np.empty(
            n * wire_kernels.POSTING_BYTES + len(terms) * wire_kernels.LIST_BYTES + len(data), dtype=np.uint8
        )
        size = int(wire_kernels.encode_lists(starts, docs, counts, data, offsets, out))
        if size < 0:
            raise StorageError("a postings list exceeds 2 GiB, which protobuf cannot hold")
        yield n, out[:size].data


def _record_messages(segments: list[LiveSegment]) -> Iterator[memoryview]:
    """The DocRecord messages, piece by piece."""
    number = 0
    for live in segments:
        kept = np.flatnonzero(~live.deletions.deleted)
        data, offsets = live.segment.container["id_bytes"], live.segment.container["id_offsets"]
        for begin in range(0, len(kept), _STEP):
            docs = kept[begin : begin + _STEP]
            room = int((offsets[docs + 1].astype(np.int64) - offsets[docs]).sum())
            out = np.empty(room + len(docs) * wire_kernels.RECORD_BYTES, np.uint8)
            size = wire_kernels.encode_records(docs, number, data, offsets, live.segment.doc_len, out)
            number += len(docs)
            yield out[:size].data


# -- import ------------------------------------------------------------------------------------------------------------


def import_ciff(
    source: Path,
    folder: Path,
    *,
    analyzer: Analyzer | None = None,
    text_fields: Sequence[str] = DEFAULT_FIELDS,
    lengths: Lengths = "exact",
) -> CiffReport:
    """Make an index in `folder` from a CIFF file (plain, gzip, bzip2 or zstd), all or nothing.

    Terms are taken as they are. `analyzer` makes the terms of queries, and of documents added later: pass the one that
    made the file's terms; the default neither stems nor stops. Documents have their collection_docid as id and no
    stored fields.

    `lengths`: Germane's statistics need |d| = Σ_w c(w; d). A file may say otherwise: Lucene's lengths are rounded to a
    byte, and an export of some terms only keeps whole lengths. "exact" refuses such a file; "recompute" takes Σ_w
    c(w; d) instead, and the report says for how many documents that differed (scores then differ from the source's).

    Takes BYTES_PER_POSTING bytes of memory a posting, plus the dictionary and the ids.
    """
    if lengths not in ("exact", "recompute"):
        raise ParameterError(f"lengths must be 'exact' or 'recompute', not {lengths!r}")
    folder = Path(folder)
    check_new(folder, text_fields)
    with MessageStream(Path(source)) as stream:
        header = _read_header(stream)
        lists = _read_lists(stream, header)
        ids, stated = _read_records(stream, header)
        if not stream.at_end:
            raise InputError("bytes follow the last message that the header announces", source=stream.source)
    doc_len = _sums(lists, len(ids))
    if doc_len.max(initial=0) >= 2**32:
        raise InputError("a document of more than 4294967295 words", source=stream.source)
    changed = np.flatnonzero(doc_len != stated)
    if lengths == "exact" and len(changed):
        raise _lengths_differ(stream.source, header, ids, stated, doc_len, changed)
    analyzer = analyzer or Analyzer(stemmer="none", stopwords="none")
    n_postings, tokens = len(lists.docs), int(doc_len.sum())
    report = CiffReport(len(ids), len(lists.terms), n_postings, tokens, header.description, len(changed))

    def write(path: Path, generation: int) -> None:
        meta = recovery_meta(analyzer, tuple(text_fields), generation)
        _write_segment(path, lists, ids, doc_len.astype(np.uint32), meta)

    with new_index(folder, analyzer, text_fields) as writer:
        if ids:
            writer.add_segment(write)
    return report


def _bad(stream: MessageStream, number: int, what: str) -> InputError:
    """An error in message `number`, the header being number 1."""
    return InputError(f"message {number}: {what}", source=stream.source)


def _read_header(stream: MessageStream) -> _Header:
    values: dict[str, Any] = {}
    wires = dict.fromkeys(_Header._fields, VARINT) | {"average_doclength": FIXED64, "description": BYTES}
    try:
        body = stream.message(_MAX_HEADER)
        if body is None:
            raise InputError("the file is empty", source=stream.source)
        for number, wire, value in fields(body):
            if number <= len(wires):
                name = _Header._fields[number - 1]
                if wire != wires[name]:
                    raise WireError(wire_kernels.WIRE_TYPE)
                values[name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    except WireError as error:
        raise _bad(stream, 1, f"not a CIFF file: {error}") from None
    header = _Header(**values)
    if header.version != VERSION:
        what = f"CIFF version {header.version}, where {VERSION} can be read" if header.version else "not a CIFF file"
        raise _bad(stream, 1, what)
    for name in ("num_postings_lists", "num_docs"):
        if not 0 <= values.get(name, 0) <= wire_kernels.MAX_INT32:
            raise _bad(stream, 1, f"{name} is {values[name]}, which is no number of messages")
    return header


class _Lists(NamedTuple):
    """The list of `terms[t]` is `docs[starts[t]:starts[t + 1]]`, with `counts`."""

    terms: list[bytes]
    starts: Integers
    docs: Words
    counts: Words


def _read_lists(stream: MessageStream, header: _Header) -> _Lists:
    terms: list[bytes] = []
    df, docs, counts = [np.zeros(1, np.int64)], [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    while len(terms) < header.num_postings_lists:
        room = (stream.end - stream.begin) // 4 + 1
        limit = min(room, header.num_postings_lists - len(terms))
        begins, ends, starts = np.empty(limit, np.int64), np.empty(limit, np.int64), np.empty(limit + 1, np.int64)
        piece = np.empty(room, np.uint32), np.empty(room, np.uint32)
        fault, n, position, need = wire_kernels.decode_lists(
            stream.data, stream.begin, stream.end, limit, header.num_docs, begins, ends, starts, *piece
        )
        new = stream.strings(begins[:n], ends[:n])
        _check_terms(stream, terms, new)
        terms += new
        df.append(np.diff(starts[: n + 1]))
        docs.append(piece[0][: starts[n]].copy())
        counts.append(piece[1][: starts[n]].copy())
        if fault:
            raise _bad(stream, 2 + len(terms), _FAULTS[fault])
        stream.begin = position
        if len(terms) < header.num_postings_lists and not stream.fill(need):
            what = f"the file ends where postings list {len(terms) + 1} of {header.num_postings_lists} should be"
            raise _bad(stream, 2 + len(terms), what)
    all_docs = np.concatenate(docs)
    docs.clear()
    return _Lists(terms, np.cumsum(np.concatenate(df)), all_docs, np.concatenate(counts))


def _check_terms(stream: MessageStream, before: list[bytes], new: list[bytes]) -> None:
    """Terms are UTF-8 and ascend."""
    previous = before[-1] if before else b""
    for i, term in enumerate(new):
        if term <= previous:
            what = "twice" if term == previous else f"after '{previous.decode()}', which is not in order"
            raise _bad(stream, 2 + len(before) + i, f"the term '{term.decode(errors='replace')}' comes {what}")
        previous = term
        if not term.isascii():
            try:
                term.decode()
            except UnicodeDecodeError:
                raise _bad(stream, 2 + len(before) + i, f"the term {term!r} is not UTF-8") from None


def _read_records(stream: MessageStream, header: _Header) -> tuple[list[bytes], Integers]:
    """The ids and the lengths as the file says, by docid."""
    first = 2 + header.num_postings_lists
    ids: list[bytes] = []
    docs, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while len(ids) < header.num_docs:
        limit = min((stream.end - stream.begin) // 4 + 1, header.num_docs - len(ids))
        columns = [np.empty(limit, np.int64) for _ in range(4)]
        fault, n, position, need = wire_kernels.decode_records(
            stream.data, stream.begin, stream.end, limit, header.num_docs, *columns
        )
        piece_docs, begins, ends, piece_lengths = (column[:n] for column in columns)
        for name in stream.strings(begins, ends):
            try:
                check_id(name.decode())
            except UnicodeDecodeError:
                raise _bad(stream, first + len(ids), f"the id {name!r} is not UTF-8") from None
            except InputError as error:
                raise _bad(stream, first + len(ids), error.message) from None
            ids.append(name)
        docs.append(piece_docs.copy())
        lengths.append(piece_lengths.copy())
        if fault:
            raise _bad(stream, first + len(ids), _FAULTS[fault])
        stream.begin = position
        if len(ids) < header.num_docs and not stream.fill(need):
            what = f"the file ends where document {len(ids) + 1} of {header.num_docs} should be"
            raise _bad(stream, first + len(ids), what)
    numbers = np.concatenate(docs)
    _check_distinct(stream, first, numbers.tolist(), "docid")
    _check_distinct(stream, first, ids, "collection_docid")
    order = np.argsort(numbers)
    return [ids[i] for i in order.tolist()], np.concatenate(lengths)[order]


def _check_distinct(stream: MessageStream, first: int, values: list[Any], name: str) -> None:
    if len(set(values)) < len(values):
        seen = set()
        for i, value in enumerate(values):
            if value in seen:
                shown = value.decode() if isinstance(value, bytes) else value
                raise _bad(stream, first + i, f"the {name} '{shown}' comes twice")
            seen.add(value)


def _sums(lists: _Lists, n_docs: int) -> Integers:
    """Σ_w c(w; d) of each document."""
    sums = np.zeros(n_docs, np.int64)
    for begin in range(0, len(lists.docs), PIECE):  # so short that float64 counts exactly
        piece = slice(begin, begin + PIECE)
        sums += np.bincount(lists.docs[piece], lists.counts[piece], n_docs).astype(np.int64)
    return sums


def _lengths_differ(
    source: str, header: _Header, ids: list[bytes], stated: Integers, doc_len: Integers, changed: Integers
) -> InputError:
    d = int(changed[0])
    partial = header.num_postings_lists < header.total_postings_lists
    return InputError(
        f"{len(changed)} of {len(ids)} documents have a doclength other than the sum of their counts "
        f"('{ids[d].decode()}': {stated[d]}, counts {doc_len[d]})"
        + (
            f"; the file holds {header.num_postings_lists} of {header.total_postings_lists} postings lists"
            if partial
            else ""
        )
        + ": lengths='recompute' would use the sums",
        source=source,
    )


def _write_segment(path: Path, lists: _Lists, ids: list[bytes], doc_len: Words, meta: dict[str, Any]) -> None:
    terms, starts, docs, counts = lists
    stored = StoredWriter()
    for _ in ids:
        stored.add_json(b"{}")
    with SegmentWriter(path, doc_len) as segment:
        segment.postings(starts, docs, counts)
        no_forms = pack_strings([b""] * len(terms))
        segment.dictionary(pack_strings(terms), no_forms, np.zeros(len(terms), np.int64))
        segment.forward(*transposed(starts, docs, counts, len(ids)))
        segment.documents(pack_strings(ids))
        segment.fields(stored, ColumnsWriter(frozenset()))
        segment.finish(meta)

"""Is the index intact, and if not, what can be saved?

`check_index` reads everything: checksums first, then whether what the files say of the same thing agrees (postings and
forward lists, frequencies, block maxima, lengths, ids, stored fields, deletions). `repair_index` keeps what is provably
intact: whole segments, or the stored documents of a damaged one, which are indexed again.
"""

import contextlib
import os
import shutil
import uuid
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from germane.errors import GermaneError, IndexFormatError
from germane.index import kernels
from germane.index.columns import NumericColumn
from germane.index.container import AnyArray, Container
from germane.index.deletions import Deletions, delete, no_deletions, read_bitmap, read_deletions, write_deletions
from germane.index.ingest import build_segment
from germane.index.lists import PIECE, pieces_of
from germane.index.manifest import NAME, Manifest, SegmentEntry, read_manifest
from germane.index.merge import generation_of
from germane.index.segment import POSTINGS_SECTIONS, Segment
from germane.index.storage import LOCK_NAME, WriterLock, fsync_folder, storage_errors
from germane.index.stored import StoredReader
from germane.index.writer import stray_files
from germane.text import Analyzer
from germane.types import Document

Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

_NAMED = 5
"""Ids named in a sentence about lost documents."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """`problems`: a sentence for each damage, naming the file. `notes`: what is odd but harmless, as stray files."""

    ok: bool
    problems: list[str]
    segments: int
    documents: int
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RepairReport:
    """`lost` and `actions`: sentences. Nothing was lost if `lost` is empty, nothing was wrong if `actions` is."""

    kept_documents: int
    lost: list[str]
    actions: list[str]


# -- checking ----------------------------------------------------------------------------------------------------------


def check_index(folder: Path) -> CheckReport:
    """Verify the index in `folder`, every byte of it. Damage never raises: it is reported."""
    problems: list[str] = []
    documents = 0
    try:
        manifest = read_manifest(folder)
    except GermaneError as error:
        return CheckReport(False, [str(error)], 0, 0)
    live_ids: list[bytes] = []
    for entry in manifest.segments:
        found, ids = _entry_problems(folder, entry)
        problems += found
        documents += len(ids)
        live_ids += ids
    live_ids.sort()
    repeated = next((a for a, b in pairwise(live_ids) if a == b), None)
    if repeated is not None:
        problems.append(f"{folder}: the id '{repeated.decode(errors='replace')}' belongs to several live documents")
    notes = [f"{path} belongs to no commit: the next writer removes it" for path in _strays(folder, manifest)]
    return CheckReport(not problems, problems, len(manifest.segments), documents, notes)


def _strays(folder: Path, manifest: Manifest) -> list[Path]:
    with contextlib.suppress(OSError):
        return stray_files(folder, manifest.files())
    return []


def _entry_problems(folder: Path, entry: SegmentEntry) -> tuple[list[str], list[bytes]]:
    """What is wrong with a segment and its deletions; the ids of its live documents, where they can be read."""
    segment, problems = _checked_segment(folder / entry.name, entry.size)
    if segment is None:
        return problems, []
    deletions, more = _checked_deletions(folder, entry, segment, deep=not problems)
    problems += more
    ids = _ids(segment)
    deleted = deletions.deleted if deletions is not None else np.zeros(len(ids), np.bool_)
    return problems, [doc_id for doc_id, gone in zip(ids, deleted.tolist(), strict=False) if not gone]


def _ids(segment: Segment) -> list[bytes]:
    """The ids by document number; none where they are damaged."""
    c = segment.container
    if not (c.intact("id_bytes") and c.intact("id_offsets")):
        return []
    if not _good_offsets(c["id_offsets"], segment.n_docs, len(c["id_bytes"])):
        return []
    return _strings(c, "id")


def _checked_segment(path: Path, size: int | None = None) -> tuple[Segment | None, list[str]]:
    """Open and verify one segment; None where it cannot even be opened."""
    try:
        segment = Segment(path)
        problems = segment.container.problems()
        if size is not None and segment.container.size != size:
            problems.append(f"{path} has {segment.container.size} bytes, the manifest says {size}")
        if not problems:  # with a wrong checksum the lists are not worth decoding, nor safe to decode
            problems = [f"{path}: {sentence}" for sentence in _contradictions(segment)]
        return segment, problems
    except GermaneError as error:
        return None, [str(error)]
    except Exception as error:
        return None, [f"{path} is damaged: {type(error).__name__}: {error}"]


def _checked_deletions(
    folder: Path, entry: SegmentEntry, segment: Segment, *, deep: bool
) -> tuple[Deletions | None, list[str]]:
    """Read and verify the deletions of a segment; `deep`: against what the deleted documents held."""
    if entry.deletions is None:
        return no_deletions(segment), []
    path = folder / entry.deletions
    try:
        problems = Container(path).problems()
        if problems:
            return None, problems
        deletions = read_deletions(path, segment)
        if deep and not _same_deletions(deletions, delete(segment, no_deletions(segment), _deleted(deletions))):
            return None, [f"{path}: the frequencies of deleted documents differ from what these hold"]
        return deletions, []
    except GermaneError as error:
        return None, [str(error)]
    except Exception as error:
        return None, [f"{path} is damaged: {type(error).__name__}: {error}"]


def _deleted(deletions: Deletions) -> Integers:
    return np.flatnonzero(deletions.deleted)


def _same_deletions(a: Deletions, b: Deletions) -> bool:
    return a.n_tokens == b.n_tokens and all(
        np.array_equal(x, y) for x, y in ((a.terms, b.terms), (a.df, b.df), (a.cf, b.cf))
    )


def _contradictions(segment: Segment) -> Iterator[str]:
    """What does not fit together in a segment whose checksums are right."""
    shapes = list(_wrong_shapes(segment))
    yield from shapes
    if shapes:
        return
    yield from _dictionary_problems(segment)
    yield from _id_problems(segment)
    by_term = _Collected(segment.n_docs)
    yield from _postings_problems(segment, by_term)
    by_document = _Collected(segment.n_docs)
    yield from _forward_problems(segment, by_document)
    if by_term.hash != by_document.hash or by_term.postings != by_document.postings:
        yield "the forward lists are not the posting lists turned round"
    if not np.array_equal(by_term.tokens, segment.doc_len):
        yield "document lengths differ from the sums of counts"
    if not np.array_equal(by_term.unique, segment.n_unique):
        yield "numbers of distinct terms differ from the posting lists"
    meta = segment.container.meta
    if segment.n_tokens != int(by_term.tokens.sum()) or meta.get("n_postings") != by_term.postings:
        yield "the totals of tokens and postings are wrong"
    yield from _stored_problems(segment)
    yield from _column_problems(segment)


def _wrong_shapes(segment: Segment) -> Iterator[str]:
    """Lengths, widths and offsets: after this, every list can be decoded without leaving its array."""
    c, n_docs, n_terms = segment.container, segment.n_docs, segment.n_terms
    if n_docs < 0 or n_terms < 0:
        yield "negative sizes"
        return
    lengths = {
        "df": n_terms, "cf": n_terms, "surface_count": n_terms, "doc_len": n_docs, "n_unique": n_docs,
        "fwd_term_bits": n_docs, "fwd_tf_bits": n_docs, "id_order": n_docs,
    }  # fmt: skip
    wrong = [name for name, length in lengths.items() if len(c[name]) != length]
    for kind, n in (("term", n_terms), ("surface", n_terms), ("id", n_docs)):
        if not _good_offsets(c[f"{kind}_offsets"], n, len(c[f"{kind}_bytes"])):
            wrong.append(f"{kind}_offsets")
    if wrong:
        yield f"sections of the wrong size: {', '.join(wrong)}"
        return
    if np.any(segment.df == 0):
        yield "a term without documents"
    n_blocks = int(segment.first_block[-1])
    if any(len(c[name]) != n_blocks for name in POSTINGS_SECTIONS if name != "words"):
        yield "the block table has the wrong size"
        return
    b = segment.blocks
    if max(b.doc_bits.max(initial=0), b.tf_bits.max(initial=0)) > 32:
        yield "a block of more than 32 bits"
        return
    count = _block_sizes(segment)
    if np.any(b.doc_bits[count == 1]):
        yield "a block of one posting with gaps"
    sizes = ((count * b.doc_bits * (count > 1) + 31) >> 5) + ((count * b.tf_bits + 31) >> 5)
    if len(b.words) != int(sizes.sum()) + kernels.LANES:
        yield "blocks of postings do not follow one another"
    if max(c["fwd_term_bits"].max(initial=0), c["fwd_tf_bits"].max(initial=0)) > 32:
        yield "a forward list of more than 32 bits"
    elif int(segment._forward_at[-1]) + kernels.LANES != len(c["fwd_words"]):
        yield "forward lists do not follow one another"


def _good_offsets(offsets: AnyArray, n: int, end: int) -> bool:
    wide = offsets.astype(np.int64)
    return len(wide) == n + 1 and wide[0] == 0 and wide[-1] == end and bool(np.all(np.diff(wide) >= 0))


def _block_sizes(segment: Segment) -> Integers:
    """Postings in each block: full ones, and the rest of each list."""
    n = np.full(int(segment.first_block[-1]), kernels.BLOCK, np.int64)
    df = segment.df.astype(np.int64)
    n[segment.first_block[1:][df > 0] - 1] = ((df - 1) % kernels.BLOCK + 1)[df > 0]
    return n


def _strings(container: Container, kind: str) -> list[bytes]:
    data = container[f"{kind}_bytes"].tobytes()
    return [data[begin:end] for begin, end in pairwise(container[f"{kind}_offsets"].tolist())]


def _dictionary_problems(segment: Segment) -> Iterator[str]:
    terms = _strings(segment.container, "term")
    if any(a >= b for a, b in pairwise(terms)):
        yield "the terms are not sorted"
    for text in (*terms, *_strings(segment.container, "surface")):
        try:
            text.decode()
        except UnicodeDecodeError:
            yield f"the term {text!r} is not valid Unicode"


def _id_problems(segment: Segment) -> Iterator[str]:
    ids = _strings(segment.container, "id")
    order = segment.container["id_order"]
    if not np.array_equal(np.sort(order), np.arange(segment.n_docs)):
        yield "the order of ids is not a permutation"
        return
    ordered = [ids[i] for i in order.tolist()]
    if any(a > b for a, b in pairwise(ordered)):
        yield "the ids are not sorted"
    if any(not doc_id for doc_id in ids):
        yield "an empty id"
    try:
        b"\n".join(ids).decode()
    except UnicodeDecodeError:
        yield "an id is not valid Unicode"


@dataclass(slots=True)
class _Collected:
    """What a pass over all (term, document, count) finds, whichever way it goes."""

    n_docs: int
    postings: int = 0
    hash: int = 0
    tokens: npt.NDArray[np.int64] = field(init=False)
    unique: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.unique = np.zeros(self.n_docs, np.int64), np.zeros(self.n_docs, np.int64)

    def add(self, terms: AnyArray, docs: AnyArray, counts: AnyArray) -> None:
        """Take in triples. The sum of their hashes does not depend on their order."""
        self.postings += len(docs)
        self.unique += np.bincount(docs, minlength=self.n_docs)
        self.tokens += np.bincount(docs, counts, self.n_docs).astype(np.int64)
        pairs = (terms.astype(np.uint64) << np.uint64(32)) | docs.astype(np.uint64)
        mixed = _mix(_mix(pairs) + counts.astype(np.uint64))
        self.hash = (self.hash + int(mixed.sum(dtype=np.uint64))) % 2**64


def _mix(x: Hashes) -> Hashes:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _postings_problems(segment: Segment, collected: _Collected) -> Iterator[str]:
    starts = np.zeros(segment.n_terms + 1, np.int64)
    np.cumsum(segment.df, dtype=np.int64, out=starts[1:])
    found: set[str] = set()
    for first, last in pieces_of(starts):
        fresh = [sentence for sentence in _piece_problems(segment, first, last, collected) if sentence not in found]
        found.update(fresh)
        yield from fresh
        if "postings name documents that are not there" in found:
            return


def _decode(segment: Segment, first: int, last: int) -> tuple[Integers, AnyArray, AnyArray]:
    """The posting lists of terms [first, last): starts, documents, counts."""
    df = segment.df[first:last].tolist()
    starts = np.zeros(len(df) + 1, np.int64)
    np.cumsum(df, out=starts[1:])
    room = int(starts[-1]) + kernels.BLOCK
    docs, counts = np.empty(room, np.uint32), np.empty(room, np.uint32)
    b = segment.blocks
    blocks = segment.first_block[first:last].tolist()
    for at, block, n in zip(starts.tolist(), blocks, df, strict=False):
        kernels.decode_list(b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, block, n, docs[at:], counts[at:])
    return starts, docs[: starts[-1]], counts[: starts[-1]]


def _piece_problems(segment: Segment, first: int, last: int, collected: _Collected) -> Iterator[str]:
    starts, docs, counts = _decode(segment, first, last)
    if docs.max(initial=0) >= max(segment.n_docs, 1):
        yield "postings name documents that are not there"
        return
    rising = np.diff(docs.astype(np.int64)) > 0
    rising[starts[1:-1] - 1] = True  # from one list to the next
    if not rising.all():
        yield "the documents of a posting list do not ascend"
    if np.any(counts == 0):
        yield "a posting with a count of 0"
    if not np.array_equal(np.add.reduceat(counts, starts[:-1], dtype=np.int64), segment.cf[first:last]):
        yield "collection frequencies differ from the sums of counts"
    blocks = slice(int(segment.first_block[first]), int(segment.first_block[last]))
    sizes = _block_sizes(segment)[blocks]
    ends = np.cumsum(sizes)
    begins, b = ends - sizes, segment.blocks
    if not np.array_equal(docs[ends - 1], b.last[blocks]):
        yield "the last document of a block is wrong"
    if not np.array_equal(np.minimum(np.maximum.reduceat(counts, begins), kernels.TF_CAP), b.max_tf[blocks]):
        yield "the largest count of a block is wrong"
    if not np.array_equal(np.minimum(np.minimum.reduceat(segment.doc_len[docs], begins), 65535), b.min_len[blocks]):
        yield "the shortest document of a block is wrong"
    collected.add(np.repeat(np.arange(first, last), np.diff(starts)), docs, counts)


def _forward_problems(segment: Segment, collected: _Collected) -> Iterator[str]:
    starts = np.zeros(segment.n_docs + 1, np.int64)
    np.cumsum(segment.n_unique, dtype=np.int64, out=starts[1:])
    for first, last in pieces_of(starts, PIECE):
        own, terms, counts = segment.forward_many(first, last)
        if terms.max(initial=0) >= max(segment.n_terms, 1):
            yield "forward lists name terms that are not there"
            return
        rising = np.diff(terms.astype(np.int64)) > 0
        edges = own[1:-1]
        rising[edges[(edges > 0) & (edges < len(terms))] - 1] = True
        if not rising.all():
            yield "the terms of a forward list do not ascend"
            return
        collected.add(terms, np.repeat(np.arange(first, last), np.diff(own)), counts)


def _stored_problems(segment: Segment) -> Iterator[str]:
    wrong = list(_table_problems(segment))
    yield from wrong
    if not wrong:
        for _ in segment.stored.all_fields():  # raises where a document cannot be read
            pass


def _table_problems(segment: Segment) -> Iterator[str]:
    c = segment.container
    last = c["stored_last"]
    if not _good_offsets(c["stored_at"], len(last), len(c["stored"])) or np.any(np.diff(last, prepend=0) <= 0):
        yield "the table of stored blocks is wrong"
    elif (int(last[-1]) if len(last) else 0) != segment.n_docs:
        yield "stored documents are missing"


def _column_problems(segment: Segment) -> Iterator[str]:
    for name in segment.column_kinds:
        column = segment.column(name)
        if isinstance(column, NumericColumn):
            good = column.values.dtype == np.float64 and len(column.values) == segment.n_docs
        else:
            assert column is not None
            good = (
                _good_offsets(column.starts, segment.n_docs, len(column.codes))
                and bool(np.all(column.codes < len(column.values)))
                and all(a < b for a, b in pairwise(column.values))
            )
        if not good:
            yield f"the column of field '{name}' is damaged"


# -- repairing ---------------------------------------------------------------------------------------------------------


def repair_index(folder: Path) -> RepairReport:
    """Make the index usable again from what is provably intact; does nothing where nothing is wrong.

    Damaged files are moved to a sub-folder `damaged-<n>`, never deleted. The manifest is replaced last: a repair that
    is interrupted leaves the index as it was.
    """
    if not folder.is_dir():
        raise IndexFormatError(f"{folder} does not exist")
    if not any(path.name != LOCK_NAME for path in folder.iterdir()):
        raise IndexFormatError(f"{folder} is empty: there is nothing to repair")
    lock = WriterLock(folder)
    try:
        return _Repair(folder).run()
    finally:
        lock.release()


@dataclass(slots=True)
class _Part:
    """What is left of a segment: the file itself where it is intact, else documents to be indexed again."""

    name: str
    generation: int
    segment: Segment | None
    deleted: Bits
    """Of an intact segment, the documents that do not count."""
    ids: list[str]
    """By document number; of a damaged segment, only those that are left."""
    documents: list[Document] = field(default_factory=list)
    entry: SegmentEntry | None = None
    """Set while neither the segment nor its deletions need to change."""


class _Repair:
    """One repair; collects what it does and what it cannot save."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lost: list[str] = []
        self.actions: list[str] = []
        self.damaged: list[Path] = []

    def run(self) -> RepairReport:
        manifest, found = self._manifest()
        parts = [part for entry in found for part in self._part(entry)]
        self._once(parts)
        if not self.actions:
            return RepairReport(sum(int((~part.deleted).sum()) for part in parts), self.lost, self.actions)
        entries = [entry for part in parts for entry in self._written(manifest, part)]
        kept = sum(int((~part.deleted).sum()) if part.segment else len(part.documents) for part in parts)
        aside = self._copy_aside()
        manifest.next(tuple(entries)).write(self.folder)
        for path in self.damaged:
            if path.name != NAME:
                with storage_errors(path):
                    path.unlink(missing_ok=True)
        if aside is not None:
            self.actions.append(f"moved {len(self.damaged)} damaged or superseded files to {aside}")
        return RepairReport(kept, self.lost, self.actions)

    # -- the manifest --------------------------------------------------------------------------------------------

    def _manifest(self) -> tuple[Manifest, Sequence[SegmentEntry]]:
        """The manifest, or one made from what the segments say of it."""
        path = self.folder / NAME
        try:
            manifest = read_manifest(self.folder)
            return manifest, manifest.segments
        except IndexFormatError:
            if path.exists() and _checksum_right(path):
                raise  # not damaged, but not for this program
        segments = self._segments_without_manifest()
        settings = max(segments, key=generation_of, default=None)
        if settings is None:
            raise IndexFormatError(
                f"{path} is damaged, and no segment in {self.folder} tells how the index was made: nothing can be saved"
            )
        analyzer, text_fields = _settings_of(settings)
        deletions = self._deletions_without_manifest()
        self._drop_replaced(segments, deletions)
        newest = max([generation_of(segment) for segment in segments] + [found[0] for found in deletions.values()])
        if path.exists():
            self.damaged.append(path)
        self.actions.append(f"made a new {NAME} from {len(segments)} segments; a commit under way may be among them")
        entries = [
            SegmentEntry(segment.name, segment.container.size, deletions.get(segment.name, (0, None))[1])
            for segment in segments
        ]
        return Manifest(analyzer, text_fields, newest + 1), entries

    def _segments_without_manifest(self) -> list[Segment]:
        segments = []
        for path in sorted(self.folder.glob("segment-*.germane")):
            try:
                segment = Segment(path)
                _settings_of(segment)
                segments.append(segment)
            except GermaneError as error:
                self.lost.append(f"all documents of {path.name}: {error}")
                self.damaged.append(path)
        return sorted(segments, key=generation_of)

    def _deletions_without_manifest(self) -> dict[str, tuple[int, str]]:
        """Segment -> generation and name of its youngest deletions."""
        youngest: dict[str, tuple[int, str]] = {}
        for path in sorted(self.folder.glob("deletions-*.germane")):
            try:
                meta = Container(path).meta
                found = int(meta["generation"]), path.name
                segment = str(meta["segment"])
                youngest[segment] = max(found, youngest.get(segment, found))
            except (GermaneError, KeyError, TypeError, ValueError) as error:
                self.lost.append(f"deletions of an unknown segment ({path.name}: {error}): its documents are kept")
                self.damaged.append(path)
        return youngest

    def _drop_replaced(self, segments: list[Segment], deletions: dict[str, tuple[int, str]]) -> None:
        """A merged segment and its sources hold the same documents: keep one side."""
        for merged in list(segments):
            meta = merged.container.meta
            sources = [segment for segment in segments if segment.name in meta.get("replaces", ())]
            if not sources:
                continue
            knows = max(int(meta["merged_at"]), deletions.get(merged.name, (0, ""))[0])
            stale = any(deletions.get(segment.name, (0, ""))[0] > knows for segment in sources)
            intact = not _checked_segment(merged.path)[1]
            for segment in [merged] if stale or not intact else sources:
                segments.remove(segment)
                self._set_aside(segment.path, deletions.get(segment.name, (0, None))[1])

    # -- segments ------------------------------------------------------------------------------------------------

    def _part(self, entry: SegmentEntry) -> Iterator[_Part]:
        segment, problems = _checked_segment(self.folder / entry.name, entry.size)
        path = self.folder / entry.name
        if segment is None:
            self.lost.append(f"all documents of {entry.name}: {problems[0]}")
            self.actions.append(f"dropped {entry.name}")
            self._set_aside(path, entry.deletions)
            return
        deleted, entry_holds = self._deleted(entry, segment, intact=not problems)
        if not problems:
            ids = segment.doc_ids(np.arange(segment.n_docs))
            yield _Part(entry.name, generation_of(segment), segment, deleted, ids, entry=entry if entry_holds else None)
            return
        self._set_aside(path, entry.deletions)
        documents = self._rescued(segment, deleted)
        self.actions.append(f"indexed {len(documents)} documents of {entry.name} again from their stored fields")
        ids = [document.id for document in documents]
        yield _Part(entry.name, generation_of(segment), None, np.zeros(len(ids), np.bool_), ids, documents)

    def _set_aside(self, *files: Path | str | None) -> None:
        for file in files:
            path = self.folder / file if file is not None else None
            if path is not None and path.exists() and path not in self.damaged:
                self.damaged.append(path)

    def _deleted(self, entry: SegmentEntry, segment: Segment, *, intact: bool) -> tuple[Bits, bool]:
        """Which documents are deleted, as far as can be proven, and whether the file that says so is intact."""
        deletions, problems = _checked_deletions(self.folder, entry, segment, deep=intact)
        if deletions is not None:
            return deletions.deleted, True
        assert entry.deletions is not None
        self._set_aside(entry.deletions)
        try:
            container = Container(self.folder / entry.deletions)
            if container.intact("deleted"):
                bitmap = read_bitmap(container, segment.n_docs)
                self.actions.append(f"counted the deletions of {entry.name} again")
                return bitmap, False
        except GermaneError:
            pass
        self.lost.append(f"which documents of {entry.name} were deleted: all are kept ({problems[0]})")
        self.actions.append(f"dropped the deletions of {entry.name}")
        return np.zeros(segment.n_docs, np.bool_), False

    def _rescued(self, segment: Segment, deleted: Bits) -> list[Document]:
        """The live documents of a damaged segment whose id and stored fields are intact."""
        c = segment.container
        tables = ("id_bytes", "id_offsets", "stored_at", "stored_last")
        ruined = [name for name in tables if not c.intact(name)]
        ids = [doc_id.decode(errors="replace") for doc_id in _ids(segment)]
        if not ruined and (not ids or next(_table_problems(segment), None)):
            ruined = ["stored_at"]
        if ruined:
            self.lost.append(f"all documents of {segment.name}: section '{ruined[0]}' is damaged")
            return []
        reader = StoredReader(c)
        missing = ~deleted
        documents = []
        for first, lines in reader.intact_blocks(trusted=c.intact("stored")):
            for doc, line in enumerate(lines, first):
                if not deleted[doc]:
                    documents.append(Document(ids[doc], orjson.loads(line)))
                    missing[doc] = False
        gone = [ids[doc] for doc in np.flatnonzero(missing).tolist()]
        if gone:
            named = ", ".join(f"'{doc_id}'" for doc_id in gone[:_NAMED]) + (" ..." if len(gone) > _NAMED else "")
            self.lost.append(f"{len(gone)} documents of {segment.name}, whose stored fields are damaged: {named}")
        return documents

    def _once(self, parts: list[_Part]) -> None:
        """Where deletions were lost an id may have come back to life beside its successor: the youngest stays."""
        seen: set[str] = set()
        for part in sorted(parts, key=lambda part: -part.generation):
            older = [i for i, doc_id in enumerate(part.ids) if not part.deleted[i] and doc_id in seen]
            seen.update(doc_id for i, doc_id in enumerate(part.ids) if not part.deleted[i])
            if not older:
                continue
            self.actions.append(f"left out {len(older)} documents of {part.name} of which there are younger versions")
            part.deleted = part.deleted.copy()
            part.deleted[older] = True
            part.entry = None
            if part.segment is None:
                part.documents = [d for i, d in enumerate(part.documents) if not part.deleted[i]]

    # -- writing -------------------------------------------------------------------------------------------------

    def _written(self, manifest: Manifest, part: _Part) -> Iterator[SegmentEntry]:
        """Files for a part of the new state."""
        if part.entry is not None:
            yield part.entry
        elif part.segment is None:
            built = build_segment(
                part.documents,
                manifest.analyzer,
                manifest.text_fields,
                lambda: self._path("segment"),
                generation=part.generation,
            )
            if built is not None:
                yield SegmentEntry(built.segment.name, built.segment.container.size)
        elif not part.deleted.all():
            entry = SegmentEntry(part.name, part.segment.container.size)
            if part.deleted.any():
                path = self._path("deletions")
                deletions = delete(part.segment, no_deletions(part.segment), np.flatnonzero(part.deleted))
                write_deletions(path, deletions, segment=part.name, generation=manifest.generation + 1)
                entry = SegmentEntry(part.name, entry.size, path.name)
            yield entry

    def _path(self, kind: str) -> Path:
        return self.folder / f"{kind}-{uuid.uuid4().hex}.germane"

    def _copy_aside(self) -> Path | None:
        """Link (or copy) the damaged files into a new folder; the originals go when the new manifest is there."""
        if not self.damaged:
            return None
        n = 1
        while (self.folder / f"damaged-{n}").exists():
            n += 1
        aside = self.folder / f"damaged-{n}"
        with storage_errors(aside):
            aside.mkdir()
            for path in self.damaged:
                try:
                    os.link(path, aside / path.name)
                except OSError:  # a file system without links
                    shutil.copy2(path, aside / path.name)
            fsync_folder(aside)
        return aside


def _checksum_right(path: Path) -> bool:
    checksum, _, body = path.read_bytes().partition(b"\n")
    return checksum == b"%08x" % zlib.crc32(body)


def _settings_of(segment: Segment) -> tuple[Analyzer, tuple[str, ...]]:
    """The analyser and the text fields that a segment was made with."""
    meta = segment.container.meta
    try:
        analyzer = Analyzer.from_dict(meta["analyzer"])
        same = analyzer.fingerprint == meta["fingerprint"]
        text_fields = tuple(str(name) for name in meta["text_fields"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise IndexFormatError(f"{segment.path} does not say how its documents were analysed") from None
    if not same:
        raise IndexFormatError(f"{segment.path} was analysed by other rules")
    return analyzer, text_fields

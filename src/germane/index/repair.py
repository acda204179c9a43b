"""What of a damaged index can be saved? Whole segments, or the stored documents of a damaged one, indexed again.

Nothing is deleted: damaged files move to a folder beside the others, and the manifest is replaced last.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import orjson

from germane.arrays import Integers, Mask
from germane.data.owned import fsync_folder, open_regular, read_regular
from germane.errors import GermaneError, IndexFormatError, InputError
from germane.index import verify
from germane.index.builder import check_fields, check_id
from germane.index.check import checked_deletions, checked_segment, checked_vectors, ids_of
from germane.index.container import Container
from germane.index.deletions import delete, no_deletions, read_bitmap, write_deletions
from germane.index.durable import LOCK_NAME, WriterLock, make_folder, open_new, storage_errors
from germane.index.ingest import NewPaths, NewSegment, build_segment
from germane.index.manifest import (
    MAX_BYTES,
    NAME,
    FileNames,
    Manifest,
    SegmentEntry,
    checksum_right,
    files_of,
    read_manifest,
    recovery_meta,
    whole_number,
)
from germane.index.merge import generation_of, merged_from
from germane.index.segment import Segment
from germane.index.stored_fields import StoredReader
from germane.index.vector_fields import VectorField
from germane.index.vectors import VectorFile, field_in, generation_in, write_vectors
from germane.schema import Response
from germane.text import Analyzer
from germane.types import Document
from germane.wording import counted

_NAMED = 5
"""Ids named in a sentence about lost documents."""


@dataclass(frozen=True, slots=True)
class RepairReport(Response):
    """`lost` and `actions`: sentences. Nothing was lost if `lost` is empty, nothing was wrong if `actions` is."""

    kept_documents: int
    lost: list[str]
    actions: list[str]


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
        return _Repair(folder, lock).run()
    finally:
        lock.release()


@dataclass(slots=True)
class _Part:
    """What is left of a segment: the file itself where it is intact, else documents to be indexed again."""

    name: str
    generation: int
    segment: Segment | None
    deleted: Mask
    """Of an intact segment, the documents that do not count."""
    ids: list[str]
    """By document number; of a damaged segment, only those that are left."""
    documents: list[Document] = field(default_factory=list)
    entry: SegmentEntry | None = None
    """Set while neither the segment nor its deletions and vectors need to change."""
    vectors: dict[str, VectorFile] = field(default_factory=dict)
    """By field those that are intact."""
    numbers: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    """Of a damaged segment, the numbers that the documents had in it."""


class _Repair:
    """One repair; collects what it does and what it cannot save."""

    def __init__(self, folder: Path, lock: WriterLock) -> None:
        self.folder = folder
        self._lock = lock
        self.lost: list[str] = []
        self.actions: list[str] = []
        self.damaged: list[Path] = []

    def run(self) -> RepairReport:
        manifest, found = self._manifest()
        self.names = FileNames(self.folder, manifest.next_file)
        parts = [part for entry in found for part in self._part(entry, manifest.vector_fields)]
        self._once(parts)
        if not self.actions:
            return RepairReport(sum(int((~part.deleted).sum()) for part in parts), self.lost, self.actions)
        entries = [entry for part in parts for entry in self._written(manifest, part)]
        kept = sum(int((~part.deleted).sum()) if part.segment else len(part.documents) for part in parts)
        aside = self._copy_aside()
        manifest.next(tuple(entries), self.names.next).write(self.folder)
        self._lock.count_commit()
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
            if _checksum_right(path):
                raise  # not damaged, but not for this program
        segments = self._segments_without_manifest()
        settings = max(segments, key=generation_of, default=None)
        if settings is None:
            raise IndexFormatError(
                f"{path} is damaged, and no segment in {self.folder} tells how the index was made: nothing can be saved"
            )
        analyzer, text_fields = _settings_of(settings)
        deletions = self._deletions_without_manifest()
        vectors, fields = self._vectors_without_manifest()
        self._drop_replaced(segments, deletions)
        newest = max([generation_of(segment) for segment in segments] + [found[0] for found in deletions.values()])
        self._set_aside(path)
        self.actions.append(f"made a new {NAME} from {counted(len(segments), 'segment')}; a commit under way may be "
                            "among them")  # fmt: skip
        entries = [
            SegmentEntry(
                segment.name,
                segment.container.size,
                deletions.get(segment.name, (0, None))[1],
                tuple(sorted(vectors.get(segment.name, {}).items())),
            )
            for segment in segments
        ]
        positions = any(segment.keeps_order for segment in segments)
        return Manifest(analyzer, text_fields, newest + 1, positions=positions, vector_fields=fields), entries

    def _segments_without_manifest(self) -> list[Segment]:
        segments = []
        for path in files_of(self.folder, "segment"):
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
        for path in files_of(self.folder, "deletions"):
            try:
                meta = Container(path).meta
                found = whole_number(meta["generation"], "generation"), path.name
                segment = str(meta["segment"])
                youngest[segment] = max(found, youngest.get(segment, found))
            except (GermaneError, KeyError, TypeError, ValueError) as error:
                self.lost.append(f"deletions of an unknown segment ({path.name}: {error}): its documents are kept")
                self.damaged.append(path)
        return youngest

    def _vectors_without_manifest(self) -> tuple[dict[str, dict[str, str]], dict[str, VectorField]]:
        """Segment -> field -> name of its youngest vectors; and the fields, as the youngest files have them."""
        found: list[tuple[int, str, str, str, VectorField]] = []
        for path in files_of(self.folder, "vectors"):
            try:
                meta = Container(path).meta
                told = field_in(meta)
                if told is None:
                    raise IndexFormatError("it does not say what they are")
                found.append((generation_in(meta), path.name, str(meta["segment"]), str(meta["name"]), told))
            except (GermaneError, KeyError) as error:
                self.lost.append(f"vectors of an unknown segment ({path.name}: {error})")
                self.damaged.append(path)
        fields = {name: told for *_, name, told in sorted(found, key=lambda row: row[:2])}
        youngest: dict[str, dict[str, str]] = {}
        for _, file, segment, name, told in sorted(found, key=lambda row: row[:2]):
            if told == fields[name]:
                youngest.setdefault(segment, {})[name] = file
        return youngest, fields

    def _drop_replaced(self, segments: list[Segment], deletions: dict[str, tuple[int, str]]) -> None:
        """A merged segment and its sources hold the same documents: keep one side."""
        for merged in list(segments):
            names, merged_at = merged_from(merged)
            sources = [segment for segment in segments if segment.name in names and segment is not merged]
            if not sources or merged not in segments:
                continue
            knows = max(merged_at, deletions.get(merged.name, (0, ""))[0])
            stale = any(deletions.get(segment.name, (0, ""))[0] > knows for segment in sources)
            intact = not checked_segment(merged.path)[1]
            for segment in [merged] if stale or not intact else sources:
                segments.remove(segment)
                self._set_aside(segment.path, deletions.get(segment.name, (0, None))[1])

    # -- segments ------------------------------------------------------------------------------------------------

    def _part(self, entry: SegmentEntry, fields: Mapping[str, VectorField]) -> Iterator[_Part]:
        segment, problems = checked_segment(self.folder / entry.name, entry.size)
        path = self.folder / entry.name
        if segment is None:
            self.lost.append(f"all documents of {entry.name}: {problems[0]}")
            self.actions.append(f"dropped {entry.name}")
            self._set_aside(path, entry.deletions, *(file for _, file in entry.vectors))
            return
        deleted, entry_holds = self.deleted(entry, segment, intact=not problems)
        vectors = self._vectors(entry, segment, fields)
        entry_holds &= len(vectors) == len(entry.vectors)
        if not problems:
            ids = segment.doc_ids(np.arange(segment.n_docs))
            holds = entry if entry_holds else None
            yield _Part(entry.name, generation_of(segment), segment, deleted, ids, entry=holds, vectors=vectors)
            return
        self._set_aside(path, entry.deletions, *(file for _, file in entry.vectors))
        documents, numbers = self._rescued(segment, deleted)
        self.actions.append(f"indexed {counted(len(documents), 'document')} of {entry.name} "
                            "again from their stored fields")  # fmt: skip
        ids = [document.id for document in documents]
        alive = np.zeros(len(ids), np.bool_)
        yield _Part(entry.name, generation_of(segment), None, alive, ids, documents, vectors=vectors, numbers=numbers)

    def _vectors(
        self, entry: SegmentEntry, segment: Segment, fields: Mapping[str, VectorField]
    ) -> dict[str, VectorFile]:
        """The vectors of a segment's documents that are intact; the others are set aside."""
        intact = {}
        for name, file in entry.vectors:
            opened, problems = checked_vectors(self.folder / file, segment, name, fields[name])
            if opened is not None:
                intact[name] = opened
                continue
            self._set_aside(file)
            self.lost.append(f"the vectors '{name}' of the documents in {entry.name}: {problems[0]}")
            self.actions.append(f"dropped the vectors '{name}' of {entry.name}")
        return intact

    def _set_aside(self, *files: Path | str | None) -> None:
        for file in files:
            path = self.folder / file if file is not None else None
            if path is not None and os.path.lexists(path) and path not in self.damaged:
                self.damaged.append(path)

    def deleted(self, entry: SegmentEntry, segment: Segment, *, intact: bool) -> tuple[Mask, bool]:
        """Which documents are deleted, as far as can be proven, and whether the file that says so is intact."""
        deletions, problems = checked_deletions(self.folder, entry, segment, deep=intact)
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

    def _rescued(self, segment: Segment, deleted: Mask) -> tuple[list[Document], Integers]:
        """The live documents of a damaged segment whose id and stored fields are intact, and their numbers there."""
        c = segment.container
        tables = ("id_bytes", "id_offsets", "stored_at", "stored_last")
        ruined = [name for name in tables if not c.intact(name)]
        ids = [doc_id.decode(errors="replace") for doc_id in ids_of(segment)]
        wrong = [name for name in tables if name in c and verify.problem_of(segment, name)]
        if not ruined and (not ids or wrong):
            ruined = wrong or ["id_offsets"]
        if ruined:
            self.lost.append(f"all documents of {segment.name}: section '{ruined[0]}' is damaged")
            return [], np.empty(0, np.int64)
        reader = StoredReader(c)
        missing = ~deleted
        documents, numbers = [], []
        for first, lines in reader.intact_blocks(trusted=c.intact("stored")):
            for doc, line in enumerate(lines, first):
                if not deleted[doc] and (document := _document(ids[doc], line)) is not None:
                    documents.append(document)
                    numbers.append(doc)
                    missing[doc] = False
        gone = [ids[doc] for doc in np.flatnonzero(missing).tolist()]
        if gone:
            named = ", ".join(f"'{doc_id}'" for doc_id in gone[:_NAMED]) + (" ..." if len(gone) > _NAMED else "")
            self.lost.append(f"{counted(len(gone), 'document')} of {segment.name}, of damaged stored fields: {named}")
        return documents, np.array(numbers, np.int64)

    def _once(self, parts: list[_Part]) -> None:
        """Where deletions were lost an id may have come back to life beside its successor: the youngest stays."""
        seen: set[str] = set()
        for part in sorted(parts, key=lambda part: -part.generation):
            older = []
            for i in np.flatnonzero(~part.deleted).tolist()[::-1]:
                if part.ids[i] in seen:
                    older.append(i)
                seen.add(part.ids[i])
            if not older:
                continue
            self.actions.append(f"left out {counted(len(older), 'document')} of {part.name}: there are younger ones")
            part.deleted = part.deleted.copy()
            part.deleted[older] = True
            part.entry = None
            if part.segment is None:
                part.documents = [d for i, d in enumerate(part.documents) if not part.deleted[i]]
                part.numbers = part.numbers[~part.deleted]

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
                NewPaths(lambda: self.names.new("segment"), self.names.part, lambda: self.names.new("vectors")),
                positions=manifest.positions,
                origin=recovery_meta(manifest.analyzer, manifest.text_fields, part.generation),
            )
            if built is not None:
                vectors = self._vectors_again(built, part, manifest.generation + 1)
                yield SegmentEntry(built.segment.name, built.segment.container.size, None, vectors)
        elif not part.deleted.all():
            named = tuple((name, part.vectors[name].path.name) for name in sorted(part.vectors))
            entry = SegmentEntry(part.name, part.segment.container.size, None, named)
            if part.deleted.any():
                path = self.names.new("deletions")
                deletions = delete(part.segment, no_deletions(part.segment), np.flatnonzero(part.deleted))
                write_deletions(path, deletions, segment=part.name, generation=manifest.generation + 1)
                entry = replace(entry, deletions=path.name)
            yield entry

    def _vectors_again(self, built: NewSegment, part: _Part, generation: int) -> tuple[tuple[str, str], ...]:
        """The files of the vectors of documents that were indexed again, by field."""
        named = []
        for name, file in sorted(part.vectors.items()):
            new_number = np.full(file.n_docs, -1)
            new_number[part.numbers[built.sequence]] = np.arange(len(built.sequence))
            source = file.source(new_number)
            if len(source.docs):
                path, segment = self.names.new("vectors"), built.segment.name
                write_vectors(path, [source], name=name, field=file.field, segment=segment, generation=generation)
                named.append((name, path.name))
        return tuple(named)

    def _copy_aside(self) -> Path | None:
        """Link (or copy) the damaged files into a new folder; the originals go when the new manifest is there."""
        if not self.damaged:
            return None
        n = 1
        while os.path.lexists(self.folder / f"damaged-{n}"):
            n += 1
        aside = self.folder / f"damaged-{n}"
        with storage_errors(aside):
            make_folder(aside, self.folder)
            for path in self.damaged:
                try:
                    os.link(path, aside / path.name, follow_symlinks=False)
                except OSError:  # a file system without links
                    _copy(path, aside / path.name)
            fsync_folder(aside)
            fsync_folder(self.folder)
        return aside


def _document(doc_id: str, line: bytes) -> Document | None:
    """The document with these stored fields, if it can be indexed."""
    try:
        fields = orjson.loads(line)
        if not isinstance(fields, dict):
            return None
        check_id(doc_id)
        check_fields(doc_id, fields)
    except (orjson.JSONDecodeError, InputError):
        return None
    return Document(doc_id, fields)


def _copy(path: Path, target: Path) -> None:
    """Copy what can be copied: a regular file, or a link as it is, not what it leads to."""
    if path.is_symlink():
        target.symlink_to(os.readlink(path))
        return
    with open(open_regular(path), "rb") as source, open_new(target) as copy:
        shutil.copyfileobj(source, copy)
        copy.flush()
        os.fsync(copy.fileno())


def _checksum_right(path: Path) -> bool:
    try:
        return checksum_right(read_regular(path, MAX_BYTES))
    except OSError:
        return False


def _settings_of(segment: Segment) -> tuple[Analyzer, tuple[str, ...]]:
    """The analyser and the text fields that a segment was made with."""
    meta = segment.container.meta
    try:
        analyzer = Analyzer.from_dict(meta["analyzer"])
        same = analyzer.fingerprint == meta["fingerprint"]
        text_fields = tuple(str(name) for name in meta["text_fields"])
        if not text_fields:
            raise ValueError("no text fields")
    except (AttributeError, KeyError, TypeError, ValueError):
        raise IndexFormatError(f"{segment.path} does not say how its documents were analysed") from None
    if not same:
        raise IndexFormatError(f"{segment.path} was analysed by other rules")
    return analyzer, text_fields

"""What of a damaged index can be saved? Whole segments, or the stored documents of a damaged one, indexed again.

Nothing is deleted: damaged files move to a folder beside the others, and the manifest is replaced last.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import orjson

from germane.arrays import Mask
from germane.errors import GermaneError, IndexFormatError, InputError
from germane.index import verify
from germane.index.builder import check_fields, check_id
from germane.index.check import checked_deletions, checked_segment, ids_of
from germane.index.container import Container
from germane.index.deletions import delete, no_deletions, read_bitmap, write_deletions
from germane.index.durable import LOCK_NAME, WriterLock, fsync_folder, open_regular, read_regular, storage_errors
from germane.index.ingest import NewPaths, build_segment
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
from germane.schema import Response
from germane.text import Analyzer
from germane.types import Document

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
        return _Repair(folder).run()
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
        self.names = FileNames(self.folder, manifest.next_file)
        parts = [part for entry in found for part in self._part(entry)]
        self._once(parts)
        if not self.actions:
            return RepairReport(sum(int((~part.deleted).sum()) for part in parts), self.lost, self.actions)
        entries = [entry for part in parts for entry in self._written(manifest, part)]
        kept = sum(int((~part.deleted).sum()) if part.segment else len(part.documents) for part in parts)
        aside = self._copy_aside()
        manifest.next(tuple(entries), self.names.next).write(self.folder)
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
        self._drop_replaced(segments, deletions)
        newest = max([generation_of(segment) for segment in segments] + [found[0] for found in deletions.values()])
        self._set_aside(path)
        self.actions.append(f"made a new {NAME} from {len(segments)} segments; a commit under way may be among them")
        entries = [
            SegmentEntry(segment.name, segment.container.size, deletions.get(segment.name, (0, None))[1])
            for segment in segments
        ]
        positions = any(segment.keeps_order for segment in segments)
        return Manifest(analyzer, text_fields, newest + 1, positions=positions), entries

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

    def _part(self, entry: SegmentEntry) -> Iterator[_Part]:
        segment, problems = checked_segment(self.folder / entry.name, entry.size)
        path = self.folder / entry.name
        if segment is None:
            self.lost.append(f"all documents of {entry.name}: {problems[0]}")
            self.actions.append(f"dropped {entry.name}")
            self._set_aside(path, entry.deletions)
            return
        deleted, entry_holds = self.deleted(entry, segment, intact=not problems)
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

    def _rescued(self, segment: Segment, deleted: Mask) -> list[Document]:
        """The live documents of a damaged segment whose id and stored fields are intact."""
        c = segment.container
        tables = ("id_bytes", "id_offsets", "stored_at", "stored_last")
        ruined = [name for name in tables if not c.intact(name)]
        ids = [doc_id.decode(errors="replace") for doc_id in ids_of(segment)]
        wrong = [name for name in tables if name in c and verify.problem_of(segment, name)]
        if not ruined and (not ids or wrong):
            ruined = wrong or ["id_offsets"]
        if ruined:
            self.lost.append(f"all documents of {segment.name}: section '{ruined[0]}' is damaged")
            return []
        reader = StoredReader(c)
        missing = ~deleted
        documents = []
        for first, lines in reader.intact_blocks(trusted=c.intact("stored")):
            for doc, line in enumerate(lines, first):
                if not deleted[doc] and (document := _document(ids[doc], line)) is not None:
                    documents.append(document)
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
            older = []
            for i in np.flatnonzero(~part.deleted).tolist()[::-1]:
                if part.ids[i] in seen:
                    older.append(i)
                seen.add(part.ids[i])
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
                NewPaths(lambda: self.names.new("segment"), self.names.part),
                positions=manifest.positions,
                origin=recovery_meta(manifest.analyzer, manifest.text_fields, part.generation),
            )
            if built is not None:
                yield SegmentEntry(built.segment.name, built.segment.container.size)
        elif not part.deleted.all():
            entry = SegmentEntry(part.name, part.segment.container.size)
            if part.deleted.any():
                path = self.names.new("deletions")
                deletions = delete(part.segment, no_deletions(part.segment), np.flatnonzero(part.deleted))
                write_deletions(path, deletions, segment=part.name, generation=manifest.generation + 1)
                entry = SegmentEntry(part.name, entry.size, path.name)
            yield entry

    def _copy_aside(self) -> Path | None:
        """Link (or copy) the damaged files into a new folder; the originals go when the new manifest is there."""
        if not self.damaged:
            return None
        n = 1
        while os.path.lexists(self.folder / f"damaged-{n}"):
            n += 1
        aside = self.folder / f"damaged-{n}"
        with storage_errors(aside):
            aside.mkdir()
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
    with open(open_regular(path), "rb") as source, open(target, "xb") as copy:
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

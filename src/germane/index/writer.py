"""The one writer of an index: adds, replaces and deletes documents; each call is one atomic commit.

Readers are never disturbed: files are immutable, a commit replaces the manifest, and what the manifest no longer names
is removed afterwards (a reader that has it mapped keeps it).
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

import numpy as np

from germane.arrays import AnyArray, Integers
from germane.errors import (
    DocumentExistsError,
    IndexFormatError,
    IndexLockedError,
    ParameterError,
    StorageError,
    UnknownDocumentError,
)
from germane.index.deletions import Deletions, delete, no_deletions, write_deletions
from germane.index.durable import LOCK_NAME, WriterLock, make_folder, remove_quietly, storage_errors
from germane.index.graphs import write_graph
from germane.index.ingest import DEFAULT_MEMORY, NewPaths, NewSegment, build_segment
from germane.index.live_segment import LiveSegment
from germane.index.manifest import (
    NAME,
    FileNames,
    Kind,
    Manifest,
    ManifestFile,
    SegmentEntry,
    find_file,
    is_temporary,
    read_manifest,
    recovery_meta,
    stray_files,
    with_graphs,
)
from germane.index.merge import choose_merge, merge_segments, merged_vectors
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot, open_vectors
from germane.index.vector_fields import Stored, VectorField, VectorSource, field_named
from germane.index.vectors import Arriving, VectorFile, write_vectors
from germane.lazy import load_compiler
from germane.text import Analyzer
from germane.types import DocId, Document, id_text
from germane.wording import counted

OnDuplicate = Literal["error", "replace", "skip"]

BACKGROUND_DOCS = 5_000
"""A merge of more documents than this runs beside the writer's work instead of within a commit."""
MANY_ADDS = 8
"""Calls of `add` after which kernels are loaded for small ones too: without them further ones take thrice as long."""

NO_ROWS = np.empty(0, np.int64)


class AddReport(NamedTuple):
    """What an add did."""

    added: int
    replaced: int
    skipped: int


class IndexWriter:
    """Holds the writer's lock until `close`; a second writer gets IndexLockedError.

    `seen`: a snapshot of the index, whose segments are taken over with what is known of them.
    """

    def __init__(self, folder: Path, lock: WriterLock | None = None, seen: Snapshot | None = None) -> None:
        self.folder = folder
        if not (folder / NAME).exists():
            Snapshot.open(folder)  # says why this is not an index
        self._lock = lock or WriterLock(folder)
        self._mutex = threading.RLock()
        self._pending: set[str] = set()
        """Files being made, which no manifest names yet."""
        self._merging: threading.Thread | None = None
        self._in_merge: set[str] = set()
        """Segments that the merge in the background replaces."""
        self._merge_error: BaseException | None = None
        self._n_adds = 0
        self._has_strays = True
        """Whether there may be files that the manifest does not name."""
        try:
            self.snapshot = Snapshot.open(folder, seen, surely=True)
            self._names = FileNames(folder, self.snapshot.manifest.next_file)
        except BaseException:
            self._lock.release()
            raise
        self._remove_strays()

    @classmethod
    def create(
        cls,
        folder: Path,
        analyzer: Analyzer,
        text_fields: Sequence[str],
        *,
        positions: bool = True,
        vector_fields: Mapping[str, VectorField] | None = None,
    ) -> "IndexWriter":
        """Make an empty index in `folder`, which must not hold one. Every index begins here.

        `positions`: whether it keeps the order of words. `vector_fields`: those that documents may bring.
        """
        check_new(folder, text_fields)
        with storage_errors(folder):
            make_folder(folder)
        lock = WriterLock(folder)
        try:
            check_new(folder, text_fields)  # again: another process may have been faster
            Manifest(analyzer, tuple(text_fields), positions=positions, vector_fields=vector_fields or {}).write(folder)
            return cls(folder, lock)
        except BaseException:
            if not (folder / NAME).exists():
                remove_quietly(folder / LOCK_NAME)
            lock.release()
            raise

    # -- changes -------------------------------------------------------------------------------------------------

    def add(
        self,
        documents: Iterable[Document],
        *,
        on_duplicate: OnDuplicate = "error",
        threads: int | None = None,
        memory: int = DEFAULT_MEMORY,
    ) -> AddReport:
        """Add documents; durable and visible on return, or nothing happened.

        An id that is in the index already, or twice in the input: an error, or the newer one replaces the older, or
        the newer one is skipped. `memory`: bytes that building may take.
        """
        if on_duplicate not in ("error", "replace", "skip"):
            raise ParameterError(f"on_duplicate must be 'error', 'replace' or 'skip', not {on_duplicate!r}")
        self._lock.require()
        self._n_adds += 1
        if self._n_adds > MANY_ADDS:
            load_compiler()
        with (
            self._new_files() as paths,
            contextlib.closing(Arriving(self.snapshot.manifest.vector_fields, self.folder)) as arriving,
        ):
            manifest = self.snapshot.manifest
            new = build_segment(
                arriving.through(documents),
                manifest.analyzer,
                manifest.text_fields,
                paths,
                positions=manifest.positions,
                threads=threads,
                memory=memory,
                origin=recovery_meta(manifest.analyzer, manifest.text_fields, manifest.generation + 1),
            )
            if new is None:
                return AddReport(0, 0, 0)
            with self._mutex:
                if self.snapshot.manifest.vector_fields != arriving.fields:
                    raise ParameterError("the vector fields changed while documents were added: add these again")
                vectors = {name: [source] for name, source in arriving.sources(new.sequence).items()}
                fresh = self._with_vectors(_whole(new.segment), vectors, paths)
                report = self._add_segment(new, fresh, on_duplicate, paths)
        with self._mutex:
            self._maintain()
        return report

    def _with_vectors(
        self, live: LiveSegment, vectors: Mapping[str, Sequence[VectorSource]], paths: NewPaths
    ) -> LiveSegment:
        """The segment with a new file of vectors for each of these fields; its others stay."""
        files, fields = dict(live.vectors), self.snapshot.manifest.vector_fields
        for name, sources in vectors.items():
            files.pop(name, None)
            if any(len(source.docs) for source in sources) and name in fields:
                files[name] = self._written_vectors(live.segment, name, fields[name], sources, paths)
        return _replace_vectors(live, files)

    def _written_vectors(
        self, segment: Segment, name: str, field: VectorField, sources: Sequence[VectorSource], paths: NewPaths
    ) -> VectorFile:
        path, generation = paths.vectors(), self.snapshot.manifest.generation + 1
        write_vectors(path, sources, name=name, field=field, segment=segment.name, generation=generation)
        return open_vectors(path, segment, name, field)

    def _add_segment(
        self, new: NewSegment, fresh: LiveSegment, on_duplicate: OnDuplicate, paths: NewPaths
    ) -> AddReport:
        """Commit a new segment."""
        old = self.snapshot.segments
        ids = new.segment.doc_ids(np.arange(new.segment.n_docs))
        clashes = [(i, *pair) for i, live in enumerate(old) for pair in _clashes(live, ids)]
        repeats = new.repeats
        if (clashes or repeats) and on_duplicate == "error":
            raise _exists([ids[doc] for *_, doc in (*clashes, *repeats)])
        replaced, skipped = 0, 0
        doomed_old: list[list[int]] = [[] for _ in old]
        doomed_new: list[int] = []
        if on_duplicate == "replace":
            for i, older, _ in clashes:
                doomed_old[i].append(older)
            doomed_new = [older for older, _ in repeats]
            replaced = len({(i, older) for i, older, _ in clashes}) + len(doomed_new)
        else:
            doomed_new = [newer for *_, newer in (*clashes, *repeats)]
            skipped = len(set(doomed_new))
        fresh = _without(fresh, doomed_new)
        if repeats and fresh.n_docs:  # a segment holds an id once, or looking it up might find the deleted one
            fresh = self._write_merged([fresh], paths)[0]
        changed = [_without(live, doomed) for live, doomed in zip(old, doomed_old, strict=True)]
        self._commit([*changed, fresh])
        return AddReport(new.segment.n_docs - skipped, replaced, skipped)

    def _free(self, segments: Sequence[LiveSegment]) -> list[LiveSegment]:
        """Those that no merge in the background is working on."""
        return [live for live in segments if live.entry.name not in self._in_merge]

    def add_segment(self, write: Callable[[Path, int], None]) -> None:
        """Commit the segment that `write` makes at the path and of the generation it is given, all or nothing.

        Its ids must be new to the index.
        """
        self._lock.require()
        with self._new_files() as paths:
            path = paths.segment()
            write(path, self.snapshot.manifest.generation + 1)
            with self._mutex:
                self._commit([*self.snapshot.segments, _whole(Segment(path, trusted=True))])

    def delete(self, ids: Sequence[DocId], *, missing: Literal["error", "ignore"] = "error") -> int:
        """Delete documents by id; returns how many. An unknown id is an error, and then nothing is deleted."""
        if isinstance(ids, str):
            raise ParameterError("delete takes a list of ids, not one string")
        self._lock.require()
        with self._mutex:
            wanted = list(dict.fromkeys(map(id_text, ids)))
            seen = np.zeros(len(wanted), np.bool_)
            changed = []
            for live in self.snapshot.segments:
                found = live.segment.find_ids(wanted)
                hit = (found >= 0) & ~live.deletions.deleted[np.maximum(found, 0)] if live.segment.n_docs else found > 0
                seen |= hit
                changed.append(live._replace(deletions=delete(live.segment, live.deletions, found[hit])))
            if missing == "error" and not seen.all():
                absent = [doc_id for doc_id, known in zip(wanted, seen.tolist(), strict=True) if not known]
                raise UnknownDocumentError(f"no document with id {_some(absent)} in {self.folder}: nothing was deleted")
            if seen.any():
                self._commit(changed)
                self._maintain()
            return int(seen.sum())

    # -- vectors -------------------------------------------------------------------------------------------------

    def set_vectors(
        self, name: str, field: VectorField, ids: Sequence[str], matrix: AnyArray, *, replace: bool = False
    ) -> int:
        """Give documents vectors, one row of the matrix each; how many. All or nothing.

        A field that the index does not have is made. Documents that are not among `ids` keep the vectors they have,
        unless `replace`: then the field begins anew, and may be another one by the same name.
        """
        known = self.snapshot.manifest.vector_fields.get(name)
        if known is not None and known != field and not replace:
            raise ParameterError(f"the vector field '{name}' is {known}, not {field}: replace=True begins it anew")
        if len(ids) != len(matrix):
            raise ParameterError(f"{len(ids)} ids and {len(matrix)} vectors: there must be as many of each")
        twice = next((doc_id for doc_id, n in Counter(ids).items() if n > 1), None)
        if twice is not None:
            raise ParameterError(f"the id '{twice}' is given twice: nothing was changed")
        with self._unmerged(), self._new_files() as paths:
            changed, found = [], np.zeros(len(ids), np.bool_)
            for live in self.snapshot.segments:
                docs, rows = live_rows(live, ids)
                found[rows] = True
                files = dict(live.vectors)
                before = files.pop(name, None)
                sources = [_given(docs, rows, matrix, name, field, ids)]
                if before is not None and not replace:
                    kept = np.arange(live.segment.n_docs)
                    kept[docs] = -1
                    sources.append(before.source(kept))
                if before is not None and not replace and not len(docs):
                    files[name] = before
                elif any(len(source.docs) for source in sources):
                    files[name] = self._written_vectors(live.segment, name, field, sources, paths)
                changed.append(_replace_vectors(live, files))
            if not found.all():
                absent = [ids[i] for i in np.flatnonzero(~found).tolist()]
                raise UnknownDocumentError(f"no document with id {_some(absent)} in {self.folder}: nothing was changed")
            self._commit(changed, {**self.snapshot.manifest.vector_fields, name: field})
        return len(ids)

    def fill_vectors(self, name: str, field: VectorField, rows_of: Callable[[LiveSegment, Integers], AnyArray]) -> int:
        """Begin a field anew with a vector for every document; how many. All or nothing.

        `rows_of`: the vectors of a segment's live documents, one a row.
        """
        n = 0
        with self._unmerged(), self._new_files() as paths:
            changed = []
            for live in self.snapshot.segments:
                docs = np.flatnonzero(~live.deletions.deleted)
                rows = np.arange(len(docs))
                given = _given(docs, rows, rows_of(live, docs), name, field, live.segment.doc_ids(docs))
                written = self._written_vectors(live.segment, name, field, [given], paths)
                changed.append(_replace_vectors(live, {**live.vectors, name: written}))
                n += len(docs)
            self._commit(changed, {**self.snapshot.manifest.vector_fields, name: field})
        return n

    def add_graph(self, file: VectorFile, content: AnyArray) -> bool:
        """Put a graph beside its vectors; False where these are gone by now."""
        self._lock.require()
        with self._mutex:
            if file.path.name not in self.snapshot.manifest.files():
                return False
            write_graph(file, content)
            return True

    def drop_vectors(self, name: str) -> None:
        """Remove a vector field and all its vectors."""
        field_named(self.snapshot.manifest.vector_fields, name)
        with self._unmerged():
            fields = {own: field for own, field in self.snapshot.manifest.vector_fields.items() if own != name}
            changed = [
                _replace_vectors(live, {own: file for own, file in live.vectors.items() if own != name})
                for live in self.snapshot.segments
            ]
            self._commit(changed, fields)

    @contextlib.contextmanager
    def _unmerged(self) -> Iterator[None]:
        """Holds the mutex while no merge is under way, which would join the vectors of before."""
        while True:
            self._join()
            self._lock.require()
            with self._mutex:
                if not self._in_merge:
                    yield
                    return

    # -- merging by hand -----------------------------------------------------------------------------------------

    def merge(self) -> None:
        """Merge all segments into one, dropping deleted documents for good."""
        self._join()
        self._lock.require()
        with self._mutex:
            self._merge_error = None  # what failed before is done now, or fails again
            segments = self.snapshot.segments
            if len(segments) > 1 or any(live.deletions.n_docs for live in segments):
                self._merge(segments)
            self._remove_strays()

    # -- commits -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _new_files(self) -> Iterator[NewPaths]:
        """Gives out names of new files; what no manifest names in the end is removed."""
        names: set[str] = set()

        def noted(path: Path) -> Path:
            names.add(path.name)
            self._pending.add(path.name)
            return path

        def new(kind: Kind) -> Path:
            with self._mutex:
                return noted(self._names.new(kind))

        try:
            yield NewPaths(lambda: new("segment"), lambda: noted(self._names.part()), lambda: new("vectors"))
        finally:
            with self._mutex:
                had_strays, self._has_strays = self._has_strays, True
                self._pending -= names
                if names <= self.snapshot.manifest.files():
                    self._has_strays = had_strays
                else:
                    self._remove_strays()

    def _commit(self, segments: list[LiveSegment], vector_fields: Mapping[str, VectorField] | None = None) -> None:
        """Write what is new of the deletions, then the manifest. Segments without live documents are dropped.

        `vector_fields`: where they change.
        """
        self._require_own_state()
        kept = [live for live in segments if live.n_docs]
        tidy, self._has_strays = not self._has_strays, True  # until they are removed, whatever comes between
        try:
            before = {live.entry.name: live.deletions for live in self.snapshot.segments}
            kept = [self._with_deletions(live, before.get(live.entry.name)) for live in kept]
            entries = tuple(live.entry for live in kept)
            manifest = self.snapshot.manifest.next(entries, self._names.next, vector_fields)
            replaced = with_graphs(self.snapshot.manifest.files() - manifest.files())
            file = self._write(manifest)
        except BaseException:
            self._take_back()
            raise
        self.snapshot = Snapshot(self.folder, manifest, kept, file, self.snapshot)
        removed = [remove_quietly(self.folder / name) for name in replaced]  # each, whatever became of another
        if all(removed) and tidy:
            self._has_strays = False
        else:
            self._remove_strays()

    def _write(self, manifest: Manifest) -> ManifestFile:
        """Replace the manifest, and tell readers. A write that failed may have replaced it all the same."""
        try:
            return manifest.write(self.folder)
        finally:
            self._lock.count_commit()

    def _require_own_state(self) -> None:
        """Refuse to replace a manifest that this writer did not write or read: what it says would be lost."""
        self._lock.require()
        if not self._is_own_state():
            raise IndexLockedError(
                f"{self.folder} was changed by somebody else since it was opened (commit "
                f"{read_manifest(self.folder).generation}, not {self.snapshot.manifest.generation}): nothing was "
                "written; open the index again"
            )

    def _is_own_state(self) -> bool:
        """Whether the manifest on disk is the one that this writer wrote or read.

        It is read, for much is lost if it is another: a file's time may be coarse, or remembered by a network's client.
        """
        return find_file(self.folder).content == self.snapshot.file.content

    def _take_back(self) -> None:
        """After a commit that failed: where the manifest was replaced already (its folder could not be flushed), put
        the old state back; where that fails too, the new one stands. Either way memory and disk agree afterwards."""
        before = self.snapshot.manifest
        with contextlib.suppress(StorageError, IndexFormatError):
            if read_manifest(self.folder).generation == before.generation + 1:
                self._write(replace(before, generation=before.generation + 2, next_file=self._names.next))
        with contextlib.suppress(IndexFormatError):
            self.snapshot = Snapshot.open(self.folder, self.snapshot, surely=True)
        self._remove_strays()

    def _with_deletions(self, live: LiveSegment, before: Deletions | None) -> LiveSegment:
        """The segment, its entry naming a file of its deletions, which is written if they are not those of before."""
        if live.deletions is before or live.deletions.n_docs == 0:
            return live
        path = self._names.new("deletions")
        generation = self.snapshot.manifest.generation + 1
        write_deletions(path, live.deletions, segment=live.entry.name, generation=generation)
        return live._replace(entry=replace(live.entry, deletions=path.name))

    def _remove_strays(self) -> None:
        """Remove files that the manifest on disk does not name: of killed writers, or of work that failed."""
        if not self._lock.own:
            return
        with self._mutex, contextlib.suppress(IndexFormatError, OSError):
            self._has_strays = True
            manifest = self.snapshot.manifest if self._is_own_state() else read_manifest(self.folder)
            strays = stray_files(self.folder, manifest.files() | self._pending)
            self._has_strays = [remove_quietly(path) for path in strays].count(False) > 0

    # -- merging -------------------------------------------------------------------------------------------------

    def _maintain(self) -> None:
        """Keep the number of segments small: small merges at once, large ones in the background.

        What was committed stands, whether or not a merge succeeds: one that fails is tried again after the next
        change, and `wait` and `close` report the last that failed.
        """
        while True:
            free = self._free(self.snapshot.segments)
            segments = [free[i] for i in choose_merge([(live.n_docs, live.segment.n_docs) for live in free])]
            if not segments:
                return
            if sum(live.n_docs for live in segments) > BACKGROUND_DOCS:
                if self._in_merge:  # one at a time
                    return
                self._in_merge = {live.entry.name for live in segments}
                self._merging = threading.Thread(
                    target=self._merge_behind, args=(segments,), name="germane-merge", daemon=True
                )
                self._merging.start()
                return
            self._merge_quietly(segments)
            if self._merge_error is not None:
                return

    def _merge_behind(self, segments: list[LiveSegment]) -> None:
        try:
            self._merge_quietly(segments)
        finally:
            with self._mutex:
                self._in_merge = set()

    def _merge_quietly(self, segments: list[LiveSegment]) -> None:
        try:
            self._merge(segments)
            self._merge_error = None
        except Exception as error:
            self._merge_error = error

    def _raise_merge_error(self) -> None:
        error, self._merge_error = self._merge_error, None
        if error is not None:
            raise error

    def _merge(self, segments: list[LiveSegment]) -> None:
        """Replace `segments` by one; documents deleted while the merge ran are deleted in its result."""
        with self._new_files() as paths:
            whole, remap = self._write_merged(segments, paths)
            with self._mutex:
                current = {live.entry.name: live for live in self.snapshot.segments}
                late: list[Integers] = []
                for live, m in zip(segments, remap, strict=True):
                    now = current.get(live.entry.name)  # gone if all its documents were deleted meanwhile
                    late.append(m[m >= 0] if now is None else m[now.deletions.deleted & (m >= 0)])
                result = whole._replace(deletions=delete(whole.segment, whole.deletions, np.concatenate(late)))
                names = {live.entry.name for live in segments}
                places = [i for i, live in enumerate(self.snapshot.segments) if live.entry.name in names]
                before = places[0] if places else 0
                others = [live for live in self.snapshot.segments if live.entry.name not in names]
                self._commit([*others[:before], result, *others[before:]])

    def _write_merged(self, segments: list[LiveSegment], paths: NewPaths) -> tuple[LiveSegment, list[Integers]]:
        manifest, path = self.snapshot.manifest, paths.segment()
        remap = merge_segments(
            segments,
            manifest.text_fields,
            path,
            analyzer=manifest.analyzer,
            merged_at=manifest.generation,
            replaces=[live.segment.name for live in segments],
        )
        merged = _whole(Segment(path, trusted=True))
        return self._with_vectors(merged, merged_vectors(segments, remap), paths), remap

    @property
    def is_merging(self) -> bool:
        """Whether a merge runs in the background."""
        return self._merging is not None and self._merging.is_alive()

    def _join(self) -> None:
        merging = self._merging
        if merging is not None:
            merging.join()

    def wait(self) -> None:
        """Wait for a background merge."""
        self._join()
        self._raise_merge_error()

    def remove(self) -> None:
        """Take the index away, its manifest first; the folder stays, with what else is in it."""
        if not self._lock.own:  # a forked child: the index is the parent's
            return
        self._join()
        remove_quietly(self.folder / NAME)
        for path in stray_files(self.folder, set()):
            remove_quietly(path)
        remove_quietly(self.folder / LOCK_NAME)

    def close(self) -> None:
        """Finish background work and let the next writer in."""
        try:
            self.wait()
        finally:
            self._lock.release()

    def __enter__(self) -> "IndexWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_new(folder: Path, text_fields: Sequence[str]) -> None:
    """An index can be made in an empty folder; what an interrupted attempt leaves behind does not count."""
    if not text_fields or isinstance(text_fields, str):
        raise ParameterError("an index needs a list of at least one text field")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise IndexFormatError(f"{folder}: an index is a folder, and this is a file")
    if (folder / NAME).exists():
        raise IndexFormatError(
            f"{folder} already holds an index: Engine.open({str(folder)!r}) opens it; or choose another folder"
        )
    if any(path.name != LOCK_NAME and not is_temporary(path.name) for path in folder.iterdir()):
        raise IndexFormatError(f"{folder} is not empty and not an index: choose another folder")


@contextlib.contextmanager
def new_index(
    folder: Path,
    analyzer: Analyzer,
    text_fields: Sequence[str],
    *,
    positions: bool = True,
    vector_fields: Mapping[str, VectorField] | None = None,
) -> Iterator[IndexWriter]:
    """A new index to fill, all or nothing: if that fails, the files and folders made here are removed again."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with IndexWriter.create(
            folder, analyzer, text_fields, positions=positions, vector_fields=vector_fields
        ) as writer:
            try:
                yield writer
            except BaseException:
                writer.remove()
                raise
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _whole(segment: Segment) -> LiveSegment:
    """A new segment of which nothing is deleted."""
    return LiveSegment(segment, no_deletions(segment), SegmentEntry(segment.name, segment.container.size))


def _replace_vectors(live: LiveSegment, files: Mapping[str, VectorFile]) -> LiveSegment:
    """The segment with these files of vectors."""
    named = tuple((name, files[name].path.name) for name in sorted(files))
    return live._replace(entry=replace(live.entry, vectors=named), vectors=dict(files))


def live_rows(live: LiveSegment, ids: Sequence[str]) -> tuple[Integers, Integers]:
    """The live documents of a segment among `ids`, and the place of each there."""
    found = live.segment.find_ids(ids)
    if found.max(initial=-1) < 0:
        return NO_ROWS, NO_ROWS
    rows = np.flatnonzero(found >= 0)
    rows = rows[~live.deletions.deleted[found[rows]]]
    return found[rows], rows


def _given(
    docs: Integers, rows: Integers, matrix: AnyArray, name: str, field: VectorField, ids: Sequence[str]
) -> VectorSource:
    """Rows of a matrix as the vectors of documents; they are checked as they are fetched."""

    def fetch(chosen: Integers) -> Stored:
        return field.stored(field.checked(matrix[chosen], name, lambda i: f"document '{ids[chosen[i]]}'"))

    return VectorSource(docs, rows, fetch)


def _clashes(live: LiveSegment, ids: Sequence[str]) -> list[tuple[int, int]]:
    """(live document, position in `ids`) for every id that the segment holds already."""
    docs, positions = live_rows(live, ids)
    return list(zip(docs.tolist(), positions.tolist(), strict=True))


def _without(live: LiveSegment, docs: list[int]) -> LiveSegment:
    return live if not docs else live._replace(deletions=delete(live.segment, live.deletions, np.array(docs, np.int64)))


def _some(ids: list[str]) -> str:
    return ", ".join(f"'{doc_id}'" for doc_id in ids[:3]) + (" ..." if len(ids) > 3 else "")


def _exists(ids: list[str]) -> DocumentExistsError:
    return DocumentExistsError(
        f"{counted(len(ids), 'document has', 'documents have')} an id that the index or the input holds already "
        f"({_some(ids)}): nothing was added; "
        "on_duplicate='replace', on_duplicate='skip' or on_duplicate='merge' says what becomes of them"
    )

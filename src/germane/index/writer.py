"""The one writer of an index: adds, replaces and deletes documents; each call is one atomic commit.

Readers are never disturbed: files are immutable, a commit replaces the manifest, and what the manifest no longer names
is removed afterwards (a reader that has it mapped keeps it).
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

import numpy as np

from germane.errors import DocumentExistsError, IndexFormatError, ParameterError, UnknownDocumentError
from germane.index.commits import Commits
from germane.index.deletions import delete
from germane.index.durable import LOCK_NAME, WriterLock, make_folder, remove_quietly, storage_errors
from germane.index.ingest import DEFAULT_MEMORY, NewPaths, NewSegment, build_segment
from germane.index.live_segment import LiveSegment, whole
from germane.index.manifest import NAME, Manifest, is_temporary, recovery_meta
from germane.index.merge_scheduler import MergeScheduler
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.index.vector_changes import VectorChanges, live_rows, with_vectors
from germane.index.vector_fields import VectorField
from germane.index.vectors import Arriving
from germane.lazy import load_compiler
from germane.text import Analyzer
from germane.types import DocId, Document, id_text
from germane.wording import counted, some_of

OnDuplicate = Literal["error", "replace", "skip"]

MANY_ADDS = 8
"""Calls of `add` after which kernels are loaded for small ones too: without them further ones take thrice as long."""


class AddReport(NamedTuple):
    """What an add did."""

    added: int
    replaced: int
    skipped: int


class IndexWriter:
    """Adds and deletes documents, each call one commit. Holds the writer's lock until `close`; a second writer gets
    IndexLockedError.

    `merges` schedules merges, `vectors` changes vector fields. `seen`: a snapshot of the index, whose segments are
    taken over with what is known of them.
    """

    def __init__(self, folder: Path, lock: WriterLock | None = None, seen: Snapshot | None = None) -> None:
        self.folder = folder
        if not (folder / NAME).exists():
            Snapshot.open(folder)  # says why this is not an index
        self._commits = Commits(folder, lock or WriterLock(folder), seen)
        self.merges = MergeScheduler(self._commits)
        self.vectors = VectorChanges(self._commits, self.merges.unmerged)
        self._n_adds = 0

    @property
    def snapshot(self) -> Snapshot:
        """The last commit."""
        return self._commits.snapshot

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
        self._commits.lock.require()
        self._n_adds += 1
        if self._n_adds > MANY_ADDS:
            load_compiler()
        with (
            self._commits.new_files() as paths,
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
            with self._commits.mutex:
                if self.snapshot.manifest.vector_fields != arriving.fields:
                    raise ParameterError("the vector fields changed while documents were added: add these again")
                vectors = {name: [source] for name, source in arriving.sources(new.sequence).items()}
                fresh = with_vectors(self._commits, whole(new.segment), vectors, paths)
                report = self._add_segment(new, fresh, on_duplicate, paths)
        with self._commits.mutex:
            self.merges.maintain()
        return report

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
            fresh = self.merges.write_merged([fresh], paths)[0]
        changed = [_without(live, doomed) for live, doomed in zip(old, doomed_old, strict=True)]
        self._commits.commit([*changed, fresh])
        return AddReport(new.segment.n_docs - skipped, replaced, skipped)

    def add_segment(self, write: Callable[[Path, int], None]) -> None:
        """Commit the segment that `write` makes at the path and of the generation it is given, all or nothing.

        Its ids must be new to the index.
        """
        self._commits.lock.require()
        with self._commits.new_files() as paths:
            path = paths.segment()
            write(path, self.snapshot.manifest.generation + 1)
            with self._commits.mutex:
                self._commits.commit([*self.snapshot.segments, whole(Segment(path, trusted=True))])

    def delete(self, ids: Sequence[DocId], *, missing: Literal["error", "ignore"] = "error") -> int:
        """Delete documents by id; returns how many. An unknown id is an error, and then nothing is deleted."""
        if isinstance(ids, str):
            raise ParameterError("delete takes a list of ids, not one string")
        self._commits.lock.require()
        with self._commits.mutex:
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
                raise UnknownDocumentError(
                    f"no document with id {some_of(absent)} in {self.folder}: nothing was deleted"
                )
            if seen.any():
                self._commits.commit(changed)
                self.merges.maintain()
            return int(seen.sum())

    def remove(self) -> None:
        """Take the index away; the folder stays, with what else is in it."""
        if self._commits.lock.own:  # in a forked child the index is the parent's
            self.merges.join()
            self._commits.remove_all()

    def close(self) -> None:
        """Finish background work and let the next writer in."""
        try:
            self.merges.wait()
        finally:
            self._commits.lock.release()

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


def _clashes(live: LiveSegment, ids: Sequence[str]) -> list[tuple[int, int]]:
    """(live document, position in `ids`) for every id that the segment holds already."""
    docs, positions = live_rows(live, ids)
    return list(zip(docs.tolist(), positions.tolist(), strict=True))


def _without(live: LiveSegment, docs: list[int]) -> LiveSegment:
    return live if not docs else live._replace(deletions=delete(live.segment, live.deletions, np.array(docs, np.int64)))


def _exists(ids: list[str]) -> DocumentExistsError:
    return DocumentExistsError(
        f"{counted(len(ids), 'document has', 'documents have')} an id that the index or the input holds already "
        f"({some_of(ids)}): nothing was added; "
        "on_duplicate='replace', on_duplicate='skip' or on_duplicate='merge' says what becomes of them"
    )

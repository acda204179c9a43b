"""The commits of the one writer of an index: new files, then the manifest that names them, then what nobody names.

Readers are never disturbed: files are immutable, a commit replaces the manifest, and what the manifest no longer names
is removed afterwards (a reader that has it mapped keeps it).
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from germane.errors import IndexFormatError, IndexLockedError, StorageError
from germane.index.deletions import Deletions, write_deletions
from germane.index.durable import LOCK_NAME, WriterLock, remove_quietly
from germane.index.ingest import NewPaths
from germane.index.live_segment import LiveSegment
from germane.index.manifest import (
    NAME,
    FileNames,
    Kind,
    Manifest,
    ManifestFile,
    find_file,
    read_manifest,
    stray_files,
    with_graphs,
)
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import VectorField


class Commits:
    """The last commit (`snapshot`) and the next: holds the writer's lock until `release`.

    `mutex` is held while the snapshot is changed. `seen`: a snapshot of the index, whose segments are taken over with
    what is known of them.
    """

    def __init__(self, folder: Path, lock: WriterLock, seen: Snapshot | None = None) -> None:
        self.folder, self.lock = folder, lock
        self.mutex = threading.RLock()
        self._pending: set[str] = set()
        """Files being made, which no manifest names yet."""
        self._has_strays = True
        """Whether there may be files that the manifest does not name."""
        try:
            self.snapshot = Snapshot.open(folder, seen, surely=True)
            self._names = FileNames(folder, self.snapshot.manifest.next_file)
        except BaseException:
            self.lock.release()
            raise
        self.remove_strays()

    @contextlib.contextmanager
    def new_files(self) -> Iterator[NewPaths]:
        """Gives out names of new files; what no manifest names in the end is removed."""
        names: set[str] = set()

        def noted(path: Path) -> Path:
            names.add(path.name)
            self._pending.add(path.name)
            return path

        def new(kind: Kind) -> Path:
            with self.mutex:
                return noted(self._names.new(kind))

        try:
            yield NewPaths(lambda: new("segment"), lambda: noted(self._names.part()), lambda: new("vectors"))
        finally:
            with self.mutex:
                had_strays, self._has_strays = self._has_strays, True
                self._pending -= names
                if names <= self.snapshot.manifest.files():
                    self._has_strays = had_strays
                else:
                    self.remove_strays()

    def commit(self, segments: list[LiveSegment], vector_fields: Mapping[str, VectorField] | None = None) -> None:
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
        self.snapshot = Snapshot(self.folder, manifest, kept, file)
        removed = [remove_quietly(self.folder / name) for name in replaced]  # each, whatever became of another
        if all(removed) and tidy:
            self._has_strays = False
        else:
            self.remove_strays()

    def _write(self, manifest: Manifest) -> ManifestFile:
        """Replace the manifest, and tell readers. A write that failed may have replaced it all the same."""
        try:
            return manifest.write(self.folder)
        finally:
            self.lock.count_commit()

    def _require_own_state(self) -> None:
        """Refuse to replace a manifest that this writer did not write or read: what it says would be lost."""
        self.lock.require()
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
        self.remove_strays()

    def _with_deletions(self, live: LiveSegment, before: Deletions | None) -> LiveSegment:
        """The segment, its entry naming a file of its deletions, which is written if they are not those of before."""
        if live.deletions is before or live.deletions.n_docs == 0:
            return live
        path = self._names.new("deletions")
        generation = self.snapshot.manifest.generation + 1
        write_deletions(path, live.deletions, segment=live.entry.name, generation=generation)
        return live._replace(entry=replace(live.entry, deletions=path.name))

    def remove_strays(self) -> None:
        """Remove files that the manifest on disk does not name: of killed writers, or of work that failed."""
        if not self.lock.own:
            return
        with self.mutex, contextlib.suppress(IndexFormatError, OSError):
            self._has_strays = True
            manifest = self.snapshot.manifest if self._is_own_state() else read_manifest(self.folder)
            strays = stray_files(self.folder, manifest.files() | self._pending)
            self._has_strays = [remove_quietly(path) for path in strays].count(False) > 0

    def remove_all(self) -> None:
        """Take the index away, its manifest first; the folder stays, with what else is in it."""
        remove_quietly(self.folder / NAME)
        for path in stray_files(self.folder, set()):
            remove_quietly(path)
        remove_quietly(self.folder / LOCK_NAME)

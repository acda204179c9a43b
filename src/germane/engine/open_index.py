"""An index that is open: for searching at once, for writing from the first change on.

The writer's lock is taken by the first change and kept for the next ones, which is quicker. A thread looks every
`IDLE_SECONDS` whether there were any and else gives the lock back, so that others can write while this index stays
open. It ends with the lock, and holds no index that is forgotten.
"""

import atexit
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from germane.errors import EngineClosedError, ParameterError
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import VectorField, fields_of
from germane.index.writer import IndexWriter
from germane.lm.parameters import number
from germane.rank.retrievers.local import SnapshotRetriever
from germane.text import Analyzer

MEMORY = ":memory:"
"""The path of an index that is not kept."""
IDLE_SECONDS = 0.5
"""Seconds after its last change until an index gives the writer's lock back; less than a waiting writer waits
(`durable.PATIENCE`)."""


class OpenIndex:
    """A folder with an index, the generation that is searched now, and the writer while there is one."""

    def __init__(self, folder: Path, snapshot: Snapshot, writer: IndexWriter | None = None) -> None:
        self.folder = folder
        self._retriever = SnapshotRetriever(snapshot)
        self._writer = writer
        self._closed = False
        self._vanishing: weakref.finalize[Any, OpenIndex] | None = None
        self._looked = self._changed = time.monotonic()
        self._changing, self._showing = threading.Lock(), threading.Lock()
        self._watched = False
        """Whether a thread looks when nothing is changed any more."""
        self._merge_error: Exception | None = None
        """Why a merge in the background failed of a writer that is gone."""
        if writer is not None:
            self._watch()

    # -- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str) -> "OpenIndex":
        """Open the last commit."""
        if path == MEMORY:
            raise ParameterError("an index in memory is never there to be opened: Engine.create(':memory:') makes one")
        return cls(Path(path), Snapshot.open(Path(path)))

    @classmethod
    def create(
        cls,
        path: str,
        analyzer: Analyzer | None,
        fields: Sequence[str],
        *,
        positions: bool,
        vectors: Mapping[str, VectorField | int | str] | None,
    ) -> "OpenIndex":
        """Make an empty index; one in memory lies in a temporary folder, which is removed with it."""
        if path != MEMORY:
            return cls._created(Path(path), analyzer, fields, positions, vectors)
        folder = Path(tempfile.mkdtemp(prefix="germane-"))
        vanish = partial(shutil.rmtree, folder, ignore_errors=True)
        try:
            made = cls._created(folder, analyzer, fields, positions, vectors)
        except BaseException:
            vanish()
            raise
        made._vanishing = weakref.finalize(made, vanish)
        return made

    @classmethod
    def _created(
        cls,
        folder: Path,
        analyzer: Analyzer | None,
        fields: Sequence[str],
        positions: bool,
        vectors: Mapping[str, VectorField | int | str] | None,
    ) -> "OpenIndex":
        named = fields_of(vectors)
        writer = IndexWriter.create(folder, analyzer or Analyzer(), fields, positions=positions, vector_fields=named)
        return cls.of_writer(folder, writer)

    @classmethod
    def of_writer(cls, folder: Path, writer: IndexWriter) -> "OpenIndex":
        """Take over a writer that is open."""
        return cls(folder, writer.snapshot, writer)

    @property
    def paths(self) -> str:
        """Path that opens the index in another process."""
        return str(self.folder.absolute())

    @property
    def vanishes(self) -> bool:
        """Whether the index is not kept."""
        return self._vanishing is not None

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def retriever(self) -> SnapshotRetriever:
        """The generation that is shown now; it stays as it is whatever is changed."""
        return self._retriever

    def refresh(self, within: float) -> None:
        """Show what others have committed, unless that was looked for within so many seconds; never less than before.

        A commit costs a reader about a millisecond.
        """
        now = time.monotonic()
        if now - self._looked < number("within", within):
            return
        while True:
            shown = self._retriever
            snapshot = Snapshot.open(self.folder, shown.snapshot)
            if snapshot is shown.snapshot:
                self._looked = now
                return
            with self._showing:
                if self._retriever is shown:  # else something came between, and may be newer: look again
                    self._show(snapshot)
                    self._looked = now
                    return

    def _show(self, snapshot: Snapshot) -> None:
        """Search this snapshot from now on; `_showing` is held."""
        if snapshot is not self._retriever.snapshot:
            self._retriever = SnapshotRetriever(snapshot, self._retriever)

    def _show_written(self, writer: IndexWriter) -> None:
        """Show what the writer committed; a refresh may have seen more of it, from a merge in the background."""
        self._changed = time.monotonic()
        with self._showing:
            if writer.snapshot.manifest.generation > self._retriever.snapshot.manifest.generation:
                self._show(writer.snapshot)

    # -- writing ---------------------------------------------------------------------------------------------------

    @contextmanager
    def changing(self) -> Iterator[IndexWriter]:
        """Give the writer for one change, and show what it committed."""
        with self._changing:
            writer = self._writing()
            yield writer
            self._show_written(writer)

    def _writing(self) -> IndexWriter:
        if self._closed:
            gone = "its index in memory is gone: Engine.create(':memory:') makes a new one"
            there = f"changes nothing any more: Engine.open('{self.folder}') opens its index again"
            raise EngineClosedError(f"this engine was closed, and {gone if self.vanishes else there}")
        if self._writer is None:
            self._writer = IndexWriter(self.folder, seen=self._retriever.snapshot)
            with self._showing:
                self._show(self._writer.snapshot)
        self._changed = time.monotonic()
        if not self._watched:
            self._watch()
        return self._writer

    @property
    def closed(self) -> bool:
        """Whether nothing can be changed any more."""
        return self._closed

    def close(self) -> None:
        """Finish background merging, let other writers in, and change nothing any more."""
        with self._changing:
            self._closed = True
            self._let_others_write()
            if self._vanishing is not None:
                self._vanishing()

    def release(self) -> None:
        """Finish background merging and let other writers in; the next change takes the lock again."""
        with self._changing:
            self._let_others_write()

    def _let_others_write(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._merge_error = None
            writer.close()
            self._show_written(writer)
        error, self._merge_error = self._merge_error, None
        if error is not None:
            raise error

    # -- idling ----------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        self._watched = True
        let_go_when_idle(self)

    def gave_back(self, idle: float) -> bool:
        """Let others write if nothing was changed for so many seconds; return whether there is no writer now."""
        if not self._changing.acquire(blocking=False):
            return False
        try:
            writer = self._writer
            if writer is not None and (writer.merges.is_running or time.monotonic() - self._changed < idle):
                return False
            self._watched = False
            try:
                if writer is not None:
                    self._let_others_write()
            except Exception as error:  # raised by `release` or `close`
                self._merge_error = error
            return True
        finally:
            self._changing.release()


def let_go_when_idle(index: OpenIndex) -> None:
    """Have an index that has just taken the writer's lock give it back when it is idle."""
    known = weakref.ref(index)
    thread = threading.Thread(target=_give_back_when_idle, args=(known,), name="germane-idle", daemon=True)
    thread.start()
    _watching.add(thread)


_ending = threading.Event()
_watching: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _end_watching() -> None:
    """End the threads that wait: one that outlives the interpreter keeps modules, and libraries complain."""
    _ending.set()
    for thread in [*_watching]:
        thread.join(IDLE_SECONDS)


def _give_back_when_idle(known: "weakref.ref[OpenIndex]") -> None:
    while not _ending.wait(IDLE_SECONDS):
        index = known()
        if index is None or index.gave_back(IDLE_SECONDS):
            return
        del index  # not kept while this sleeps

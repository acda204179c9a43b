"""When segments are merged, and where: small merges within the writer's call, large ones in a thread beside it."""

import contextlib
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from germane.arrays import Integers
from germane.index.commits import Commits
from germane.index.deletions import delete
from germane.index.ingest import NewPaths
from germane.index.live_segment import LiveSegment, whole
from germane.index.merge import choose_merge, merge_segments, merged_vectors
from germane.index.segment import Segment
from germane.index.vector_changes import with_vectors

BACKGROUND_DOCS = 5_000
"""A merge of more documents than this runs beside the writer's work instead of within a commit."""


class MergeScheduler:
    """Keeps the number of segments small. One merge at a time runs in the background."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._thread: threading.Thread | None = None
        self._replaced: set[str] = set()
        """Segments that the merge in the background replaces."""
        self._error: BaseException | None = None

    def maintain(self) -> None:
        """Keep the number of segments small: small merges at once, large ones in the background.

        What was committed stands, whether or not a merge succeeds: one that fails is tried again after the next
        change, and `wait` and `close` report the last that failed.
        """
        while True:
            free = self._free(self._commits.snapshot.segments)
            segments = [free[i] for i in choose_merge([(live.n_docs, live.segment.n_docs) for live in free])]
            if not segments:
                return
            if sum(live.n_docs for live in segments) > BACKGROUND_DOCS:
                if self._replaced:  # one at a time
                    return
                self._replaced = {live.entry.name for live in segments}
                self._thread = threading.Thread(
                    target=self._merge_behind, args=(segments,), name="germane-merge", daemon=True
                )
                self._thread.start()
                return
            self._merge_quietly(segments)
            if self._error is not None:
                return

    def _free(self, segments: Sequence[LiveSegment]) -> list[LiveSegment]:
        """Those that no merge in the background is working on."""
        return [live for live in segments if live.entry.name not in self._replaced]

    def _merge_behind(self, segments: list[LiveSegment]) -> None:
        try:
            self._merge_quietly(segments)
        finally:
            with self._commits.mutex:
                self._replaced = set()

    def _merge_quietly(self, segments: list[LiveSegment]) -> None:
        try:
            self._merge(segments)
            self._error = None
        except Exception as error:
            self._error = error

    def _raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _merge(self, segments: list[LiveSegment]) -> None:
        """Replace `segments` by one; documents deleted while the merge ran are deleted in its result."""
        with self._commits.new_files() as paths:
            merged, remap = self.write_merged(segments, paths)
            with self._commits.mutex:
                current = {live.entry.name: live for live in self._commits.snapshot.segments}
                late: list[Integers] = []
                for live, m in zip(segments, remap, strict=True):
                    now = current.get(live.entry.name)  # gone if all its documents were deleted meanwhile
                    late.append(m[m >= 0] if now is None else m[now.deletions.deleted & (m >= 0)])
                result = merged._replace(deletions=delete(merged.segment, merged.deletions, np.concatenate(late)))
                names = {live.entry.name for live in segments}
                places = [i for i, live in enumerate(self._commits.snapshot.segments) if live.entry.name in names]
                before = places[0] if places else 0
                others = [live for live in self._commits.snapshot.segments if live.entry.name not in names]
                self._commits.commit([*others[:before], result, *others[before:]])

    def write_merged(self, segments: list[LiveSegment], paths: NewPaths) -> tuple[LiveSegment, list[Integers]]:
        """Write the merged segment of some, with its vectors, and return the renumbering of their documents."""
        manifest, path = self._commits.snapshot.manifest, paths.segment()
        remap = merge_segments(
            segments,
            manifest.text_fields,
            path,
            analyzer=manifest.analyzer,
            merged_at=manifest.generation,
            replaces=[live.segment.name for live in segments],
        )
        merged = whole(Segment(path, trusted=True))
        return with_vectors(self._commits, merged, merged_vectors(segments, remap), paths), remap

    def merge_all(self) -> None:
        """Merge all segments into one, dropping deleted documents for good."""
        self.join()
        self._commits.lock.require()
        with self._commits.mutex:
            self._error = None  # what failed before is done now, or fails again
            segments = self._commits.snapshot.segments
            if len(segments) > 1 or any(live.deletions.n_docs for live in segments):
                self._merge(segments)
            self._commits.remove_strays()

    @contextlib.contextmanager
    def unmerged(self) -> Iterator[None]:
        """Holds the mutex while no merge is under way, which would join the vectors of before."""
        while True:
            self.join()
            self._commits.lock.require()
            with self._commits.mutex:
                if not self._replaced:
                    yield
                    return

    @property
    def is_running(self) -> bool:
        """Whether a merge runs in the background."""
        return self._thread is not None and self._thread.is_alive()

    def join(self) -> None:
        """Wait until no merge runs."""
        merging = self._thread
        if merging is not None:
            merging.join()

    def wait(self) -> None:
        """Wait for a background merge."""
        self.join()
        self._raise_error()

"""Documents to segments, on all cores, within a memory budget.

Batches of documents go round-robin to worker threads, each with its own SegmentBuilder; analysis, inversion and
compression run in kernels that release the interpreter, so the threads truly work side by side. Which worker gets which
batch depends on the input and the number of threads only: the same call makes the same segments.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.index import string_kernels
from germane.index.builder import SegmentBuilder
from germane.index.deletions import no_deletions
from germane.index.durable import remove_quietly
from germane.index.manifest import SegmentEntry
from germane.index.merge import merge_segments
from germane.index.segment import Segment
from germane.index.snapshot import LiveSegment
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer
from germane.types import Document

DEFAULT_MEMORY = 128 << 20
MIN_MEMORY = 32 << 20
BATCH = 512

NewPath = Callable[[], Path]


@dataclass(slots=True)
class NewSegment:
    """A segment just built: where its documents stood in the input, and pairs of documents with the same id."""

    segment: Segment
    sequence: Integers

    @property
    def repeats(self) -> list[tuple[int, int]]:
        """Documents of the same id, each with the next one in the input."""
        container = self.segment.container
        pairs = np.empty((self.segment.n_docs, 2), np.int64)
        n = string_kernels.repeated_strings(
            container["id_bytes"], container["id_offsets"], container["id_order"], self.sequence, pairs
        )
        return [(int(older), int(newer)) for older, newer in pairs[:n]]


def build_segment(
    documents: Iterable[Document],
    analyzer: Analyzer,
    text_fields: tuple[str, ...],
    new_path: NewPath,
    *,
    threads: int | None = None,
    memory: int = DEFAULT_MEMORY,
    origin: Mapping[str, Any],
) -> NewSegment | None:
    """Build one segment from documents, by way of several where memory or threads ask for it; None of no documents.

    `origin` is its meta data (`index.manifest.recovery_meta`).
    """
    if memory < MIN_MEMORY:
        raise ParameterError(f"memory must be at least {MIN_MEMORY >> 20} MiB")
    n = threads if threads is not None else os.cpu_count() or 1
    if n < 1:
        raise ParameterError("threads must be at least 1")
    batches = _batches(documents)
    first = next(batches, None)
    if first is None:
        return None
    if n == 1 or len(first[1]) < BATCH:
        built = _Worker(analyzer, text_fields, new_path, memory, origin).run(chain((first,), batches))
    else:
        workers = [_Worker(analyzer, text_fields, new_path, memory // n, origin) for _ in range(n)]
        built = _run_threads(chain((first,), batches), workers)
    return _merge_new(built, analyzer, text_fields, new_path) if len(built) > 1 else built[0]


Batch = tuple[int, list[Document]]


def _batches(documents: Iterable[Document]) -> Iterator[Batch]:
    iterator, at = iter(documents), 0
    while batch := list(islice(iterator, BATCH)):
        yield at, batch
        at += len(batch)


class _Worker:
    """Fills one builder after the other."""

    def __init__(
        self,
        analyzer: Analyzer,
        text_fields: tuple[str, ...],
        new_path: NewPath,
        memory: int,
        origin: Mapping[str, Any],
    ) -> None:
        self._settings = analyzer, text_fields
        self._new_path = new_path
        self._memory = memory
        self._origin = origin

    def run(self, batches: Iterable[Batch]) -> list[NewSegment]:
        """Build segments from all batches."""
        built: list[NewSegment] = []
        bulk = BulkAnalyzer(self._settings[0])
        builder = SegmentBuilder(*self._settings, bulk)
        for at, batch in batches:
            builder.add(batch, at)
            if builder.memory > self._memory:
                built.append(self._write(builder))
                if bulk.memory > self._memory // 2:  # the words alone would fill the next one
                    bulk = BulkAnalyzer(self._settings[0])
                builder = SegmentBuilder(*self._settings, bulk)
        if len(builder):
            built.append(self._write(builder))
        return built

    def _write(self, builder: SegmentBuilder) -> NewSegment:
        path = self._new_path()
        builder.write(path, self._origin)
        return NewSegment(Segment(path), builder.sequence)


def _run_threads(batches: Iterator[Batch], workers: list[_Worker]) -> list[NewSegment]:
    """Deal the batches to the workers in turn; the first error stops all."""
    queues: list[queue.Queue[Batch | None]] = [queue.Queue(maxsize=4) for _ in workers]
    results: list[list[NewSegment]] = [[] for _ in workers]
    errors: list[BaseException] = []

    def feed(i: int) -> Iterator[Batch]:
        while (batch := queues[i].get()) is not None:
            if not errors:
                yield batch

    def work(i: int) -> None:
        try:
            results[i] = workers[i].run(feed(i))
        except BaseException as error:
            errors.append(error)
            while queues[i].get() is not None:  # let the feeding thread go on to its end
                continue

    crew = [threading.Thread(target=work, args=(i,)) for i in range(len(workers))]
    for thread in crew:
        thread.start()
    try:
        for turn, batch in enumerate(batches):
            if errors:
                break
            queues[turn % len(workers)].put(batch)
    finally:
        for waiting in queues:
            waiting.put(None)
        for thread in crew:
            thread.join()
    if errors:
        raise errors[0]
    return [new for result in results for new in result]


def _merge_new(
    built: list[NewSegment], analyzer: Analyzer, text_fields: tuple[str, ...], new_path: NewPath
) -> NewSegment:
    """One segment of several that nobody else knows yet; their files are removed."""
    path = new_path()
    lives = [
        LiveSegment(new.segment, no_deletions(new.segment), SegmentEntry(new.segment.name, new.segment.container.size))
        for new in built
    ]
    merge_segments(lives, text_fields, path, analyzer=analyzer, merged_at=0)
    for new in built:
        remove_quietly(new.segment.path)
    return NewSegment(Segment(path), np.concatenate([new.sequence for new in built]))

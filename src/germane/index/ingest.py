"""Documents to segments, on all cores, within a memory budget.

Batches of documents go round-robin to worker threads, each with its own SegmentBuilder; analysis, inversion and
compression run in kernels that release the interpreter, so the threads truly work side by side. Which worker gets which
batch depends on the input, the memory and the number of threads only: the same call makes the same bytes.
"""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.index.builder import SegmentBuilder
from germane.index.deletions import no_deletions
from germane.index.durable import remove_quietly
from germane.index.heap import give_back
from germane.index.live_segment import LiveSegment
from germane.index.manifest import SegmentEntry
from germane.index.merge import merge_segments
from germane.index.segment import Segment
from germane.index.strings import repeated_packed
from germane.lazy import is_few, load_compiler
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer
from germane.types import Document

DEFAULT_MEMORY = 128 << 20
MIN_MEMORY = 32 << 20
BATCH = 512


class NewPaths(NamedTuple):
    """Names for a new segment, for parts that are joined to one, and for vectors."""

    segment: Callable[[], Path]
    part: Callable[[], Path]
    vectors: Callable[[], Path]


@dataclass(slots=True)
class NewSegment:
    """A segment just built: where its documents stood in the input, and pairs of documents with the same id."""

    segment: Segment
    sequence: Integers

    @property
    def repeats(self) -> list[tuple[int, int]]:
        """Documents of the same id, each with the next one in the input."""
        return repeated_packed(self.segment.packed("id"), self.segment.container["id_order"], self.sequence)


def build_segment(
    documents: Iterable[Document],
    analyzer: Analyzer,
    text_fields: tuple[str, ...],
    paths: NewPaths,
    *,
    positions: bool,
    threads: int | None = None,
    memory: int = DEFAULT_MEMORY,
    origin: Mapping[str, Any],
) -> NewSegment | None:
    """Build one segment from documents, by way of several where memory or threads ask for it; None of no documents.

    `positions`: whether the order of words is kept. `origin` is its meta data (`index.manifest.recovery_meta`).
    """
    if memory < MIN_MEMORY:
        raise ParameterError(f"memory must be at least {MIN_MEMORY >> 20} MiB")
    n = threads if threads is not None else os.cpu_count() or 1
    if n < 1:
        raise ParameterError("threads must be at least 1")
    batches = _batches(documents)
    first, are_all = _few_of(batches, text_fields)
    if not first:
        return None
    everything = chain(first, batches)
    if n == 1 or are_all:
        built = _Worker(analyzer, text_fields, positions, paths, memory, origin).run(everything, alone=True)
        if len(built) == 1:
            return built[0]
    else:
        load_compiler()  # the workers' parts are merged by kernels
        workers = [_Worker(analyzer, text_fields, positions, paths, memory // n, origin) for _ in range(n)]
        built = _run_threads(everything, workers)
    return _merge_new(built, analyzer, text_fields, paths)


Batch = tuple[int, list[Document]]


def _batches(documents: Iterable[Document]) -> Iterator[Batch]:
    iterator, at = iter(documents), 0
    while batch := list(islice(iterator, BATCH)):
        yield at, batch
        at += len(batch)


def _few_of(batches: Iterator[Batch], text_fields: Sequence[str]) -> tuple[list[Batch], bool]:
    """The batches that one builder treats without kernels, one at least, and whether there are no more."""
    found: list[Batch] = []
    characters = 0
    for batch in batches:
        found.append(batch)
        characters += sum(_length(document.fields.get(name)) for document in batch[1] for name in text_fields)
        if len(batch[1]) < BATCH:
            return found, True
        if not is_few(characters):
            return found, False
    return found, True


def _length(value: object) -> int:
    """Characters of a field's value, about."""
    return sum(map(_length, value)) if isinstance(value, list | tuple) else len(value) if isinstance(value, str) else 0


class _StoppedError(Exception):
    """Another worker has failed."""


class _Worker:
    """Fills one builder after the other."""

    def __init__(
        self,
        analyzer: Analyzer,
        text_fields: tuple[str, ...],
        positions: bool,
        paths: NewPaths,
        memory: int,
        origin: Mapping[str, Any],
    ) -> None:
        self._settings = analyzer, text_fields
        self._positions = positions
        self._paths = paths
        self._memory = memory
        self._origin = origin

    def run(self, batches: Iterable[Batch], *, alone: bool = False) -> list[NewSegment]:
        """Build parts from all batches; where there is one and no other worker, it is the segment."""
        built: list[NewSegment] = []
        bulk = BulkAnalyzer(self._settings[0])
        builder = SegmentBuilder(*self._settings, bulk, positions=self._positions)
        for at, batch in batches:
            builder.add(batch, at)
            if builder.memory > self._memory:
                built.append(self._write(builder, self._paths.part()))
                if bulk.memory > self._memory // 2:  # the words alone would fill the next one
                    bulk = BulkAnalyzer(self._settings[0])
                builder = SegmentBuilder(*self._settings, bulk, positions=self._positions)
                give_back()
        if len(builder):
            path = self._paths.segment() if alone and not built else self._paths.part()
            built.append(self._write(builder, path))
        return built

    def _write(self, builder: SegmentBuilder, path: Path) -> NewSegment:
        builder.write(path, self._origin)
        return NewSegment(Segment(path, trusted=True), builder.sequence)


def _run_threads(batches: Iterator[Batch], workers: list[_Worker]) -> list[NewSegment]:
    """Deal the batches to the workers in turn; the first error of any of them, or of the input, stops all.

    A worker waits for nothing but its next batch or the end, and nobody waits for room in the queue of one that has
    ended.
    """
    queues: list[queue.Queue[Batch | None]] = [queue.Queue(maxsize=4) for _ in workers]
    results: list[list[NewSegment]] = [[] for _ in workers]
    errors: list[BaseException] = []

    def feed(i: int) -> Iterator[Batch]:
        while (batch := queues[i].get()) is not None:
            if errors:
                raise _StoppedError
            yield batch

    def work(i: int) -> None:
        try:
            results[i] = workers[i].run(feed(i))
        except _StoppedError:
            pass
        except BaseException as error:
            errors.append(error)

    crew = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(workers))]

    def put(i: int, batch: Batch | None) -> None:
        while crew[i].is_alive():
            with contextlib.suppress(queue.Full):
                queues[i].put(batch, timeout=0.1)
                return

    for thread in crew:
        thread.start()
    try:
        for turn, batch in enumerate(batches):
            if errors:
                break
            put(turn % len(workers), batch)
    except BaseException as error:
        errors.append(error)
    for i in range(len(workers)):
        put(i, None)
    for thread in crew:
        thread.join()
    if errors:
        raise errors[0]
    return [new for result in results for new in result]


def _merge_new(
    built: list[NewSegment], analyzer: Analyzer, text_fields: tuple[str, ...], paths: NewPaths
) -> NewSegment:
    """One segment of several that nobody else knows yet; their files are removed."""
    give_back()
    path = paths.segment()
    lives = [
        LiveSegment(new.segment, no_deletions(new.segment), SegmentEntry(new.segment.name, new.segment.container.size))
        for new in built
    ]
    merge_segments(lives, text_fields, path, analyzer=analyzer, merged_at=0, replaces=())
    for new in built:
        remove_quietly(new.segment.path)
    return NewSegment(Segment(path, trusted=True), np.concatenate([new.sequence for new in built]))

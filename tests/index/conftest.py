"""Small collections, what a search sees of an index, and disks that fail where a test says."""

import contextlib
import errno
import io
import os
import random
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from germane.engine import Engine
from germane.index import durable
from germane.rank.registry import MODEL_NAMES
from germane.types import Document

QUERIES = ("w1", "w2 w3 w3", "w5^2 w9 w0 w17", "w4 +w6 -w2", "w30 unheard w11 w12 w13 w14")


class Faults:
    """Counts the points where the index touches the disk; at one of them (or from it on) the disk fails."""

    def __init__(self) -> None:
        self.count = 0
        self.at: int | None = None
        self.lasting = False
        self.kill = False
        self.errno = errno.ENOSPC
        self.beside = False
        """Whether only the points of other threads than the main one count."""
        self.told: tuple[int, int] | None = None
        """A pipe that gets the name of the thread in which the process is killed."""

    def point(self, before_death: Callable[[], Any] = lambda: None) -> None:
        """One system call is about to happen."""
        if self.beside and threading.current_thread() is threading.main_thread():
            return
        self.count += 1
        if self.at is None or (self.count != self.at and not (self.lasting and self.count > self.at)):
            return
        if self.kill:
            if self.told is not None:
                os.write(self.told[1], threading.current_thread().name.encode())
            before_death()
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(self.errno, os.strerror(self.errno))

    @contextlib.contextmanager
    def installed(self) -> Iterator["Faults"]:
        """Watch writes, flushes, renames and removals."""
        faults = self

        class Watched(io.FileIO):
            def write(self, data: Any, /) -> int:
                faults.point(lambda: super(Watched, self).write(memoryview(data)[: len(data) // 2]))
                return super().write(data)

        def opened(path: Any, mode: str = "rb") -> Any:
            if "x" not in mode:
                return open(path, mode)
            faults.point()
            return io.BufferedWriter(Watched(path, "xb"))

        def watched(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                faults.point()
                return function(*arguments, **named)

            return call

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(durable, "open", opened, raising=False)
            for name in ("replace", "link", "unlink", "mkdir"):
                patch.setattr(os, name, watched(getattr(os, name)))
            patch.setattr(os, "fsync", lambda descriptor: faults.point())  # no power cut here: flushing takes its time
            yield self


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def make_faults() -> type[Faults]:
    return Faults


def some_text(rng: random.Random, length: int | None = None) -> str:
    """Words w0 ... w39, the first ones the commonest; now and then no word at all."""
    n = rng.choice((0, 1, 3, 8, 20)) if length is None else length
    return " ".join(f"w{min(int(rng.expovariate(0.12)), 39)}" for _ in range(n))


def some_document(rng: random.Random, doc_id: str) -> Document:
    fields: dict[str, Any] = {"title": some_text(rng, 2), "text": some_text(rng)}
    if rng.random() < 0.7:
        fields["year"] = rng.randrange(1990, 2020)
    if rng.random() < 0.5:
        fields["tags"] = rng.sample(["red", "green", "blue"], rng.randrange(3))
    return Document(doc_id, fields)


@pytest.fixture
def documents() -> Callable[..., list[Document]]:
    """documents(n, seed=0, prefix="d"): a random collection."""

    def make(n: int, seed: int = 0, prefix: str = "d") -> list[Document]:
        rng = random.Random(seed)
        return [some_document(rng, f"{prefix}{i}") for i in range(n)]

    return make


@pytest.fixture
def one_document() -> Callable[[random.Random, str], Document]:
    return some_document


@pytest.fixture
def content() -> Callable[[Path | Engine], dict[str, Any]]:
    """All documents of an index, by id; an id that comes twice fails."""

    def read(index: Path | Engine) -> dict[str, Any]:
        found = [
            (doc.id, dict(doc.fields)) for doc in (Engine.open(index) if isinstance(index, Path) else index).documents()
        ]
        assert len(dict(found)) == len(found)
        return dict(found)

    return read


@pytest.fixture
def seen() -> Callable[[Engine], dict[str, Any]]:
    """Everything a search shows of an index: statistics, frequencies, and the rankings of every model."""

    def look(engine: Engine) -> dict[str, Any]:
        snapshot = engine.retriever.snapshot
        stats = snapshot.term_stats([f"w{i}" for i in range(40)])
        facts: dict[str, Any] = {key: getattr(engine.stats(), key) for key in ("documents", "tokens", "terms")}
        facts["frequencies"] = [(one.df, one.cf) for one in stats]
        facts["ids"] = snapshot.live_ids()
        for model in MODEL_NAMES:
            for query in QUERIES:
                result = engine.search(query, 10_000, model=model)
                facts[f"{model}: {query}"] = list(zip(result.ids, result.scores.tolist(), strict=True))
        return facts

    return look


@pytest.fixture
def rebuilt(tmp_path: Path) -> Iterator[Callable[[Iterable[Document]], Engine]]:
    """A fresh index of these documents, made in one go."""
    made: list[Engine] = []

    def build(collection: Iterable[Document]) -> Engine:
        engine = Engine.create(tmp_path / f"rebuilt-{len(made)}")
        engine.add(collection)
        made.append(engine)
        return engine

    yield build
    for engine in made:
        engine.close()


@pytest.fixture
def index_files() -> Callable[[Path], dict[str, bytes]]:
    """Name -> bytes of all files directly in a folder."""

    def read(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}

    return read


@pytest.fixture
def forked() -> Callable[[Callable[[], None]], int]:
    """Run a function in a forked process, whose id is returned; its status is 0 if it returned, 1 if it raised."""

    def run(function: Callable[[], None]) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads, which are asleep here
            pid = os.fork()
        if pid == 0:
            status = 1
            try:
                function()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        return pid

    return run

"""A writer that is idle gives its lock back, and nothing that others write meanwhile is lost."""

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from germane import Document, Engine
from germane.engine import open_index
from germane.errors import IndexLockedError
from germane.index import durable
from germane.index.check import check_index
from germane.index.durable import LOCK_NAME, WriterLock
from germane.index.merge_scheduler import MergeScheduler

LET_GO = open_index.let_go_when_idle
ADD = "import sys; from germane import Engine; Engine.open(sys.argv[1]).add([{'id': sys.argv[2], 'text': 'w1'}])"


def doc(name: str) -> Document:
    return Document(name, {"text": "w1"})


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it, only sooner; who waits is patient."""
    monkeypatch.setattr(open_index, "let_go_when_idle", LET_GO)
    monkeypatch.setattr(open_index, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(durable, "PATIENCE", 600.0)


@pytest.fixture
def engine(tmp_path: Path, idle: None) -> Iterator[Engine]:
    with Engine.create(tmp_path / "index") as made:
        yield made


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def test_another_process_writes_while_an_engine_is_open(engine: Engine) -> None:
    """Again and again: each sees what the other wrote, and writes behind it."""
    for name in ("a", "c"):
        engine.add([doc(name)])
        command = [sys.executable, "-c", ADD, str(engine.folder), f"{name} of another"]
        subprocess.run(command, check=True)
    engine.add([doc("e")])
    assert set(engine.search("w1").ids) == {"a", "a of another", "c", "c of another", "e"}
    assert check_index(engine.folder).ok


def test_engines_of_one_process_take_turns(engine: Engine) -> None:
    with Engine.open(engine.folder) as other:
        for turn in range(3):
            for who, each in (("one", engine), ("other", other)):
                each.add([doc(f"{who}{turn}")])
        other.delete(["one0"])
        engine.refresh()
        assert len(engine) == len(other) == 5


def test_threads_that_write_at_once_lose_nothing(engine: Engine) -> None:
    """With hardly a rest, so that the lock is given back and taken again between them."""

    def write(number: int) -> None:
        for i in range(8):
            engine.add([doc(f"{number}-{i}")])
            time.sleep(0.002 * number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engine) == len(Engine.open(engine.folder)) == 32


def test_no_lock_is_given_back_within_a_change(engine: Engine) -> None:
    def slowly() -> Iterator[Document]:
        for name in "abc":
            time.sleep(4 * open_index.IDLE_SECONDS)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(durable, "PATIENCE", 0.0)
                with pytest.raises(IndexLockedError, match="try again when it has finished"):
                    WriterLock(engine.folder)
            yield doc(name)

    assert engine.add(slowly()).added == 3


def test_a_merge_in_the_background_ends_first(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    merge = MergeScheduler._merge_quietly

    def merge_late(writer: MergeScheduler, segments: list[object]) -> None:
        go_on.wait()
        merge(writer, segments)  # type: ignore[arg-type]

    monkeypatch.setattr(MergeScheduler, "_merge_quietly", merge_late)
    monkeypatch.setattr("germane.index.merge_scheduler.BACKGROUND_DOCS", 0)
    for i in range(40):
        engine.add([doc(str(i))])
        if engine._index._writer is not None and engine._index._writer.merges.is_running:
            break
    else:
        raise AssertionError("nothing was to be merged")
    time.sleep(4 * open_index.IDLE_SECONDS)
    assert engine._index._writer is not None
    go_on.set()
    WriterLock(engine.folder).release()
    assert engine._index._writer is None


def test_a_merge_that_failed_is_told_later(engine: Engine) -> None:
    engine.add([doc("a")])
    with engine._index._changing:
        engine._index._writing().merges._error = OSError("no room")
    until(lambda: engine._index._writer is None)
    with pytest.raises(OSError, match="no room"):
        engine.release()
    engine.release()


def test_a_forgotten_engine_gives_the_lock_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody closed it, and nothing watches it."""
    monkeypatch.setattr(durable, "PATIENCE", 0.0)
    engine = Engine.create(tmp_path / "index")
    with pytest.raises(IndexLockedError):
        WriterLock(tmp_path / "index")
    del engine
    gc.collect()
    WriterLock(tmp_path / "index").release()


def test_the_watching_ends(engine: Engine) -> None:
    """With the lock; a reader has no thread."""

    def watching() -> int:
        return sum(thread.name == "germane-idle" for thread in threading.enumerate())

    until(lambda: watching() == 0)
    engine.refresh()
    assert engine.search("w1").ids == []
    assert watching() == 0
    for name in "ab":
        engine.add([doc(name)])
    assert watching() <= 1
    until(lambda: watching() == 0)
    assert os.path.exists(engine.folder / LOCK_NAME)

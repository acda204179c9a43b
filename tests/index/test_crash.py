"""A process killed, or a disk full, at every point where the index touches the disk."""

import contextlib
import errno
import gc
import os
import random
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from germane.engine import Engine
from germane.errors import StorageError
from germane.index import ingest, merge, merge_scheduler
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff
from germane.index.durable import LOCK_NAME
from germane.index.manifest import read_manifest
from germane.index.repair import repair_index
from germane.index.writer import new_index
from germane.text import Analyzer
from germane.types import Document

Operation = Callable[[Engine], Any]
Content = dict[str, Any]


def scripted(documents: Callable[..., list[Document]]) -> list[Operation]:
    """Every kind of change, each of which may be repeated."""
    more, other = documents(4, 1, "e"), documents(3, 2)
    return [
        lambda engine: engine.update(more),
        lambda engine: engine.delete(["d1", "d2"], missing="ignore"),
        lambda engine: engine.update(other),
        lambda engine: engine.update([more[0], other[1], more[0]]),
        lambda engine: engine.merge(),
        lambda engine: engine.delete([f"d{i}" for i in range(3, 12)], missing="ignore"),  # and a merge of its own
    ]


def at_random(seed: int, one_document: Callable[..., Document]) -> list[Operation]:
    rng = random.Random(seed)

    def operation() -> Operation:
        batch = [one_document(rng, f"d{rng.randrange(40)}") for _ in range(rng.randrange(1, 6))]
        doomed = [f"d{rng.randrange(40)}" for _ in range(rng.randrange(1, 8))]
        return rng.choice(
            [
                lambda engine: engine.update(batch),
                lambda engine: engine.delete(doomed, missing="ignore"),
                lambda engine: engine.add(batch, on_duplicate="skip"),
                lambda engine: engine.merge(),
            ]
        )

    return [operation() for _ in range(3)]


@pytest.fixture
def template(tmp_path: Path, documents: Callable[..., list[Document]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of three segments and some deletions."""
    monkeypatch.setattr(merge, "FANOUT", 4)
    with Engine.create(tmp_path / "template") as engine:
        for i in range(3):
            engine.add(documents(12, i, "dfg"[i]))
        engine.delete(["d0", "f3", "f4"])
    return tmp_path / "template"


def states_of(
    template: Path, folder: Path, work: list[Operation], faults: Any, content: Callable[..., Content]
) -> list[Content]:
    """What the index holds before and after each operation; `faults` counts the points."""
    shutil.copytree(template, folder)
    states = [content(folder)]
    engine = Engine.open(folder)
    with faults.installed():
        for operation in work:
            operation(engine)
            states.append(content(folder))
        engine.close()
    return states


def assert_no_strays(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == read_manifest(folder).files() | {LOCK_NAME}


def killed(folder: Path, work: list[Operation], faults: Any, *, opening: bool = True, wait: bool = False) -> int:
    """Fork a process that works and is killed at the chosen point; return how many operations it acknowledged.

    `opening`: the operations are given an engine. `wait`: the process does not end before its background merge.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads, which are asleep here
        pid = os.fork()
    if pid == 0:
        try:
            gc.disable()  # collecting would copy every page of the parent
            engine: Any = Engine.open(folder) if opening else None
            with faults.installed():
                for operation in work:
                    operation(engine)
                    os.write(writing, b".")
                if wait:
                    engine.close()
        finally:
            os._exit(0)
    os.close(writing)
    acknowledged = 0
    while piece := os.read(reading, 100):
        acknowledged += len(piece)
    os.close(reading)
    os.waitpid(pid, 0)
    return acknowledged


def test_killed_at_any_point(
    tmp_path: Path,
    template: Path,
    documents: Callable[..., list[Document]],
    one_document: Callable[..., Document],
    content: Callable[..., Content],
    make_faults: Any,
) -> None:
    points = 0
    rng = random.Random(0)
    for number in range(20):
        work = scripted(documents) if number == 0 else at_random(number, one_document)
        counter = make_faults()
        states = states_of(template, tmp_path / f"counted-{number}", work, counter, content)
        every = range(1, counter.count + 1)
        for at in every if number == 0 else rng.sample(every, min(15, len(every))):
            faults = make_faults()
            faults.at, faults.kill = at, True
            folder = tmp_path / f"killed-{number}-{at}"
            shutil.copytree(template, folder)
            done = killed(folder, work, faults)
            found = content(folder)
            assert found in states[done : done + 2], (number, at, done)
            report = check_index(folder)
            assert report.ok, (number, at, report.problems)
            with make_faults().installed(), Engine.open(folder) as engine:
                engine.update([Document("after", {"text": "w1"})])
                assert content(engine) == found | {"after": {"text": "w1"}}
            assert_no_strays(folder)
            shutil.rmtree(folder)
            points += 1
        if points >= 160:
            return
    raise AssertionError(f"only {points} points")


@pytest.mark.parametrize("lasting", [False, True])
def test_disk_full_at_any_point(
    lasting: bool,
    tmp_path: Path,
    template: Path,
    documents: Callable[..., list[Document]],
    content: Callable[..., Content],
    make_faults: Any,
) -> None:
    work = scripted(documents)
    counter = make_faults()
    states = states_of(template, tmp_path / "counted", work, counter, content)
    for at in range(1, counter.count + 1):
        folder = tmp_path / f"full-{at}"
        shutil.copytree(template, folder)
        engine = Engine.open(folder)
        faults = make_faults()
        faults.at, faults.lasting = at, lasting
        for i, operation in enumerate(work):
            refusal = None
            with faults.installed():
                try:
                    operation(engine)
                except StorageError as error:
                    refusal = str(error)
            found = content(folder)
            if refusal is None:
                assert found == states[i + 1], (at, i)
                continue
            assert "no space left on the disk" in refusal
            # With a disk that refuses everything, a manifest renamed but not flushed cannot be taken back.
            assert found == states[i] or (lasting and found == states[i + 1]), (at, i)
            engine.refresh()
            assert content(engine) == found
            faults.at = None
            with faults.installed():
                operation(engine)  # there is room again
            assert content(engine) == content(folder) == states[i + 1], (at, i)
            assert_no_strays(folder)
        faults.at = None
        with faults.installed():
            engine.update([Document("after", {"text": "w1"})])
        with contextlib.suppress(StorageError):  # a merge that failed is reported here, the changes stand
            engine.close()
        report = check_index(folder)
        assert report.ok, (at, report.problems)
        assert not report.notes, at
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "permission denied"), (errno.EIO, "Input/output error")],
)
def test_refusals_are_sentences(number: int, words: str, template: Path, faults: Any) -> None:
    engine = Engine.open(template)
    faults.at, faults.lasting, faults.errno = 1, True, number
    with faults.installed(), pytest.raises(StorageError, match=words) as caught:
        engine.add([Document("new", {"text": "w1"})])
    assert str(template) in str(caught.value)
    assert "committed before is untouched" in str(caught.value)
    faults.at = None
    assert engine.add([Document("new", {"text": "w1"})]).added == 1
    engine.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(tmp_path: Path, template: Path) -> None:
    template.chmod(0o555)
    try:
        engine = Engine.open(template)
        assert len(engine) == 33
        with pytest.raises(StorageError, match="permission denied"):
            engine.delete(["d5"])
        with pytest.raises(StorageError, match="permission denied"):
            Engine.create(template / "below")
    finally:
        template.chmod(0o755)


def test_create_interrupted(tmp_path: Path, make_faults: Any) -> None:
    """What a failed `create` leaves behind does not stand in the way of the next."""
    counter = make_faults()
    with counter.installed():
        Engine.create(tmp_path / "counted").close()
    for at in range(1, counter.count + 1):
        faults = make_faults()
        faults.at = at
        with faults.installed(), contextlib.suppress(StorageError):
            Engine.create(tmp_path / str(at)).close()
        if not (tmp_path / str(at) / "MANIFEST").exists():
            Engine.create(tmp_path / str(at)).close()
        assert check_index(tmp_path / str(at)).ok


def test_disk_full_while_several_segments_are_built(
    template: Path,
    documents: Callable[..., list[Document]],
    content: Callable[..., Content],
    make_faults: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ingest, "MIN_MEMORY", 0)
    monkeypatch.setattr(ingest, "BATCH", 8)
    before = content(template)
    engine = Engine.open(template)
    rng = random.Random(0)
    for _ in range(12):
        faults = make_faults()
        faults.at = rng.randrange(1, 30)
        with faults.installed(), pytest.raises(StorageError):
            engine.add(documents(60, 5, "new"), threads=2, memory_mb=0)
        assert content(template) == content(engine) == before
        report = check_index(template)
        assert report.ok
        assert not report.notes
    engine.add(documents(60, 5, "new"), threads=2, memory_mb=0)
    engine.close()
    assert len(content(template)) == len(before) + 60


def test_killed_within_a_background_merge(
    tmp_path: Path, template: Path, documents: Callable[..., list[Document]], content: Callable[..., Content],
    make_faults: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Only the points of the merging thread count, so every kill falls inside the merge, and says so."""
    monkeypatch.setattr(merge_scheduler, "BACKGROUND_DOCS", 20)
    work = [lambda engine: engine.add(documents(12, 5, "h")), lambda engine: engine.delete(["h1", "d5"])]
    counter = make_faults()
    counter.beside = True
    states = states_of(template, tmp_path / "counted", work, counter, content)
    assert counter.count > 10
    inside = 0
    for at in range(1, counter.count + 1):
        faults = make_faults()
        faults.at, faults.kill, faults.beside = at, True, True
        faults.told = reading, writing = os.pipe()
        folder = tmp_path / f"killed-{at}"
        shutil.copytree(template, folder)
        done = killed(folder, work, faults, wait=True)
        os.close(writing)
        inside += os.read(reading, 100) == b"germane-merge"
        os.close(reading)
        assert content(folder) in states[done : done + 2], (at, done)
        report = check_index(folder)
        assert report.ok, (at, report.problems)
        with make_faults().installed(), Engine.open(folder) as engine:
            engine.update([Document("after", {"text": "w1"})])
        assert_no_strays(folder)
        shutil.rmtree(folder)
    assert inside >= counter.count - 2  # the last points may not be reached where a commit came in between


@pytest.mark.parametrize("kind", ["build", "repair", "import"])
def test_killed_while_building_repairing_or_importing(
    kind: str,
    tmp_path: Path,
    template: Path,
    documents: Callable[..., list[Document]],
    content: Callable[..., Content],
    make_faults: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An index is built by way of parts, in two threads."""
    monkeypatch.setattr(ingest, "MIN_MEMORY", 0)
    monkeypatch.setattr(ingest, "BATCH", 8)
    before = content(template)
    export_ciff(template, tmp_path / "x.ciff")
    path = template / read_manifest(template).segments[0].name
    data = bytearray(path.read_bytes())
    data[64] ^= 1
    path.write_bytes(data)

    def run(folder: Path) -> None:
        if kind == "repair":
            repair_index(folder)
        elif kind == "build":
            with new_index(folder / "new", Analyzer(), ["text"]) as new:
                new.add(documents(40), threads=2, memory=0)
        else:
            import_ciff(tmp_path / "x.ciff", folder / "new")

    def prepare(folder: Path) -> None:
        shutil.copytree(template, folder)

    counter = make_faults()
    prepare(tmp_path / "counted")
    with counter.installed():
        run(tmp_path / "counted")
    made = set(before) if kind == "repair" else set(content(tmp_path / "counted" / "new"))
    for at in range(1, counter.count + 1):
        faults = make_faults()
        faults.at, faults.kill = at, True
        folder = tmp_path / f"killed-{at}"
        prepare(folder)
        killed(folder, [lambda _, folder=folder: run(folder)], faults, opening=False)
        if kind == "repair":
            assert not check_index(folder).ok or content(folder) == before
            repair_index(folder)
            assert content(folder) == before, at
            assert check_index(folder).ok
        elif (folder / "new" / "MANIFEST").exists():
            assert check_index(folder / "new").ok
            assert set(content(folder / "new")) in (set(), made)
        else:
            with make_faults().installed():
                run(folder)
            assert set(content(folder / "new")) == made
        shutil.rmtree(folder)

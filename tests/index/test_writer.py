"""What add, update, delete and merge do; threads, memory and background merges change nothing that can be seen."""

import copy
import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.engine import Engine
from germane.errors import (
    DocumentExistsError,
    IndexFormatError,
    IndexLockedError,
    ParameterError,
    StorageError,
    UnknownDocumentError,
)
from germane.index import builder, commits, durable, ingest, manifest, merge, merge_scheduler, writer
from germane.index.check import check_index
from germane.index.manifest import Manifest as ManifestOf
from germane.index.manifest import ManifestFile
from germane.index.merge import choose_merge
from germane.index.snapshot import Snapshot
from germane.index.writer import IndexWriter, new_index
from germane.text import Analyzer
from germane.types import Document

Documents = Callable[..., list[Document]]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.create(tmp_path / "index") as engine:
        yield engine


def doc(doc_id: str, text: str = "w1 w2") -> Document:
    return Document(doc_id, {"text": text})


# -- whose state it is -------------------------------------------------------------------------------------------------


@pytest.fixture
def whole_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that keeps times in seconds."""
    exact = os.utime

    def utime(file: Any, *, ns: tuple[int, int]) -> None:
        exact(file, ns=(ns[0] // 10**9 * 10**9, ns[1] // 10**9 * 10**9))

    monkeypatch.setattr(os, "utime", utime)


@pytest.mark.usefixtures("whole_seconds")
def test_a_manifest_is_later_than_the_one_before(engine: Engine) -> None:
    times = []
    for i in range(4):
        engine.add([doc(str(i))])
        times.append((engine.folder / "MANIFEST").stat().st_mtime_ns)
    assert times == sorted(set(times))


def test_a_writer_sees_what_another_committed_whatever_the_files_look_like(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.add([doc("a")])
    other = Engine.open(engine.folder)
    engine.add([doc("b")])
    engine.close()
    monkeypatch.setattr(ManifestFile, "is_there", lambda self: True)  # inodes come back, and times may be coarse
    with other:
        other.add([doc("c")])
        assert sorted(other.search("w1").ids) == ["a", "b", "c"]


def test_a_reader_sees_each_commit_and_another_index_in_its_place(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.add([doc("a")])
    reader = Engine.open(engine.folder)
    for name in "bc":
        reader.refresh()
        engine.add([doc(name)])
        reader.refresh()
        assert len(reader) == len(engine)
    engine.close()
    with Engine.create(tmp_path / "other") as other:
        other.add([doc("z")])
    engine.folder.rename(tmp_path / "gone")
    (tmp_path / "other").rename(engine.folder)
    monkeypatch.setattr(manifest, "BETWEEN_LOOKS", 0.0)  # what its name means is looked up from time to time
    reader.refresh()
    assert reader.search("w1").ids == ["z"]


def check_each_commit_is_seen(reader: Engine, other: Engine) -> None:
    for name in "bc":
        reader.refresh()
        other.add([doc(name)])
        reader.refresh()
        assert len(reader) == len(other)


def short(lock: Path) -> None:
    lock.write_bytes(b"")


def linked(lock: Path) -> None:
    lock.rename(lock.with_name("elsewhere"))
    lock.symlink_to(lock.with_name("elsewhere"))


@pytest.mark.parametrize("change", [Path.unlink, short, linked])
def test_a_reader_sees_each_commit_where_none_was_counted(engine: Engine, change: Callable[[Path], None]) -> None:
    """Of an index by an earlier program, or copied without the lock's file."""
    engine.add([doc("a")])
    engine.close()
    change(engine.folder / "LOCK")
    reader = Engine.open(engine.folder)
    if change is linked:
        (engine.folder / "LOCK").unlink()
    with Engine.open(engine.folder) as other:
        check_each_commit_is_seen(reader, other)


def test_commits_counted_in_another_file_than_the_one_looked_at(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a file that a container's file system copies when it is first written to, under the same number."""
    engine.add([doc("a")])
    engine.close()
    reader, lock = Engine.open(engine.folder), engine.folder / "LOCK"
    reader.refresh()
    copied = lock.read_bytes()
    lock.unlink()
    lock.write_bytes(copied)
    monkeypatch.setattr(os.path, "samestat", lambda *_: True)
    with Engine.open(engine.folder) as other:
        for n, between in enumerate((0.0, 1e9, 1e9)):
            other.add([doc(f"b{n}")])
            monkeypatch.setattr(manifest, "BETWEEN_LOOKS", between)  # late for once, and then no more
            reader.refresh()
            assert len(reader) == len(other)


def test_a_lock_that_is_truncated_under_a_reader(engine: Engine) -> None:
    engine.add([doc("a")])
    reader = Engine.open(engine.folder)
    reader.refresh()
    for name in "bc":
        os.truncate(engine.folder / "LOCK", 0)
        reader.refresh()
        engine.add([doc(name)])
        reader.refresh()
        assert len(reader) == len(engine)


def test_files_that_an_interrupted_commit_left_go_with_the_next(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.add([doc("a")])
    with monkeypatch.context() as patch:
        patch.setattr(commits, "remove_quietly", give_up)
        with pytest.raises(KeyboardInterrupt):
            engine.update([doc("a", "other words")])
    engine.add([doc("c")])
    assert {path.name for path in engine.folder.iterdir()} == manifest.read_manifest(engine.folder).files() | {"LOCK"}


def test_files_of_a_commit_interrupted_twice_go_with_the_next(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        engine.add([doc(name)])
    with monkeypatch.context() as patch:
        patch.setattr(ManifestOf, "write", give_up)
        patch.setattr(commits, "read_manifest", give_up)  # while it is taken back
        with pytest.raises(KeyboardInterrupt):
            engine.delete(["a"])
    engine.delete(["b"])
    assert {path.name for path in engine.folder.iterdir()} == manifest.read_manifest(engine.folder).files() | {"LOCK"}


def test_memory_and_disk_agree_after_a_commit_that_failed_shortly_after_a_look(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the manifest's name means would not be looked up again for a while."""
    engine.add([doc("a")])
    replace = os.replace

    def replace_and_fail(old: Any, new: Any) -> None:
        replace(old, new)
        if str(new).endswith("MANIFEST"):
            raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(manifest, "BETWEEN_LOOKS", 1e9)
    engine.refresh()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace_and_fail)
        with pytest.raises(StorageError):
            engine.add([doc("b")])
    engine.add([doc("c")])
    with Engine.open(engine.folder) as other:
        assert len(other) == len(engine)
        assert "c" in other


@pytest.mark.parametrize("content", [b"important", b"12345678\n"])
def test_a_lock_that_holds_something_else_is_left_as_it_is(engine: Engine, content: bytes) -> None:
    engine.add([doc("a")])
    engine.close()
    lock = engine.folder / "LOCK"
    lock.write_bytes(content)
    reader = Engine.open(engine.folder)
    with Engine.open(engine.folder) as other:
        check_each_commit_is_seen(reader, other)
    assert lock.read_bytes() == content


def test_a_lock_that_has_another_name_is_left_as_it_is(engine: Engine, tmp_path: Path) -> None:
    """As in a copy made of hard links."""
    engine.add([doc("a")])
    engine.close()
    os.link(engine.folder / "LOCK", tmp_path / "copy")
    before = (tmp_path / "copy").read_bytes()
    reader = Engine.open(engine.folder)
    with Engine.open(engine.folder) as other:
        check_each_commit_is_seen(reader, other)
    assert (tmp_path / "copy").read_bytes() == before


def give_up(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_commit_that_could_not_be_counted_is_seen_by_and_by(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.add([doc("a")])
    reader = Engine.open(engine.folder)
    reader.refresh()
    monkeypatch.setattr(os, "pwrite", refuse)
    engine.add([doc("b")])
    monkeypatch.setattr(manifest, "BETWEEN_LOOKS", 0.0)
    reader.refresh()
    assert len(reader) == 2


def test_commits_are_counted_on_by_the_next_writer_and_without_end(engine: Engine) -> None:
    lock = engine.folder / "LOCK"
    engine.add([doc("a")])
    engine.close()
    lock.write_bytes(b"\xff" * 8)
    reader = Engine.open(engine.folder)
    for n, name in enumerate("bc"):
        reader.refresh()
        with Engine.open(engine.folder) as other:
            other.add([doc(name)])
        assert lock.read_bytes() == n.to_bytes(8, sys.byteorder)
        reader.refresh()
        assert len(reader) == n + 2


def test_readers_leave_no_file_open(engine: Engine) -> None:
    engine.add([doc("a")])
    reader = Engine.open(engine.folder)

    def n_open() -> int:
        return len(os.listdir("/proc/self/fd"))

    before, kept = n_open(), [reader.search("w1")]
    for i in range(20):
        engine.add([doc(f"b{i}")])
        reader.refresh()
        kept.append(reader.search("w1"))
    assert n_open() <= before + 1
    with pytest.raises(TypeError):
        copy.deepcopy(kept[-1].located[1])
    reader.refresh()
    engine.add([doc("c")])
    reader.refresh()
    assert len(reader) == len(engine)


def test_a_commit_is_seen_where_the_manifest_has_another_name(engine: Engine, tmp_path: Path) -> None:
    """Of a backup by hard links."""
    engine.add([doc("a")])
    reader = Engine.open(engine.folder)
    for i in range(10):
        reader.refresh()
        os.link(engine.folder / "MANIFEST", tmp_path / f"linked-{i}")
        reader.refresh()
        engine.add([doc(f"b{i}")])
        reader.refresh()
        assert len(reader) == len(engine)


def refuse(*_: Any, **__: Any) -> None:
    raise PermissionError(errno.EACCES, "not allowed")


# -- adding and deleting -------------------------------------------------------------------------------------------


def test_add_and_read_back(engine: Engine, documents: Documents, content: Callable[..., Any]) -> None:
    collection = documents(30)
    assert engine.add(collection) == (30, 0, 0)
    assert len(engine) == 30
    assert engine.document("d7") == collection[7]
    assert "d7" in engine
    assert "d99" not in engine
    assert 7 not in engine
    assert content(engine) == {one.id: one.fields for one in collection}
    with pytest.raises(UnknownDocumentError, match="'d99'"):
        engine.document("d99")


def test_duplicates_are_an_error_by_default(engine: Engine) -> None:
    engine.add([doc("a"), doc("b")])
    with pytest.raises(DocumentExistsError, match="'a'"):
        engine.add([doc("c"), doc("a")])
    with pytest.raises(DocumentExistsError, match="'e'"):
        engine.add([doc("e"), doc("f"), doc("e")])
    assert len(engine) == 2
    assert "c" not in engine
    assert not check_index(engine.folder).notes


def test_replace(engine: Engine) -> None:
    engine.add([doc("a", "w1"), doc("b", "w2")])
    assert engine.update([doc("a", "w3"), doc("c", "w4"), doc("a", "w5"), doc("a", "w6")]) == (4, 3, 0)
    assert engine.document("a").fields["text"] == "w6"
    assert len(engine) == 3
    assert engine.search("w1 w3 w5").ids == []
    assert engine.search("w6").ids == ["a"]


def test_skip(engine: Engine) -> None:
    engine.add([doc("a", "w1"), doc("b", "w2")])
    report = engine.add([doc("a", "w3"), doc("c", "w4"), doc("c", "w5"), doc("b", "w6")], on_duplicate="skip")
    assert report == (1, 0, 3)
    assert engine.document("a").fields["text"] == "w1"
    assert engine.document("c").fields["text"] == "w4"
    assert engine.add([doc("a"), doc("b")], on_duplicate="skip") == (0, 0, 2)
    assert len(engine) == 3


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_repeated_id_can_be_found_and_deleted(engine: Engine, n: int) -> None:
    """Looking an id up must find the live document, however many versions came in one input."""
    engine.update([doc("a", f"w{i}") for i in range(n)] + [doc("b"), doc("c")])
    assert engine.document("a").fields["text"] == f"w{n - 1}"
    assert engine.delete(["a"]) == 1
    assert "a" not in engine
    engine.add([doc("a", f"w{i}") for i in range(n)], on_duplicate="skip")
    assert engine.document("a").fields["text"] == "w0"
    assert engine.update([doc("a", "w20")]) == (1, 1, 0)
    assert check_index(engine.folder).ok


def test_delete(engine: Engine) -> None:
    engine.add([doc("a", "w1"), doc("b", "w1 w1"), doc("c", "w2")])
    with pytest.raises(UnknownDocumentError, match="'x', 'y'"):
        engine.delete(["a", "x", "y"])
    assert len(engine) == 3
    assert engine.delete(["a", "a"]) == 1
    assert engine.delete(["a", "b"], missing="ignore") == 1
    with pytest.raises(UnknownDocumentError):
        engine.delete(["a"])
    assert engine.search("w1").ids == []
    assert engine.delete([]) == 0
    assert engine.delete(["c"]) == 1
    assert engine.stats().segments == 0
    assert engine.search("w2").ids == []
    with pytest.raises(ParameterError, match="list of ids"):
        engine.delete("abc")
    assert engine.delete(["\ud800"], missing="ignore") == 0


def test_an_invalid_id_matches_no_other(engine: Engine) -> None:
    engine.add([doc("?")])
    assert engine.delete(["\ud800"], missing="ignore") == 0
    assert "\ud800" not in engine


def test_nothing_to_add(engine: Engine) -> None:
    before = engine.stats().generation
    assert engine.add([]) == (0, 0, 0)
    assert engine.stats().generation == before


def test_an_input_that_fails_adds_nothing(engine: Engine, documents: Documents, content: Callable[..., Any]) -> None:
    engine.add([doc("a")])

    def broken() -> Iterator[Document]:
        yield from documents(700)
        raise RuntimeError("the file ends here")

    for threads in (1, 2):
        with pytest.raises(RuntimeError, match="the file ends here"):
            engine.add(broken(), threads=threads)
    assert list(content(engine.folder)) == ["a"]
    assert not check_index(engine.folder).notes


def test_wrong_parameters(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="on_duplicate"):
        engine.add([doc("a")], on_duplicate="overwrite")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="threads"):
        engine.add([doc("a")], threads=0)
    with pytest.raises(ParameterError, match="memory"):
        engine.add([doc("a")], memory_mb=1)
    for fields in ([], "text"):
        with pytest.raises(ParameterError, match="text field"):
            Engine.create(tmp_path / "other", fields=fields)


def test_create_needs_a_free_folder(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(IndexFormatError, match="already holds an index"):
        Engine.create(engine.folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(IndexFormatError, match="not empty"):
        Engine.create(tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter.txt"]


# -- threads and memory --------------------------------------------------------------------------------------------


def test_threads_and_memory_make_no_difference(
    tmp_path: Path,
    documents: Documents,
    seen: Callable[..., Any],
    content: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ingest, "MIN_MEMORY", 0)
    monkeypatch.setattr(ingest, "BATCH", 16)
    collection = [*documents(300), *documents(40, 1), *documents(5, 2)]  # some ids come two or three times
    found = []
    for threads, memory in ((1, 512), (2, 512), (1, 0), (3, 0)):
        with Engine.create(tmp_path / f"{threads}-{memory}") as engine:
            assert engine.add(collection, on_duplicate="replace", threads=threads, memory_mb=memory) == (345, 45, 0)
            assert engine.stats().segments == 1
            found.append((seen(engine), content(engine)))
        assert check_index(engine.folder).ok
        assert not check_index(engine.folder).notes
    assert all(one == found[0] for one in found)


# -- merging -------------------------------------------------------------------------------------------------------


def test_merge_policy() -> None:
    assert choose_merge([]) == []
    assert choose_merge([(5, 5)] * 7) == []
    assert choose_merge([(5, 5)] * 8) == list(range(8))
    assert choose_merge([(100, 100), *[(5, 5)] * 7, (7, 8)]) == list(range(1, 9))
    assert choose_merge([(8, 8)] * 4 + [(7, 7)] * 4) == []
    assert choose_merge([(50, 100), (49, 100)]) == [1]
    assert choose_merge([(0, 0)] * 3) == []
    assert choose_merge([(64, 64)] * 8 + [(3, 3)] * 8) == list(range(8, 16))  # small ones first


def test_the_number_of_segments_stays_small(engine: Engine) -> None:
    for i in range(70):
        engine.add([doc(f"d{i}")])
    assert engine.stats().segments <= 2 * merge.FANOUT
    assert len(engine) == 70


def test_what_is_written_anew_is_not_reported(engine: Engine) -> None:
    assert engine.add([doc("a"), doc("b")]) == (2, 0, 0)
    assert engine.add([doc("c")]) == (1, 0, 0)
    assert engine.add([doc("a", "newer")], on_duplicate="replace") == (1, 1, 0)
    assert engine.add([doc("b", "newer"), doc("d")], on_duplicate="skip") == (1, 0, 1)
    with pytest.raises(DocumentExistsError):
        engine.add([doc("e"), doc("c")])
    engine.delete(["d"])
    assert engine.add([doc("f")]) == (1, 0, 0)
    assert [engine.document(i).fields["text"] for i in "abcf"] == ["newer", "w1 w2", "w1 w2", "w1 w2"]
    assert len(engine) == 4
    assert check_index(engine.folder).ok


def test_small_segments_are_merged_beside_a_background_merge(engine: Engine, merging: "Held") -> None:
    """What the merge in the background works on is left alone; the rest stays few."""
    for i in range(5):
        engine.add([doc(f"x{i}")])
    assert engine.stats().segments == 6
    merging.go_on.set()
    engine.close()
    assert engine.stats().segments == 4
    assert len(engine) == 35
    assert check_index(engine.folder).ok


class Held:
    """A background merge that waits, finished but not committed, until the test lets it go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        merge_segments = merge_scheduler.merge_segments

        def merge_and_wait(*arguments: Any, **named: Any) -> Any:
            result = merge_segments(*arguments, **named)
            if threading.current_thread() is not threading.main_thread():
                self.reached.set()
                assert self.go_on.wait(600)
            return result

        monkeypatch.setattr(merge_scheduler, "merge_segments", merge_and_wait)
        monkeypatch.setattr(merge_scheduler, "BACKGROUND_DOCS", 20)
        monkeypatch.setattr(merge, "FANOUT", 3)


@pytest.fixture
def merging(engine: Engine, documents: Documents, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Three segments of 10 documents that are being merged."""
    held = Held(monkeypatch)
    for i in range(3):
        engine.add(documents(10, i, "abc"[i]))
    assert held.reached.wait(600)
    return held


def test_changes_during_a_background_merge(
    engine: Engine, merging: Held, documents: Documents, seen: Callable[..., Any], rebuilt: Callable[..., Engine]
) -> None:
    engine.delete(["a1", "b2", "b3"])
    engine.update([doc("a2", "w1 w9"), doc("new", "w3")])
    assert engine.stats().segments == 4
    merging.go_on.set()
    engine.close()
    assert engine.stats().segments == 2
    expected = {one.id: one for i in range(3) for one in documents(10, i, "abc"[i])}
    for gone in ("a1", "b2", "b3"):
        del expected[gone]
    expected |= {"a2": doc("a2", "w1 w9"), "new": doc("new", "w3")}
    assert seen(engine) == seen(rebuilt(expected.values()))
    report = check_index(engine.folder)
    assert report.ok
    assert not report.notes


@pytest.mark.parametrize("segments", ["b", "abc"])
def test_whole_segments_deleted_during_a_background_merge(engine: Engine, merging: Held, segments: str) -> None:
    engine.delete([f"{name}{i}" for name in segments for i in range(10)])
    merging.go_on.set()
    engine.close()
    assert len(engine) == 30 - 10 * len(segments)
    assert check_index(engine.folder).ok


def test_a_background_merge_commits_while_documents_are_added(
    engine: Engine, merging: Held, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of an add under way belong to no commit yet, and must survive that of the merge."""
    monkeypatch.setattr(ingest, "MIN_MEMORY", 0)
    monkeypatch.setattr(ingest, "BATCH", 8)

    def slow() -> Iterator[Document]:
        yield from documents(40, 7, "x")
        merging.go_on.set()
        engine._index._writing().merges.join()
        yield from documents(40, 8, "y")

    assert engine.add(slow(), threads=1, memory_mb=0).added == 80
    assert len(engine) == 110
    engine.close()
    report = check_index(engine.folder)
    assert report.ok, report.problems
    assert not report.notes


def test_a_merge_that_fails_harms_nothing(
    engine: Engine, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "FANOUT", 3)

    def failing(*arguments: Any, **named: Any) -> Any:
        raise IndexFormatError("no merging today")

    with monkeypatch.context() as patch:
        patch.setattr(merge_scheduler, "merge_segments", failing)
        for i in range(4):
            engine.add(documents(2, i, "abcd"[i]))
        assert engine.stats().segments == 4
        with pytest.raises(IndexFormatError, match="no merging today"):
            engine._index._writing().merges.wait()
    engine.add(documents(2, 5, "e"))
    assert engine.stats().segments == 1
    engine.close()


# -- new indexes ---------------------------------------------------------------------------------------------------


def test_of_many_creators_one_wins(tmp_path: Path, forked: Callable[..., int], content: Callable[..., Any]) -> None:
    """Eight processes at once: one index, filled by one of them; the others are told, and take nothing away."""
    Engine.create(tmp_path / "warm").close()
    gate = os.pipe()

    def create(i: int) -> None:
        os.read(gate[0], 1)
        with new_index(tmp_path / "deep" / "index", Analyzer(), ["text"]) as writer:
            writer.add([doc(f"by-{i}")])

    children = [forked(lambda i=i: create(i)) for i in range(8)]
    os.write(gate[1], b"." * 8)
    winners = [i for i, pid in enumerate(children) if os.waitpid(pid, 0)[1] == 0]
    assert len(winners) == 1
    assert list(content(tmp_path / "deep" / "index")) == [f"by-{winners[0]}"]
    assert check_index(tmp_path / "deep" / "index").ok


def test_the_folder_is_looked_at_again_under_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = writer.WriterLock

    def late(folder: Path) -> Any:
        monkeypatch.setattr(writer, "WriterLock", lock)
        with Engine.create(folder) as other:
            other.add([doc("theirs")])
        return lock(folder)

    monkeypatch.setattr(writer, "WriterLock", late)
    with pytest.raises(IndexFormatError, match="already holds an index"):
        Engine.create(tmp_path / "index")
    assert Engine.open(tmp_path / "index").search("w1").ids == ["theirs"]


@pytest.mark.parametrize("existed", [False, True])
def test_a_new_index_that_fails_vanishes(tmp_path: Path, documents: Documents, existed: bool) -> None:
    """All of it, and nothing else."""
    folder = tmp_path / "deep" / "index"
    if existed:
        folder.mkdir(parents=True)

    def fail(beside: str | None) -> None:
        with new_index(folder, Analyzer(), ["text"]) as new:
            new.add(documents(5))
            new.delete(["d1"])
            if beside is not None:
                (folder / beside).write_text("dear", encoding="utf-8")
            raise KeyError

    with pytest.raises(KeyError):
        fail(None)
    assert folder.exists() == existed
    assert (tmp_path / "deep").exists() == existed
    with pytest.raises(KeyError):
        fail("letter.txt")
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]


def test_a_removed_lock_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives up making an index removes the file; whoever had opened it must not think that it holds the lock."""
    flock = durable.fcntl.flock

    def removed_first(descriptor: int, how: int) -> None:
        monkeypatch.setattr(durable.fcntl, "flock", flock)
        (tmp_path / durable.LOCK_NAME).unlink()
        flock(descriptor, how)

    monkeypatch.setattr(durable.fcntl, "flock", removed_first)
    held = durable.WriterLock(tmp_path)
    with pytest.raises(IndexLockedError):
        durable.WriterLock(tmp_path)
    held.release()
    durable.WriterLock(tmp_path).release()


# -- builds that fail, and builds that are the same ----------------------------------------------------------------


@pytest.mark.parametrize("where", ["analyze", "write"])
def test_an_error_in_a_thread_ends_the_run(
    where: str,
    engine: Engine,
    documents: Documents,
    monkeypatch: pytest.MonkeyPatch,
    content: Callable[..., Any],
    forked: Callable[..., int],
) -> None:
    """While there is more to do, and in the last write, after the end of the input."""
    engine.add([doc("a")])
    engine.close()
    monkeypatch.setattr(ingest, "BATCH", 64)

    def fail(self: Any, *arguments: Any) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(
        *((builder.BulkAnalyzer, where, fail) if where == "analyze" else (builder.SegmentBuilder, where, fail))
    )

    def add() -> None:
        signal.alarm(120)  # far more than it takes: it ends a process that waits
        with Engine.open(engine.folder) as other, pytest.raises(MemoryError, match="no more"):
            other.add(documents(2000), threads=2)

    assert os.waitpid(forked(add), 0)[1] == 0
    assert list(content(engine.folder)) == ["a"]
    assert not check_index(engine.folder).notes


def test_a_full_disk_ends_the_command(tmp_path: Path) -> None:
    """Files of at most 20 kB: the command says so and ends, with every number of threads."""
    source = tmp_path / "many.jsonl"
    source.write_text("".join(f'{{"id": "d{i}", "text": "w{i} w{i % 7} w{i % 100}"}}\n' for i in range(3000)))
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); sys.dont_write_bytecode = True\n"
        "from germane.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "index", str(source), "--into", str(tmp_path / "x"), "--threads", "2"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(command, timeout=3000, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode != 0
    assert "cannot be written" in done.stderr
    assert not (tmp_path / "x").exists()


def test_builds_are_the_same_to_the_byte(
    tmp_path: Path, documents: Documents, index_files: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is done, with several threads too; adds, deletions and merges included."""
    monkeypatch.setattr(ingest, "MIN_MEMORY", 0)
    monkeypatch.setattr(ingest, "BATCH", 16)
    monkeypatch.setattr(builder, "BATCH_CHARACTERS", 200)
    spelt = [Document(f"s{i}", {"text": ["Ranks", "ranking", "rank", "Ranked"][i % 4]}) for i in range(200)]
    for memory in (512, 0):
        for threads in (1, 3):
            built = []
            for _ in range(2):
                folder = tmp_path / f"{memory}-{threads}-{len(built)}"
                with Engine.create(folder) as engine:
                    engine.add([*documents(100), *spelt, *documents(100, 1, "e")], threads=threads, memory_mb=memory)
                    engine.delete(["d3", "e9"])
                    engine.add(documents(40, 3, "f"), threads=threads, memory_mb=memory)
                    engine.merge()
                    engine.delete(["f1"])
                built.append(index_files(folder))
            assert built[0] == built[1]
            assert {"MANIFEST", "LOCK"} < set(built[0])


# -- several processes ---------------------------------------------------------------------------------------------


def test_a_second_writer_is_refused(engine: Engine, forked: Callable[..., int]) -> None:
    engine.add([doc("a")])

    def try_to_write() -> None:
        other = Engine.open(engine.folder)
        assert other.search("w1").ids == ["a"]
        with pytest.raises(IndexLockedError, match="another process is writing"):
            other.delete(["a"])

    assert os.waitpid(forked(try_to_write), 0)[1] == 0
    with pytest.raises(IndexLockedError):
        IndexWriter(engine.folder)
    engine.close()
    with Engine.open(engine.folder) as other:
        assert other.delete(["a"]) == 1


def test_a_fork_does_not_inherit_the_lock(engine: Engine, forked: Callable[..., int]) -> None:
    """What the child would add, the parent's next commit would take away."""
    engine.add([doc("a")])
    done, go_on = os.pipe(), os.pipe()

    def write_as_a_child() -> None:
        for change in (lambda: engine.add([doc("b")]), lambda: engine.delete(["a"]), engine.merge):
            with pytest.raises(IndexLockedError, match="fork"):
                change()
        with pytest.raises(IndexLockedError, match="another process"):
            Engine.open(engine.folder).add([doc("b")])
        engine.close()
        os.write(done[1], b".")
        os.read(go_on[0], 1)

    pid = forked(write_as_a_child)
    assert os.read(done[0], 1) == b"."
    engine.add([doc("c")])
    engine.close()
    with Engine.open(engine.folder) as other:  # the child still lives, without the lock
        other.add([doc("e")])
    os.write(go_on[1], b".")
    assert os.waitpid(pid, 0)[1] == 0
    assert Engine.open(engine.folder).search("w1", 10).ids == ["a", "c", "e"]


def test_a_commit_over_another_is_refused(engine: Engine) -> None:
    """Two writers at once, as on a file system without locks: the second to commit is told, and nothing is lost."""
    engine.add([doc("a")])
    (engine.folder / durable.LOCK_NAME).unlink()
    with Engine.open(engine.folder) as other:
        other.add([doc("b")])
    for change in (lambda: engine.add([doc("c")]), lambda: engine.delete(["a"])):
        with pytest.raises(IndexLockedError, match="changed by somebody else"):
            change()
    assert Engine.open(engine.folder).search("w1", 10).ids == ["a", "b"]
    assert check_index(engine.folder).ok


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StorageError, match="without locks"):
        Engine.create(tmp_path / "index")


def test_a_child_that_fails_leaves_the_new_index(tmp_path: Path, forked: Callable[..., int]) -> None:
    with new_index(tmp_path / "index", Analyzer(), ["text"]) as new:
        new.add([doc("a")])

        def fail() -> None:
            new.remove()

        assert os.waitpid(forked(fail), 0)[1] == 0
        new.add([doc("b")])
    assert len(Engine.open(tmp_path / "index")) == 2


def test_another_index_in_the_same_folder(
    tmp_path: Path, documents: Documents, seen: Callable[[Engine], dict[str, Any]]
) -> None:
    """Its files may have the names of those that a reader knows."""
    folder = tmp_path / "index"
    with Engine.create(folder) as engine:
        engine.add(documents(20))
    reader = Engine.open(folder)
    seen(reader)
    shutil.rmtree(folder)
    with Engine.create(folder) as engine:
        engine.add(documents(30, 1, "e"))
    reader.refresh()
    assert seen(reader) == seen(Engine.open(folder))


def test_readers_keep_their_snapshot(
    engine: Engine,
    documents: Documents,
    seen: Callable[..., Any],
    content: Callable[..., Any],
    forked: Callable[..., int],
) -> None:
    for i in range(3):
        engine.add(documents(10, i, "abc"[i]))
    ready, changed = os.pipe(), os.pipe()

    def read() -> None:
        reader = Engine.open(engine.folder)
        before = seen(reader), content(reader)
        os.write(ready[1], b".")
        assert os.read(changed[0], 1) == b"."
        assert (seen(reader), content(reader)) == before
        kept = reader.retriever.snapshot
        reader.refresh()
        assert len(reader) == 25
        assert reader.retriever.snapshot.manifest.generation > kept.manifest.generation
        assert seen(Engine.open(engine.folder)) == seen(reader)

    pid = forked(read)
    assert os.read(ready[0], 1) == b"."
    engine.delete([f"a{i}" for i in range(7)])
    engine.update(documents(2, 9, "x"))
    engine.merge()
    os.write(changed[1], b".")
    assert os.waitpid(pid, 0)[1] == 0


def test_refresh_reuses_what_has_not_changed(engine: Engine, documents: Documents) -> None:
    engine.add(documents(5))
    first = Snapshot.open(engine.folder)
    engine.add(documents(5, 1, "e"))
    second = Snapshot.open(engine.folder, first)
    assert second.segments[0] is first.segments[0]
    engine.delete(["d1"])
    third = Snapshot.open(engine.folder, second)
    assert third.segments[0].segment is first.segments[0].segment
    assert third.segments[0].deletions.n_docs == 1
    assert first.segments[0].deletions.n_docs == 0
    assert third.segments[1] is second.segments[1]


def test_opening_while_a_writer_replaces_files(
    engine: Engine, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that read the manifest just before a merge looks at it again."""
    from germane.index import snapshot

    engine.add(documents(5))
    engine.add(documents(5, 1, "e"))
    read_manifest, merged = snapshot.read_manifest, []

    def read_then_merge(folder: Path) -> Any:
        manifest = read_manifest(folder)
        if not merged:
            merged.append(True)
            engine.merge()
        return manifest

    monkeypatch.setattr(snapshot, "read_manifest", read_then_merge)
    assert Snapshot.open(engine.folder).n_docs == 10


def test_entropy_of_any_cut(tmp_path: Path, documents: Documents) -> None:
    """H(p_C) literally, and the same to the last digit however the documents lie."""
    collection = documents(60)
    analyzer = Analyzer()
    words = [t for one in collection for name in ("title", "text") for t in analyzer.terms(str(one.fields[name]))]
    p_C = np.unique(words, return_counts=True)[1] / len(words)
    found = set()
    for cut in (60, 20, 7):
        with Engine.create(tmp_path / str(cut)) as engine:
            for begin in range(0, 60, cut):
                engine.add(collection[begin : begin + cut])
            found.add(engine.retriever.snapshot.entropy())
    assert len(found) == 1
    assert found.pop() == pytest.approx(-(p_C * np.log(p_C)).sum(), rel=1e-14)
    with Engine.create(tmp_path / "empty") as engine:
        assert engine.retriever.snapshot.entropy() == 0.0


def test_a_refresh_sees_every_commit_and_costs_nothing_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable.time, "time_ns", lambda: 1_700_000_000_000_000_000)  # a clock that stands
    with Engine.create(tmp_path / "index") as engine:
        reader = Engine.open(tmp_path / "index")
        times = set()
        for n in range(1, 6):
            engine.add([Document(f"d{n}", {"text": "word"})])
            reader.refresh()
            assert len(reader) == n
            searcher = reader.retriever._searcher
            reader.refresh()
            assert reader.retriever._searcher is searcher
            times.add((tmp_path / "index" / "MANIFEST").stat().st_mtime_ns)
        assert len(times) == 5
        engine.refresh()  # what it wrote itself is not news
        shown = engine.retriever._searcher
        engine.refresh()
        assert engine.retriever._searcher is shown

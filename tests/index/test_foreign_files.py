"""Files that are not the index's own are never read, written, moved or removed, whatever the index says of them."""

import contextlib
import os
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from germane.engine import Engine
from germane.errors import GermaneError, IndexFormatError, StorageError
from germane.index.check import check_index
from germane.index.manifest import read_manifest
from germane.index.repair import repair_index
from germane.types import Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("a", {"text": "w1 w2"}), Document("b", {"text": "w2"})])
        engine.delete(["b"])
    return tmp_path / "index"


def rewrite_manifest(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest and give it a right checksum."""
    parsed = orjson.loads((folder / "MANIFEST").read_bytes().partition(b"\n")[2])
    change(parsed)
    body = orjson.dumps(parsed)
    (folder / "MANIFEST").write_bytes(b"%08x\n" % zlib.crc32(body) + body)


def add(folder: Path) -> None:
    with Engine.open(folder) as engine:
        engine.update([Document("c", {"text": "w3"})])


def search(folder: Path) -> None:
    Engine.open(folder).search("w1")


@pytest.mark.parametrize("name", ["../victim.txt", "ABSOLUTE", "sub/victim.txt", "segment-x.germane", ".", "MANIFEST"])
@pytest.mark.parametrize("key", ["name", "deletions"])
def test_a_manifest_that_names_a_file_outside(folder: Path, tmp_path: Path, name: str, key: str) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    (folder / "sub").mkdir()
    (folder / "sub" / "victim.txt").write_text("mine")
    named = str(victim) if name == "ABSOLUTE" else name
    rewrite_manifest(folder, lambda parsed: parsed["segments"][0].update({key: named}))
    for use in (search, add, repair_index):
        with pytest.raises(IndexFormatError, match="MANIFEST"):
            use(folder)
    assert not check_index(folder).ok
    assert victim.read_text() == (folder / "sub" / "victim.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "x"},
        {"generation": -1},
        {"generation": True},
        {"generation": 1.5},
        {"generation": 2**63},
        {"segments": {}},
        {"segments": [7]},
        {"segments": None},
        {"text_fields": "text"},
        {"text_fields": []},
        {"text_fields": [1]},
        {"next_file": None},
        {"analyzer": []},
        {"fingerprint": 7},
    ],
)
def test_types_in_the_manifest(folder: Path, change: dict[str, Any]) -> None:
    rewrite_manifest(folder, lambda parsed: parsed.update(change))
    for use in (search, add):
        with pytest.raises(IndexFormatError, match="MANIFEST"):
            use(folder)
    assert not check_index(folder).ok


@pytest.mark.parametrize("change", [{"name": 7}, {"size": "x"}, {"size": None}, {"size": -1}, {"deletions": 7}])
def test_types_in_a_segments_entry(folder: Path, change: dict[str, Any]) -> None:
    rewrite_manifest(folder, lambda parsed: parsed["segments"][0].update(change))
    for use in (search, add):
        with pytest.raises(IndexFormatError, match="MANIFEST"):
            use(folder)


def test_a_segment_named_twice(folder: Path) -> None:
    rewrite_manifest(folder, lambda parsed: parsed.update(segments=parsed["segments"] * 2))
    with pytest.raises(IndexFormatError, match="named twice"):
        search(folder)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """Neither where a temporary file might be made, nor where one of the index is read."""
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    for name in ("MANIFEST.tmp", "LOCK.tmp", "segment-0000000000000009.germane.tmp"):
        (folder / name).symlink_to(victim)
    add(folder)
    repair_index(folder)
    assert victim.read_text() == "mine"
    entry = read_manifest(folder).segments[0]
    (folder / entry.name).rename(tmp_path / "elsewhere")
    (folder / entry.name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexFormatError, match=entry.name):
        search(folder)
    before = (tmp_path / "elsewhere").read_bytes()
    repair_index(folder)
    assert (tmp_path / "elsewhere").read_bytes() == before
    assert check_index(folder).ok


def test_a_lock_or_manifest_that_is_a_link(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    (folder / "LOCK").unlink()
    (folder / "LOCK").symlink_to(victim)
    with pytest.raises(StorageError, match="LOCK"):
        add(folder)
    assert not victim.exists()
    (folder / "MANIFEST").rename(tmp_path / "manifest")
    (folder / "MANIFEST").symlink_to(tmp_path / "manifest")
    with pytest.raises(IndexFormatError, match="MANIFEST cannot be read"):
        search(folder)


@pytest.mark.parametrize("which", ["MANIFEST", "segment", "deletions", "LOCK"])
def test_a_pipe_keeps_nobody_waiting(folder: Path, which: str, forked: Callable[..., int]) -> None:
    (path,) = (path for path in folder.iterdir() if path.name.startswith(which))
    path.unlink()
    os.mkfifo(path)

    def use_it() -> None:
        signal.alarm(120)  # far more than any of these takes: it ends a process that waits
        for use in (search, add, repair_index):
            with contextlib.suppress(GermaneError):
                use(folder)

    assert os.waitpid(forked(use_it), 0)[1] == 0


def test_a_classifier_beside_the_segments_stays(folder: Path) -> None:
    kept = {"spam.germane": b"saved", "segment-old.germane": b"backup", "new-1.tmp": b"x", "MANIFEST.bak": b"y"}
    for name, data in kept.items():
        (folder / name).write_bytes(data)
    add(folder)
    with Engine.open(folder) as engine:
        engine.merge()
    assert {name: (folder / name).read_bytes() for name in kept} == kept


def test_new_folders_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a power cut takes the index with its folder."""
    flushed: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    Engine.create(tmp_path / "deep" / "er" / "index").close()
    assert {str(tmp_path.resolve()), str((tmp_path / "deep").resolve())} <= set(flushed)
    assert str((tmp_path / "deep" / "er").resolve()) in flushed


def test_numbers_of_commits_used_up(folder: Path) -> None:
    rewrite_manifest(folder, lambda parsed: parsed.update(generation=2**63 - 1))
    search(folder)
    with pytest.raises(GermaneError):
        add(folder)
    assert Engine.open(folder).search("w1").ids == ["a"]

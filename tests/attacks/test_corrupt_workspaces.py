"""Workspaces and caches that were damaged at random: each is refused in a sentence, or answers; `make fuzz` goes on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fuzz.harness import fuzz
from fuzz.workspace_cases import WorkspaceJudge, make_workspace
from germane.errors import GermaneError, InputError, StorageError
from germane.stream.packing import packed, unpacked
from germane.stream.watch import Watch
from germane.workspace import Workspace
from germane.workspace.archive import export_archive

CASES = 36
"""Each time the same; `make fuzz ARGS=workspaces` goes on from there."""


def test_damaged_workspaces(tmp_path: Path) -> None:
    report = fuzz(WorkspaceJudge(tmp_path), range(CASES))
    assert not report.findings, str(report)
    assert sum(report.counts.values()) == CASES
    assert report.counts["refused"] > CASES // 4


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    make_workspace(tmp_path / "w")
    return tmp_path / "w"


def changed(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute(statement, values)


@pytest.mark.parametrize(
    ("column", "value"),
    [("mark", "x"), ("mark", 7), ("mark", b"1"), ("document", b"\xff"), ("undoes", 1.5), ("at", b"")],
)
def test_a_value_of_another_kind(workspace: Path, column: str, value: object) -> None:
    changed(workspace, f'UPDATE marks SET "{column}" = ? WHERE id = 3', value)
    with Workspace.open(workspace) as opened:
        reading = opened.collections.get("reading")
        with pytest.raises(InputError, match="the workspace is damaged"):
            opened.marks.history(reading)


@pytest.mark.parametrize("value", ["", "{", "x", "[1,", "\x00"])
def test_what_is_not_json(workspace: Path, value: str) -> None:
    changed(workspace, "UPDATE records SET fields = ? WHERE id = 5", value)
    with Workspace.open(workspace) as opened, pytest.raises(InputError, match="damaged: not JSON"):
        export_archive(opened, workspace.with_name("archive.jsonl"))


def test_histories_that_take_themselves_back_end(workspace: Path) -> None:
    """A row that names itself, or a later one, as the one that it takes back: the search for the last goes on below."""
    changed(workspace, "UPDATE marks SET undoes = id + 100 WHERE undoes IS NOT NULL")
    changed(workspace, "UPDATE marks SET undoes = id WHERE id = 2")
    with Workspace.open(workspace) as opened:
        reading = opened.collections.get("reading")
        while opened.marks.undo(reading) is not None:
            pass


@pytest.mark.parametrize("content", [b"", b"x", b"[]\n", b'["k"]\n', b'["background"]\n\x93NUMPY', b"\xff" * 100])
def test_damaged_streams(workspace: Path, content: bytes) -> None:
    changed(workspace, "UPDATE stream_parts SET content = ?", content)
    with Workspace.open(workspace) as opened:
        watch = Watch.open(opened)
        with pytest.raises(StorageError, match="what is kept of a stream is damaged"):
            watch.memory()


def test_an_array_that_says_it_is_enormous() -> None:
    """Its numbers are counted before room is made for them."""
    good = packed({"a": [1.0, 2.0]})
    forged = good.replace(b"(2,), }     ", b"(99999999,)}"[:12])
    assert forged != good
    with pytest.raises(GermaneError):
        unpacked(forged)

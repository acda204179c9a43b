"""A full disk: a line is kept whole, or refused with 507 and the reason; nothing is half-written."""

import errno
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from attacks.conftest import ServerProcess
from germane.clicks.log import ClickLog
from germane.data import appending
from germane.data.appending import append_lines
from germane.errors import DiskFullError
from germane.server.audit import Audit
from germane.server.problems import told
from germane.workspace import Workspace

EVENTS = {"events": [{"query_id": "1", "user_query": "sleep", "client_id": "anna"}]}


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of 3 MB, where the machine allows one."""
    folder = tmp_path_factory.mktemp("small")
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small file system can be mounted by root alone")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(disk: Path) -> Path:
    """A file that takes all the room that is left."""
    path = disk / "filling"
    with path.open("ab", buffering=0) as file, suppress(OSError):
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    assert content.endswith(b"\n") or not content
    return [json.loads(line) for line in content.splitlines()]


def test_a_server(start_server: Callable[..., ServerProcess], small_disk: Path) -> None:
    server = start_server("--workspace", str(small_disk / "w"))
    assert server.api("POST", "/events", EVENTS)[0] == 201
    kept, noted = lines_of(small_disk / "clicks.jsonl"), lines_of(small_disk / "audit.jsonl")
    assert noted[-1]["status"] == 201
    filling = filled(small_disk)
    for method, path, body in (
        ("POST", "/events", EVENTS), ("POST", "/searches", {"query": "sleep"}), ("DELETE", "/events", None),
        ("PUT", "/collections/library/documents/new", {"title": "a" * 4000}), ("POST", "/jobs/exports", {}),
    ):  # fmt: skip
        # Lines as short as these may find room behind those before; then the change itself may find none.
        for _ in range(60):
            status, said = server.api(method, path, body)
            if status == 507:
                break
            filled(small_disk)
        assert status == 507, (method, path, said)
        assert "no space left" in said["detail"], said
        assert str(small_disk) not in said["detail"]
    assert server.api("GET", "/collections/library/search?q=sleep")[0] == 200
    assert server.ask("GET", "/search?q=sleep")[0] == 200
    clicks = lines_of(small_disk / "clicks.jsonl")
    assert clicks[: len(kept)] == kept
    lines_of(small_disk / "audit.jsonl")
    filling.unlink()
    assert server.api("POST", "/events", EVENTS)[0] == 201
    after = lines_of(small_disk / "clicks.jsonl")
    assert after[: len(clicks)] == clicks
    assert after[-1]["client_id"] == "anna"
    assert lines_of(small_disk / "audit.jsonl")[-1]["status"] == 201
    with Workspace.open(small_disk / "w", create=False) as workspace:
        assert isinstance(workspace.searches.all(), list)
    assert "Traceback" not in server.stop()


@pytest.fixture(params=range(4))
def failing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes a few bytes of a write, or all of them but not for good."""
    left: int = request.param * 7
    write = os.pwrite

    def pwrite(descriptor: int, data: memoryview, at: int) -> int:
        nonlocal left
        if left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(descriptor, data[:left], at)
        left -= written
        return written

    def fsync(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if request.param == 3:
        monkeypatch.setattr(appending.os, "fsync", fsync)
    else:
        monkeypatch.setattr(appending.os, "pwrite", pwrite)


@pytest.mark.parametrize("before", [b"", b'{"query_id": "0"}\n', b'{"query_id": "0"}\n{"cut'])
def test_nothing_is_half_written(tmp_path: Path, before: bytes, failing: None) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(before)
    for write in (
        lambda: append_lines(path, b'{"query_id": "1"}\n'), lambda: ClickLog(path).add([{"query_id": "1"}]),
        lambda: Audit(path).erased("all", 1), lambda: Audit(path).begin(SCOPE),
    ):  # fmt: skip
        with pytest.raises(DiskFullError, match="no space left on the disk; nothing of it was written") as caught:
            write()
        assert path.read_bytes() == before
        assert told(caught.value).status == 507


SCOPE = {"client": ("127.0.0.1", 1), "state": {"who": "anna"}, "method": "POST", "path": "/x"}


def test_a_change_is_noted_before_it_is_made(tmp_path: Path) -> None:
    """One that was under way when the process ended has the status 0."""
    audit = Audit(tmp_path / "audit.jsonl")
    first, second = audit.begin(SCOPE), audit.begin(SCOPE)
    assert [line["status"] for line in lines_of(tmp_path / "audit.jsonl")] == [0, 0]
    assert second is not None
    second.end(201)
    audit.refused(SCOPE, 403)
    assert [line["status"] for line in lines_of(tmp_path / "audit.jsonl")] == [0, 201, 403]
    assert first is not None
    first.end(507)
    assert [line["status"] for line in lines_of(tmp_path / "audit.jsonl")] == [507, 201, 403]

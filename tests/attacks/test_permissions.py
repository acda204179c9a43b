"""Nothing that holds a person's words can be read by others: not what is made, nor what was made more open before."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attacks.conftest import ServerProcess
from germane import Engine
from germane.clicks.log import ClickLog
from germane.engine.models.model_store import ModelStore
from germane.errors import InputError
from germane.server.roles import read_tokens
from germane.types import Document
from germane.workspace import Workspace

OTHERS = 0o077


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    """As a login shell has it: what nobody thought of is readable for all."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(*folders: Path) -> list[str]:
    """What others may read, write or enter, below these folders and including them."""
    found = [path for folder in folders for path in (folder, *sorted(folder.rglob("*")))]
    return [f"{path} {stat.S_IMODE(path.lstat().st_mode):o}" for path in found if path.lstat().st_mode & OTHERS]


def test_a_server_and_all_that_it_keeps(start_server: Callable[..., ServerProcess]) -> None:
    """Every file of the index, the workspace and the server's folder, after each kind of request that writes."""
    os.umask(0o022)
    server = start_server()
    assert server.api("POST", "/events", {"events": [{"query_id": "1", "client_id": "anna"}]})[0] == 201
    assert server.api("POST", "/topics", {"name": "t", "documents": ["d1"]})[0] == 201
    assert server.api("POST", "/imports?name=a.csv", b"id,title\n1,x\n")[0] == 201
    status, job = server.api("POST", "/jobs/exports", {"format": "jsonl"})
    assert status < 300
    while server.api("GET", f"/jobs/{job['job']}")[1]["state"] not in ("done", "failed"):
        pass
    assert server.api("PUT", "/collections/library/documents/new", {"title": "a"})[0] < 300
    server.stop()
    made = [path for path in server.home.iterdir() if path.name != "server.log"]
    names = {path.name for path in made}
    assert names >= {"library", "w", "audit.jsonl", "clicks.jsonl", "exports", "uploads"}, names
    assert [each for path in made for each in open_to_others(path)] == []


def test_an_index_and_its_models(tmp_path: Path) -> None:
    from learning.test_model_store import fitted, record

    with Engine.create(tmp_path / "index", vectors={"v": 4}) as engine:
        engine.add([Document(f"d{i}", {"text": "x"}, vectors={"v": [1.0, 0.0, 0.0, i]}) for i in range(5)])
        engine.delete(["d1"])
    ModelStore(tmp_path / "index").add("clicks", fitted("one"), record())
    ModelStore(tmp_path / "index").promote("clicks@1")
    assert open_to_others(tmp_path / "index") == []


def test_an_index_that_was_opened_stays_open(tmp_path: Path) -> None:
    """Whoever opens the folder to a group opens what is written there from then on."""
    from learning.test_model_store import fitted, record

    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("a", {"text": "x"})])
    subprocess.run(["chmod", "-R", "g+rX", tmp_path / "index"], check=True)
    with Engine.open(tmp_path / "index") as engine:
        engine.add([Document("b", {"text": "y"})])
    ModelStore(tmp_path / "index").add("clicks", fitted("one"), record())
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "index").rglob("*") if path.is_file()}
    assert modes == {0o640}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "index").rglob("*") if path.is_dir()}
    assert folders == {0o750}


def test_a_click_store(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from germane.clicks import ClickStore

    line = {"query_id": "1", "user_query": "copper", "timestamp": "2026-01-31T10:00:00Z", "client_id": "anna"}
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    store = ClickStore.create(tmp_path / "history")
    store.add([tmp_path / "log.jsonl"])
    assert open_to_others(tmp_path / "history") == []
    subprocess.run(["chmod", "-R", "a+rX", tmp_path / "history"], check=True)
    ClickStore.open(tmp_path / "history").erase("nobody")
    assert open_to_others(tmp_path / "history" / "LOCK") == []
    assert not (tmp_path / "history").stat().st_mode & OTHERS


def test_what_was_made_more_open_before_is_narrowed(tmp_path: Path) -> None:
    Workspace.open(tmp_path / "w").close()
    (tmp_path / "clicks.jsonl").touch(0o644)
    (tmp_path / "w").chmod(0o644)
    with Workspace.open(tmp_path / "w") as workspace:
        workspace.collections.create("reading")
        ClickLog(tmp_path / "clicks.jsonl").add([{"query_id": "1"}])
        assert [each for path in tmp_path.iterdir() for each in open_to_others(path)] == []


def test_a_saved_classifier(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from germane import TextClassifier

    TextClassifier("multinomial", tune=False).fit(["a goal", "a law"], ["sport", "politics"]).save(tmp_path / "model")
    assert open_to_others(tmp_path / "model") == []
    (tmp_path / "model").chmod(0o644)
    TextClassifier.load(tmp_path / "model").save(tmp_path / "model")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o644  # somebody gave it away on purpose


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_tokens_that_others_can_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "my tokens"
    path.write_text(f"admin {'a' * 16}\n")
    path.chmod(mode)
    with pytest.raises(InputError, match=f"chmod 600 '{path}'"):
        read_tokens(path)
    path.chmod(0o600)
    assert len(read_tokens(path)) == 1


def test_the_command_says_so(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"admin {'a' * 16}\n")
    command = [sys.executable, "-m", "germane.cli", "serve", "--token-file", str(path), "--no-browser", "--port", "0"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(tmp_path)}
    )
    assert done.returncode
    assert f"chmod 600 {path}" in done.stderr
    assert "Traceback" not in done.stderr

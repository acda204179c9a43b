"""A refusal while events stream is the event `problem`, and leaves no traceback in the log."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from attacks.conftest import ServerProcess, small_documents
from germane import Engine
from germane.errors import DiskFullError
from germane.server import Library, Settings, finding
from germane.server.app import create_app
from germane.workspace import Workspace


@pytest.mark.parametrize("asked", ["c=nowhere&q=copper", "c=%00&q=copper", "source=nowhere&q=copper", "q="])
def test_what_cannot_be_asked_is_refused_before_events(server: ServerProcess, asked: str) -> None:
    status, _, _ = server.ask("GET", f"/find/stream?{asked}", headers={})
    assert status in (404, 422)
    assert "Traceback" not in server.log.read_text()


def test_a_full_disk_is_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.create(tmp_path / "library")
    engine.add(small_documents())

    def full(*given: object) -> None:
        raise DiskFullError(f"{tmp_path}/w cannot be written: no space left on the disk")

    monkeypatch.setattr(finding, "save_found", full)
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    with TestClient(create_app(library), base_url="http://127.0.0.1:8017") as client:
        events = client.get("/find/stream?q=copper&source=library").text.strip().split("\n\n")
    library.close()
    name, data = events[-1].split("\n")
    assert name == "event: problem"
    told = json.loads(data.removeprefix("data: "))
    assert told["status"] == 507
    assert "no space left" in told["detail"]
    assert str(tmp_path) not in told["detail"]

"""A small library behind the application, and a client that behaves as a browser at its address does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.server import Library, Settings, create_app
from germane.server.sample import sample_documents
from germane.workspace import Workspace

ADDRESS = "http://127.0.0.1:8017"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of 480 abstracts of the sample."""
    folder = tmp_path_factory.mktemp("server") / "research"
    with Engine.create(folder) as engine:
        engine.add(sample_documents(each=12))
    return folder


@pytest.fixture
def library(tmp_path: Path, sample: Path) -> Iterator[Library]:
    """The sample, to be read, and a collection of one's own, to be changed."""
    own = Engine.create(tmp_path / "own")
    own.add([{"id": "1", "title": "Copper in the liver", "text": "Copper, stored in the liver.", "year": 1912}])
    settings = Settings(audit=tmp_path / "audit.jsonl")
    engines = {"research": Engine.open(sample), "own": own}
    made = Library(engines, Workspace.open(tmp_path / "my.workspace"), settings, tmp_path)
    yield made
    made.close()


@pytest.fixture
def client(library: Library) -> TestClient:
    return TestClient(create_app(library), base_url=ADDRESS, follow_redirects=False)


class Browser:
    """Sends forms as the page does: with the cookie and its value."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        client.get("/search")

    def post(self, path: str, fragment: bool = False, **fields: str):
        headers = {"x-fragment": "1"} if fragment else {}
        fields["csrf"] = self.client.cookies["germane_csrf"]
        return self.client.post(path, data=fields, headers=headers)


@pytest.fixture
def browser(client: TestClient) -> Browser:
    return Browser(client)

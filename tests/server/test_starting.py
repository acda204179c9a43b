"""A server before it is ready: what it answers, who waits for it, and which kernels it needs."""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from germane.engine import Engine
from germane.errors import GermaneError, IndexFormatError
from germane.server import Library, Settings, warming
from germane.server.running import answers_once, listening, open_library, run, server_of, starting_server
from germane.server.warming import Warming
from germane.workspace import Workspace


class Held:
    """A server whose library is opened when it is let."""

    def __init__(self, sample: Path, home: Path) -> None:
        self.settings = Settings(port=0, audit=home / "audit.jsonl")
        self.sample, self.home = sample, home
        self.begun, self.let = threading.Event(), threading.Event()
        self.made: list[Library] = []
        self.taken = listening(self.settings)
        self.port = self.taken.getsockname()[1]
        self.server, self.start = starting_server(self.settings, self.make, compiles=False)

    def make(self, say) -> Library:
        say("indexing <all> of it")
        self.begun.set()
        self.let.wait()
        engines = {"research": Engine.open(self.sample)}
        library = Library(engines, Workspace.open(self.home / "w"), self.settings, self.home)
        self.made.append(library)
        return library

    def run(self) -> threading.Thread:
        thread = threading.Thread(target=run, args=(self.server, self.start, self.taken))
        thread.start()
        self.begun.wait()
        return thread

    def ask(self, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        while True:
            try:
                with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
                    connection.request(method, path, headers=headers)
                    answer = connection.getresponse()
                    held = {name.lower(): value for name, value in answer.getheaders()}
                    return answer.status, held, answer.read().decode()
            except ConnectionRefusedError:
                time.sleep(0.01)


@pytest.fixture
def held(sample: Path, tmp_path: Path) -> Iterator[Held]:
    made = Held(sample, tmp_path)
    yield made
    made.let.set()
    made.server.should_exit = True


def test_until_it_is_ready_every_answer_says_what_is_made(held: Held) -> None:
    thread = held.run()
    status, headers, page = held.ask("GET", "/search?q=sleep", accept="text/html")
    assert (status, headers["retry-after"], headers["cache-control"]) == (503, "2", "no-store")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "indexing &lt;all&gt; of it" in page
    assert '<meta http-equiv="refresh" content="2">' in page
    assert 'content="2;url=/search"' in held.ask("POST", "/mark")[2]
    assert held.ask("GET", "/static/page.css")[0] == 200

    status, headers, body = held.ask("GET", "/api/v1/health")
    health = json.loads(body)
    assert (status, headers["retry-after"], health["status"], health["collections"]) == (503, "2", "starting", {})
    status, headers, body = held.ask("POST", "/api/v1/search")
    assert (status, headers["content-type"]) == (503, "application/problem+json")
    assert json.loads(body)["detail"].startswith("the server is starting: indexing <all> of it")

    held.let.set()
    assert held.start.wait()
    status, _, body = held.ask("GET", "/api/v1/health")
    assert (status, json.loads(body)["status"], json.loads(body)["collections"]) == (200, "ok", {"research": 480})
    assert held.ask("GET", "/search?q=sleep")[0] == 200
    held.server.should_exit = True
    thread.join()


def test_a_check_waits_however_long_it_takes(held: Held) -> None:
    found: list[dict[str, object]] = []
    arguments = held.server, held.start, held.settings, held.taken
    thread = threading.Thread(target=lambda: found.append(answers_once(*arguments)))
    thread.start()
    for _ in range(20):
        assert held.ask("GET", "/api/v1/health")[0] == 503
    assert thread.is_alive()
    held.let.set()
    thread.join()
    assert found[0]["documents"] == {"research": 480}


def test_what_keeps_it_from_starting_ends_it_and_is_told(tmp_path: Path) -> None:
    settings = Settings(port=0)
    for way in (run, lambda server, start, taken: answers_once(server, start, settings, taken)):
        server, start = starting_server(
            settings, lambda say: open_library([tmp_path / "no"], settings, workspace=tmp_path / "w")
        )
        with pytest.raises(IndexFormatError, match="does not exist"):
            way(server, start, listening(settings))
        assert not start.wait()


def test_it_may_be_ended_before_it_is_ready(held: Held) -> None:
    thread = held.run()
    assert held.ask("GET", "/")[0] == 503
    held.server.should_exit = True
    thread.join()
    held.let.set()
    while not (held.made and held.made[0].jobs.ending.is_set()):  # what was opened for nobody is closed
        time.sleep(0.01)


def test_a_server_of_what_is_open_does_not_listen_before_it_is_ready(library: Library) -> None:
    server = server_of(library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken := listening(library.settings)]})
    thread.start()
    with closing(http.client.HTTPConnection("127.0.0.1", taken.getsockname()[1])) as connection:
        while not server.started:
            time.sleep(0.01)
        connection.request("GET", "/api/v1/health")
        assert connection.getresponse().status == 200
    server.should_exit = True
    thread.join()


# -- kernels -----------------------------------------------------------------------------------------------------------


class Compiler:
    """In place of the process that compiles: it ends when it is let, or killed."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()
        self.kept = self.loaded = False
        self.politely: bool | None = None

    def start(self, *, politely: bool) -> "Compiler":
        self.politely = politely
        self.begun.set()
        return self

    def load(self) -> None:
        self.loaded = True

    def wait(self) -> None:
        self.over.wait()

    def kill(self) -> None:
        self.over.set()

    def communicate(self) -> None:
        pass


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    made = Compiler()
    monkeypatch.setattr(warming, "compiler_is_loaded", lambda: made.loaded)
    monkeypatch.setattr(warming, "wait_for_kernels", lambda waits: None)
    monkeypatch.setattr(warming, "load_compiler", made.load)
    monkeypatch.setattr(warming, "warm_up_apart", made.start)
    monkeypatch.setattr(warming.kernel_cache, "are_kept", lambda: made.kept)
    return made


def test_a_small_collection_is_served_while_kernels_are_compiled(library: Library, compiler: Compiler) -> None:
    found = Warming(library.engines.values())
    assert not found.comes_first
    found.begin()
    compiler.begun.wait()
    assert compiler.politely
    assert not compiler.loaded
    found.close()
    assert compiler.over.is_set()


def test_kernels_are_loaded_when_they_are_there(library: Library, compiler: Compiler) -> None:
    compiler.kept = True
    Warming(library.engines.values()).run()
    assert compiler.loaded
    assert not compiler.begun.is_set()


@pytest.mark.parametrize("large", [False, True])
def test_where_none_can_be_kept_only_a_large_collection_compiles(
    library: Library, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    monkeypatch.setattr(warming, "LARGE", 100 if large else 20_000)
    compiler.over.set()
    Warming(library.engines.values()).run()
    assert compiler.loaded == large
    assert compiler.politely != large


def test_a_large_collection_waits_for_kernels(held: Held, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "LARGE", 100)
    thread = held.run()
    held.let.set()
    compiler.begun.wait()
    status, _, page = held.ask("GET", "/")
    assert status == 503
    assert "not compiled yet" in page
    compiler.kept = True
    compiler.over.set()
    assert held.start.wait()
    assert compiler.loaded
    held.server.should_exit = True
    thread.join()


FIRST_ANSWERS = """
import sys
from germane.server import Settings, create_app, running
from germane.server.warming import Warming
from starlette.testclient import TestClient

library = running.open_library((), Settings())
Warming(library.engines.values())
client = TestClient(create_app(library), base_url="http://127.0.0.1")
for path in ("/", *2 * ["/search?q=sleep+memory"], "/search?q=slep+memry", "/search?q=sleep+AND+memory", "/topics",
        "/search?q=sleep+memory&f=topic:Sleep", "/search?q=%22sleep+quality%22+mem*", "/screen", "/models", "/import"):
    assert client.get(path).status_code == 200, path
assert library.engines["research"].suggest("slep memry")
marks = {hit.id: True for hit in library.engines["research"].search("sleep memory", 2)}
library.engines["research"].search("sleep memory", marks=marks)
print(len(library.engines["research"]), "numba" in sys.modules)
"""


def test_the_sample_is_made_and_searched_without_a_compiler(tmp_path: Path) -> None:
    """From an empty cache of compiled code nothing that the first answers need is compiled, or loads what compiles."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "GERMANE_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWERS], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.stdout, done.stderr) == ("2600 False\n", "")


def test_an_error_of_a_first_search_is_for_those_who_search(library: Library, compiler: Compiler, monkeypatch) -> None:
    def fails(*arguments: object) -> None:
        raise GermaneError("damaged")

    compiler.kept = True
    monkeypatch.setattr(library.engines["own"], "search", fails)
    Warming(library.engines.values()).run()
    assert compiler.loaded

"""A real server process to attack: started once for a module, and asked over sockets of our own."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from germane.engine import Engine
from germane.types import Document

API = "/api/v1"
HEADERS = {"content-type": "application/json", "x-requested-with": "tests"}


class ServerProcess:
    """`germane serve` in a process of its own, over a folder of its own."""

    def __init__(self, home: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        command = [
            sys.executable, "-m", "germane.cli", "serve", "--index", str(home / "library"),
            "--workspace", str(home / "w"), "--port", "0", "--no-browser", *options,
        ]  # fmt: skip
        self.log = home / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stderr=log, stdout=log, env={**os.environ, **(environment or {})}, cwd=home
            )
        self.port = self._port()

    def _port(self) -> int:
        """Wait for the address that the server prints, then until it answers; the end of the process ends the wait."""
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}: {self.log.read_text()}")
            _, _, after = self.log.read_text(errors="replace").partition("http://127.0.0.1:")
            port, slash, _ = after.partition("/")
            if slash:
                with suppress(OSError), closing(socket.create_connection(("127.0.0.1", int(port)), timeout=5)):
                    return int(port)
            time.sleep(0.05)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: status, headers and body of the answer."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)) as connection:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body)
            connection.request(method, path, data, HEADERS if headers is None else dict(headers))
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def api(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """A call of the API: its status and its JSON."""
        status, _, answer = self.ask(method, API + path, body)
        return status, json.loads(answer)

    def raw(self, sent: bytes, *, most: int = 1 << 20, seconds: float = 60.0) -> bytes:
        """What comes back until the server closes, or says nothing for so long."""
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=seconds)) as connection:
            with suppress(OSError):
                connection.sendall(sent)
            answer = b""
            with suppress(OSError):
                while len(answer) < most and (part := connection.recv(65536)):
                    answer += part
            return answer

    def audited(self) -> list[dict[str, Any]]:
        """The lines of the audit log; one may come after the answer that it tells of."""
        path = self.home / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def resident(self) -> int:
        """Bytes of memory that the process and its children hold."""
        import psutil

        process = psutil.Process(self.process.pid)
        return sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))

    def stop(self) -> str:
        """End it as Ctrl-C does, and return what it said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(600)
            self.process.kill()
            self.process.wait()
        return self.log.read_text(errors="replace")


def small_documents() -> Iterator[Document]:
    """Sixty short documents about copper, sleep and maps."""
    subjects = ("copper in the liver", "sleep and memory", "maps of old towns")
    for number in range(60):
        subject = subjects[number % 3]
        yield Document(
            f"d{number}", {"title": f"{subject.capitalize()} {number}", "text": f"About {subject}, part {number}.",
            "year": 1990 + number % 30},
        )  # fmt: skip


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ServerProcess]]:
    """Start servers over sixty documents, each in a folder of its own; they end with the module."""
    started: list[ServerProcess] = []

    def start(
        *options: str, environment: Mapping[str, str] | None = None, documents: Iterable[Document] | None = None
    ) -> ServerProcess:
        home = tmp_path_factory.mktemp("attacked")
        with Engine.create(home / "library") as engine:
            engine.add(small_documents() if documents is None else documents)
        server = ServerProcess(home, *options, environment=environment)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def server(start_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A server as `germane serve` starts it when nothing is said."""
    return start_server()

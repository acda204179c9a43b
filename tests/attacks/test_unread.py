"""Answers that nobody reads: what waits for readers is bounded, and who takes nothing is dropped."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from attacks.conftest import API, ServerProcess
from germane.engine import Engine
from germane.server import Library, Settings, connections, create_app
from germane.server.app import MOST_ANSWER
from germane.server.exports import Attachment
from germane.server.running import listening, uvicorn_server
from germane.server.sending import Sender
from germane.types import Document
from germane.workspace import Workspace

MIB = 1 << 20
EXPORT = f"GET {API}/collections/library/export HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


def large_documents() -> Iterator[Document]:
    """Twelve MiB in 96 documents, next to nothing of which is text to be searched."""
    for number in range(96):
        yield Document(f"d{number}", {"title": f"Copper {number}", "payload": f"{number:08}" * (16 << 10)})


@pytest.fixture(scope="module")
def large(start_server: Callable[..., ServerProcess]) -> ServerProcess:
    return start_server("--rate", "0", documents=large_documents())


def opened(port: int, request: bytes, count: int, stack: ExitStack) -> list[socket.socket]:
    """Connections that asked, got the first bytes, and read no more."""
    found = []
    for _ in range(count):
        connection = stack.enter_context(socket.socket())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(120)
        connection.sendall(request)
        found.append(connection)
    for connection in found:
        assert connection.recv(12) == b"HTTP/1.1 200"
    return found


def test_exports_that_nobody_reads_hold_little_memory(large: ServerProcess) -> None:
    assert large.ask("GET", f"{API}/collections/library/export")[0] == 200  # what the first one loads is there
    before = large.resident()
    with ExitStack() as stack:
        opened(large.port, EXPORT, 40, stack)
        time.sleep(1)  # the answers go on until nobody takes them
        assert large.resident() - before < 60 * MIB
        status, search = large.api("GET", "/collections/library/search?q=copper")
        assert (status, search["total"]) == (200, 96)


@pytest.mark.parametrize("format", ["jsonl", "csv", "ris", "bibtex"])
def test_a_reader_gets_the_whole_file(large: ServerProcess, format: str) -> None:
    status, headers, body = large.ask("GET", f"{API}/collections/library/export?format={format}")
    assert status == 200
    assert f"germane.{'bib' if format == 'bibtex' else format}" in headers["content-disposition"]
    assert body.count(b"00000095" * 100) >= 1
    assert len(body) > 12 * MIB


# -- in this process, with less patience -------------------------------------------------------------------------------


@contextmanager
def running(home: Path, index: Path, **settings: float) -> Iterator[int]:
    """A server over an index in a thread, and its port."""
    given = Settings(port=0, per_minute=0, **settings)  # type: ignore[arg-type]
    library = Library({"library": Engine.open(index)}, Workspace.open(home / "w"), given, home)
    taken = listening(given)
    server = uvicorn_server(create_app(library), library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    port = taken.getsockname()[1]
    while not server.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


def is_dropped(connection: socket.socket) -> bool:
    """Read what is left: whether it ends before the last document."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 20):
            parts.append(part)
    return b'"id":"d95"' not in b"".join(parts)


def test_who_takes_nothing_is_dropped_and_who_takes_a_little_is_not(large: ServerProcess, tmp_path: Path) -> None:
    with running(tmp_path, large.home / "library", take_seconds=1.5) as port, ExitStack() as stack:
        unread, slow = opened(port, EXPORT, 2, stack)
        whole = b""
        for wait in (*[0.1] * 25, *[0] * 10_000):  # takes longer than the patience, but goes on taking
            whole += slow.recv(64 << 10)
            time.sleep(wait)
            if whole.endswith(b"0\r\n\r\n"):
                break
        assert b'"id":"d95"' in whole
        assert is_dropped(unread)


def test_the_room_for_what_waits_is_that_of_those_who_take_it(
    large: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that are written at once, not in pieces: those who took nothing for longest lose theirs."""
    monkeypatch.setattr(connections, "MOST_WAITING", 20 * MIB)
    search = f"GET {API}/collections/library/search?q=copper&k=96 HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n".encode()
    with running(tmp_path, large.home / "library") as port, ExitStack() as stack:
        unread = [opened(port, search, 1, stack)[0] for _ in range(4)]  # 12 MiB each
        assert is_dropped(unread[0])
        assert not is_dropped(unread[-1])


def test_a_head_alone_makes_no_file() -> None:
    """The whole file was made for it, as fast as could be, since nobody had to take it."""
    made = []

    def pieces() -> Iterator[bytes]:
        for number in range(100):
            made.append(number)
            yield b"x"

    async def asked(method: str) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        answer = await Sender()(Attachment(pieces(), "jsonl"))
        await answer({"type": "http", "method": method, "asgi": {"spec_version": "2.4"}}, asyncio.Event().wait, send)  # type: ignore[arg-type]
        return sent

    assert [message["type"] for message in asyncio.run(asked("HEAD"))] == ["http.response.start", "http.response.body"]
    assert made == [0]
    asyncio.run(asked("GET"))
    assert made == [0, *range(100)]


def test_an_answer_that_is_too_large_is_refused_in_words(start_server: Callable[..., ServerProcess]) -> None:
    """It was cut off in the middle, since there was no room for it while its reader took it."""
    size = MOST_ANSWER // 4
    server = start_server(
        documents=[Document(f"d{i}", {"title": "copper", "payload": f"{i}" * size}) for i in range(5)]
    )
    path = "/collections/library/search?q=copper&k="
    assert len(server.ask("GET", f"{API}{path}3")[2]) > 3 * size
    status, answer = server.api("GET", f"{path}5")
    assert status == 422
    assert "lower 'k'" in answer["detail"]

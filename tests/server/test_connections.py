"""Real sockets: who trickles is cut off, a stop loses nothing that was acknowledged, processes share an index."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from germane.engine import Engine
from germane.server import Library, Settings, create_app
from germane.server.rates import Rates, make_shared
from germane.server.running import listening, server_of, uvicorn_server
from germane.workspace import Workspace

V1 = "/api/v1"


@contextmanager
def running(home: Path, app=create_app, **settings):
    """A server in a thread, and its port."""
    if not (home / "own").exists():
        with Engine.create(home / "own") as engine:
            engine.add([{"id": "1", "title": "Copper"}])
    given = Settings(port=0, per_minute=10**6, **settings)
    library = Library({"own": Engine.open(home / "own")}, Workspace.open(home / "w"), given, home)
    taken = listening(given)
    server = uvicorn_server(app(library), library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    port = taken.getsockname()[1]
    while not server.started:
        time.sleep(0.01)
    try:
        yield server, port
    finally:
        server.should_exit = True
        thread.join()


def received(connection: socket.socket) -> bytes:
    """All until the other side closes."""
    connection.settimeout(60)
    parts = []
    with connection, suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def sent(port: int, data: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(data)
    return connection


HOST = b"Host: 127.0.0.1\r\n"


def test_those_who_trickle_are_cut_off_and_others_are_answered(tmp_path):
    with running(tmp_path, head_seconds=0.3, body_seconds=0.3) as (_, port):
        nothing = sent(port, b"")
        half = sent(port, b"GET / HTTP/1.1\r\n" + HOST + b"X-Slow: ")
        again = sent(port, b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"\r\n")
        again.recv(65536)
        again.sendall(b"GET /api/v1/health HT")
        body = sent(
            port,
            b"POST /api/v1/searches HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nX-Requested-With: t\r\n"
            b"Content-Length: 100\r\n\r\n{",
        )
        refused = sent(port, b"POST /mark HTTP/1.1\r\nHost: evil\r\nContent-Length: 100\r\n\r\n{")
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.05):
                for each in (half, body, refused):
                    with suppress(OSError):
                        each.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as good:
            good.request("GET", f"{V1}/health")
            assert good.getresponse().read()
        try:
            for connection in (nothing, half, again, body):
                answer = received(connection)
                assert b"HTTP/1.1 408 " in answer
                assert b"took too long" in answer
            assert received(refused).startswith(b"HTTP/1.1 403 ")
        finally:
            stop.set()
            thread.join()


def test_a_head_without_end_is_refused(tmp_path):
    with running(tmp_path) as (_, port):
        connection = sent(port, b"GET / HTTP/1.1\r\n" + HOST)
        with suppress(OSError):
            for _ in range(200):
                connection.sendall(b"X: " + b"y" * 1000 + b"\r\n")
        assert received(connection).startswith(b"HTTP/1.1 431 ")


def test_a_slow_answer_is_not_a_slow_request(tmp_path):
    """The time for a head does not run while an answer is made."""

    def slow(library):
        app = create_app(library)

        async def later(scope, receive, send):
            if scope["type"] == "http":
                import anyio

                await anyio.sleep(0.5)
            await app(scope, receive, send)

        return later

    with (
        running(tmp_path, app=slow, head_seconds=0.2) as (_, port),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as good,
    ):
        for _ in range(2):
            good.request("GET", f"{V1}/health")
            answer = good.getresponse()
            assert (answer.status, len(answer.read()) > 0) == (200, True)


def test_a_stop_loses_nothing_that_was_acknowledged(tmp_path):
    acknowledged: list[str] = []
    with running(tmp_path) as (server, port):

        def add(who: int) -> None:
            headers = {"content-type": "application/json", "x-requested-with": "t"}
            with (
                closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection,
                suppress(OSError, http.client.HTTPException),  # the server has stopped
            ):
                for n in range(1000):
                    name = f"{who}-{n}"
                    connection.request("PUT", f"{V1}/collections/own/documents/{name}", b'{"title": "x"}', headers)
                    answer = connection.getresponse()
                    if answer.read() and answer.status == 200:
                        acknowledged.append(name)

        threads = [threading.Thread(target=add, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 6:
            time.sleep(0.01)
        server.should_exit = True
        for thread in threads:
            thread.join()
    engine = Engine.open(tmp_path / "own")
    assert [name for name in acknowledged if name not in engine] == []


def test_a_stream_does_not_hold_the_server_up(tmp_path):
    with running(tmp_path) as (server, port):
        server_library_job = Workspace.open(tmp_path / "w").jobs.add("somebody else's")
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", f"{V1}/jobs/{server_library_job.id}/events")
            answer = connection.getresponse()
            assert answer.readline() == b"event: progress\n"
            server.should_exit = True
            assert b"waiting" in answer.read()


# -- several processes -------------------------------------------------------------------------------------------------


def test_rates_are_shared(tmp_path):
    make_shared(tmp_path / "rates")
    now = [5.0]
    one, other = (Rates(3, lambda: now[0], shared=tmp_path / "rates") for _ in range(2))
    assert [each.allow("a") for each in (one, other, one, other)] == [True, True, True, False]
    assert other.allow("b")
    now[0] = 1.0  # a clock that began anew
    assert not one.allow("a")
    now[0] = 30.0
    assert one.allow("a")


def test_more_addresses_than_there_is_room_for():
    rates = Rates(2)
    assert all(rates.allow(str(n)) for n in range(10_000))


@pytest.fixture
def workers(tmp_path):
    """Two processes over one index; the address, and the process that looks after them."""
    with Engine.create(tmp_path / "own") as engine:
        engine.add([{"id": "1", "title": "Copper"}])
    command = [
        sys.executable, "-m", "germane.cli", "serve", "--index", str(tmp_path / "own"), "--workspace",
        str(tmp_path / "w"), "--port", "0", "--workers", "2", "--no-browser",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        line = process.stderr.readline()
        port = int(line.split("127.0.0.1:")[1].split("/")[0])
        yield port, process
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=60)[1]
        assert "Traceback" not in rest, rest


def asked(port: int, method: str, path: str, body: object = None):
    """A request on a connection of its own, so that any of the processes may answer."""
    for attempt in range(600):
        try:
            headers = {"content-type": "application/json", "x-requested-with": "t"}
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request(method, V1 + path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())
        except ConnectionError:
            if attempt == 599:
                raise
            time.sleep(0.05)
    raise AssertionError


def test_processes_share_an_index_and_its_changes(workers, tmp_path):
    port, process = workers
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while asked(port, "GET", "/health")[0] != 200 or len(_servers(children)) < 2:
        time.sleep(0.05)

    def put(n: int) -> None:
        assert asked(port, "PUT", f"/collections/own/documents/n{n}", {"title": "Copper wire"})[0] == 200

    threads = [threading.Thread(target=put, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {asked(port, "GET", "/collections/own/search?q=copper")[1]["total"] for _ in range(12)} == {9}
    job = asked(port, "POST", "/jobs/exports", {"collection": "own"})[1]["job"]
    while asked(port, "GET", f"/jobs/{job}")[1]["state"] != "done":
        time.sleep(0.05)
    victim = _servers(children)[0]
    os.kill(victim, signal.SIGKILL)
    while victim in _servers(children) or len(_servers(children)) < 2:
        time.sleep(0.05)
    assert asked(port, "GET", "/collections/own/search?q=copper")[1]["total"] == 9


def _servers(children: Path) -> list[int]:
    """The processes that serve, without the one that Python has for cleaning up."""
    found = []
    for name in children.read_text().split():
        try:
            if b"spawn_main" in Path(f"/proc/{name}/cmdline").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def test_the_server_of_a_library_is_one(tmp_path):
    """`server_of` is what `serve` runs."""
    Engine.create(tmp_path / "own").close()
    library = Library({"own": Engine.open(tmp_path / "own")}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    assert server_of(library).config.timeout_graceful_shutdown == 10
    library.close()

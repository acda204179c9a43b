"""The end of the server, whoever is connected: nothing is printed but that it ended."""

import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from attacks.conftest import API, ServerProcess

HOST = b"\r\nhost: 127.0.0.1\r\n"
HALF = (
    f"POST {API}/searches HTTP/1.1".encode()
    + HOST
    + (b"content-type: application/json\r\nx-requested-with: t\r\ncontent-length: 100\r\n\r\n{")
)
STREAM = f"GET {API}/jobs/1/events HTTP/1.1".encode() + HOST + b"\r\n"
IDLE = f"GET {API}/health HTTP/1.1".encode() + HOST + b"\r\n"
UNREAD = f"GET {API}/collections/library/export HTTP/1.1".encode() + HOST + b"\r\n"


@pytest.mark.parametrize("signals", [1, 2])
def test_nothing_is_printed(start_server: Callable[..., ServerProcess], signals: int) -> None:
    """Requests that are half sent or not read, streams, and connections at rest; Ctrl+C once, and twice."""
    server = start_server()
    opened = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(5)]
    try:
        for connection, sent in zip(opened, (HALF, STREAM, IDLE, UNREAD, b"GET / HT"), strict=True):
            connection.sendall(sent)
        assert opened[2].recv(12) == b"HTTP/1.1 200"
        for _ in range(signals - 1):
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        said = server.stop()
    finally:
        for connection in opened:
            connection.close()
    assert [line for line in said.splitlines() if line and not line.startswith("germane")] == []


def test_who_leaves_in_the_middle_leaves_no_trace(server: ServerProcess) -> None:
    for sent in (HALF, UNREAD, b"GET / HT"):
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
            connection.sendall(sent)
    assert server.api("GET", "/health")[0] == 200
    while 400 not in [line["status"] for line in server.audited()]:
        time.sleep(0.05)
    assert "Traceback" not in server.log.read_text()

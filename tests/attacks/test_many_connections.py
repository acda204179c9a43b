"""Connections that somebody holds, at rest or unread: they keep nobody else out."""

import http.client
import socket
from contextlib import ExitStack, closing

import pytest

from attacks.conftest import API, ServerProcess
from germane.server.connections import MOST_CONNECTIONS

MANY = MOST_CONNECTIONS + 120


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /api/v1/health HTTP/1.1\r\nhost: 127.0.0.1\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /api/v1/collections/library/export HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"POST /api/v1/searches HTTP/1.1\r\nhost: 127.0.0.1\r\nx-requested-with: t\r\ncontent-length: 900\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "at rest", "unread", "half a body"],
)
def test_who_holds_many_connections_keeps_nobody_out(server: ServerProcess, sent: bytes) -> None:
    """Five hundred of one address, and everybody got a 503."""
    with ExitStack() as held:
        for _ in range(MANY):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.sendall(sent)
        for number in range(5):  # of others, who hold few
            address = (f"127.0.0.{20 + number}", 0)
            with closing(
                http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=address)
            ) as other:
                for _ in range(2):
                    other.request("GET", f"{API}/health")
                    answer = other.getresponse()
                    answer.read()
                    assert answer.status == 200
    assert "concurrency" not in server.log.read_text()

"""Requests that are refused before they have come whole: the refusal arrives, and so do the answers before it."""

import re
import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from attacks.conftest import API, ServerProcess

HOST = b"host: 127.0.0.1\r\n"
SEARCH = f"GET {API}/collections/library/search?q=copper&k=60 HTTP/1.1\r\n".encode() + HOST + b"\r\n"
HEALTH = f"GET {API}/health HTTP/1.1\r\n".encode() + HOST
POST = f"POST {API}/searches HTTP/1.1\r\n".encode() + HOST + b"content-type: application/json\r\n"


@pytest.fixture(scope="module")
def unlimited(start_server: Callable[..., ServerProcess]) -> ServerProcess:
    return start_server("--rate", "0")


def answers(said: bytes) -> list[tuple[int, bytes, bytes]]:
    """Status, head and body of each answer, one behind the other; each body is as long as its head says."""
    found = []
    while said:
        head, between, rest = said.partition(b"\r\n\r\n")
        assert between, said[:200]
        length = int(re.findall(rb"(?i)content-length: (\d+)", head)[0])
        assert len(rest) >= length
        found.append((int(head.split()[1]), head.lower(), rest[:length]))
        said = rest[length:]
    return found


def statuses(said: bytes) -> list[int]:
    return [status for status, _, _ in answers(said)]


@pytest.mark.parametrize(
    ("refused", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + HOST + b"x-long: " + b"x" * (100 << 10), 431),
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
        (POST + b"content-length: 40000000\r\n\r\n{", 413),
        (POST + b"content-length: 1\r\ncontent-length: 2\r\n\r\n{", 400),
        (b"POST /mark HTTP/1.1\r\nhost: evil\r\ncontent-length: 100\r\n\r\n{", 403),
    ],
)
def test_answers_before_a_refusal_are_whole(server: ServerProcess, refused: bytes, status: int) -> None:
    found = answers(server.raw(SEARCH + SEARCH + refused))
    assert [each for each, _, _ in found] == [200, 200, status]
    assert b"connection: close" in found[-1][1]
    assert b'"detail"' in found[-1][2]


def test_a_refusal_reaches_a_client_that_is_still_sending(server: ServerProcess) -> None:
    """It sends all of a body that is too large before it reads."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
        connection.sendall(POST + b"content-length: 40000000\r\n\r\n")
        for _ in range(20):
            connection.sendall(b"x" * 2_000_000)  # a reset would end it here
        said = b""
        while part := connection.recv(65536):
            said += part
    assert statuses(said) == [413]


def test_a_body_that_grows_too_large_is_refused_in_words(server: ServerProcess) -> None:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
        connection.sendall(POST + b"x-requested-with: t\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(20):
            connection.sendall(b"1e8480\r\n" + b"x" * 2_000_000 + b"\r\n")
        said = b""
        while part := connection.recv(65536):
            said += part
    assert statuses(said) == [413]


def test_a_body_that_is_broken_is_refused_at_once(server: ServerProcess) -> None:
    said = server.raw(POST + b"x-requested-with: t\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n")
    assert statuses(said) == [400]


def test_a_refused_request_that_came_whole_does_not_end_the_connection(server: ServerProcess) -> None:
    refused = b"POST /mark HTTP/1.1\r\nhost: evil\r\ncontent-length: 2\r\n\r\n{}"
    assert statuses(server.raw(refused + HEALTH + b"connection: close\r\n\r\n")) == [403, 200]


def test_many_requests_one_behind_the_other_are_all_answered(unlimited: ServerProcess) -> None:
    padded = HEALTH + b"x-long: " + b"x" * 500 + b"\r\n\r\n"
    said = unlimited.raw(padded * 400 + HEALTH + b"connection: close\r\n\r\n", most=1 << 24)
    assert statuses(said) == [200] * 401


def test_requests_that_wait_hold_little_memory(unlimited: ServerProcess) -> None:
    """Each of thirty connections sends requests of thirty bytes behind one that takes its time."""
    requests = b"GET /x HTTP/1.1\r\nhost: x\r\n\r\n" * 8_000
    before = unlimited.resident()
    opened = []
    try:
        for _ in range(30):
            connection = socket.create_connection(("127.0.0.1", unlimited.port), timeout=60)
            opened.append(connection)
            connection.setblocking(False)
            connection.send(SEARCH + requests)
        assert unlimited.api("GET", "/health")[0] == 200
        assert unlimited.resident() - before < 60 << 20
    finally:
        for connection in opened:
            connection.close()

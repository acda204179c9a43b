"""What is read of a request before anybody is asked who they are: in time that grows with its length, and not for long.

Processor time of the server's process is measured, of pieces that took seconds to a minute before.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from urllib.parse import urlencode

import psutil
import pytest

from attacks.conftest import API, ServerProcess
from germane.server.bodies import MOST_HELD, MOST_OF_CALLER, Bodies
from germane.server.problems import ProblemError

FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json"}
CSRF = "a" * 32
OURS = {**FORM, "cookie": f"germane_csrf={CSRF}"}
FEW_SECONDS = 3.0


@pytest.fixture
def spent(server: ServerProcess) -> Callable[[], float]:
    """Seconds of a processor that the server has used since the test began."""
    process = psutil.Process(server.process.pid)

    def used() -> float:
        return sum(process.cpu_times()[:2])

    began = used()
    return lambda: used() - began


@pytest.mark.parametrize("cookie", ['a="' + "\\1" * 30_000 + '"', 'a="' + "\\" * 60_000, "a=b;" * 15_000, "a" * 60_000])
def test_cookies_are_read_in_linear_time(server: ServerProcess, spent: Callable[[], float], cookie: str) -> None:
    """Escapes in a cookie took 20 seconds, of a request without a token."""
    for path in ("/sign-in", "/search?q=copper", f"{API}/health"):
        assert server.ask("GET", path, headers={"cookie": cookie})[0] == 200
    assert spent() < FEW_SECONDS


def test_a_quoted_cookie_keeps_its_value(start_server: Callable[..., ServerProcess]) -> None:
    token = 'two; words, "quoted" \\ and more'
    tokened = start_server("--token", token)
    status, headers, _ = tokened.ask("POST", "/sign-in", urlencode({"token": token, "csrf": CSRF}).encode(), OURS)
    assert status == 303
    cookie = headers["set-cookie"].partition(";")[0]
    assert tokened.ask("GET", f"{API}/collections", headers={"cookie": cookie})[0] == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("path", ["/sign-in", "/click", "/screen", "/search"])
def test_a_form_without_files_is_short(server: ServerProcess, path: str, kind: str) -> None:
    """Its fields are taken apart on the event loop, before its token is looked at."""
    assert server.ask("POST", path, b"&" * (1 << 20), {"content-type": kind})[0] == 413


@pytest.mark.parametrize("path", ["/import", "/evaluate"])
def test_forms_with_files_are_long_and_those_without_are_not(server: ServerProcess, path: str) -> None:
    assert server.ask("POST", path, b"&" * (1 << 20), FORM)[0] == 413
    body = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' + b"x" * (1 << 20) + b"\r\n--x--"
    assert server.ask("POST", path, body, {"content-type": "multipart/form-data; boundary=x"})[0] == 403  # no token


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/screen", {"q": "copper", "name": "n" * 201, "reviewer": "r"}),
        ("/screen", {"q": "copper", "name": "n", "reviewer": "r" * 101}),
        ("/screen/n/act", {"reviewer": "r", "action": "include", "id": "d0", "note": "x" * 5_001}),
        ("/screen/n/act", {"reviewer": "r", "action": "exclude", "id": "d0", "reason": "x" * 501}),
        ("/topics", {"state": "s=1", "name": "t" * 201}),
        ("/click", {"q": "x" * 2_001, "id": "d0", "position": "1"}),
        ("/click", {"q": "x", "id": "d" * 501, "position": "1"}),
    ],
)
def test_fields_of_forms_have_the_bounds_of_the_api(server: ServerProcess, path: str, fields: dict[str, str]) -> None:
    status, _, answer = server.ask("POST", path, urlencode({**fields, "csrf": CSRF}).encode(), OURS)
    assert status == 422
    assert b"characters, where" in answer
    assert server.api("GET", "/projects")[1]["projects"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/events", b'{"events":[' + b"0," * (5 << 20) + b"0]}"),
        ("/searches", b'{"query":"copper","filter":{"year":[' + b"0," * (2 << 20) + b"0]}}"),
        ("/searches/1/marks", b'{"document":"d0","mark":[' + b"0," * (2 << 20) + b"0]}"),
        ("/topics/feed", b'{"collection":[' + b"0," * (2 << 20) + b"0]}"),
        ("/jobs/trainings", b'{"parameters":{"a":[' + b"0," * (2 << 20) + b"0]}}"),
    ],
)
def test_json_that_is_no_document_is_short(
    server: ServerProcess, spent: Callable[[], float], path: str, body: bytes
) -> None:
    assert server.api("POST", path, body)[0] == 413
    assert spent() < FEW_SECONDS


def test_a_document_may_be_long(server: ServerProcess) -> None:
    body = {"text": "copper " * (2 << 20)}
    status, answer = server.api("PUT", "/collections/library/documents/long", body)
    assert status == 200, answer
    assert server.api("DELETE", "/collections/library/documents/long")[0] == 200


def test_what_comes_behind_a_body_is_no_header(start_server: Callable[..., ServerProcess]) -> None:
    """A trailer was taken for a header: behind a proxy that passes them on it said who had asked."""
    proxied = start_server("--trusted-proxies", "127.0.0.1")
    body = json.dumps({"query": "copper"}).encode()
    answer = proxied.raw(
        f"POST {API}/searches HTTP/1.1\r\nhost: 127.0.0.1:{proxied.port}\r\ncontent-type: application/json\r\n"
        "x-forwarded-for: 192.0.2.7\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        f"{len(body):x}\r\n".encode()
        + body
        + b"\r\n0\r\nx-forwarded-for: 198.51.100.9\r\nhost: other\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 201 ")
    while not (lines := proxied.audited()) or not lines[-1]["status"]:
        time.sleep(0.01)
    assert lines[-1]["client"] == "192.0.2.7"


def test_without_a_token_nobody_learns_what_there_is(start_server: Callable[..., ServerProcess]) -> None:
    tokened = start_server("--token", "x" * 20)
    assert json.loads(tokened.ask("GET", f"{API}/health")[2])["collections"] == {}
    known = tokened.ask("GET", f"{API}/health", headers={"authorization": f"Bearer {'x' * 20}"})[2]
    assert json.loads(known)["collections"] == {"library": 60}


def test_bodies_that_are_held_have_bounds(server: ServerProcess) -> None:
    """Forty uploads of which each lacked its last byte held 1.2 GB."""
    size = 16 << 20
    headers = f"host: 127.0.0.1\r\nx-requested-with: t\r\ncontent-length: {size}\r\n\r\n"
    head = f"POST {API}/imports?name=x HTTP/1.1\r\n{headers}"
    before, most = server.resident(), 0
    with ExitStack() as held:
        senders = []
        for _ in range(20):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            sender = threading.Thread(target=send_all, args=(connection, head.encode() + bytes(size - 1)))
            sender.start()
            senders.append(sender)
        for sender in senders:
            sender.join()
            most = max(most, server.resident() - before)
        assert server.api("GET", "/health")[0] == 200
    assert most < 2 * MOST_OF_CALLER + (64 << 20)
    path, file = f"{API}/imports?name=x.ris", b"TY  - JOUR\nTI  - x\nER  - \n" + b"\n" * size
    while (status := server.ask("POST", path, file)[0]) == 429:  # those that were cut off are noticed by and by
        time.sleep(0.1)
    assert status == 422  # it was read: a record of 16 MiB


def send_all(connection: socket.socket, content: bytes) -> None:
    """Send it, or as much as is taken."""
    with suppress(OSError):
        connection.sendall(content)


def test_bodies_of_all_callers_have_bounds() -> None:
    bodies, callers = Bodies(), [f"caller {number}" for number in range(4)]
    for caller in callers[:2]:
        bodies.hold(caller, MOST_OF_CALLER)
        with pytest.raises(ProblemError, match="of yours"):
            bodies.hold(caller, 1)
    bodies.hold(callers[2], MOST_HELD - 2 * MOST_OF_CALLER)
    with pytest.raises(ProblemError, match="others"):
        bodies.hold(callers[3], 1)
    bodies.release(callers[0], MOST_OF_CALLER)
    bodies.hold(callers[3], MOST_OF_CALLER)

"""Headers that are broken, empty, or stand there twice: each request has one meaning, and no answer is a 500."""

import pytest

from attacks.conftest import API, ServerProcess

HOST = "127.0.0.1"


def asked(server: ServerProcess, line: str, *headers: str, body: str = "") -> tuple[int, bytes]:
    """Status and answer of a request that is written out."""
    length = [f"content-length: {len(body)}"] if body else []
    text = "\r\n".join([f"{line} HTTP/1.1", *headers, *length, "connection: close", "", body])
    said = server.raw(text.encode("latin-1"))
    return int(said.split(maxsplit=2)[1]), said


@pytest.mark.parametrize("origin", ["http://[", "http://]", "[", "http://[::1", "null", "", "http://127.0.0.1:x", "²"])
def test_an_origin_that_is_no_address_is_another_site(server: ServerProcess, origin: str) -> None:
    headers = (f"host: {HOST}", f"origin: {origin}", "content-type: application/json", "x-requested-with: t")
    assert asked(server, f"POST {API}/searches", *headers, body='{"query": "copper"}')[0] == 403


@pytest.mark.parametrize(
    "hosts",
    [
        ("127.0.0.1", "evil"),
        ("evil", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_two_hosts_are_refused(server: ServerProcess, hosts: tuple[str, str]) -> None:
    status, said = asked(server, f"GET {API}/health", *(f"host: {host}" for host in hosts))
    assert status == 400
    assert b"twice" in said


@pytest.mark.parametrize("name", ["origin", "authorization", "x-csrf-token", "sec-fetch-site", "content-type"])
def test_what_decides_something_stands_there_once(server: ServerProcess, name: str) -> None:
    status, _ = asked(server, f"GET {API}/health", f"host: {HOST}", f"{name}: a", f"{name}: b")
    assert status == 400


@pytest.mark.parametrize(
    "host",
    ["", "[", "[::1", "127.0.0.1:", "127.0.0.1:²", "127.0.0.1:1:2", "127.0.0.1:99999999999999999999", "http://127.0.0.1",
     "127.0.0.1@evil", "127.0.0.1 evil", "127.0.0.1/", "evil\x85127.0.0.1"],
)  # fmt: skip
def test_a_host_that_is_none_is_not_ours(server: ServerProcess, host: str) -> None:
    assert asked(server, f"GET {API}/health", f"host: {host}")[0] in (400, 403)
    assert asked(server, "GET /topics/x", f"host: {host}")[0] in (400, 403)


@pytest.mark.parametrize(
    "target",
    ["http://evil/", "HTTP://evil/", "https://evil:443/search?q=x", "http://127.0.0.1@evil/", "http://evil",
     "http://evil?q=//127.0.0.1/", "http://127.0.0.1:1/", "ftp://evil/"],
)  # fmt: skip
def test_a_target_names_the_site_that_the_host_names(server: ServerProcess, target: str) -> None:
    status, said = asked(server, f"GET {target}", f"host: {HOST}")
    assert status == 400
    assert b"names another site" in said


def test_a_target_may_be_a_whole_address(server: ServerProcess) -> None:
    for target in (f"http://{HOST}{API}/health", "/?q=http://evil/"):
        assert asked(server, f"GET {target}", f"host: {HOST}")[0] == 200


def test_no_host_is_not_ours(server: ServerProcess) -> None:
    assert asked(server, f"GET {API}/health")[0] in (400, 403)


@pytest.mark.parametrize("token", ["x-csrf-token:", "x-csrf-token: ", "x-csrf-token: wrong", "X-CSRF-Token:"])
@pytest.mark.parametrize("path", ["/settings", "/mark", "/forget", "/click", "/topics/feed"])
def test_an_empty_token_is_not_the_token_of_the_form(server: ServerProcess, path: str, token: str) -> None:
    headers = (
        f"host: {HOST}", token, "content-type: application/x-www-form-urlencoded",
        f"cookie: germane_csrf={'a' * 32}",
    )  # fmt: skip
    assert asked(server, f"POST {path}", *headers, body="theme=dark&to=%2F&q=copper&id=d1")[0] == 403
    assert asked(server, f"POST {path}", *headers[:1], *headers[2:], body="theme=dark&csrf=")[0] == 403


def test_the_token_of_the_form_still_counts(server: ServerProcess) -> None:
    headers = (
        f"host: {HOST}", "content-type: application/x-www-form-urlencoded", f"cookie: germane_csrf={'a' * 32}",
    )  # fmt: skip
    assert asked(server, "POST /settings", *headers, body=f"theme=dark&to=%2F&csrf={'a' * 32}")[0] == 303
    assert asked(server, "POST /settings", *headers, f"x-csrf-token: {'a' * 32}", body="theme=dark&to=%2F")[0] == 303


@pytest.mark.parametrize("to", ["http%3A%2F%2F%5B", "%2F%2Fevil", "%2F%5Cevil", "https%3A%2F%2Fevil", "%2F%09%2Fevil"])
def test_a_form_leads_nowhere_else(server: ServerProcess, to: str) -> None:
    headers = (
        f"host: {HOST}", "content-type: application/x-www-form-urlencoded", f"cookie: germane_csrf={'a' * 32}",
    )  # fmt: skip
    status, said = asked(server, "POST /settings", *headers, body=f"theme=dark&to={to}&csrf={'a' * 32}")
    assert status == 303
    location = next(line for line in said.split(b"\r\n") if line.lower().startswith(b"location:"))
    assert location.split(b": ")[1].startswith(b"/")
    assert not location.split(b": ")[1].startswith((b"//", b"/\\", b"/\t"))


def test_an_upgrade_is_not_taken(server: ServerProcess) -> None:
    status, _ = asked(
        server, f"GET {API}/health", f"host: {HOST}", "upgrade: websocket", "sec-websocket-version: 13",
        "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
    )  # fmt: skip
    assert status == 200

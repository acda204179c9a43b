"""Who asked: what a proxy says counts if the proxy was named, and nothing that anybody else wrote."""

import time
from collections.abc import Callable

import pytest

from attacks.conftest import API, HEADERS, ServerProcess
from germane.errors import ParameterError
from germane.server import Settings
from germane.server.forwarded import TrustedProxies


def asked_from(proxies: tuple[str, ...], client: str, said: str, **more: str) -> tuple[str, str]:
    """The address and the scheme that a request is taken for."""
    scope = {"client": (client, 4711), "scheme": "http"}
    TrustedProxies(proxies).apply(scope, {"x-forwarded-for": said, **more})
    return scope["client"][0], str(scope["scheme"])


def audited(server: ServerProcess, forwarded: str) -> str:
    """Whom the audit log names for a change."""
    before = len(server.audited())
    server.ask("POST", f"{API}/searches", {"query": "copper"}, {**HEADERS, "x-forwarded-for": forwarded})
    while len(server.audited()) == before:
        time.sleep(0.02)
    return str(server.audited()[-1]["client"])


def test_nobody_is_believed_unless_named(start_server: Callable[..., ServerProcess]) -> None:
    """Neither the audit log nor the rate: each address that is made up would have requests of its own."""
    server = start_server("--rate", "20")
    assert audited(server, "203.0.113.9") == "127.0.0.1"
    statuses = [
        server.ask("GET", f"{API}/health", headers={"x-forwarded-for": f"198.51.100.{n}"})[0] for n in range(60)
    ]
    assert 429 in statuses


def test_a_named_proxy_is_believed(start_server: Callable[..., ServerProcess]) -> None:
    server = start_server("--rate", "20", "--trusted-proxies", "127.0.0.0/8", "--trusted-proxies", "::1")
    assert audited(server, "203.0.113.9") == "203.0.113.9"
    assert audited(server, "10.9.9.9, 203.0.113.9, 127.0.0.2") == "203.0.113.9"
    statuses = [
        server.ask("GET", f"{API}/health", headers={"x-forwarded-for": f"198.51.100.{n}"})[0] for n in range(60)
    ]
    assert set(statuses) == {200}
    made_up = [
        server.ask("GET", f"{API}/health", headers={"x-forwarded-for": f"198.51.100.{n}, 192.0.2.1"})[0]
        for n in range(60)
    ]
    assert 429 in made_up  # what stands before the address that the proxy saw was written by whoever asked


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9, 10.0.0.2, 10.0.0.3", "203.0.113.9"),
        ("10.0.0.7, 10.0.0.2", "10.0.0.7"),
        ("unknown, 10.0.0.2", "10.0.0.2"),
        ("1.1.1.1, _hidden", "10.0.0.1"),
        ("1.1.1.1,", "10.0.0.1"),
        ("", "10.0.0.1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("203.0.113.9\t", "203.0.113.9"),
        ("x" * 10_000, "10.0.0.1"),
    ],
)
def test_the_first_address_that_is_no_proxy_asked(said: str, expected: str) -> None:
    for proxy in ("10.0.0.1", "::ffff:10.0.0.1"):
        assert asked_from(("10.0.0.0/8",), proxy, said)[0].removeprefix("::ffff:") == expected


def test_others_are_taken_for_what_they_are() -> None:
    assert asked_from(("10.0.0.0/8",), "192.0.2.1", "203.0.113.9")[0] == "192.0.2.1"
    assert asked_from((), "127.0.0.1", "203.0.113.9")[0] == "127.0.0.1"
    assert asked_from(("10.0.0.0/8",), "testclient", "203.0.113.9")[0] == "testclient"


def test_the_scheme_is_the_proxys_word_too() -> None:
    said = {"x-forwarded-proto": "https"}
    assert asked_from(("10.0.0.1",), "10.0.0.1", "203.0.113.9", **said) == ("203.0.113.9", "https")
    assert asked_from(("10.0.0.1",), "192.0.2.1", "203.0.113.9", **said) == ("192.0.2.1", "http")
    assert asked_from(("10.0.0.1",), "10.0.0.1", "", **{"x-forwarded-proto": "gopher"})[1] == "http"


@pytest.mark.parametrize("name", ["", "proxy.example.org", "10.0.0.0/64", "*", "10.0.0"])
def test_a_proxy_is_named_by_its_address(name: str) -> None:
    with pytest.raises(ParameterError, match="an address or a network"):
        Settings(trusted_proxies=(name,))

"""Queries that nest without end: each is answered or refused in a sentence, on the page and in the API."""

from urllib.parse import urlencode

import pytest

from attacks.conftest import ServerProcess

API = "/api/v1/collections/library/search?"


@pytest.mark.parametrize(
    "query",
    [
        "NOT " * 498 + "copper",
        "copper AND " + "NOT " * 490 + "liver",
        "(NOT NOT " * 49 + "copper" + ")" * 49 + " AND copper",
        "NOT (" * 49 + "NOT " * 49 + "year:2000" + ")" * 49,
        "copper" + "[title]^2" * 220,
        "(" * 900 + "copper" + ")" * 900,
    ],
    ids=lambda query: query[:20],
)  # fmt: skip
def test_a_query_that_nests_too_deep_is_refused(server: ServerProcess, query: str) -> None:
    """Four hundred NOTs were an error of the server."""
    status, _, answer = server.ask("GET", API + urlencode({"q": query}))
    assert status == 422
    assert b"within one another" in answer or b"one weight" in answer
    assert server.ask("GET", "/search?" + urlencode({"q": query}))[0] in (200, 422)


def test_a_query_that_nests_as_people_write_them_is_answered(server: ServerProcess) -> None:
    for query in ("NOT NOT copper", "(NOT (NOT copper)) AND copper", "copper[title]^2", "copper^2[title]"):
        status, answer = server.api("GET", API.removeprefix("/api/v1") + urlencode({"q": query}))
        assert status == 200, query
        assert answer["hits"], query

"""Whole numbers of more than 64 bits, and what only looks like one: refused with a sentence wherever they stand."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import quote

import pytest

from attacks.conftest import API, HEADERS, ServerProcess

LARGE = ["9223372036854775808", "18446744073709551616", "-9223372036854775809", "1" * 5_000, "1e400", "²"]
IN = f"{API}/collections/library"
GETS = [
    f"{IN}/search?q=copper&k={{}}", f"{IN}/search?q=copper&offset={{}}", f"{IN}/search?q=copper&groups={{}}",
    f"{IN}/search?q=copper&rerank=clicks@{{}}", f"{IN}/search?q=year:{{}}", f"{IN}/search?q=year:{{}}..{{}}",
    f"{IN}/search?q=copper^{{}}", f'{IN}/search?q="copper+liver"~{{}}', f"{IN}/search?q=copper~{{}}",
    f"{API}/searches/{{}}", f"{API}/searches/{{}}/groups", f"{API}/searches/{{}}/export", f"{API}/searches?k={{}}",
    f"{API}/jobs/{{}}", f"{API}/jobs/{{}}/events", f"{API}/jobs/{{}}/file", f"{IN}/models/clicks@{{}}",
    f"{IN}/comparison?candidate=clicks@{{}}&min_users={{}}", "/search?q=copper&page={}", "/search?s={}",
    "/search?q=copper&g={}", "/search?q=copper&weigh=copper:{}", "/search?q=copper&word=copper&base=1&share={}",
    "/search?q=copper&f=year:{}", "/export?q=copper&s={}", "/groups?q=copper&s={}", "/why?q=copper&id=d1&s={}",
    "/document?id=d1&s={}", "/models/clicks@1?loss={}", "/topics/x?shift={}", "/topics/x/dial?shift={}",
    "/topics/x/digest?days={}",
]  # fmt: skip
POSTS = [
    ("searches", '{"query": "copper", "k": %s}'), ("projects", '{"name": "n", "search": %s}'),
    ("jobs/refreshes", '{"search": %s}'), ("jobs/trainings", '{"min_users": %s}'), ("jobs/trainings", '{"share": %s}'),
    ("jobs/trainings", '{"parameters": {"seed": %s}}'), ("events", '{"events": [{"user_query": "a", "n": [%s]}]}'),
    ("events", '{"events": [{"user_query": "a", "timestamp": %s}]}'),
]  # fmt: skip
FORMS = [
    ("/screen", "name=p&reviewer=r&search={}"), ("/mark", "id=d1&mark=relevant&state=s%3D{}"),
    ("/undo", "state=s%3D{}"), ("/click", "q=copper&id=d1&position={}"), ("/models/train", "min_users={}"),
    ("/topics/x/dial", "shift={}"),
]  # fmt: skip


@pytest.fixture(scope="module")
def connection(start_server: Callable[..., ServerProcess]) -> Iterator[http.client.HTTPConnection]:
    server = start_server("--rate", "0")
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)) as opened:
        yield opened


def asked(connection: http.client.HTTPConnection, method: str, path: str, body: str, headers: dict[str, str]) -> int:
    connection.request(method, path, body.encode(), headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.mark.parametrize("number", LARGE)
def test_none_is_an_error_of_the_server(connection: http.client.HTTPConnection, number: str) -> None:
    for path in GETS:
        assert asked(connection, "GET", path.replace("{}", quote(number)).replace(" ", "+"), "", {}) < 500, path
    for path, body in POSTS:
        status = asked(connection, "POST", f"{API}/{path}", body.replace("%s", number), HEADERS)
        assert status < 500, (path, body)
    cookie = {"cookie": f"germane_csrf={'a' * 32}", "content-type": "application/x-www-form-urlencoded"}
    for path, body in FORMS:
        text = f"{body.replace('{}', quote(number))}&csrf={'a' * 32}"
        assert asked(connection, "POST", path, text, cookie) < 500, (path, body)


@pytest.mark.parametrize("value", ["9223372036854775808", "[1, 18446744073709551615]"])
def test_a_document_with_one_is_refused_and_others_are_taken(
    connection: http.client.HTTPConnection, value: str
) -> None:
    record = f'{{"title": "x", "year": {value}}}'
    assert asked(connection, "PUT", f"{IN}/documents/large", record, HEADERS) == 422
    lines = f'{{"id": "large", "year": {value}}}\n{{"id": "small", "title": "copper"}}\n'
    headers = {**HEADERS, "content-type": "application/x-ndjson"}
    connection.request("POST", f"{IN}/documents?on_duplicate=replace", lines, headers)
    told = json.loads(connection.getresponse().read())
    assert [each["line"] for each in told["bad"]] == [1]
    assert "64 bits" in told["bad"][0]["reason"]


def test_a_tool_says_so_too(tmp_path) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client

    from germane.engine import Engine
    from germane.server import Library, Settings
    from germane.server.assistants import server_of
    from germane.workspace import Workspace

    library = Library({"i": Engine.create(tmp_path / "i")}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)

    async def refused(**arguments: object) -> str:
        async with Client(server_of(library)) as client:
            answer = await client.call_tool("refine", arguments)
            assert answer.is_error
            return str(answer.content[0].text)

    for number in (1 << 63, -(1 << 63) - 1, 1 << 70, 0):
        assert "than or equal to" in anyio.run(lambda search=number: refused(search=search, relevant=["a"]))
    library.close()

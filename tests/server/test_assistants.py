"""The tools of an assistant, through the protocol's own client: in this process, over pipes and over HTTP."""

import json
import os
import sys
import threading

import anyio
import pytest

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters

from germane.engine import Engine
from germane.server import Library, Settings
from germane.server.assistants import server_of
from germane.workspace import Workspace

DOCUMENTS = [
    {"id": "a", "title": "Aspirin", "text": "aspirin after a heart attack", "doi": "10.1/a", "year": 1999},
    {"id": "b", "title": "Lungs", "text": "the heart and the lungs of smokers", "url": "javascript:alert(1)"},
    {"id": "c", "title": "Songs", "text": "heart of gold and other songs", "url": "https://example.org/c"},
    {"id": "d", "title": "Smoking", "text": "smokers and their lungs"},
]


@pytest.fixture
def library(tmp_path):
    engine = Engine.create(tmp_path / "index")
    engine.add(DOCUMENTS)
    opened = Library({"index": engine}, Workspace.open(tmp_path / "workspace"), Settings(), tmp_path)
    yield opened
    opened.close()


def asked(server, *calls):
    """The structured answers of the calls, one after another; the message of one that failed."""

    async def talk():
        async with Client(server) as client:
            found = []
            for name, arguments in calls:
                answer = await client.call_tool(name, arguments)
                found.append(answer.content[0].text if answer.is_error else answer.structured_content)
                if not answer.is_error:  # the same is told as text, for clients that read nothing else
                    assert json.loads(answer.content[0].text) == answer.structured_content
            return found

    return anyio.run(talk)


def names(server):
    async def talk():
        async with Client(server) as client:
            return {tool.name: tool.annotations for tool in (await client.list_tools()).tools}

    return anyio.run(talk)


def test_it_only_reads_unless_told_otherwise(library):
    reading = names(server_of(library))
    assert "mark" not in reading
    assert "save_topic" not in reading
    assert all(hints.read_only_hint for hints in reading.values())
    writing = names(server_of(library, allow_write=True))
    assert {name for name, hints in writing.items() if not hints.read_only_hint} == {"mark", "save_topic"}
    assert asked(server_of(library), ("mark", {"query": "heart", "relevant": ["b"]}))[0].startswith("Unknown tool")


def test_searching_reading_and_why(library):
    server = server_of(library)
    found, text, again, why = asked(
        server,
        ("search", {"query": "heart", "k": 2}),
        ("get", {"id": "a"}),
        ("fetch", {"id": "a"}),
        ("explain", {"query": "heart aspirin", "id": "a"}),
    )
    direct = library.engine("index").search("heart", 2)
    told = [(hit["id"], hit["score"]) for hit in found["results"]]
    assert told == [(hit.id, float(f"{hit.score:.5g}")) for hit in direct]
    assert (found["total"], found["search"]) == (3, None)
    assert text == again
    wanted = {"year": {"<": 2000}}
    (narrowed,) = asked(server, ("search", {"query": "heart", "filter": wanted}))
    assert (
        [hit["id"] for hit in narrowed["results"]]
        == library.engine("index").search("heart", filter=wanted).ids
        == ["a"]
    )
    assert (text["title"], text["text"], text["url"]) == (
        "Aspirin",
        "aspirin after a heart attack",
        "https://doi.org/10.1/a",
    )
    assert text["metadata"] == {"doi": "10.1/a", "year": 1999}
    assert sum(word["adds"] for word in why["words"]) + why["rest"] == pytest.approx(why["score"])
    assert asked(server, ("get", {"id": "b"}))[0]["url"] == ""  # no address but the web's


def test_refining_keeps_nothing(library):
    server = server_of(library)
    (refined,) = asked(server, ("refine", {"query": "heart OR lungs", "relevant": ["b"]}))
    order = [hit["id"] for hit in refined["results"]]
    assert order[:2] == ["b", "d"]
    assert {hit["id"]: hit["before"] for hit in refined["results"]}["d"] > 1
    assert library.workspace.searches.all() == []


def test_marks_last(library):
    server = server_of(library, allow_write=True)
    query = {"query": "heart OR lungs"}
    marked, more, refined = asked(
        server,
        ("mark", {**query, "relevant": ["b"]}),
        ("mark", {"search": 1, "not_relevant": ["c"]}),
        ("refine", {"search": 1}),
    )
    assert marked == {"search": 1, "relevant": ["b"], "not_relevant": []}
    assert more == {"search": 1, "relevant": ["b"], "not_relevant": ["c"]}
    (given,) = asked(server, ("refine", {**query, "relevant": ["b"], "not_relevant": ["c"]}))
    assert [hit["id"] for hit in refined["results"]] == [hit["id"] for hit in given["results"]]
    assert [hit["score"] for hit in refined["results"]] == [hit["score"] for hit in given["results"]]


def test_what_was_found_among_sources_can_be_marked(library):
    server = server_of(library, allow_write=True)
    found, marked = asked(
        server,
        ("find", {"query": "heart", "sources": ["index"]}),
        ("mark", {"search": 1, "relevant": ["index:c"]}),
    )
    assert found["results"][0]["sources"] == ["index"]
    assert found["search"] == 1
    assert marked["relevant"] == ["index:c"]
    assert asked(server_of(library), ("find", {"query": "heart"}))[0]["search"] is None


def test_a_topic_is_saved_and_what_is_new_told(library):
    server = server_of(library, allow_write=True)
    nothing, saved = asked(server, ("what_is_new", {}), ("save_topic", {"name": "lungs", "ids": ["d"]}))
    assert nothing == {"topics": [], "hits": []}
    assert saved == {"topic": "lungs", "seeds": 1}
    from germane.stream import Watch

    with library.tracking:
        Watch.open(library.workspace).process([{"id": "n1", "text": "lungs of smokers again, smokers and lungs"}])
    (news,) = asked(server, ("what_is_new", {"topic": "lungs", "since": "2000-01-01"}))
    assert news["topics"] == ["lungs"]
    assert [hit["id"] for hit in news["hits"]] == ["n1"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("search", {"query": "  "}, "nothing to search for"),
        ("search", {"query": "x" * 3_000}, "at most 2,000 characters"),
        ("search", {"query": "heart", "k": 10_000}, "'k' must be at most 50, not 10000"),
        ("search", {"query": "heart", "collection": "../secret"}, "no collection '../secret'"),
        ("get", {"id": "zz"}, "no document with id 'zz'"),
        ("explain", {"query": "heart", "id": "zz"}, "no document with id 'zz'"),
        ("refine", {"query": "heart"}, "at least one result"),
        ("refine", {"query": "heart", "relevant": ["zz"]}, "zz"),
        ("refine", {"search": 9, "relevant": ["a"]}, "no search 9"),
        ("find", {"query": "heart", "sources": ["/etc/passwd"]}, "no source 'passwd'"),
        ("find", {"query": "heart", "sources": ["http://127.0.0.1:9200"]}, "no source"),
        ("what_is_new", {"since": "soon"}, "is a date"),
        ("mark", {"query": "heart", "relevant": ["zz"]}, "no result 'zz'"),
        ("mark", {"query": "heart"}, "at least one result"),
        ("save_topic", {"name": "x", "ids": ["zz"]}, "no document with id 'zz'"),
    ],
)
def test_what_cannot_be_done_is_said(library, name, arguments, told):
    assert told in asked(server_of(library, allow_write=True), (name, arguments))[0]
    assert library.workspace.searches.all() == []


def test_over_pipes(tmp_path):
    """The program itself, as an assistant starts it."""
    with Engine.create(tmp_path / "index") as engine:
        engine.add(DOCUMENTS)
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "germane.cli", "mcp", "index"],
        cwd=str(tmp_path),
        env={**os.environ, "GERMANE_HOME": str(tmp_path / "home")},
    )
    (found,) = asked(started, ("search", {"query": "aspirin"}))
    assert [hit["id"] for hit in found["results"]] == ["a"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]  # it reads, and leaves nothing behind


def test_over_http(library):
    """At a port of this machine, behind the same checks as the page."""
    import httpx

    from germane.server import running
    from germane.server.assistants import http_app

    taken = running.listening(Settings(port=0))
    address = running.address_of(library.settings, taken) + "mcp"
    server = running.uvicorn_server(http_app(server_of(library), library), library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        (found,) = asked(address, ("search", {"query": "aspirin"}))
        assert [hit["id"] for hit in found["results"]] == ["a"]
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        assert httpx.post(address, json=call, headers={"Host": "evil.example"}).status_code == 403
        assert httpx.post(address, json=call, headers={"Origin": "https://evil.example"}).status_code == 403
    finally:
        server.should_exit = True
        thread.join()

"""Every door has bounds: each number, list and text of each operation and tool, and one budget for every search."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import germane.server
from germane.deadline import limited
from germane.engine import Engine
from germane.engine.requests import FeedbackRequest, SearchRequest
from germane.errors import DeadlineError, ParameterError, QueryError, RequestError
from germane.server import Library, Settings, budget
from germane.server.app import OPERATIONS, STREAMED
from germane.server.operations import Operation
from germane.workspace import Workspace

SERVER = Path(germane.server.__file__).parent


def unbounded(schema: Any, where: str) -> Iterator[str]:
    """The parts of a schema that have no bound."""
    if "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from unbounded({**schema, **each, "anyOf": ()} if each.get("type") != "null" else {}, where)
        return
    if "enum" in schema or "const" in schema:
        return
    match schema.get("type"):
        case "string" if "maxLength" not in schema:
            yield f"{where}: a text without maxLength"
        case "integer" | "number" if not {"minimum", "maximum"} <= schema.keys():
            yield f"{where}: a number without minimum or maximum"
        case "array":
            if "maxItems" not in schema:
                yield f"{where}: a list without maxItems"
            yield from unbounded(schema.get("items", {}), f"{where}[]")
        case "object":
            if "properties" not in schema and "maxProperties" not in schema:
                yield f"{where}: an object without maxProperties"
            for name, member in schema.get("properties", {}).items():
                yield from unbounded(member, f"{where}.{name}")


@pytest.mark.parametrize("operation", [*OPERATIONS, STREAMED], ids=lambda each: f"{each.method} {each.path}")
def test_every_parameter_has_a_bound(operation: Operation) -> None:
    told = operation.document()
    missing = [part for each in told["parameters"] for part in unbounded(each["schema"], each["name"])]
    if operation.body is not None:
        missing += unbounded(operation.body, "body")
    assert missing == []


def test_every_argument_of_a_tool_has_a_bound(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    import asyncio

    from germane.server.assistants import server_of

    with Engine.create(tmp_path / "library") as engine:
        library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
        tools = asyncio.run(server_of(library, allow_write=True).list_tools())
        missing = [part for tool in tools for part in unbounded(tool.input_schema, tool.name)]
        library.close()
    assert len(tools) > 6
    assert missing == []


def test_no_door_searches_past_the_budget() -> None:
    """Whoever searches for a request asks the library, which looks at the bounds."""
    found = []
    for path in sorted(SERVER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = ast.unparse(node.func)
                if asked.endswith((".answer", ".search")) and "engine" in asked:
                    found.append((path.name, asked))
    own = {("library.py", "engine.answer"), ("warming.py", "engine.search"), ("learning.py", "engine.search")}
    assert set(found) <= own  # beside the library: the first search of all, and the queries of a version's losses


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"k": 1_000_000_000}, "'k'"), ({"k": 0}, "'k'"), ({"offset": 9_999}, "deeper"), ({"offset": -1}, "'offset'"),
        ({"groups": 51}, "'groups'"), ({"groups": 50, "k": 1_000, "offset": 9_000}, "'offset'"),
        ({"groups": 50, "k": 1_000}, "'groups'"), ({"groups": 0}, "'groups'"),
        ({"facets": tuple(map(str, range(11)))}, "facets"), ({"k": 1_000, "snippets": True}, "snippets"),
        ({"query": "x" * 4_001}, "shorten"),
    ],
)  # fmt: skip
def test_what_is_too_much_is_refused_and_says_what_to_lower(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        budget.check(SearchRequest(**{"query": "copper", **changes}), Settings())


@pytest.mark.parametrize(
    "changes",
    [
        {"k": 1_000}, {"k": 100, "snippets": True, "facets": ("a", "b", "c", "d")}, {"groups": 6}, {"groups": 50},
        {"k": 1_000, "offset": 9_000}, {"facets": ("year",) * 250}, {"sort": "-year", "k": 1_000},
    ],
)  # fmt: skip
def test_what_people_ask_is_taken(changes: dict[str, Any]) -> None:
    budget.check(SearchRequest(**{"query": "copper", **changes}), Settings())


def test_the_page_is_not_costly_and_deep_answers_are() -> None:
    facets = ("year", "topic", "journal", "source")
    assert budget.cost_of(SearchRequest("copper", 20, facets=facets)) <= budget.COSTLY
    assert budget.cost_of(SearchRequest("copper", 1_000)) > budget.COSTLY
    assert "cost" in inspect.signature(Operation).parameters


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine.create(":memory:") as made:
        made.add({"id": str(i), "text": "copper in the liver", "year": i} for i in range(600))
        yield made


@pytest.mark.parametrize(
    ("query", "model"),
    [('"copper liver"', None), ('"copper liver"~5', None), ("text:copper", None), ("year:5..900", None),
     ("copper liver", "sdm")],
)  # fmt: skip
def test_a_query_that_would_look_too_often_is_refused_before_it_is_done(
    engine: Engine, query: str, model: str | None
) -> None:
    assert engine.search(query, model=model)
    engine.max_looks = 30
    try:
        with pytest.raises(QueryError, match="rarer words"):
            engine.search(query, model=model)
        assert engine.search("copper")
    finally:
        engine.max_looks = None


@pytest.mark.parametrize("deep", [{"k": 1_000}, {"offset": 9_000}, {"k": 90, "group_by": "year"}], ids=str)
def test_what_moved_is_told_of_few_results_at_once(deep: dict[str, Any]) -> None:
    """Each result is scored by each word: of a thousand results that took half a minute."""
    search: dict[str, Any] = {"query": "copper", "feedback": FeedbackRequest("rm3")}
    budget.check(SearchRequest(**search, **deep), Settings())
    budget.check(SearchRequest(**search, explain=True), Settings())
    with pytest.raises(RequestError, match="explain"):
        budget.check(SearchRequest(**search, explain=True, **deep), Settings())


def test_telling_what_moved_ends_with_its_request(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        engine.add({"id": n, "text": "copper liver" if n % 2 else "copper heart"} for n in range(30))
        report = engine.search("copper", 20, feedback="rm3").feedback
        assert report is not None
        assert report.moves[0].id
        again = replace(report, _hits=report._hits)
        looks = iter(range(10))

        def look() -> None:
            if next(looks, None) is None:
                raise DeadlineError("late")

        with limited(look), pytest.raises(DeadlineError):
            assert again.moves

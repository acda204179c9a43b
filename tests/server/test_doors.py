"""One request at four doors: Python, the command line, HTTP and the tools of assistants say the same, declared once."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("mcp")
import anyio
from mcp import Client
from starlette.testclient import TestClient
from typer.testing import CliRunner

from germane.cli import program
from germane.cli.failures import as_commands
from germane.declare import CLI, HTTP, MCP, PYTHON, fields_of, made, spellings
from germane.engine import Engine, SearchRequest
from germane.errors import GermaneError, RequestError
from germane.rank.registry import MODEL_NAMES
from germane.server import Library, Settings, create_app
from germane.server.assistants import server_of
from germane.server.problems import without_folders
from germane.workspace import Workspace

ONE_FIELD_MORE = """
import asyncio, dataclasses, json
from typing import Annotated
from germane.declare import Field
from germane.engine import requests

@dataclasses.dataclass(frozen=True)
class SearchRequest(requests.SearchRequest):
    colour: Annotated[
        str | None, Field("colour", "The colour that results have.", choices=("red", "blue"), noun="colour")
    ] = None

requests.SearchRequest = SearchRequest

from typer.testing import CliRunner
from germane.cli.app import program
from germane.declare import check_request, made
from germane.engine import Engine
from germane.errors import ParameterError
from germane.server import Library, Settings
from germane.server.api import OPERATIONS
from germane.server.assistants import server_of
from germane.server.operations import openapi
from germane.server.problems import told
from germane.workspace import Workspace
from starlette.datastructures import QueryParams
from pathlib import Path

def refused(call):
    try:
        call()
    except ParameterError as error:
        return told(error).detail

commands = program(["search"])
Engine.create("index").close()
search = next(each for each in OPERATIONS if each.path.endswith("/search"))
library = Library({"index": Engine.open("index")}, Workspace.open("w"), Settings(), Path("."))
tools = server_of(library)
(tool,) = [each for each in asyncio.run(tools.list_tools()) if each.name == "search"]
paths = openapi(OPERATIONS)["paths"]["/api/v1/collections/{collection}/search"]["get"]["parameters"]
print(json.dumps({
    "help": CliRunner().invoke(commands, ["search", "--help"], env={"COLUMNS": "150"}).output,
    "typed": CliRunner().invoke(commands, ["search", "index", "x", "--colour", "green"]).output,
    "http": [each for each in paths if each["name"] == "colour"],
    "asked": refused(lambda: search.read({"collection": "index"}, QueryParams("q=x&colour=green"), b"", "")),
    "tool": tool.input_schema["properties"].get("colour"),
    "python": made(SearchRequest, {"query": "x", "colour": "red"}).colour,
    "wrong": refused(lambda: check_request(SearchRequest("x", colour="green"))),
}))
"""


def test_a_field_is_added_in_one_place(tmp_path: Path) -> None:
    """In the declaration alone; and every door has it, with its help, its choices and its one complaint."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_FIELD_MORE], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    sentence, reason = "The colour that results have.", "there is no colour 'green'; choose one of red, blue"
    assert "--colour" in told["help"]
    assert sentence in told["help"]
    (parameter,) = told["http"]
    assert (parameter["description"], parameter["schema"]["enum"]) == (sentence, ["red", "blue"])
    assert (told["tool"]["description"], told["tool"]["enum"]) == (sentence, ["red", "blue"])
    assert told["python"] == "red"
    assert reason in told["typed"]
    assert {told["asked"], told["wrong"]} == {reason}


# -- what is wrong is wrong everywhere, for the same reason ------------------------------------------------------------

CHANGES: dict[str, tuple[Any, ...]] = {
    "k": (0, -3, "many", 2.5, 5), "offset": (-1, "x", 3), "model": ("bm52", *MODEL_NAMES), "mu": (-1.0, 300.0),
    "lam": (7.0, 0.3), "k1": (-1.0, 1.2), "b": (3.0, 0.5), "priors": (("magic",), ("field:nope",), ("length",)),
    "weights": ({"title": 3.0}, {"nope": 1.0}), "feedback": ("magic", "rm3", "sd"), "n_docs": (-1, "few", 4),
    "n_terms": (0, 30), "query_weight": (1.5, "half", 0.5), "guard": (True,), "relevant": (("nobody",), ("a",)),
    "not_relevant": (("a",), ("b",)), "syntax": (False,), "explain": (True,), "sort": ("year", "-nothere"),
    "group_by": ("nothere", "year"), "min_score": ("high", 0.1), "facets": (("nothere",), ("year",)),
    "groups": (0, "x", 2), "filter": ({"nothere": 1}, {"year": {"=": 1}}, {"year": 1999}), "rerank": (None,),
    "depth": (0, "deep"),
}  # fmt: skip
QUERIES = ("heart", "heart attack", "+heart -attack", "title:", "(heart", "heart^x", "", "nowhere:x heart")
N_WRONG = 200


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("doors")
    with Engine.create(folder / "index") as engine:
        engine.add(
            [
                {"id": "a", "title": "Aspirin", "text": "aspirin after a heart attack", "year": 1999},
                {"id": "b", "title": "Lungs", "text": "the heart and the lungs of smokers", "year": 2004},
                {"id": "c", "title": "Songs", "text": "heart of gold and other songs", "year": 2010},
            ]
        )
    settings = Settings(per_minute=10**6)
    made = Library({"index": Engine.open(folder / "index")}, Workspace.open(folder / "w"), settings, folder)
    yield made
    made.close()


def drawn(rng: Random) -> dict[str, Any]:
    """A request of one to four fields, by their Python names."""
    names = rng.sample(sorted(CHANGES), rng.randint(1, 4))
    return {"query": rng.choice(QUERIES[:4] * 3 + QUERIES), **{name: rng.choice(CHANGES[name]) for name in names}}


def written(value: Any) -> list[str]:
    """A value as a person types it, in as many texts as it takes."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        floats = all(isinstance(each, float) for each in value.values())
        return [f"{name}={each}" for name, each in value.items()] if floats else [json.dumps(value)]
    return ["none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)]


def spelled(values: dict[str, Any], door: str) -> dict[str, Any] | None:
    """The request in a door's spelling; None where the door does not offer all of its fields."""
    names = {field.name: field.spelling(door) for field in fields_of(SearchRequest)}
    return {names[name]: value for name, value in values.items()} if all(names[name] for name in values) else None


def by_command_line(library: Library, values: dict[str, Any]) -> str:
    words = ["search", str(library.engine("index").folder), "--json"]
    for name, value in (spelled(values, CLI) or {}).items():
        flag = isinstance(value, bool)
        words += (
            [name]
            if flag
            else []
            if name == "WORDS"
            else [f"{name}={text}" if name != "-k" else f"-k{text}" for text in written(value)]
        )
    result = CliRunner().invoke(program(["search"]), [*words, "--", values["query"]], env={"COLUMNS": "200"})
    return result.stderr.strip()


def by_http(client: TestClient, values: dict[str, Any]) -> str:
    params = [(name, text) for name, value in (spelled(values, HTTP) or {}).items() for text in written(value)]
    answer = client.get("/api/v1/collections/index/search", params=params)
    return str(answer.json().get("detail"))


def test_wrong_requests_are_refused_for_the_same_reason(library: Library) -> None:
    """Whatever is wrong: each door gives the one sentence, with its own spelling of the fields in it."""
    client = TestClient(create_app(library), base_url="http://127.0.0.1", raise_server_exceptions=False)
    rng, wrong = Random(36), 0
    by_tools: list[tuple[dict[str, Any], str]] = []
    while wrong < N_WRONG:
        values = drawn(rng)
        try:
            library.engine("index").answer(made(SearchRequest, values, PYTHON))
            continue
        except GermaneError as error:
            reason = error
        wrong += 1
        at = {
            door: reason.spelled(spellings(SearchRequest, door)) if isinstance(reason, RequestError) else str(reason)
            for door in (CLI, HTTP, MCP)
        }
        assert by_command_line(library, values) == f"germane: error: {as_commands(at[CLI])}", values
        assert by_http(client, values) == without_folders(at[HTTP]), values
        arguments = spelled(values, MCP)
        if arguments is not None and values["query"]:
            by_tools.append((arguments, without_folders(at[MCP])))
    assert len(by_tools) > N_WRONG / 10

    async def ask() -> list[str]:
        async with Client(server_of(library)) as asking:
            answers = [await asking.call_tool("search", arguments) for arguments, _ in by_tools]
            assert all(answer.is_error for answer in answers)
            return [answer.content[0].text for answer in answers]

    for said, (arguments, reason_there) in zip(anyio.run(ask), by_tools, strict=True):
        assert said.endswith(reason_there), arguments

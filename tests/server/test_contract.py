"""The OpenAPI document holds: no request drawn from it, fitting or not, makes the server fail, and each answer is one
that is written there."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from germane.declare import Field
from germane.engine import Engine
from germane.server import Library, Settings, create_app
from germane.server.app import OPERATIONS
from germane.server.operations import PREFIX, Operation
from germane.server.sample import sample_documents
from germane.workspace import Workspace

KNOWN = {
    "collection": "research", "id": "sleep-01", "name": "sleep", "search": 1, "q": "sleep memory", "reviewer": "me",
    "key": "0" * 32, "document": "sleep-01", "query": "sleep", "documents": ["sleep-02"], "facet": "topic",
}  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "sleep", "(", '"', "a AND", "year:2000..", "\x00", "../x", "%2e", "-1", "1e9", "=1+1", "ü" * 600]
    ),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A server where a search is kept, a topic followed and a project begun."""
    home = tmp_path_factory.mktemp("contract")
    engine = Engine.create(home / "research")
    engine.add(sample_documents(each=2))
    library = Library({"research": engine}, Workspace.open(home / "w"), Settings(per_minute=10**6), home)
    made = TestClient(create_app(library), base_url="http://127.0.0.1", raise_server_exceptions=False)
    made.headers["x-requested-with"] = "tests"
    made.post("/api/v1/searches", json={"query": "sleep"})
    made.post("/api/v1/topics", json={"name": "sleep", "documents": ["sleep-01"]})
    made.post("/api/v1/projects", json={"name": "sleep", "search": 1})
    made.post("/api/v1/projects/sleep/reviewers", json={"reviewer": "me"})
    return made


def drawn(draw: Any, parameter: Field) -> str:
    """A value that is known, one that fits, or one that may not."""
    kinds = ["fitting", "any"] + ["known"] * 3 * (parameter.name in KNOWN)
    kind = draw(st.sampled_from(kinds))
    if kind == "known":
        return str(KNOWN[parameter.name])
    if kind == "any":
        return draw(TEXTS)
    if parameter.choices:
        return draw(st.sampled_from(list(parameter.choices)))
    if parameter.kind == "integer":
        return str(draw(st.integers(int(parameter.least or 0), int(min(parameter.most or 100, 100)))))
    if parameter.kind == "number":
        return str(draw(st.floats(0, 1)))
    return (
        draw(st.sampled_from(["true", "false"])) if parameter.kind == "boolean" else draw(st.text("ab c", max_size=9))
    )


def fitting(draw: Any, schema: Any, name: str) -> Any:
    if name in KNOWN and draw(st.booleans()):
        return KNOWN[name]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema.get("type")
    if kind == "object":
        members = schema.get("properties", {})
        wanted = [each for each in members if each in schema.get("required", ()) or draw(st.booleans())]
        return {each: fitting(draw, members[each], each) for each in wanted}
    if kind == "array":
        return [fitting(draw, schema.get("items", {}), name) for _ in range(draw(st.integers(0, 2)))]
    scalars = {"string": TEXTS, "integer": st.integers(-1, 5), "boolean": st.booleans()}
    return draw(scalars.get(kind, VALUES))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method} {each.path}")
@settings(max_examples=8, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_every_answer_is_one_that_is_written(client: TestClient, operation: Operation, data: Any) -> None:
    path = operation.path
    query: list[tuple[str, str]] = []
    for parameter in operation.parameters:
        if parameter.where == "path":
            text = drawn(data.draw, parameter).strip("/.") or "x"
            path = path.replace(f"{{{parameter.name}}}", quote(text, safe=""))
        elif parameter.required or data.draw(st.booleans()):
            query.append((parameter.name, drawn(data.draw, parameter)))
    headers, content = {}, None
    if operation.body is not None and data.draw(st.integers(0, 3)):
        body = fitting(data.draw, operation.body, "") if data.draw(st.booleans()) else data.draw(VALUES)
        headers, content = {"content-type": "application/json"}, json.dumps(body).encode()
    elif operation.body is not None or operation.raw:
        kind = "application/x-ndjson"
        headers, content = {"content-type": kind}, data.draw(st.one_of(st.binary(max_size=40), VALUES.map(_line)))
    answer = client.request(operation.method, PREFIX + path, params=query, headers=headers, content=content)
    assert answer.status_code < 500, answer.text
    written = operation.document()["responses"]
    assert str(answer.status_code) in written, answer.text
    media = answer.headers["content-type"].partition(";")[0]
    assert media in written[str(answer.status_code)]["content"]
    if media == "application/json":
        jsonschema.validate(answer.json(), written[str(answer.status_code)]["content"][media]["schema"])
    if media == "application/problem+json":
        assert answer.json()["detail"].strip()


def _line(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_the_data_are_whole_afterwards(client: TestClient, tmp_path: Path) -> None:
    """What fits was done, what does not was not: the index and the workspace still answer."""
    assert client.get("/api/v1/collections/research/search?q=memory").json()["total"] > 0
    assert client.get("/api/v1/searches/1").status_code == 200

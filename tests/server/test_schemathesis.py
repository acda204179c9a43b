"""schemathesis over the OpenAPI document: no request from it fails the server, or gets an answer not written in it.

All checks but one: what fits the document may still be refused for what it says (422), such as a query whose brackets
do not match. Few examples by default; GERMANE_EXAMPLES=100 for many.
"""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.server import Library, Settings, create_app
from germane.server.app import OPERATIONS
from germane.server.operations import PREFIX
from germane.server.sample import sample_documents
from germane.workspace import Workspace

EXAMPLES = int(os.environ.get("GERMANE_EXAMPLES", "4"))
HOSTS, HEADERS = ("testserver",), {"x-requested-with": "tests"}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A line that fits about as often as not."""
    return (value if isinstance(value, str) else "").encode() + b'\n{"id": "a line", "query_id": "1"}\n'


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """The document of a server where a search is kept, a topic followed, a project begun and a job done."""
    home = tmp_path_factory.mktemp("schemathesis")
    engine = Engine.create(home / "research")
    engine.add(sample_documents(each=2))
    library = Library({"research": engine}, Workspace.open(home / "w"), Settings(per_minute=10**6, hosts=HOSTS), home)
    app = create_app(library)
    client = TestClient(app, base_url="http://testserver", headers=HEADERS)
    client.post("/api/v1/searches", json={"query": "sleep"}).raise_for_status()
    client.post("/api/v1/topics", json={"name": "sleep", "documents": ["sleep-01"]}).raise_for_status()
    client.post("/api/v1/projects", json={"name": "sleep", "search": 1}).raise_for_status()
    client.post("/api/v1/jobs/exports", json={}).raise_for_status()
    yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    library.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method} {each.path}")
def test_no_failure_and_no_answer_that_is_not_written(api, operation):
    strategy = api[PREFIX + operation.path][operation.method].as_strategy()

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def holds(case):
        case.call_and_validate(headers=HEADERS, excluded_checks=[positive_data_acceptance])

    holds()

"""What visitors of the page click is learnt from: train, gate, promote, roll back, over the API."""

import json
import re

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.metasearch import MetaSearch
from germane.server import Library, Settings, create_app
from germane.server.finding import save_found, sources_named
from germane.server.sample import sample_documents
from germane.server.tools import Tools
from germane.workspace import Workspace

V1 = "/api/v1"
VISITORS = 3


def visited(app, queries: list[str]) -> None:
    """A visitor searches on the page and opens the third result of each list, or the last."""
    browser = TestClient(app, base_url="http://127.0.0.1")
    for query in queries:
        html = browser.get("/search", params={"q": query}).text
        search = re.search(r'data-search="([0-9a-f]{24})"', html)[1]
        rows = re.findall(r'data-id="([^"]+)" data-rank="(\d+)"', html)
        name, rank = rows[min(2, len(rows) - 1)]
        fields = {"csrf": browser.cookies["germane_csrf"], "q": query, "search": search, "id": name, "position": rank}
        assert browser.post("/click", data=fields).status_code == 204


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    with Engine.create(home / "research") as engine:
        engine.add(sample_documents(each=6))
    engines = {"research": Engine.open(home / "research")}
    settings = Settings(per_minute=10**6, min_users=2, audit=home / "audit.jsonl")
    library = Library(engines, Workspace.open(home / "w"), settings, home)
    app = create_app(library)
    titles = [str(document.fields["title"]).split(":")[0] for document in sample_documents(each=6)]
    queries = sorted({" ".join(title.split()[:3]) for title in titles})[:14]
    for _ in range(VISITORS):
        visited(app, queries)
    client = TestClient(app, base_url="http://127.0.0.1")
    client.headers["x-requested-with"] = "tests"
    yield client, library
    library.close()


def train(client, **body):
    answer = client.post(f"{V1}/jobs/trainings", json=body)
    assert answer.status_code == 202, answer.text
    text = client.get(f"{V1}/jobs/{answer.json()['job']}/events").text
    return json.loads(text.rstrip().rpartition("data: ")[2])


def test_the_log_of_the_page_is_a_log_of_searches_and_clicks(served):
    _, library = served
    events = [json.loads(line) for line in library.events.read()]
    searches = {each["query_id"]: each for each in events if "query_response_hit_ids" in each}
    clicks = [each for each in events if each.get("action_name") == "click"]
    assert len(searches) == len(clicks) == VISITORS * 14
    assert len({each["client_id"] for each in events}) == VISITORS
    for click in clicks:
        shown = searches[click["query_id"]]["query_response_hit_ids"]
        where = click["event_attributes"]
        assert shown[where["position"]["ordinal"] - 1] == where["object"]["object_id"]


def test_from_clicks_to_what_serves_and_back(served):
    client, _ = served
    path = f"{V1}/collections/research/models"
    assert client.get(path).json() == {"models": [], "health": {}}
    first = train(client, force=True)
    assert first["state"] == "done", first
    assert (first["result"]["version"], first["result"]["promoted"]) == ("clicks@1", True)
    assert first["result"]["pairs"] >= 5
    second = train(client, model="um", share=0.3, parameters={"first_weight": 0.5}, force=True)
    assert second["result"]["version"] == "clicks@2", second
    listed = client.get(path).json()
    assert [(each["version"], each["serving"]) for each in listed["models"]] == [(1, False), (2, True)]
    assert "clicks@2" in listed["health"]["clicks"]
    assert client.get(f"{path}/clicks").json()["version"] == 2
    verdict = client.get(f"{path}/clicks@1/gate").json()
    assert verdict == client.get(f"{path}/clicks@1").json()["gate"]
    assert {"passed", "reason", "sets"} <= verdict.keys()
    compared = client.get(f"{V1}/collections/research/comparison?candidate=clicks@1&baseline=clicks@2&min_users=2")
    assert compared.json()["against"] == "clicks@2", compared.text
    search = f"{V1}/collections/research/search?q=sleep&rerank=clicks"
    assert client.get(search).json()["model"] == "adaptive >> clicks"
    assert client.post(f"{path}/clicks@1/promote").json()["serving"]
    back = client.post(f"{path}/clicks/rollback").json()["models"]
    assert [each["serving"] for each in back] == [False, True]


def test_what_serves_is_what_searches_use(served):
    """Of the API, of the page and of assistants; until it is taken back."""
    client, library = served
    base = f"{V1}/collections/research"
    tools = Tools(library)
    page = TestClient(client.app, base_url="http://127.0.0.1")

    def told(name: str = "search", **asked: str) -> tuple[str, str | None]:
        answer = client.get(f"{base}/{name}", params={"q": "sleep", **asked}).json()
        return answer["model"], answer.get("reranked_by")

    by = client.get(f"{base}/search?q=sleep").json()["reranked_by"]
    hit = client.get(f"{base}/search?q=sleep").json()["hits"][0]["id"]
    assert told() == (f"adaptive >> {by}", by)
    assert told(model="bm25") == ("bm25", None)
    assert told(rerank="none") == ("adaptive", None)
    assert told("explain", id=hit) == (by, None)
    assert told("explain", id=hit, rerank="none") == ("adaptive", None)
    assert f"ranked by {by}" in " ".join(tools.search("sleep").notes)
    assert tools.search("sleep", model="bm25").notes == []
    why = tools.explain("sleep", hit)
    assert (why.model, why.score) == (by, pytest.approx(sum(part.adds for part in why.words) + why.rest))
    found = tools.find("sleep")
    assert found.notes == [f"research: ranked by {by}, learnt from clicks"]
    assert [one.id for one in found.results] == [f"research:{one.id}" for one in tools.search("sleep").results]
    kept = save_found(library, MetaSearch(sources_named(library, ["research"])).search("sleep"))
    assert f"ranked by {by}" in page.get("/search", params={"q": "sleep", "s": kept.id}).text
    assert f"Ranked by {by}" in page.get("/search?q=sleep").text
    assert "Ranked by" not in page.get("/search?q=sleep&model=adaptive").text
    assert by in page.get("/why", params={"q": "sleep", "id": hit}).text
    kept = client.post(f"{V1}/searches", json={"query": "sleep"}).json()
    done = client.post(f"{V1}/jobs/refreshes", json={"search": kept["search"]})
    assert done.status_code == 202, done.text
    while client.get(f"{base}/search?q=sleep").json().get("reranked_by"):
        client.post(f"{base}/models/clicks/rollback")
    assert told() == ("adaptive", None)
    assert "Ranked by" not in page.get("/search?q=sleep").text
    assert tools.search("sleep").notes == []


def test_what_cannot_be_trained_says_so(served):
    client, _ = served
    for body, word in (
        ({"name": "bm25"}, "ranking model"), ({"model": "nothing"}, "one of"), ({"share": 3}, "share"),
        ({"collection": "nowhere"}, "no collection"), ({"parameters": {"no_such": 1}}, "no_such"),
    ):  # fmt: skip
        answer = client.post(f"{V1}/jobs/trainings", json=body)
        assert answer.status_code in (404, 422), answer.text
        assert word in answer.json()["detail"]
    last = train(client, min_users=50)
    assert (last["state"], "too few clicks" in last["message"]) == ("failed", True)
    assert client.get(f"{V1}/collections/research/models/none@1").status_code == 422


def test_a_model_has_no_more_dimensions_than_the_clicked_titles_allow(served):
    client, _ = served
    made = train(client, model="opca", name="small")
    assert made["state"] == "done", made
    found = client.get(f"{V1}/collections/research/models/small@1").json()
    assert 0 < found["parameters"]["n_dimensions"] < 100
    refused = train(client, model="opca", parameters={"n_dimensions": 5_000})
    assert (refused["state"], "ask for fewer dimensions" in refused["message"]) == ("failed", True)


def test_a_visitor_is_forgotten_by_a_button_and_not_logged_after_saying_so(served):
    client, library = served
    browser = TestClient(client.app, base_url="http://127.0.0.1", follow_redirects=False)
    before = sum(1 for _ in library.events.read())
    browser.get("/search?q=sleep")
    assert sum(1 for _ in library.events.read()) == before + 1
    csrf = {"csrf": browser.cookies["germane_csrf"]}
    assert browser.post("/forget", data={**csrf, "to": "/search?q=x"}).headers["location"] == "/search?q=x"
    assert sum(1 for _ in library.events.read()) == before
    browser.post("/settings", data={**csrf, "log": "off", "to": "/"})
    browser.get("/search?q=sleep")
    browser.get("/search?q=sleep&page=2")
    assert sum(1 for _ in library.events.read()) == before

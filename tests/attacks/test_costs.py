"""Requests that cost much: refused at every door, with what to lower; and none keeps others waiting for ever."""

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from attacks.conftest import ServerProcess, small_documents
from germane.engine import Engine
from germane.errors import ParameterError, QueryError
from germane.rank.snippets import LONGEST
from germane.refine.refiner import Refiner
from germane.server import Library, Settings, topics
from germane.server.app import create_app
from germane.server.budget import MOST_KEPT as MOST_RESULTS
from germane.server.budget import MOST_SLOWLY
from germane.server.jobs import MOST_WAITING
from germane.server.learning import Clicks, Learning
from germane.server.leftovers import MOST_KEPT, forget_old
from germane.server.listing import MOST_TITLE, listing
from germane.server.problems import ProblemError
from germane.server.reading import document_view
from germane.server.saved_searches import SavedSearches
from germane.server.tools import Tools
from germane.server.topics import MOST_AT_ONCE
from germane.server.view_state import PAGE, ViewState
from germane.stream import Watch, health
from germane.stream.atom import CONTENT
from germane.text.bulk import BulkAnalyzer
from germane.track.follower import Follower
from germane.workspace import Workspace
from germane.workspace.values import Result

SEARCH = "/collections/library/search?"


@pytest.mark.parametrize(
    "asked",
    [
        {"groups": 50, "k": 1_000, "offset": 9_000},
        {"groups": 50, "k": 1_000},
        {"facet": [f"field{i}" for i in range(250)]},
        {"filter": [f"year:{i}..3000" for i in range(110)]},
        {"k": 1_000, "snippets": "true"},
        {"k": 10**9},
        {"offset": 10**9},
        {"filter": ["y" * 490 for _ in range(1)] + [f"{i}" * 400 for i in range(1, 10)]},
    ],
)
def test_a_search_that_costs_too_much_is_refused(server: ServerProcess, asked: dict[str, object]) -> None:
    status, answer = server.api("GET", SEARCH + urlencode({"q": "copper", **asked}, doseq=True))
    assert status == 422
    assert len(answer["detail"]) < 300


def test_a_facet_that_is_asked_for_250_times_is_counted_once(server: ServerProcess) -> None:
    status, answer = server.api("GET", SEARCH + urlencode({"q": "copper", "facet": ["year"] * 250}, doseq=True))
    assert status == 200
    assert [each["field"] for each in answer["facets"]] == ["year"]


@pytest.mark.parametrize("k", [10**9, 1_001, 0, -1])
def test_nothing_is_kept_that_could_not_be_searched(server: ServerProcess, k: int) -> None:
    before = server.api("GET", "/searches")[1]["searches"]
    status, answer = server.api("POST", "/searches", {"query": "copper", "k": k})
    assert status == 422
    assert "'k'" in answer["detail"]
    assert server.api("GET", "/searches")[1]["searches"] == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/searches", {"query": "copper " * 280, "filters": ["year:1990..2000" * 30] * 20}),
        ("/searches", {"query": "copper", "filters": ["year:1990"] * 51}),
        ("/searches", {"query": "copper", "filter": {f"f{i}": 1 for i in range(60)}}),
        ("/topics", {"name": "x", "documents": ["d0"] * 101}),
        ("/projects", {"name": "x", "search": 2**63 - 1}),
        ("/jobs/refreshes", {"search": 10**12}),
        ("/jobs/trainings", {"parameters": {"n_topics": 10**9}}),
        ("/jobs/trainings", {"min_users": 10**9}),
        ("/events", {"events": [{str(i): i for i in range(200)}]}),
    ],
)
def test_what_is_stored_or_scheduled_has_the_same_bounds(server: ServerProcess, path: str, body: object) -> None:
    status, answer = server.api("POST", path, body)
    assert status == 422, answer


def test_requests_whose_clients_went_away_cost_nothing_more(server: ServerProcess) -> None:
    """Hundreds that ask and leave at once: the server answers the next one."""
    head = f"GET /api/v1{SEARCH}q=copper&k=1000 HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    for _ in range(200):
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
            connection.sendall(head)
    status, answer = server.api("GET", SEARCH + "q=copper")
    assert status == 200
    assert answer["total"] == 20


def test_callers_from_other_addresses_are_served_while_one_sends_many(server: ServerProcess) -> None:
    head = f"GET /api/v1{SEARCH}q=copper&groups=50 HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    many = [socket.create_connection(("127.0.0.1", server.port), 60, ("127.0.0.2", 0)) for _ in range(40)]
    try:
        for each in many:
            each.sendall(head)
        status, _, _ = server.ask("GET", f"/api/v1{SEARCH}q=copper")
        assert status == 200
        statuses = {each.recv(64).split()[1] for each in many}
        assert statuses == {b"200"}
    finally:
        for each in many:
            each.close()


def test_explaining_is_bounded_as_searching_is(tmp_path: Path) -> None:
    """What a search may not look into, its explanation looked into all the same."""
    with Engine.create(tmp_path / "library") as engine:
        engine.add(small_documents())
        for query, model in (("copper liver", "sdm"), ('"copper in the liver"~3', None)):
            engine.max_looks = None
            assert engine.explain(query, "d0", model=model).parts
            engine.max_looks = 20
            for ask in (engine.search, lambda asked, model: engine.explain(asked, "d0", model=model)):
                with pytest.raises(QueryError, match="would look into documents"):
                    ask(query, model=model)


def test_why_is_told_of_some_results_at_once(server: ServerProcess) -> None:
    number = server.api("POST", "/searches", {"query": "copper", "k": 1_000})[1]["search"]
    assert server.api("GET", f"/searches/{number}?k=1000&explain=true")[0] == 422
    server.api("POST", f"/searches/{number}/marks", {"document": "d0", "mark": "not_relevant"})
    answer = server.api("GET", f"/searches/{number}?k=3&explain=true")[1]["refinement"]
    assert {each["id"] for each in answer["changes"]} <= {each["id"] for each in answer["results"]}


def test_a_kept_filter_has_the_bounds_of_a_typed_one(server: ServerProcess) -> None:
    body = {"query": "copper", "filter": {"$or": [{"year": number} for number in range(1950, 2010)]}}
    assert server.api("POST", "/searches", body)[0] == 422


def test_jobs_do_not_wait_without_end(tmp_path: Path) -> None:
    engine = Engine.create(tmp_path / "library")
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    library.jobs.ending.set()  # nobody does them
    for _ in range(MOST_WAITING):
        library.jobs.add("export", {})
    with pytest.raises(ProblemError, match="jobs wait already"):
        library.jobs.add("export", {})
    library.close()


def test_files_that_wait_are_not_kept_without_end(tmp_path: Path) -> None:
    for number in range(MOST_KEPT + 5):
        folder = tmp_path / f"{number:032x}"
        folder.mkdir()
        os.utime(folder, (time.time() - 1_000 + number,) * 2)
    (tmp_path / "of the day before").touch()
    os.utime(tmp_path / "of the day before", (0, 0))
    forget_old(tmp_path)
    kept = sorted(int(path.name, 16) for path in tmp_path.iterdir())
    assert kept == list(range(6, MOST_KEPT + 5))


def test_a_slow_method_orders_fewer(tmp_path: Path) -> None:
    kept = SavedSearches(Workspace.open(tmp_path / "w"))
    many = [Result(f"d{number}", {"text": f"copper {number}"}, 1.0) for number in range(MOST_SLOWLY + 1)]
    assert kept.refined(kept.save("copper", many[1:], "library").id, method="knn").results
    with pytest.raises(ParameterError, match="knn orders 500"):
        kept.refined(kept.save("copper", many, "library").id, method="knn")


def test_a_long_log_is_not_counted_for_every_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever searched and looked at the models in turn kept the server counting."""
    engine = Engine.create(tmp_path / "library")
    engine.add(small_documents())
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    learning, counts = Learning(library), []
    monkeypatch.setattr("germane.server.learning.REST", 1e12)
    monkeypatch.setattr(Learning, "_count", lambda *_: counts.append(1) or Clicks(None))
    row = {"query_id": "q", "client_id": "c", "user_query": "copper", "query_response_hit_ids": ["d0"]}
    for quick, expected in ((60.0, 3), (-1.0, 1)):
        monkeypatch.setattr("germane.server.learning.QUICK", quick)
        counts.clear()
        for _ in range(3):
            library.events.add([row])
            learning.clicks("library")
        assert len(counts) == expected, "the first after a slow count is counted, those after it wait"
    library.events.erase()
    learning.clicks("library")
    assert len(counts) == 2, "what is erased is gone at once"
    library.close()


def test_a_large_collection_is_shown_to_topics_in_the_background(tmp_path: Path) -> None:
    """A single request showed 200,000 documents to two topics, and took 51 seconds of a processor."""
    engine = Engine.create(tmp_path / "library")
    engine.add({"id": f"d{number}", "title": f"Copper {number}"} for number in range(MOST_AT_ONCE + 1))
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    with TestClient(create_app(library), base_url="http://127.0.0.1", follow_redirects=False) as client:
        json_headers = {"x-requested-with": "t"}
        client.post("/api/v1/topics", json={"name": "copper", "documents": ["d1"]}, headers=json_headers)
        refused = client.post("/api/v1/topics/feed", json={}, headers=json_headers)
        assert refused.status_code == 422
        assert "api/v1/jobs/feeds" in refused.json()["detail"]
        client.get("/topics")
        sent = client.post("/topics/feed", data={"csrf": client.cookies["germane_csrf"], "to": "/topics"})
        assert sent.headers["location"] == "/topics?job=1"
        assert client.get("/topics?job=1").status_code == 200
        while client.get("/api/v1/jobs/1").json()["state"] != "done":
            time.sleep(0.05)
        assert "data-job" not in client.get("/topics?job=1").text
        assert client.get("/api/v1/topics/copper").json()["topic"]["hits"] > 0


def test_a_kept_search_has_its_bounds_for_assistants_too(tmp_path: Path) -> None:
    """An assistant had a list of any length compared each with each."""
    engine = Engine.create(tmp_path / "library")
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    many = [Result(f"d{number}", {"text": f"copper {number}"}, 1.0) for number in range(MOST_RESULTS + 1)]
    tools, keep = Tools(library), library.saved_searches.save
    with pytest.raises(ParameterError, match="ordered by marks here"):
        tools.refine(search=keep("copper", many, "library").id, relevant=["d1"])
    with pytest.raises(ParameterError, match="knn orders 500"):
        tools.refine(search=keep("copper", many[:-1], "library").id, relevant=["d1"], method="knn")
    library.close()


def test_long_documents_cost_the_page_no_more_than_the_api(tmp_path: Path) -> None:
    """A page of twenty documents of 1.2 MB took 4 seconds of a processor, and one of them 3."""
    engine = Engine.create(tmp_path / "library")
    words = "copper " * 40_000
    engine.add({"id": f"d{number}", "title": words, "text": words} for number in range(PAGE))
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    shown = listing(library, ViewState(q="copper"))
    assert len(shown.rows) == PAGE
    assert all(sum(len(text) for text, _ in row.title) <= MOST_TITLE for row in shown.rows)
    pieces = [piece for part in document_view(library, ViewState(q="copper"), "d1").text for piece in part]
    assert sum(len(text) for text, _ in pieces) == len(words)
    assert sum(level > 0 for _, level in pieces) <= LONGEST // len("copper ") + 1
    library.close()


def test_a_look_at_a_topic_goes_through_the_latest_documents_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at a judged topic went through the whole stream: 26 seconds of a processor for 200,000 documents."""
    engine = Engine.create(tmp_path / "library")
    engine.add({"id": f"d{number}", "title": f"Copper in the liver {number}"} for number in range(40))
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    topics.follow(library, "copper", [engine.document("d1")], engine)
    topics.feed(library, engine.documents())
    for number in (5, 38):
        topics.judge(library, "copper", f"d{number}", True)
    topics.judge(library, "copper", "d39", False)
    seen: list[float] = []
    see = Follower.see
    monkeypatch.setattr(Follower, "see", lambda self, bag: seen.append(1) or see(self, bag))
    whole = topics.topic_view(library, "copper").dial
    assert len(seen) == 40
    assert whole.judged == (2, 1)
    seen.clear()
    assert [topic.name for topic, _ in topics.topics_of(library)] == ["copper"]
    assert not seen, "the list of topics draws no curve"
    monkeypatch.setattr(topics, "MOST_AT_ONCE", 10)
    library.watch = None
    latest = topics.topic_view(library, "copper").dial
    assert len(seen) == 10
    assert latest.judged == (1, 1)
    library.close()


def followed(tmp_path: Path, documents: Sequence[Mapping[str, str]], names: Sequence[str] = ("copper",)) -> Library:
    """A library over documents that topics have seen."""
    engine = Engine.create(tmp_path / "library")
    engine.add(documents)
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    for name in names:
        topics.follow(library, name, [engine.document("d0")], engine)
    topics.feed(library, engine.documents())
    return library


def general() -> list[dict[str, str]]:
    return [
        {"id": f"g{n}", "title": f"Page {n} tells of {n % 5} ships, {n % 7} ports and {n % 3} storms at sea"}
        for n in range(60)
    ]


def copper(n: int) -> list[dict[str, str]]:
    return [*general(), *({"id": f"d{number}", "title": f"Copper in the liver {number}"} for number in range(n))]


def test_topics_are_told_anew_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at a topic went through what it had delivered, and estimated all of it again."""
    library = followed(tmp_path, copper(120), ("copper", "liver"))
    estimated: list[int] = []
    monkeypatch.setattr(health, "missed_by", lambda *_: estimated.append(1))
    first = topics.topic_view(library, "copper")
    again = topics.topic_view(library, "copper")
    assert (again.topic, again.timeline, again.words, again.near) == (
        first.topic, first.timeline, first.words, first.near
    )  # fmt: skip
    assert len(estimated) == 1
    topics.judge(library, "copper", "d5", True)
    assert topics.topic_view(library, "copper").topic.judged_on == 1
    other = Watch.open(library.workspace)
    other.judge("copper", "d6", False)
    assert topics.topic_view(library, "copper").topic.judged_off == 1, "what another process changed is seen"
    library.close()


def test_a_list_of_topics_is_read_in_a_few_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of a hundred topics estimated what each missed, over all that it had met: 14 seconds of a processor."""
    names = [f"copper {number}" for number in range(12)]
    library = followed(tmp_path, copper(30), names)
    topics.judge(library, names[1], "d3", True)
    topics.judge(library, names[1], "d4", False)
    topics.undo_judgement(library, names[1])
    topics.judge(library, names[2], "d4", False)
    expected = [
        (view.topic.name, view.topic.hits, view.topic.last_hit, view.topic.learnt, view.topic.judged_on,
         view.topic.judged_off, view.timeline)
        for view in (topics.topic_view(library, name) for name in names)
    ]  # fmt: skip
    library.watch = None
    reads: list[int] = []
    read = type(library.workspace.database).read
    monkeypatch.setattr(type(library.workspace.database), "read", lambda self: reads.append(1) or read(self))
    monkeypatch.setattr(health, "missed_by", lambda *_: pytest.fail("nothing is estimated"))
    listed = [
        (topic.name, topic.hits, topic.last_hit, topic.learnt, topic.judged_on, topic.judged_off, days)
        for topic, days in topics.topics_of(library)
    ]
    assert listed == expected
    assert sum(hits for _, hits, *_ in listed) > 0
    assert len(reads) < len(names)
    library.close()


def test_what_is_held_of_topics_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = followed(tmp_path, copper(3))
    monkeypatch.setattr("germane.stream.watch.MOST_CACHED", 2)
    watch, made = topics._opened(library), []
    for what in ("a", "b", "a", "c", "a", "b"):
        watch.cached(what, "", lambda what=what: made.append(what) or what)
    assert made == ["a", "b", "c", "b"], "the one that was asked for longest ago goes first"
    library.close()


def test_topics_look_at_the_beginning_of_long_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic of a hundred documents of 1 MB took 42 seconds of a processor to begin, and 18 to be looked at."""
    long = "copper liver " * 60_000
    documents = [{"id": f"d{number}", "title": f"Copper {number}", "text": long} for number in range(6)]
    engine = Engine.create(tmp_path / "library")
    engine.add([*general(), *documents])
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    analyzed: list[int] = []
    analyze = BulkAnalyzer.analyze
    monkeypatch.setattr(
        BulkAnalyzer, "analyze", lambda self, texts: analyzed.append(sum(map(len, texts))) or analyze(self, texts)
    )
    topics.follow(library, "copper", [engine.document(f"d{number}") for number in range(6)], engine)
    short = sum(len(each["title"]) for each in general())
    assert sum(analyzed) <= topics.SEEDS_TEXT + 6 * topics.BACKGROUND_TEXT + short
    library.close()
    library = Library({"library": engine}, Workspace.open(tmp_path / "other"), Settings(), tmp_path)
    Watch.begin(library.workspace, general())
    topics.follow(library, "copper", [engine.document("d0")], engine)
    topics.feed(library, documents)
    analyzed.clear()
    monkeypatch.setattr(topics, "MOST_CHARACTERS", 2 * len(long) + 100)
    view = topics.topic_view(library, "copper")
    assert view.topic.hits == 6
    assert [hit.document for hit in view.hits] == ["d5", "d4"]
    assert sum(analyzed) <= topics.SEEDS_TEXT + health.FORMS_TEXT
    assert len(topics.feed_of(library, "copper")) < 3 * CONTENT
    assert topics.digest_view(library, "copper", None).documents == 2
    monkeypatch.setattr(topics, "MOST_WORDS_AT_ONCE", 1_000)
    assert not topics.is_shown_at_once(engine)
    library.close()


def test_a_saved_list_of_long_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of 136 MB took 4 seconds of a processor to be put in order."""
    kept = SavedSearches(Workspace.open(tmp_path / "w"))
    monkeypatch.setattr("germane.server.saved_searches.MOST_CHARACTERS", 100_000)
    monkeypatch.setattr("germane.server.saved_searches.LOOKED_AT", 2_000)
    many = [Result(f"d{number}", {"text": "copper " * 3_000}, 1.0) for number in range(9)]
    search = kept.save("copper", many, "library")
    held = [result.document for result in kept.results(search)]
    assert held == ["d0", "d1", "d2", "d3"]
    assert kept.results(kept.save("copper", [Result("d", {"text": "x" * 200_000}, 1.0)], "library"))
    prepared: list[int] = []
    prepare = Refiner.prepare

    def noted(self: Refiner, texts: list[tuple[str, str]]) -> Refiner:
        prepared.append(sum(len(text) for _, text in texts))
        return prepare(self, texts)

    monkeypatch.setattr(Refiner, "prepare", noted)
    kept.mark(search.id, "d1", "relevant")
    found = kept.refined(search.id)
    assert prepared == [2_000]
    assert len(str(found.results["d1"].fields["text"])) == 21_000, "an export has the whole text"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([f"reviewer {n}" for n in range(10_000)], "10,000 reviewers"),
        (["x" * 101], "at most 100 characters"),
        (["ann\u202e"], "one line"),
    ],
    ids=["many", "long", "unprintable"],
)
def test_a_file_names_reviewers_as_people_join(server: ServerProcess, names: list[str], said: str) -> None:
    """Each reviewer is a transaction: ten thousand in a file of 300 KB kept the server busy for minutes."""
    lines = ["id,title,included,decided_by", *(f"{n},copper,1,{name}" for n, name in enumerate(names))]
    headers = {"content-type": "application/octet-stream", "x-requested-with": "tests"}
    status, _, answer = server.ask("POST", "/api/v1/imports?name=a.csv", "\n".join(lines).encode(), headers)
    assert status == 201
    asked = {"name": f"of {said}", "key": json.loads(answer)["key"], "reviewer": "me"}
    status, told = server.api("POST", "/projects", asked)
    assert status == 422
    assert said in told["detail"]
    assert asked["name"] not in {each["name"] for each in server.api("GET", "/projects")[1]["projects"]}

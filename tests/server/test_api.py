"""The API: what is answered is what the OpenAPI document says, and what goes wrong is a sentence."""

import io
import json
import re

import jsonschema
import pytest
from starlette.testclient import TestClient

from germane.schema import schema_of
from germane.server.app import OPERATIONS
from germane.server.exports import exported
from germane.server.operations import PREFIX
from germane.types import Document

V1 = "/api/v1"


@pytest.fixture
def client(client):
    """A program: it has no cookies, and says that it is no form."""
    client.headers["x-requested-with"] = "tests"
    return client


NDJSON = {"content-type": "application/x-ndjson"}


def schema_for(method: str, path: str) -> dict:
    operation = next(each for each in OPERATIONS if (each.method, each.path) == (method, path))
    return schema_of(operation.answer)


def answered(client: TestClient, method: str, path: str, template: str, status: int = 200, **arguments):
    """The answer of a request, held against the shape that the operation promises."""
    answer = client.request(method, V1 + path, **arguments)
    assert answer.status_code == status, answer.text
    jsonschema.validate(answer.json(), schema_for(method, template))
    return answer.json()


def refused(answer, status: int, *words: str) -> None:
    """A problem document with a sentence that says these words."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert told["title"]
    assert all(word in told["detail"] for word in words), told["detail"]


# -- reading -----------------------------------------------------------------------------------------------------------


def test_health_and_collections(client):
    assert answered(client, "GET", "/health", "/health")["collections"] == {"research": 480, "own": 1}
    found = answered(client, "GET", "/collections", "/collections")["collections"]
    assert [each["name"] for each in found] == ["research", "own"]
    assert found[0]["facets"] == ["year", "topic", "journal"]
    assert answered(client, "GET", "/collections/own", "/collections/{collection}")["stats"]["documents"] == 1


def test_search_is_what_the_engine_answers(client, library):
    query = "q=sleep+memory&k=5&offset=2&facet=topic&snippets=true&filter=year:2005.."
    found = answered(client, "GET", f"/collections/research/search?{query}", "/collections/{collection}/search")
    expected = library.engines["research"].search("sleep memory year:2005..", 7).ids[2:]
    assert [hit["id"] for hit in found["hits"]] == expected
    assert found["facets"][0]["values"][0]["value"] == "neuroscience"
    assert all(hit["snippet"]["marks"] for hit in found["hits"])


def test_some_fields_of_a_document_change(client):
    path, template = "/collections/own/documents/patched", "/collections/{collection}/documents/{id}"
    assert client.put(V1 + path, json={"title": "Copper", "year": 1912, "draft": True}).status_code == 200
    assert answered(client, "PATCH", path, template, json={"year": 1913, "draft": None})["replaced"] == 1
    assert client.get(V1 + path).json()["fields"] == {"title": "Copper", "year": 1913}
    changes, bulk = b'{"id": "patched", "tags": ["a"]}', f"{V1}/collections/own/documents?on_duplicate=merge"
    assert client.post(bulk, content=changes, headers=NDJSON).json()["report"]["replaced"] == 1
    assert client.get(V1 + path).json()["fields"] == {"title": "Copper", "year": 1913, "tags": ["a"]}
    refused(client.patch(f"{V1}/collections/own/documents/none", json={"year": 1}), 404, "no document with id 'none'")
    refused(client.patch(V1 + path, json={"nested": {"a": 1}}), 422, "the field 'nested'")
    assert client.delete(V1 + path).status_code == 200


def test_a_filter_as_a_value(client, library):
    path, template = "/collections/research/search", "/collections/{collection}/search"
    wanted = {"topic": "neuroscience", "year": {">=": 2005}}
    expected = library.engines["research"].search("sleep", 10, filter=wanted).ids
    found = answered(client, "GET", path, template, params={"q": "sleep", "filter": json.dumps(wanted)})
    assert [hit["id"] for hit in found["hits"]] == expected != []
    both = {"q": "sleep", "filter": [json.dumps({"topic": "neuroscience"}), "year:2005..", '{"year": {"<": 9999}}']}
    assert [hit["id"] for hit in answered(client, "GET", path, template, params=both)["hits"]] == expected
    hostile = {"q": "sleep", "filter": json.dumps({"topic": 'x" OR topic:neuroscience'})}
    assert answered(client, "GET", path, template, params=hostile)["total"] == 0
    for wrong, said in (("{", "not JSON"), ('{"year": {"=": 1}}', "compared by"), ('{"yaer": 1}', "in no document")):
        refused(client.get(V1 + path, params={"q": "sleep", "filter": wrong}), 422, said)
    body = {"query": "sleep", "filter": wanted}
    kept = answered(client, "POST", "/searches", "/searches", 201, json=body)
    assert kept["results"] == library.engines["research"].count("sleep", filter=wanted)
    refused(client.post(f"{V1}/searches", json={"query": "sleep", "filter": "topic:x"}), 422, "of the type object")


def test_groups_of_results(client, library):
    path, template = "/collections/research/search?q=resistance&k=3&groups=4", "/collections/{collection}/search"
    groups = answered(client, "GET", path, template)["groups"]
    ids = library.engines["research"].search("resistance", 200).ids
    assert sorted(rank for group in groups for rank in group["ranks"]) == list(range(1, len(ids) + 1))
    assert all(group["ids"] == [ids[rank - 1] for rank in group["ranks"]] for group in groups)
    assert len(groups) <= 4
    assert all(group["words"] for group in groups)
    refused(client.get(f"{V1}/collections/research/search?q=resistance&groups=0"), 422, "groups")


def test_one_group_on_the_page(client, library):
    """A group's rows alone, numbered as in the whole list; a group that is not there is told."""
    groups = library.engines["research"].search("resistance", 200).groups(6)
    shown = client.get("/search?q=resistance&g=2").text
    assert re.findall(r'data-id="([^"]+)"', shown) == list(groups[1].ids)
    assert re.findall(r'data-rank="(\d+)"', shown) == [str(rank) for rank in groups[1].ranks]
    assert "/search?q=resistance&amp;g=3" in shown
    assert 'href="/search?q=resistance"' in shown  # out of the group again
    assert "g=" not in re.search(r'href="([^"]*sort=-year)"', shown)[1]  # another list has other groups
    exported_ids = re.findall(r'"id":"([^"]+)"', client.get("/export?q=resistance&g=2&format=jsonl").text)
    assert exported_ids == list(groups[1].ids)
    assert client.get("/search?q=resistance&g=7").status_code == 404
    plain = client.get("/groups?q=resistance").text  # without JavaScript
    assert all(f"g={number}" in plain for number in range(1, len(groups) + 1))


def test_did_you_mean(client):
    found = answered(client, "GET", "/collections/research/search?q=antibiotc", "/collections/{collection}/search")
    assert found["suggestion"] == "antibiotic"


def test_an_explanation_adds_up(client):
    told = answered(
        client, "GET", "/collections/research/explain?q=sleep+memory&id=sleep-01&model=dirichlet",
        "/collections/{collection}/explain",
    )  # fmt: skip
    parts = told["norm"] * sum(part["impact"] for part in told["parts"])
    assert parts + told["constant"] + told["document"] + told["prior"] == pytest.approx(told["score"])


# -- documents ---------------------------------------------------------------------------------------------------------


def test_documents_are_added_read_replaced_and_deleted(client):
    path, template = "/collections/own/documents/a%2Fb%20c", "/collections/{collection}/documents/{id}"
    body = {"title": "Zinc", "year": 2001, "author": ["A", "B"]}
    assert answered(client, "PUT", path, template, json=body)["added"] == 1
    assert answered(client, "GET", path, template)["fields"] == body
    assert answered(client, "PUT", path, template, json={"title": "Tin"})["replaced"] == 1
    assert answered(client, "DELETE", path, template)["count"] == 1
    refused(client.get(V1 + path), 404, "a/b c")


def test_bulk_takes_what_it_can_and_tells_the_rest(client):
    lines = [
        {"id": "2", "title": "Iron"},
        {"title": "no id"},
        {"id": "3", "title": {"deep": 1}},
        {"id": 4, "title": "Tin"},
    ]
    content = "\n".join([*map(json.dumps, lines), "{broken", ""])
    path = "/collections/own/documents"
    done = answered(client, "POST", path, "/collections/{collection}/documents", content=content, headers=NDJSON)
    assert (done["report"]["added"], done["report"]["unreadable"]) == (2, 3)
    assert [bad["line"] for bad in done["bad"]] == [2, 3, 5]
    refused(client.post(V1 + path, content=content, headers=NDJSON), 409, "'2'")
    again = client.post(V1 + path + "?on_duplicate=skip", content=content, headers=NDJSON).json()
    assert again["report"]["skipped"] == 2
    refused(client.post(V1 + path, content=b"\xff\xfe", headers=NDJSON), 422, "no document")


def test_exports(client):
    for format, begins in (("jsonl", '{"id":"1"'), ("ris", "TY  - "), ("csv", "id,title"), ("bibtex", "@")):
        answer = client.get(f"{V1}/collections/own/export?format={format}")
        assert answer.text.startswith(begins)
        assert "attachment" in answer.headers["content-disposition"]


def test_no_cell_of_a_table_is_a_formula():
    hostile = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
    documents = [Document(text, {"title": text, "author": [text, "x"]}) for text in hostile]
    import csv

    rows = list(csv.reader(io.StringIO(b"".join(exported(documents, "csv")).decode())))
    assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


# -- marks and refinement ----------------------------------------------------------------------------------------------


@pytest.fixture
def kept(client):
    body = {"query": "sleep memory", "collection": "research"}
    return answered(client, "POST", "/searches", "/searches", 201, json=body)["search"]


def refined(client, number, query=""):
    return answered(client, "GET", f"/searches/{number}?k=200{query}", "/searches/{search}")


def ids(found):
    return [result["id"] for result in found["refinement"]["results"]]


def mark(client, number, document, how="relevant"):
    path, body = f"/searches/{number}/marks", {"document": document, "mark": how}
    return answered(client, "POST", path, "/searches/{search}/marks", json=body)


def test_a_mark_moves_the_list_and_undo_restores_it(client, kept):
    before = refined(client, kept)
    assert not before["can_undo"]
    first = ids(before)
    mark(client, kept, first[6])
    after = refined(client, kept)
    assert ids(after)[0] == first[6]
    assert ids(after) != first
    assert after["refinement"]["changes"][0]["cause"] == "marked relevant"
    assert after["interest"]["wanted"]
    client.post(f"{V1}/searches/{kept}/undo")
    assert ids(refined(client, kept)) == first
    client.post(f"{V1}/searches/{kept}/redo")
    assert ids(refined(client, kept)) == ids(after)
    refused(client.post(f"{V1}/searches/{kept}/redo"), 409, "nothing to redo")


def test_undo_and_redo_walk_the_same_way(client, kept):
    first = ids(refined(client, kept))
    states = [{"relevant": [], "not_relevant": []}]
    for document, how in ((first[3], "relevant"), (first[0], "not_relevant"), (first[3], "unmarked")):
        told = mark(client, kept, document, how)
        states.append({name: told[name] for name in ("relevant", "not_relevant")})
    for expected in states[-2::-1]:
        told = client.post(f"{V1}/searches/{kept}/undo").json()
        assert {name: told[name] for name in expected} == expected
    refused(client.post(f"{V1}/searches/{kept}/undo"), 409, "no mark left")
    for expected in states[1:]:
        told = client.post(f"{V1}/searches/{kept}/redo").json()
        assert {name: told[name] for name in expected} == expected


def test_words_are_dropped_and_added(client, kept):
    mark(client, kept, ids(refined(client, kept))[4])
    words = [word["word"] for word in refined(client, kept)["interest"]["wanted"]]
    without = refined(client, kept, f"&drop={words[0]}")
    assert words[0] not in [word["word"] for word in without["interest"]["wanted"]]
    assert without["interest"]["dropped"] == [words[0]]
    before = refined(client, kept, "&fields=true")
    texts = {name: " ".join(map(str, fields.values())).lower() for name, fields in before["fields"].items()}
    order = ids(before)
    word = next(
        word for word in texts[order[9]].split() if len(word) > 7 and word.isalpha() and word not in texts[order[1]]
    )
    lifted = ids(refined(client, kept, f"&add={word}"))
    assert word in texts[lifted[1]]
    assert lifted.index(order[9]) < 9


def test_groups_and_exports_of_a_kept_search(client, kept):
    assert answered(client, "GET", f"/searches/{kept}/groups", "/searches/{search}/groups")["groups"] == []
    chosen = ids(refined(client, kept))[5]
    mark(client, kept, chosen)
    answered(client, "GET", f"/searches/{kept}/groups", "/searches/{search}/groups")
    lines = client.get(f"{V1}/searches/{kept}/export?which=relevant").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [chosen]
    assert answered(client, "GET", "/searches", "/searches")["searches"][0]["relevant"] == [chosen]


def test_marks_are_there_after_a_restart(client, kept, library):
    first = ids(refined(client, kept))
    mark(client, kept, first[2])
    library.saved_searches = type(library.saved_searches)(library.workspace)
    assert ids(refined(client, kept))[0] == first[2]


# -- meta-search -------------------------------------------------------------------------------------------------------


def events(text):
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n", 1)
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_sources_answer_one_by_one(client):
    told = events(client.get(f"{V1}/find?q=copper+liver&source=own&source=research").text)
    assert [name for name, _ in told] == ["answer", "list", "answer", "list", "done"]
    last = told[3][1]
    assert {source["source"] for source in last["sources"]} == {"own", "research"}
    assert [hit["title"] for hit in last["hits"]] == ["Copper in the liver"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../own", "http://127.0.0.1:8017", "file:///etc/passwd", "nowhere"])
def test_a_source_is_a_name_and_never_a_path_or_an_address(client, name):
    refused(client.get(f"{V1}/find", params={"q": "copper", "source": name}), 404, "there is no source")


# -- imports, events, topics, projects ---------------------------------------------------------------------------------

RIS = (
    b"TY  - JOUR\nID  - r1\nTI  - Selenium in soil\nAB  - Selenium in plants.\nPY  - 2003\nER  - \n\n"
    b"TY  - JOUR\nTI  - Two\nER  - \n"
)


def test_a_file_is_seen_before_it_is_stored(client, library):
    seen = answered(client, "POST", "/imports?name=refs.ris", "/imports", 201, content=RIS, headers={
        "content-type": "application/octet-stream"})  # fmt: skip
    assert (seen["format"], seen["records"], seen["first"][0]["fields"]["title"]) == ("ris", 2, "Selenium in soil")
    assert [each["id"] for each in seen["first"]] == ["r1", "refs.ris:2"]
    assert len(library.engines["own"]) == 1
    path = f"/imports/{seen['key']}"
    done = answered(client, "POST", path, "/imports/{key}", json={"collection": "own"})
    assert done["report"]["documents"] == 3
    refused(client.post(V1 + path, json={"collection": "own"}), 404, "hand it in again")


def test_events_come_in_and_go_out(client):
    event = {"query_id": "q1", "action_name": "click", "event_attributes": {"object": {"object_id": "1"}}}
    assert answered(client, "POST", "/events", "/events", 201, json={"events": [event]})["count"] == 1
    client.post(f"{V1}/events", content=json.dumps(event), headers=NDJSON)
    lines = [json.loads(line) for line in client.get(f"{V1}/events").text.splitlines()]
    assert [line["query_id"] for line in lines] == ["q1", "q1"]
    assert all(line["timestamp"] for line in lines)
    assert client.delete(f"{V1}/events").json()["count"] == 2
    refused(client.post(f"{V1}/events", json={"events": [{"no": "query"}]}), 422, "query_id")


def test_a_topic_is_followed_fed_and_judged(client):
    body = {"name": "sleep", "documents": ["sleep-01", "sleep-02"], "collection": "research"}
    assert answered(client, "POST", "/topics", "/topics", 201, json=body)["topic"]["hits"] == 0
    fed = answered(client, "POST", "/topics/feed", "/topics/feed", json={"collection": "research"})
    assert fed["new"] == 480
    assert fed["delivered"] > 0
    found = answered(client, "GET", "/topics/sleep", "/topics/{name}")
    assert any(hit["id"].startswith("sleep-") for hit in found["hits"])
    judged = {"document": found["hits"][0]["id"], "on_topic": True}
    told = answered(client, "POST", "/topics/sleep/judgements", "/topics/{name}/judgements", json=judged)
    assert told["topic"]["judged_on"] == 1
    assert answered(client, "POST", "/topics/sleep/undo", "/topics/{name}/undo")["topic"]["judged_on"] == 0
    assert len(answered(client, "GET", "/topics", "/topics")["topics"]) == 1
    assert answered(client, "POST", "/topics", "/topics", 201, json={**body, "name": "later"})["topic"]["hits"] == 0
    again = answered(client, "POST", "/topics/feed", "/topics/feed", json={"collection": "research"})
    assert (again["new"], again["delivered"]) == (0, fed["delivered"])
    assert answered(client, "GET", "/topics/later", "/topics/{name}")["topic"]["hits"] == fed["delivered"]


def test_a_project_is_read_by_two(client, kept):
    answered(client, "POST", "/projects", "/projects", 201, json={"name": "review", "search": kept})
    for name in ("ann", "bob"):
        body = {"reviewer": name}
        answered(client, "POST", "/projects/review/reviewers", "/projects/{name}/reviewers", json=body)
    state = answered(client, "GET", "/projects/review?reviewer=ann", "/projects/{name}")
    read = state["record"]["id"]
    body = {"reviewer": "ann", "action": "include", "document": read}
    path, template = "/projects/review/decisions", "/projects/{name}/decisions"
    assert answered(client, "POST", path, template, json=body)["found"] == 1
    refused(client.post(V1 + path, json=body), 422, "decided already")
    refused(client.post(V1 + path, json={**body, "document": "nowhere"}), 404, "no record 'nowhere'")
    refused(client.post(V1 + path, json={"reviewer": "ann", "action": "skip"}), 422, "names its record")
    later = client.get(f"{V1}/searches/{kept}?k=1000").json()["refinement"]["results"][-1]["id"]
    refused(client.post(V1 + path, json={**body, "document": later}), 422, f"not '{later}'", "decide on that one first")
    assert answered(client, "GET", "/projects/review?reviewer=bob", "/projects/{name}")["read"] == 0
    assert answered(client, "POST", path, template, json={"reviewer": "ann", "action": "undo"})["record"]["id"] == read
    refused(client.get(f"{V1}/projects/review?reviewer=eve"), 404, "join it first")


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/nowhere", 404, "nothing at this address"),
        ("/collections/none/search?q=x", 404, "no collection"),
        ("/collections/research/search", 422, "'q'"),
        ("/collections/research/search?q=x&k=0", 422, "'k'"),
        ("/collections/research/search?q=x&k=many", 422, "whole number"),
        ("/collections/research/search?q=(x", 422, "parenthesis"),
        ("/collections/research/search?q=x&model=best", 422, "one of"),
        ("/collections/research/search?q=x&facet=none", 422, "field"),
        ("/collections/research/search?q=x&nonsense=1", 422, "nonsense"),
        ("/collections/research/search?q=x&offset=10000", 422, "deeper"),
        ("/collections/research/search?q=x%00y", 422, "null"),
        (
            "/collections/research/search?q=x&k=" + "9" * 30,
            422,
            "'k' must be at most 1,000, not 999999999999… (30 digits)",
        ),
        ("/collections/research/search?q=x&k=--3", 422, "whole number"),
        ("/collections/research/search?q=" + "x" * 2001, 422, "shorten"),
        ("/collections/research/search?q=" + "+".join(f"x{i}*" for i in range(101)), 422, "more than 100 different"),
        ("/collections/research/search?q=x&rerank=/etc/passwd", 404, "no learnt model '/etc/passwd'"),
        ("/collections/research/search?q=x&rerank=/no/such/file", 404, "no learnt model '/no/such/file'"),
        ("/collections/research/search?q=x&rerank=dirichlet", 404, "no learnt model"),
        ("/collections/research/search?q=x&rerank=clicks@%C2%B2", 404, "no learnt model"),
        ("/collections/research/documents/none", 404, "none"),
        ("/searches/7", 404, "no search"),
        ("/topics/none", 404, "no topic"),
        ("/projects/none?reviewer=me", 404, "no project"),
    ],
)
def test_errors_are_sentences(client, path, status, word):
    refused(client.get(V1 + path), status, word)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b'{"query": 3}', 422),
        (b'{"query": "x", "more": 1}', 422),
        (b'{"query": ""}', 422),
        (b'{"query": "zzzz"}', 422),
        (b"[" * 10_000, 400),
    ],
)
def test_bodies_that_cannot_be_used(client, body, status):
    refused(client.post(f"{V1}/searches", content=body, headers={"content-type": "application/json"}), status)


def test_the_openapi_document_is_one(client):
    told = client.get(f"{V1}/openapi.json").json()
    assert told["openapi"] == "3.1.0"
    streams = {f"{V1}/find", f"{V1}/jobs/{{job}}/events"}
    assert set(told["paths"]) == {PREFIX + each.path for each in OPERATIONS} | streams
    for path, operations in told["paths"].items():
        for operation in operations.values():
            named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}
            assert any(code.startswith("2") for code in operation["responses"])
            for content in (each["content"] for each in operation["responses"].values()):
                for media in content.values():
                    jsonschema.Draft202012Validator.check_schema(media["schema"])


def test_metrics(client):
    client.get(f"{V1}/collections/own/search?q=copper")
    text = client.get("/metrics").text
    assert 'germane_requests_total{method="GET",route="/api/v1/collections/{collection}/search",status="200"} 1' in text
    assert 'germane_documents{collection="own"} 1' in text

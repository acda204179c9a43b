"""Filters as values over HTTP: no value opens another tenant's documents, and none makes the server fail."""

import json
from urllib.parse import quote

import pytest

TENANTS = [
    "a", "A", 'a"b', 'x" OR tenant:a', "a*", "*", "-a", "(a)", "[a]", "a\\", '\\"', "a..b", ">a", "é", "e\u0301", "AND",
    "tenant:a", "$or", " a", "2020", "02020", "true", "{}", "%22", "<script>", "a\u202eb",
]  # fmt: skip
WRONG = [
    "{", "{]", '{"tenant": NaN}', '{"tenant": 1e999}', '{"tenant": {"$gt": 1}}', '{"tenant": [[]]}', '{"tenant": null}',
    '{"$where": "1"}', '{"": 1}', '{"tenant": {}}', '{"$or": {}}', '{"$not": 7}', '{"nobody": 1}',
    '{"tenant": {">": true}}',
    '{"$not":' * 40 + '{"tenant": 1}' + "}" * 40,
]  # fmt: skip


@pytest.fixture(scope="module")
def tenants(server):
    lines = "\n".join(
        json.dumps({"id": f"t{number}", "title": "copper", "tenant": tenant}) for number, tenant in enumerate(TENANTS)
    )
    headers = {"content-type": "application/x-ndjson", "x-requested-with": "tests"}
    status, _, answer = server.ask("POST", "/api/v1/collections/library/documents", lines.encode(), headers)
    assert status == 200, answer
    return server


def searched(server, wanted):
    return server.api("GET", f"/collections/library/search?q=copper&k=100&filter={quote(wanted)}")


@pytest.mark.parametrize("number", range(len(TENANTS)))
def test_a_tenant_sees_its_own_documents_alone(tenants, number):
    wanted = {"tenant": TENANTS[number]}
    status, answer = searched(tenants, json.dumps(wanted))
    assert status == 200, answer
    assert [hit["id"] for hit in answer["hits"]] == [f"t{number}"]
    assert answer["total"] == 1
    status, kept = tenants.api("POST", "/searches", {"query": "copper", "filter": wanted})
    assert status == 201, kept
    assert kept["results"] == 1


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_filter_is_told(tenants, wrong):
    status, answer = searched(tenants, wrong)
    assert status == 422, answer
    assert answer["detail"]


def test_a_filter_of_too_much_is_refused(tenants):
    for wanted in ({"$or": [{"tenant": n} for n in range(101)]}, {"tenant": list(range(10_001))}):
        status, answer = tenants.api("POST", "/searches", {"query": "copper", "filter": wanted})
        assert status == 422, answer

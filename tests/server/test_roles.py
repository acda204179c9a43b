"""Roles: what a reader, a marker and an admin may do, by the OpenAPI document and on the pages."""

import json
import re

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.errors import InputError, ParameterError
from germane.server import Library, Settings, create_app
from germane.server.roles import Role, Token, identified, page_role, read_tokens
from germane.workspace import Workspace

TOKENS = {role: Token(f"{role.word}-token-of-sixteen", role, f"{role.word} Anna") for role in Role}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("roles")
    engine = Engine.create(home / "own")
    engine.add([{"id": "1", "title": "Copper"}])
    settings = Settings(tokens=tuple(TOKENS.values()), audit=home / "audit.jsonl", per_minute=10**6)
    library = Library({"own": engine}, Workspace.open(home / "w"), settings, home)
    yield TestClient(create_app(library), base_url="http://127.0.0.1", follow_redirects=False), home
    library.close()


def asked(client, method, path, role=None, **arguments):
    headers = {} if role is None else {"authorization": f"Bearer {TOKENS[role].value}"}
    return client.request(method, path, headers=headers, **arguments)


def operations(client):
    """(method, path, role) of every operation, as the document says it."""
    document = asked(client, "GET", "/api/v1/openapi.json", Role.READER).json()
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            (role,) = next(each["token"] for each in told["security"] if each)
            yield method.upper(), path, Role[role.upper()]


def test_every_operation_that_changes_something_refuses_a_reader(served):
    client, _ = served
    changing = [each for each in operations(client) if each[0] != "GET"]
    assert len(changing) > 25
    for method, path, needed in changing:
        assert needed > Role.READER, f"{method} {path} changes something, and lets a reader do it"
        address = path.replace("{search}", "1").replace("{job}", "1").replace("{", "").replace("}", "")
        answer = asked(client, method, address, Role.READER, json={})
        assert answer.status_code == 403, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert f"needs the role {needed.word}" in answer.json()["detail"]


def test_each_role_gets_as_far_as_its_operations_say(served):
    """Whoever is allowed is not told of a role, whatever else is wrong with the request."""
    client, _ = served
    for method, path, needed in operations(client):
        if path.endswith(("/find", "/events")) and method == "GET":
            continue  # streams
        address = path.replace("{collection}", "nowhere").replace("{", "").replace("}", "")
        for role in Role:
            answer = asked(client, method, address, role, content=b"", params={"no": "such"})
            refused = answer.status_code == 403 and "needs the role" in answer.json()["detail"]
            assert refused == (role < needed), (method, path, role, answer.text)


def test_nobody_gets_in_without_a_token(served):
    client, _ = served
    for method, path in (("GET", "/api/v1/jobs"), ("POST", "/api/v1/searches"), ("GET", "/search")):
        assert asked(client, method, path).status_code == 401
        wrong = client.request(method, path, headers={"authorization": "Bearer no-such-token-anywhere"})
        assert wrong.status_code == 401


def test_pages_go_by_the_role_too(served):
    client, _ = served
    signed = TestClient(client.app, base_url="http://127.0.0.1", follow_redirects=False)
    signed.get("/sign-in")
    csrf = signed.cookies["germane_csrf"]
    form = {"csrf": csrf, "token": TOKENS[Role.READER].value}
    assert signed.post("/sign-in", data=form).status_code == 303
    assert signed.get("/search?q=copper").status_code == 200
    mark = {"csrf": csrf, "state": "q=copper", "id": "1", "mark": "relevant"}
    refused = signed.post("/mark", data=mark)
    assert (refused.status_code, "role marker" in refused.json()["detail"]) == (403, True)
    assert signed.post("/settings", data={"csrf": csrf, "theme": "dark", "to": "/"}).status_code == 303
    assert signed.post("/click", data={"csrf": csrf, "q": "copper", "id": "1", "position": "1"}).status_code == 204
    signed.post("/sign-in", data={"csrf": csrf, "token": TOKENS[Role.MARKER].value})
    assert signed.post("/mark", data=mark).status_code == 303
    assert signed.post("/import", data={"csrf": csrf}).status_code == 403


@pytest.mark.parametrize(
    "path",
    ["/search", "/search?q=copper", "/document?id=1&q=copper", "/screen", "/topics", "/models", "/evaluate", "/import"],
)
def test_no_page_offers_a_reader_what_a_reader_may_not_do(served, path):
    client, _ = served
    free = {"/settings", "/forget"}
    for role in Role:
        page = asked(client, "GET", path, role).text
        forms = re.findall(r'method="post" action="([^"]+)"', page) + re.findall(r'formaction="([^"]+)"', page)
        offered = {form for form in forms if form not in free}
        assert {form for form in offered if page_role("POST", form) > role} == set()
        if role == Role.ADMIN and path not in ("/topics", "/models"):
            assert offered
    assert ('href="/import"' in asked(client, "GET", path, Role.MARKER).text) is False


PEOPLE = {name: Token(f"{name}-token-of-sixteen", Role.MARKER, name) for name in ("ann", "bob", "")}


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A blind project that ann has begun, on a server with tokens; a client for each who asks."""
    home = tmp_path_factory.mktemp("blind")
    engine = Engine.create(home / "own")
    engine.add([{"id": str(n), "title": f"Copper {n}"} for n in range(4)])
    tokens = (*TOKENS.values(), *PEOPLE.values())
    library = Library({"own": engine}, Workspace.open(home / "w"), Settings(tokens=tokens, per_minute=10**6), home)
    library.screens.create("copper", engine.documents())
    library.screens.join("copper", "ann")
    app = create_app(library)

    def as_whom(token):
        headers = {"authorization": f"Bearer {token.value}"}
        return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False, headers=headers)

    yield as_whom, library
    library.close()


def test_in_a_blind_project_nobody_looks_or_decides_as_another(reviewed):
    as_whom, library = reviewed
    ann, bob, nameless = (as_whom(PEOPLE[name]) for name in ("ann", "bob", ""))
    reader, admin = as_whom(TOKENS[Role.READER]), as_whom(TOKENS[Role.ADMIN])
    api = "/api/v1/projects/copper"
    read = ann.get(f"{api}?reviewer=ann").json()["record"]["id"]
    body = {"reviewer": "ann", "action": "include", "document": read}
    for other in (bob, nameless):
        assert other.post(f"{api}/decisions", json=body).status_code == 403
        assert other.post(f"{api}/reviewers", json={"reviewer": "ann"}).status_code == 403
        assert other.post("/screen/copper/reveal", headers={"x-csrf-token": "x"}).status_code == 403
    assert ann.post(f"{api}/decisions", json=body).json()["found"] == 1
    export = "/screen/copper/export?reviewer=ann&format=csv"
    for path in (f"{api}?reviewer=ann", "/screen/copper?reviewer=ann", export):
        assert [who.get(path).status_code for who in (ann, bob, nameless, reader, admin)] == [200, 403, 403, 403, 200]
    assert "is blind" in bob.get(export).text
    assert 'href="/screen/copper?reviewer=ann"' not in bob.get("/screen").text
    library.screens.reveal("copper")
    assert bob.get(export).status_code == 200
    assert bob.post(f"{api}/decisions", json=body).status_code == 403


def test_who_does_not_read_a_project_yet_may_join_it(reviewed):
    as_whom, _ = reviewed
    told = as_whom(PEOPLE["bob"]).get("/screen/copper?reviewer=bob")
    assert (told.status_code, 'action="/screen/copper/join"' in told.text) == (404, True)
    told = as_whom(TOKENS[Role.READER]).get("/screen/copper")
    assert (told.status_code, "/join" in told.text) == (404, False)
    assert as_whom(PEOPLE["bob"]).get("/screen/nowhere?reviewer=bob").status_code == 404


def test_page_roles():
    assert page_role("GET", "/search") == Role.READER
    assert page_role("GET", "/find/stream") == Role.MARKER
    assert page_role("POST", "/screen/x/act") == Role.MARKER
    assert page_role("POST", "/import/abc") == Role.ADMIN


def test_the_audit_log_names_whose_token_it_was(served):
    client, home = served
    asked(client, "PUT", "/api/v1/collections/own/documents/2", Role.ADMIN, json={"title": "Tin"})
    last = json.loads((home / "audit.jsonl").read_text().splitlines()[-1])
    assert (last["who"], last["status"]) == ("admin Anna", 200)


def test_a_file_of_tokens(tmp_path):
    path = tmp_path / "tokens"
    path.touch(0o600)
    path.write_text(f"# who\nadmin {'a' * 16} Anna Smith\n\nreader {'b' * 20}  # anybody\n")
    tokens = read_tokens(path)
    assert tokens == (Token("a" * 16, Role.ADMIN, "Anna Smith"), Token("b" * 20, Role.READER))
    assert identified(tokens, "b" * 20) is tokens[1]
    assert identified(tokens, "") is None
    assert identified(tokens, "ä" * 16) is None
    for wrong, word in (
        ("owner " + "x" * 20, "reader, marker, admin"), ("reader short", "16 characters"), ("", "no token"),
        (f"reader {'x' * 16}\nadmin {'x' * 16}", "twice"),
    ):  # fmt: skip
        path.write_text(wrong)
        with pytest.raises(InputError, match=word):
            read_tokens(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_tokens(tmp_path / "none")
    with pytest.raises(ParameterError, match="16 characters"):
        Token("short", Role.READER)


def test_another_address_is_content_with_tokens_of_roles():
    assert Settings(host="0.0.0.0", tokens=(TOKENS[Role.READER],)).all_tokens == (TOKENS[Role.READER],)

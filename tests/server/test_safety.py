"""What must not get through: other names, other sites, paths, large bodies, hostile texts, private addresses."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.errors import ParameterError
from germane.metasearch import Configuration, addresses
from germane.server import Library, Settings, create_app
from germane.server.early import EARLY, EARLY_HASH
from germane.server.rates import Rates
from germane.workspace import Workspace
from server.conftest import ADDRESS

TOKEN = "a-token-of-sixteen-and-more"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{ 'qz' * 3 }}{% raw %}",
    "</title><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
]


def served(tmp_path: Path, documents=(), **settings) -> TestClient:
    engine = Engine.create(tmp_path / "own")
    engine.add(documents or [{"id": "1", "title": "Copper"}])
    library = Library({"own": engine}, Workspace.open(tmp_path / "w"), Settings(**settings), tmp_path)
    host = settings.get("host", "127.0.0.1")
    return TestClient(create_app(library), base_url=f"http://{host}:8017", follow_redirects=False)


# -- where it listens, and who may ask ---------------------------------------------------------------------------------


def test_another_address_demands_a_token():
    with pytest.raises(ParameterError, match="give a token"):
        Settings(host="0.0.0.0")
    with pytest.raises(ParameterError, match="16 characters"):
        Settings(token="short")
    assert Settings(host="0.0.0.0", token=TOKEN).allowed_hosts == {"0.0.0.0"}


def test_a_browser_without_a_token_is_led_to_the_sign_in_and_back(tmp_path, sample):
    engines = {"secret-name": Engine.open(sample), "hidden-name": Engine.open(sample)}
    settings = Settings(token=TOKEN)
    library = Library(engines, Workspace.open(tmp_path / "w"), settings, tmp_path)
    client = TestClient(create_app(library), base_url=ADDRESS, follow_redirects=False, headers={"accept": "text/html"})
    asked = client.get("/search?q=a%20b&f=year:1999")
    assert (asked.status_code, asked.headers["location"][:14]) == (303, "/sign-in?next=")
    shown = client.get(asked.headers["location"])
    assert shown.status_code == 200
    assert not re.search("secret-name|hidden-name|<nav", shown.text)
    assert not re.search("secret-name|hidden-name|<nav", client.get("/sign-in/nothing").text)
    form = {"csrf": client.cookies["germane_csrf"], "token": TOKEN, "next": unescape(_value(shown.text, "next"))}
    assert client.post("/sign-in", data=form).headers["location"] == "/search?q=a%20b&f=year:1999"
    for there in ("//evil.example", "http://evil.example", "/\t/evil.example", "/\\evil.example", "javascript:x"):
        assert client.post("/sign-in", data={**form, "next": there}).headers["location"] == "/search"
    client.cookies.delete("germane_token")
    assert client.post("/mark", data=form).headers["location"] == "/sign-in"
    assert client.get("/").headers["location"] == "/sign-in"
    assert client.get("/search?q=x", headers={"x-fragment": "1"}).status_code == 401
    assert client.get("/search?q=x", headers={"accept": "application/json"}).status_code == 401
    said = client.get("/api/v1/collections")
    assert (said.status_code, said.headers["content-type"]) == (401, "application/problem+json")
    library.close()


def _value(page, name):
    return re.search(f'name="{name}" value="([^"]*)"', page)[1]


def test_what_is_refused_is_a_page_to_a_browser(client):
    other = client.get("/search", headers={"host": "evil.example", "accept": "text/html"})
    assert (other.status_code, other.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert "does not answer under the name" in other.text
    assert client.get("/search", headers={"host": "<b>", "accept": "text/html"}).text.count("<b>") == 0


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8017", "127.0.0.1.evil.example", "", "[::2]:8017"])
def test_a_name_that_is_not_ours_is_refused(client, host):
    """DNS rebinding: the page of another site cannot reach the server under its own name."""
    for path in ("/search?q=x", "/api/v1/health", "/static/page.css"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 403
        assert "does not answer under the name" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.0.0.1:8017", "localhost:9", "LOCALHOST", "[::1]:8017"])
def test_our_own_names_are_answered(client, host):
    assert client.get("/api/v1/health", headers={"host": host}).status_code == 200


def test_a_token_is_needed_everywhere_but_for_the_door(tmp_path):
    client = served(tmp_path, host="192.0.2.7", token=TOKEN)
    for path in ("/search", "/api/v1/collections", "/metrics", "/document?id=1"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"authorization": "Bearer " + TOKEN[:-1]}).status_code == 401
        assert client.get(path, headers={"authorization": "Bearer " + TOKEN}).status_code == 200
    assert client.get("/api/v1/health").status_code == 200
    client.get("/sign-in")
    csrf = client.cookies["germane_csrf"]
    assert client.post("/sign-in", data={"csrf": csrf, "token": "wrong"}).status_code == 401
    assert client.post("/sign-in", data={"csrf": csrf, "token": TOKEN}).status_code == 303
    assert client.get("/search?q=copper").status_code == 200


# -- other sites -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:9999"},
    ],
)
def test_a_change_asked_for_by_another_site_is_refused(browser, library, headers):
    token = browser.client.cookies["germane_csrf"]
    fields = {"csrf": token, "state": "q=copper&c=own", "id": "1", "mark": "relevant"}
    assert browser.client.post("/mark", data=fields, headers=headers).status_code == 403
    body = {"query": "copper", "collection": "own"}
    assert browser.client.post("/api/v1/searches", json=body, headers=headers).status_code == 403
    assert library.workspace.searches.all() == []


@pytest.mark.parametrize(
    "path", ["/mark", "/undo", "/screen", "/topics/feed", "/settings", "/find", "/click", "/import"]
)
def test_a_form_without_the_token_of_the_page_is_refused(browser, path):
    for token in ("", "x" * 32):
        answer = browser.client.post(path, data={"csrf": token, "q": "x", "state": "q=copper"})
        assert answer.status_code == 403
        assert "load the page again" in answer.json()["detail"]


def test_the_api_is_not_reached_by_a_form_or_with_a_cookie_alone(browser):
    client = browser.client
    as_form = {"content-type": "application/x-www-form-urlencoded"}
    as_text = {"content-type": "text/plain"}
    body = json.dumps({"query": "copper", "collection": "own"})
    for headers in (as_form, as_text, {"content-type": "application/json"}):
        assert client.post("/api/v1/searches", content=body, headers=headers).status_code == 403
    good = {"content-type": "application/json", "x-csrf-token": client.cookies["germane_csrf"]}
    assert client.post("/api/v1/searches", content=body, headers=good).status_code == 201
    client.cookies.clear()
    assert client.post("/api/v1/imports?name=x.ris", content=b"x", headers=as_form).status_code == 403
    assert client.post("/api/v1/searches", content=body, headers=as_text).status_code == 403


def test_sources_are_not_asked_by_another_site(client):
    answer = client.get("/find/stream?q=copper&source=own", headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


def test_a_redirect_stays_here(browser):
    for to in ("//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)"):
        assert browser.post("/settings", theme="dark", to=to).headers["location"] == "/search"


# -- what every answer carries -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/search?q=sleep", "/nowhere", "/api/v1/health", "/static/app.js", "/import"])
def test_headers(client, path):
    headers = client.get(path, headers={"accept": "text/html"}).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert f"script-src 'self' '{EARLY_HASH}';" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


# -- hostile texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_documents_and_queries_are_escaped_in_every_view(tmp_path, text):
    document = {
        "id": text, "title": text + " copper", "text": f"copper {text}", "author": [text], "journal": text,
        "url": text, "doi": text, "topic": text, "note": text,
    }  # fmt: skip
    client = served(tmp_path, [document, {"id": "2", "title": "copper wire", "topic": "x", "journal": "y"}])
    client.get("/")
    csrf = client.cookies["germane_csrf"]
    mark = {"csrf": csrf, "state": "q=copper", "id": text, "mark": "relevant"}
    kept = client.post("/mark", data=mark).headers["location"].partition("#")[0]
    client.post("/screen", data={"csrf": csrf, "name": text.replace("/", ""), "q": "copper", "reviewer": text})
    state = kept.partition("?")[2]
    client.post("/topics", data={"csrf": csrf, "state": state, "name": "copper"})
    client.post("/topics/feed", data={"csrf": csrf, "to": "/topics"})
    one = quote(text)
    pages = [
        "/search?q=copper", kept, f"/search?q={one}", f"/document?id={one}&q=copper", f"/why?id={one}&q=copper",
        "/screen", f"/search?q=copper&f={one}", f"/search?q={one}%20(", f"/search?s=1&drop={one}&add={one}",
        f"/screen/{quote(text.replace('/', ''), safe='')}?reviewer={one}", f"/nowhere/{one}", "/",
    ]  # fmt: skip
    with_figures = [
        "/topics/copper", "/topics/copper/digest", f"/topics/{quote(text, safe='')}", "/models",
        f"/models/{quote(text, safe='')}", f"/evaluate/{quote(text, safe='')}", f"{kept}&weigh={one}:0.5",
        f"{kept}&word={one}&share=5&base=10",
    ]  # fmt: skip
    for path in (*pages, *with_figures):
        html = client.get(path, headers={"accept": "text/html"}).text
        assert "qzqzqz" not in html, path
        assert harmful(html) == [], path


class Tags(HTMLParser):
    """Notes every tag and attribute that could run something, or leads to what is not on the web."""

    def __init__(self) -> None:
        super().__init__()
        self.harmful: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("iframe", "object", "embed", "style") or (tag == "img"):
            self.harmful.append(tag)
        if tag == "script" and given != {"type": "module", "src": "/static/app.js"}:
            self.harmful.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.harmful.append(name)
            if name in ("href", "src", "action", "formaction") and not re.match(r"/(?!/)|#|https?://", value or ""):
                self.harmful.append(f"{name}={value}")


def harmful(html: str) -> list[str]:
    """What could run or load something; the one script of the page itself is known by its hash."""
    tags = Tags()
    tags.feed(html.replace(f"<script>{EARLY}</script>", ""))
    return tags.harmful


def test_names_of_files_are_escaped(browser):
    files = {"file": ('<img src=x onerror=alert(1)>.ris"', b"TY  - JOUR\nTI  - <script>alert(1)</script>\nER  - \n")}
    html = browser.client.post("/import", data={"csrf": browser.client.cookies["germane_csrf"]}, files=files).text
    assert harmful(html) == []


# -- paths, sizes, addresses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/library.py",
        "/static//etc/passwd",
        "/static/..%5capp.py",
    ],
)
def test_no_path_leads_out(client, path):
    assert client.get(path).status_code in (400, 404, 405)


def test_a_key_of_an_upload_is_no_path(browser, tmp_path):
    (tmp_path / "uploads").mkdir()
    for key in ("..%2f..%2fmy.workspace", "*", "%2e%2e", "a" * 32):
        assert browser.post(f"/import/{key}", to="nowhere").status_code in (404, 405)
    assert (tmp_path / "my.workspace").exists()


def test_large_bodies_are_refused(tmp_path):
    client = served(tmp_path, max_body=10_000)
    headers = {"content-type": "application/x-ndjson"}
    path = "/api/v1/collections/own/documents"
    line = b'{"id": "x", "title": "' + b"y" * 20_000 + b'"}'
    assert client.post(path, content=line, headers=headers).status_code == 413

    def parts():
        for _ in range(30):
            yield b'{"id": "x"}\n' * 100

    answer = client.post(path, content=parts(), headers=headers)
    assert answer.status_code == 413
    assert "send it in parts" in answer.json()["detail"]
    client.get("/")
    files = {"file": ("x.ris", b"y" * 20_000)}
    data = {"csrf": client.cookies["germane_csrf"]}
    assert client.post("/import", data=data, files=files).status_code == 413


def test_too_many_requests_are_refused(tmp_path):
    client = served(tmp_path, per_minute=5)
    assert [client.get("/api/v1/health").status_code for _ in range(7)] == [200] * 5 + [429] * 2


def test_a_flood_of_changes_does_not_fill_the_audit_log(tmp_path):
    client = served(tmp_path, per_minute=5, audit=tmp_path / "audit.jsonl")
    assert [client.post("/api/v1/searches").status_code for _ in range(20)][5:] == [429] * 15
    assert len((tmp_path / "audit.jsonl").read_bytes().splitlines()) == 5


def test_the_rate_recovers():
    now = [0.0]
    rates = Rates(60, clock=lambda: now[0])
    assert [rates.allow("a") for _ in range(61)] == [True] * 60 + [False]
    assert rates.allow("b")
    now[0] = 2.0
    assert [rates.allow("a") for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("content", "name", "word"),
    [
        (b"", "x.ris", "empty"),
        (b"rubbish", "x.ris", "not an RIS file"),
        (b"PK\x03\x04 and more", "x.zip", "zip"),
        (
            b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><PubmedArticleSet>&a;</PubmedArticleSet>',
            "x.xml",
            "entity",
        ),
        (b"\x00\x01\x02", "x.jsonl", "x.jsonl"),
        (b"[" * 100_000, "x.jsonl", "x.jsonl"),
    ],
)
def test_broken_files_are_refused_with_a_sentence(client, content, name, word):
    client.headers["x-requested-with"] = "tests"
    answer = client.post(f"/api/v1/imports?name={name}", content=content)
    assert answer.status_code == 422
    assert word in answer.json()["detail"]


def test_a_private_address_is_refused(tmp_path):
    """A source that a name server leads into the own network is named as refused; the others still answer."""
    sources = Configuration(sources={"inside": {"kind": "searxng", "url": "http://inside.example:80"}})
    client = served(tmp_path, sources=sources)

    found = [(2, 1, 6, "", ("169.254.169.254", 80))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(addresses.socket, "getaddrinfo", lambda *_, **__: found)
        text = client.get("/api/v1/find?q=copper&source=own&source=inside").text
    answers = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if '"failure"' in line[:400]]
    failures = {each["source"]: each["failure"] for each in answers if "source" in each}
    assert failures["own"] is None
    assert failures["inside"] == "address"


def test_changes_are_noted(browser, tmp_path):
    browser.post("/settings", theme="dark", to="/")
    browser.client.get("/search?q=secret+words")
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [("POST", "/settings", 303)]

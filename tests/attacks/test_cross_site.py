"""What another site's page may make a browser ask: only what a person clicked on, and nothing of it is logged."""

import pytest

from attacks.conftest import ServerProcess
from germane.server.cross_site import is_refused

COMPUTING = (
    "/search?q=copper", "/?q=copper", "/search?f=year:1990", "/export?q=copper", "/groups?q=copper",
    "/why?q=copper&id=d0", "/document?id=d0", "/models", "/topics", "/api/v1/collections/library/search?q=copper",
    "/api/v1/collections/library/explain?q=copper&id=d0", "/api/v1/collections/library/export", "/api/v1/searches",
    "/api/v1/collections/library/documents/d0", "/metrics", "/find/stream?q=copper", "/api/v1/find?q=copper",
)  # fmt: skip
KINDS = {
    "an image": {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    "a fetch": {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
    "a frame": {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    "a frame that was clicked into": {
        "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe", "sec-fetch-user": "?1"},
    "a page that moves on by itself": {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
}  # fmt: skip
CLICKED = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-user": "?1"}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_computed_for_another_site(server: ServerProcess, kind: str, site: str) -> None:
    for path in COMPUTING if site == "cross-site" else COMPUTING[:2]:
        status, _, body = server.ask("GET", path, headers={"sec-fetch-site": site, **KINDS[kind]})
        assert (status, b"another site" in body) == (403, True), path


def test_a_link_that_a_person_follows_works_and_is_not_logged(server: ServerProcess) -> None:
    headers = {"sec-fetch-site": "cross-site", **CLICKED}
    status, sent, body = server.ask("GET", "/search?q=copper", headers=headers)
    assert status == 200
    assert b"in the liver" in body
    assert "germane_client" not in sent.get("set-cookie", "")
    log = server.home / "clicks.jsonl"
    assert not log.exists() or b"copper" not in log.read_bytes()
    assert server.ask("GET", "/search?q=maps", headers={"sec-fetch-site": "same-origin", **CLICKED})[0] == 200
    server.ask("GET", "/keys")
    assert b"maps" in log.read_bytes()


@pytest.mark.parametrize("path", ["/", "/search", "/keys", "/static/germane.css", "/api/v1/health"])
def test_what_costs_nothing_opens_from_anywhere(path: str) -> None:
    asked = {"sec-fetch-site": "cross-site", **KINDS["a page that moves on by itself"]}
    assert not is_refused(asked, path, b"")


@pytest.mark.parametrize("site", [None, "none", "same-origin"])
def test_programs_and_our_own_pages_ask_as_before(site: str | None) -> None:
    headers = {} if site is None else {"sec-fetch-site": site, **KINDS["a fetch"]}
    assert not any(is_refused(headers, path.partition("?")[0], b"q=copper") for path in COMPUTING)

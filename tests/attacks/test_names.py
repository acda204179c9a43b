"""Names of topics and projects stand in addresses: each that is taken can be opened, at every door."""

from urllib.parse import quote

import pytest

from attacks.conftest import ServerProcess

REFUSED = ["Smoking/vaping", "/", "..", ".", " .. ", "two\nlines", "\u202edesrever", "\x7f", " "]
OPENED = ["50% & more?", "#1", "a%2Fb", 'a "b" <c>', "...", "Größe", "name;x=1", "a\\b", "feed", "+"]


@pytest.fixture(scope="module")
def found(server: ServerProcess) -> int:
    """A saved search with a mark."""
    _, kept = server.api("POST", "/searches", {"query": "copper"})
    server.api("POST", f"/searches/{kept['search']}/marks", {"document": "d0", "mark": "relevant"})
    return int(kept["search"])


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_no_address_can_hold_is_refused(server: ServerProcess, found: int, name: str) -> None:
    for path, others in (("/topics", {"documents": ["d0"]}), ("/projects", {"search": found})):
        status, told = server.api("POST", path, {"name": name, **others})
        assert status == 422
        assert "needs a name" in told["detail"]
        status, kept = server.api("GET", path)
        assert not name.strip() or name not in {each["name"] for each in kept[path[1:]]}


@pytest.mark.parametrize("name", OPENED)
def test_any_other_name_opens_its_page(server: ServerProcess, found: int, name: str) -> None:
    address = quote(name, safe="")
    assert server.api("POST", "/topics", {"name": name, "documents": ["d0"]})[0] == 201
    assert server.api("GET", f"/topics/{address}")[0] == 200
    assert server.ask("GET", f"/topics/{address}")[0] == 200
    assert server.api("POST", "/projects", {"name": name, "search": found})[0] == 201
    assert server.api("POST", f"/projects/{address}/reviewers", {"reviewer": "ann"})[0] == 200
    assert server.ask("GET", f"/screen/{address}?reviewer=ann")[0] == 200

"""What a person filters by on the page is the value itself: no sign in it has a meaning."""

import html
import re
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from germane.server import Library
from germane.server.view_state import ViewState, filter_label, value_filter
from germane.server.work import _searched_again
from server.conftest import Browser

VALUES = ('The "Lancet"', "Lancet", "back\\slash", "star*", "2001..2005", "-minus", "a:b", "Zeitschrift für alles")


@pytest.fixture
def journals(library: Library) -> Library:
    """Two documents of every journal."""
    library.engines["own"].add(
        [
            {"id": f"{number}-{copy}", "title": f"Copper {number}", "text": "Copper and zinc.", "journal": value}
            for number, value in enumerate(VALUES)
            for copy in "ab"
        ]
    )
    return library


def found(client: TestClient, **asked: object) -> set[str]:
    page = client.get(f"/search?{urlencode({'q': 'copper', 'c': 'own', **asked}, doseq=True)}")
    assert page.status_code == 200, page.text
    return set(re.findall(r'data-id="([^"]+)"', page.text))


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_click_on_a_value_shows_its_documents_alone(journals: Library, client: TestClient, number: int) -> None:
    page = client.get("/search?q=copper&c=own").text
    links = [html.unescape(link) for link in re.findall(r'href="(/search[^"]*f=[^"]*)"', page)]
    own = [link for link in links if value_filter("journal", VALUES[number]) in ViewState.of(link.partition("?")[2],
           journals.settings).f]  # fmt: skip
    assert own, links
    shown = client.get(own[0]).text
    assert set(re.findall(r'data-id="([^"]+)"', shown)) == {f"{number}-a", f"{number}-b"}
    assert html.escape(f"journal: {VALUES[number]}", quote=False) in shown.replace("&#34;", '"')


def test_values_of_one_field_are_alternatives(journals: Library, client: TestClient) -> None:
    both = [value_filter("journal", value) for value in VALUES[:2]]
    assert found(client, f=both) == {"0-a", "0-b", "1-a", "1-b"}
    assert found(client, f=[*both, value_filter("title", "x")]) == set()


def test_a_saved_search_keeps_its_filter_when_it_is_asked_again(journals: Library, browser: Browser) -> None:
    asked = ViewState(q="copper", c="own", f=(value_filter("journal", VALUES[0]),))
    browser.post("/mark", state=asked.query_string, id="0-a", mark="relevant")
    (search,) = journals.workspace.searches.all()
    again = journals.saved_searches.search(_searched_again(journals, search).id)
    for each in (search, again):
        assert each.settings["filter"] == {"journal": VALUES[0]}
        assert {result.document for result in journals.workspace.searches.results(each)} == {"0-a", "0-b"}


def test_what_is_no_filter_is_said(client: TestClient) -> None:
    assert client.get("/search?q=a&f=%7Bnothing").status_code == 422
    assert filter_label('{"journal":["a","b"]}') == '{"journal":["a","b"]}'

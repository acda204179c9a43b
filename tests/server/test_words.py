"""What the page says: counts with their nouns, names for codes, examples that find something, nothing lost unasked."""

import re
from pathlib import Path

import pytest

from germane.data.formats import FORMAT_TITLES, FORMATS
from germane.engine import Engine
from germane.metasearch.registry import PUBLIC, SOURCE_TITLES
from germane.rank.registry import MODEL_TITLES, MODELS
from germane.refine.registry import METHOD_TITLES, METHODS
from germane.server import charts, topics
from germane.server.learning import MODELS as LEARNT
from germane.server.sample import SCREENED, SEARCHES
from germane.stream import Watch
from germane.track.registry import METHOD_TITLES as TRACKED_TITLES
from germane.track.registry import METHODS as TRACKED

TEMPLATES = Path(__file__).parents[2] / "src" / "germane" / "server" / "templates"
UNREADABLE = (
    "Look into", "Leave it", "Read as", "To be told", "How it fares", "Near it", "Taken in", "Show it", "with 90 %",
    "What was odd", "Ask these", "Forget mine",
)  # fmt: skip
"""Labels that only their author understood."""


def test_every_registry_has_a_name_for_people():
    assert MODEL_TITLES.keys() == MODELS.keys()
    assert list(METHOD_TITLES) == list(METHODS)
    assert list(TRACKED_TITLES) == list(TRACKED)
    assert FORMAT_TITLES.keys() == FORMATS.keys()
    assert set(SOURCE_TITLES) == set(PUBLIC)
    for titles in (MODEL_TITLES, METHOD_TITLES, TRACKED_TITLES, LEARNT):
        assert len(set(titles.values())) == len(titles)


@pytest.mark.parametrize(("query", "offered"), [("zzzq qqqz", []), ("zzzq AND sleep", ["sleep"])])
def test_without_results_only_words_that_are_held_are_offered(client, query, offered):
    page = client.get("/search", params={"q": query}).text
    assert "No results" in page
    assert re.findall(r'">(\w+)</a>', page.partition("search for less:")[2].partition("</p>")[0]) == offered


def test_a_project_of_nothing_says_why_once(browser):
    told = browser.post("/screen", name="x", q="zzzq AND sleep", reviewer="me")
    assert told.status_code == 422
    assert told.json()["detail"].count("nothing found") == 1
    assert "so there is nothing to screen" in told.text


def test_labels_say_what_a_button_does():
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text("utf-8")
        assert [label for label in UNREADABLE if label in text] == [], path.name
        assert not re.search(r"\|count \}\} (records|documents|results|hits|stories)\b", text), path.name


@pytest.mark.parametrize("query", [*SEARCHES, SCREENED])
def test_the_examples_find_something_in_the_sample(sample, query):
    with Engine.open(sample) as engine:
        assert len(engine.search(query, 10)) > 0


def test_the_menu_of_models_has_names(browser):
    page = browser.client.get("/search?q=sleep").text
    assert ">Query likelihood, Jelinek-Mercer</a>" in page
    assert ">jm</a>" not in page


def test_generated_texts_are_said_to_be_generated(browser, library):
    asked = ("/", "/search?q=sleep", "/document?q=sleep&id=sleep-01")
    assert not any("generated" in browser.client.get(path).text for path in asked)
    library.sample = "research"
    assert all("generated" in browser.client.get(path).text for path in asked)
    assert "generated" not in browser.client.get("/search?q=copper&c=own").text


def test_the_axis_of_what_was_found_stays_while_estimates_change():
    def top(found, high):
        return re.findall(r'class="label" x="0" y="[^"]*">(\d+)<', str(charts.found_curve(found, 500, 3.0, high)))

    steps = [top([1] * n, high) for n in range(1, 60) for high in (4, 60, 23)]
    assert all(each == steps[0] for each in steps)
    grown = [int(top(list(range(n)), 50)[0]) for n in range(1, 200)]
    assert grown == sorted(grown)
    assert len(set(grown)) < 8


def test_a_topic_is_deleted_and_brought_back(browser, library):
    engine = library.engines["research"]
    topics.follow(library, "bees & co", [engine.document("sleep-01")], engine)
    gone = browser.post("/topics/bees%20%26%20co/remove")
    assert gone.headers["location"] == "/topics?removed=bees%20%26%20co"
    assert "The topic “bees &amp; co” is deleted." in browser.client.get(gone.headers["location"]).text
    assert browser.post("/topics/bees%20%26%20co/restore").headers["location"] == "/topics/bees%20%26%20co"
    assert [topic.name for topic in Watch.open(library.workspace).topics()] == ["bees & co"]


def test_what_cannot_be_undone_asks_first(browser, library):
    """What destroys or reveals stands in a closed step of its own, with the sentence that says what is lost."""
    engine = library.engines["research"]
    library.screens.create("dreams", [engine.document(name) for name in engine.search("sleep", 5).ids])
    for reviewer in ("ann", "bob"):
        library.screens.join("dreams", reviewer)
    for path, action, lost in (
        ("/screen/dreams?reviewer=ann", '/reveal"', "it cannot be undone: your remaining 5 records"),
        ("/search?q=sleep", 'formaction="/forget"', "are deleted from the log for good"),
    ):
        page = browser.client.get(path).text
        steps = re.findall(r'<details class="confirm">.*?</details>', page, re.DOTALL)
        assert any(action in step and lost in step for step in steps), path
        assert page.count(action) == 1

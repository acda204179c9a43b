"""Models, evaluation, thresholds, conflicts and weights on the page, as forms send them."""

import gzip
import re
import shutil
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.evaluate import load_qrels, load_run
from germane.evaluate.compare import compare
from germane.learning.values import Health, Stability
from germane.server import Library, Settings, create_app
from germane.server.learning import health_line
from germane.server.safety import feed_key
from germane.stream import Watch
from germane.track.missed import BIN
from germane.workspace import Workspace
from server.conftest import ADDRESS, Browser
from server.planted import planted_clicks, planted_qrels, planted_run
from server.test_safety import harmful

TOKEN = "a-token-of-many-characters"


@pytest.fixture
def clicked(tmp_path, sample):
    """A copy of the sample, whose page was clicked on, in a browser."""
    shutil.copytree(sample, tmp_path / "research")
    engine = Engine.open(tmp_path / "research")
    (tmp_path / "clicks.jsonl").write_bytes(planted_clicks(engine))
    library = Library({"research": engine}, Workspace.open(tmp_path / "w.workspace"), Settings(), tmp_path)
    yield Browser(TestClient(create_app(library), base_url=ADDRESS, follow_redirects=True)), library
    library.close()


def ended(library, number=1):
    while (job := library.workspace.jobs.get(number)).state in ("waiting", "running"):
        time.sleep(0.02)
    return job


def words(html):
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


# -- models ------------------------------------------------------------------------------------------------------------


def test_without_clicks_and_models_the_page_says_what_to_do(browser):
    told = words(browser.client.get("/models").text)
    assert "The plain ranking serves. No model was learnt" in told
    assert "No clicks yet" in told
    refused = browser.post("/models/train", model="wtm", min_users="1")
    assert refused.status_code == 422
    assert "no clicks to learn from" in refused.text


def test_a_model_is_learnt_judged_promoted_and_taken_back(clicked):
    browser, library = clicked
    told = words(browser.client.get("/models").text)
    assert "Searches used 960 of 960" in told
    assert "svg" in browser.client.get("/models").text
    for wrong in ({"model": "gpt"}, {"min_users": "0"}, {"min_users": "x"}):
        assert browser.post("/models/train", **wrong).status_code == 422
    assert "Learning" in browser.post("/models/train", model="wtm", min_users="5").text
    assert ended(library).state == "done"
    found = library.engines["research"].models.version("clicks@1")
    assert found.gate is not None
    verdict = "✓ passed" if found.gate.passed else "✗ did not pass"
    page = browser.client.get("/models").text
    one = found.gate.sets[0]
    assert verdict in page
    assert f"{one.candidate - one.baseline:+.3f}" in page
    assert f"{one.low:+.3f} to {one.high:+.3f}" in page
    assert harmful(page) == []
    page = browser.client.get("/models/clicks@1?loss=2").text
    assert harmful(page) == []
    for loss in one.worst:
        assert loss.query in page
    if one.worst:
        loss = one.worst[min(2, len(one.worst)) - 1]
        own = library.engines["research"].search(loss.query, 10, syntax=False, rerank="clicks@1")
        lists = re.findall(r'<ol class="ranking">(.*?)</ol>', page, re.S)
        assert [re.findall(r"\?id=([\w-]+)", each) for each in lists] == [
            own.ids, library.engines["research"].search(loss.query, 10, syntax=False).ids,
        ]  # fmt: skip
    assert "serves" in browser.post("/models/promote", version="clicks@1").text
    page = words(browser.client.get("/models").text)
    assert "clicks@1 (wtm), trained" in page
    assert "no newer clicks" in page
    assert "Searches are ranked by it" in page
    # it ranks where it is chosen, and says why
    rows = browser.client.get("/search?q=sleep+memory&model=clicks").text
    first = re.search(r'data-id="([^"]+)"', rows)
    assert first is not None
    assert first[1] == library.engines["research"].search("sleep memory", 1, rerank="clicks").ids[0]
    assert "learnt from clicks" in browser.client.get(f"/why?q=sleep+memory&model=clicks&id={first[1]}").text
    assert "The plain ranking serves" in words(browser.post("/models/rollback", name="clicks").text)
    assert browser.post("/models/rollback", name="clicks").status_code == 422
    assert browser.post("/models/promote", version="clicks@9").status_code == 422
    assert browser.client.get("/models/clicks@9").status_code == 422
    assert browser.client.post("/models/promote", data={"version": "clicks@1"}).status_code == 403


def test_a_question_keeps_its_own_sign(browser):
    run, judged = ("a.run", b"1 Q0 d 1 2.5 tag"), ("q.qrels", b"2 0 d 1")
    told = words(handed(browser, a=run, qrels=judged).text)
    assert "do the two files belong together?" in told
    assert "together?." not in told


def test_few_searches_raise_no_alarm():
    drifted = Stability(5.31, 0.1, "drifted")
    few = Health("clicks", 2, "2026-01-01", "clicks@2, trained; queries drifted", drifted, drifted, 6)
    line = health_line(few, "clicks@2, trained")
    assert line.startswith("clicks@2, trained; since then 6 searches, too few to say")
    assert "drifted" not in line
    assert "drifted" in health_line(replace(few, searches=100), "clicks@2, trained")


@pytest.mark.parametrize("path", ["/search?q=sleep", "/export?q=sleep", "/why?q=sleep&id=1&c=own"])
def test_only_a_learnt_model_of_the_collection_is_one_and_never_a_file(client, path, tmp_path, monkeypatch):
    (tmp_path / "clicks").write_text("no model")
    monkeypatch.chdir(tmp_path)
    answer = client.get(f"{path}&model=clicks")
    assert (answer.status_code, "no learnt model" in answer.text) == (404, True)


# -- evaluation --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(sample, tmp_path_factory):
    """Two runs and judgements."""
    folder = tmp_path_factory.mktemp("runs")
    with Engine.open(sample) as engine:
        (folder / "bm25.run").write_text(planted_run(engine, model="bm25"))
        (folder / "jm.run").write_text(planted_run(engine, model="jm"))
        (folder / "themes.qrels").write_text(planted_qrels(engine))
    return folder


def handed(browser, **files):
    """The answer to files, each a name and its content."""
    csrf = browser.client.cookies["germane_csrf"]
    return browser.client.post("/evaluate", data={"csrf": csrf}, files=files, follow_redirects=True)


def test_two_runs_are_measured_as_the_command_line_does(browser, files):
    paths = {role: files / name for role, name in (("a", "bm25.run"), ("b", "jm.run"), ("qrels", "themes.qrels"))}
    answer = handed(browser, **{role: (path.name, path.read_bytes()) for role, path in paths.items()})
    assert answer.status_code == 200
    assert harmful(answer.text) == []
    found = compare(load_run(paths["a"]), load_run(paths["b"]), load_qrels(paths["qrels"]), ["AP", "nDCG@10", "P@10"])
    for each in found:
        for value in (f"{each.mean_a:.4f}", f"{each.mean_b:.4f}", f"{each.effect.mean:+.4f}"):
            assert value in answer.text
        assert f"{each.effect.low:+.3f} to {each.effect.high:+.3f}" in answer.text
        assert f"{each.wins}, {each.losses}, {each.ties}" in answer.text
    address = str(answer.url).removeprefix(ADDRESS)
    worst = found[1].differences[-1]
    opened = browser.client.get(f"{address}?measure=nDCG@10&query={worst.query_id}").text
    assert f"nDCG@10 {worst.a:.4f}" in words(opened)
    assert f"nDCG@10 {worst.b:.4f}" in words(opened)
    assert browser.client.get(f"{address}?query=nowhere").status_code == 404
    assert browser.client.get(f"{address}?measure=nonsense").status_code == 404
    assert "Success@5" in browser.client.get(f"{address}?measure=Success@5").text


def test_files_are_told_apart_and_one_run_is_enough(browser, files):
    csrf = browser.client.cookies["germane_csrf"]
    sent = [("files", (name, (files / name).read_bytes())) for name in ("themes.qrels", "jm.run")]
    answer = browser.client.post("/evaluate", data={"csrf": csrf}, files=sent, follow_redirects=True)
    assert "jm.run" in answer.text
    assert "won, lost" not in answer.text
    answer = browser.client.post("/evaluate", data={"csrf": csrf}, files=sent[:1] * 2)
    assert answer.status_code == 422
    assert "one file of judgements is enough" in answer.text


def test_lines_that_cannot_be_used_are_told_one_by_one(browser):
    run = b"1 Q0 a 1 2.0 x\n1 Q0 b\n1 Q0 a 2 1.0 x\n1 Q0 c 3 high x\n2 Q0 d 1 1.0 x\n"
    answer = handed(browser, a=("<img src=x>.run", run), qrels=("q", b"1 0 a 1\n2 0 d x\n2 0 d 1\n"))
    told = words(answer.text)
    assert "3 lines of &lt;img src=x&gt;.run cannot be used and are left out" in told
    assert "line 2: 3 columns, where 6" in told
    assert "line 3: query &#39;1&#39; and document &#39;a&#39; are on line 1 already" in told
    assert "1 line of q cannot be used" in told
    assert harmful(answer.text) == []


@pytest.mark.parametrize(
    ("run", "qrels", "said"),
    [
        (b"", b"1 0 a 1\n", "the file is empty"),
        (b"nothing of the kind\n" * 3, b"1 0 a 1\n", "no ranked documents"),
        (b"junk\n" * 1_100, b"1 0 a 1\n", "more than 1,000 lines cannot be used"),
        (gzip.compress(b"1 Q0 a 1 1.0 x\n"), b"1 0 a 1\n", "is compressed"),
        (b"\n" * 1_000_002 + b"1", b"1 0 a 1\n", "more than 1,000,000 lines"),
        (b"\xff\xfe\x00\x00 Q0 a 1 1 x\n", b"1 0 a 1\n", ""),
        (b'{"q": ' + b"[" * 100_000, b"1 0 a 1\n", ""),
        (b"9 Q0 a 1 1.0 x\n", b"1 0 a 1\n", "no query of the run is judged"),
    ],
    ids=["empty", "prose", "junk", "compressed", "long", "bytes", "deep", "unjudged"],
)
def test_files_that_cannot_be_used_are_refused_and_not_kept(browser, library, run, qrels, said):
    answer = handed(browser, a=("a.run", run), qrels=("themes.qrels", qrels))
    assert answer.status_code == 422
    assert said in answer.text
    assert str(library.home) not in answer.text
    kept = library.home / "evaluations"
    assert not kept.exists() or not list(kept.iterdir())


def test_an_evaluation_that_is_not_there(browser):
    for key in ("0" * 32, "%2e%2e", "x"):
        assert browser.client.get(f"/evaluate/{key}").status_code == 404
    assert handed(browser, qrels=("q", b"1 0 a 1\n")).status_code == 422


# -- topics ------------------------------------------------------------------------------------------------------------


def followed(browser, name="bees"):
    place = browser.post("/mark", state="q=wild+bees", id=first_id(browser, "wild+bees"), mark="relevant")
    state = place.headers["location"].partition("?")[2].partition("#")[0]
    browser.post("/topics", state=state, name=name)
    browser.post("/topics/feed", to=f"/topics/{name}")
    return f"/topics/{name}"


def first_id(browser, query):
    found = re.search(r'data-id="([^"]+)"', browser.client.get(f"/search?q={query}").text)
    assert found is not None
    return found[1]


def test_the_dial_shows_costs_and_sets_them(browser, library):
    here = followed(browser)
    before = Watch.open(library.workspace).memory().followers["bees"].thresholds.decision
    page = browser.client.get(here).text
    assert harmful(page) == []
    assert "A missed document is as bad as 10 false alarms" in words(page)
    looked = browser.client.get(f"{here}/dial?shift=6", headers={"x-fragment": "1"}).text
    assert f"from a score of {before + 6 * BIN:.2f}" in words(looked)
    assert Watch.open(library.workspace).memory().followers["bees"].thresholds.decision == before
    assert browser.client.get(f"{here}/dial?shift=6").status_code == 303
    hits = [hit.document for hit in Watch.open(library.workspace).hits("bees")]
    browser.post(f"{here}/judge", id=hits[0], on_topic="yes")
    browser.post(f"{here}/judge", id=hits[1], on_topic="no")
    looked = words(browser.client.get(f"{here}?shift=-3").text)
    assert "Of what you judged it misses 0 of 1 relevant, and 1 of 1 not relevant are false alarms." in looked
    assert "judge 8 more results or near misses for an estimate" in looked
    assert 'svg class="chart plot det"' in browser.client.get(here).text
    assert browser.post(f"{here}/dial", shift="6").status_code == 303
    after = Watch.open(library.workspace).memory().followers["bees"].thresholds.decision
    assert after == pytest.approx(before + 6 * BIN)
    for wrong in ("1000", "-1000", "x", ""):
        assert browser.post(f"{here}/dial", shift=wrong).status_code == 422
    assert browser.client.get(f"{here}/digest").text.count("<li><h2") > 1
    assert "Nothing new" not in browser.client.get(f"{here}/digest?days=7").text


def test_the_feed_of_a_topic_opens_with_its_own_key_alone(tmp_path, sample):
    settings = Settings(host="192.0.2.7", token=TOKEN)
    library = Library({"research": Engine.open(sample)}, Workspace.open(tmp_path / "w"), settings, tmp_path)
    engine = library.engines["research"]
    from germane.server import topics

    seeds = [engine.document(name) for name in engine.search("wild bees", 2).ids]
    for name in ("bees", "a b"):
        topics.follow(library, name, seeds, engine)
    topics.feed(library, engine.documents())
    client = TestClient(create_app(library), base_url="http://192.0.2.7")
    address = topics.feed_address(library, "a b")
    assert TOKEN not in address
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/atom+xml"
    feed = ElementTree.fromstring(answer.content)
    assert len(feed.findall("{http://www.w3.org/2005/Atom}entry")) > 1
    key = feed_key(TOKEN, "a b")
    for path in (
        "/api/v1/topics/a%20b/feed", f"/api/v1/topics/bees/feed?key={key}", f"/api/v1/topics/a%20b?key={key}",
        f"/topics?key={key}", f"/api/v1/topics/a%20b/feed?key={key[:-1]}", "/api/v1/topics/a%20b/feed?key=",
    ):  # fmt: skip
        assert client.get(path).status_code == 401, path
    assert client.post(address).status_code == 401
    library.close()


# -- conflicts, weights ------------------------------------------------------------------------------------------------


def test_conflicts_are_settled_once_decisions_are_revealed(browser, library):
    browser.post("/screen", name="naps", q="sleep", reviewer="ann")
    browser.post("/screen/naps/join", reviewer="bob")
    record = library.screens.state("naps", "ann").record
    assert record is not None
    project = library.workspace.projects.get("naps")
    library.workspace.projects.decide(project, "ann", record.id, True)
    library.workspace.projects.decide(project, "bob", record.id, False)
    given = {"id": record.id, "included": "yes", "reviewer": "ann", "reason": "<b>it fits</b>"}
    assert browser.post("/screen/naps/settle", **given).status_code == 422
    browser.post("/screen/naps/reveal", reviewer="ann")
    page = browser.client.get("/screen/naps?reviewer=ann").text
    assert "1 conflict to resolve" in page
    assert "Conflicts 1" in words(page)
    assert browser.post("/screen/naps/settle", **given).headers["location"].endswith("#conflicts")
    page = browser.client.get("/screen/naps?reviewer=bob").text
    assert "All conflicts are resolved" in page
    assert "resolved as ✓ include by ann: &lt;b&gt;it fits" in words(page)
    assert "Included 1" in words(page)
    assert harmful(page) == []
    assert browser.post("/screen/naps/settle", **{**given, "id": "none"}).status_code == 404


def test_a_bar_is_moved(browser, library):
    place = browser.post("/mark", state="q=sleep+memory", id=first_id(browser, "sleep+memory"), mark="relevant")
    address = place.headers["location"].partition("#")[0]
    page = browser.client.get(address).text
    found = re.search(r'name="word" value="(\w+)"><input type="hidden" name="base" value="([\d.]+)"', page)
    assert found is not None
    word, base = found[1], float(found[2])
    before = re.findall(r'class="row[^"]*" id="[^"]*" data-id="([^"]+)"', page)
    moved = browser.client.get(f"{address}&word={word}&share=0&base={base}").text
    assert f"{word} × 0 " in words(moved)
    dropped = browser.client.get(f"{address}&drop={word}").text
    order = r'class="row[^"]*" id="[^"]*" data-id="([^"]+)"'
    assert re.findall(order, moved) == re.findall(order, dropped)
    assert re.findall(order, browser.client.get(f"{address}&weigh={word}:1").text) == before
    assert harmful(moved) == []
    for wrong in (f"weigh={word}", "weigh=:1", f"weigh={word}:11", f"weigh={word}:nan", f"word={word}&share=x&base=1",
                  f"word={word}&share=10&base=0", f"word={word}&share=-5&base=10"):  # fmt: skip
        assert browser.client.get(f"{address}&{wrong}").status_code == 422, wrong

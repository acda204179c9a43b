"""What goes out: digests, feeds, health and reports."""

import math
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate.detection import normalised_cost
from germane.metasearch.payload import Payload
from germane.stream import Sighting, Watch
from germane.stream import watch as watching
from germane.stream.atom import NAMESPACE, atom_feed
from germane.stream.digest import as_html, as_text, digest_of, made_digest
from germane.stream.feeds import feed_arrivals
from germane.stream.health import health_of, layers_now, near_misses, new_stories, replayed, stability, topic_words
from germane.stream.reports import report_of
from germane.track.missed import BIN, BINS_A_LAYER, N_LAYERS, estimate_missed
from germane.workspace import Workspace
from stream.conftest import BACKGROUND, TOPICS, made_document, made_stream

STREAM = made_stream(260)
HOSTILE = "<script>alert('&')</script> \x1b]0;x\x07 \x00\u202e ]]> é"


def hit(number, document="d", score=5.0, topic="quake", **fields):
    return Sighting(number, topic, document, score, True, False, fields.pop("date", "2024-05-01T00:00:00Z"), "s",
                    f"2024-05-0{number}T10:00:00.000000Z", fields)  # fmt: skip


@pytest.fixture
def watch(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "REFRESH", 100)
    with Workspace.open(tmp_path / "w.workspace") as workspace:
        made = Watch.begin(workspace, BACKGROUND)
        made.follow("quake", [made_document(0, "quake")["text"]], method="sd")
        made.process(STREAM)
        yield made


def test_new_stories_are_like_nothing_before(watch):
    """As one by one, against every document before; those of before the moment are compared with, and not told."""
    watch.process([
        {"id": "new", "title": "Volcano", "text": "volcano lava ash crater eruption", "url": "https://x.example/v"},
        {"id": "more", "text": "lava and ash of the eruption; volcano crater glows"}, {"id": "empty", "text": ""},
    ])  # fmt: skip
    (story,) = new_stories(watch, 3)
    assert (story.document, story.title, story.url, story.date) == ("new", "Volcano", "https://x.example/v", None)
    assert story.similarity == 0.0
    assert new_stories(watch, 2) == []
    found = new_stories(watch, 1_000, below=0.5)
    assert found[0].document == "d0"
    assert {"new"} < {each.document for each in found} < {each["id"] for each in STREAM} | {"new"}
    assert new_stories(watch, since="2999-01-01T00:00:00Z") == []
    with pytest.raises(ParameterError, match="below"):
        new_stories(watch, below=0.0)


def test_links_of_a_feed_are_whole():
    items = "<item><guid>{0}:1</guid><link>{0}</link></item>"
    links = ["https://a.example/x", "/story/1", "2.html"]
    rss = "<rss><channel><link>https://site.example/blog/</link>{}</channel></rss>"
    body = rss.format("".join(map(items.format, links)))
    found, _ = feed_arrivals(Payload(body.encode()), "https://feeds.example/dir/news.xml")
    assert [each.fields["url"] for each in reversed(found)] == [
        "https://a.example/x", "https://feeds.example/story/1", "https://feeds.example/dir/2.html",
    ]  # fmt: skip
    found, _ = feed_arrivals(Payload(body.encode()), "/home/me/news.xml")
    assert [each.fields["url"] for each in reversed(found)][1:] == [
        "https://site.example/story/1", "https://site.example/blog/2.html",
    ]  # fmt: skip
    atom = '<feed xml:base="/base/"><entry><id>a:1</id><link href="x.html"/></entry></feed>'
    found, _ = feed_arrivals(Payload(atom.encode()), "https://feeds.example/news")
    assert found[0].fields["url"] == "https://feeds.example/base/x.html"


def test_a_feed_of_many_entries_holds_one_at_a_time():
    kept = []
    body = "<rss><channel>" + "<item><guid>a:1</guid><title>x</title></item>" * 50 + "</channel></rss>"
    tree = Payload(body.encode()).xml("item", each=lambda item: kept.append(item.find("title").text))
    assert (len(kept), tree.n_finished, tree.finished) == (50, 50, [])
    assert len(tree.root.find("channel")) == 0


def test_a_digest_has_copies_together():
    hits = [
        hit(1, "a", 3.0, title="Quake in Chile", text="The coast shook.", url="https://x.example/a"),
        hit(2, "b", 9.0, title="Another", text="Elsewhere.", date=None),
        hit(3, "c", 4.0, title="QUAKE in Chile", text="The  coast shook."),
    ]
    quake, vote = found = [made_digest("quake", hits, [0, 1, 0]), made_digest("vote", [], [])]
    assert [(story.first.document, [copy.document for copy in story.copies]) for story in quake.stories] == [
        ("b", []), ("a", ["c"]),
    ]  # fmt: skip
    assert (quake.documents, vote.stories) == (3, ())
    text = as_text(found)
    assert text.startswith("quake: 2 stories in 3 documents\n===")
    assert (
        "* Quake in Chile\n  2024-05-01T00:00:00Z, score 3.00, https://x.example/a\n  and 1 more copy of it: c\n"
        in text
    )
    assert "vote: 0 stories" in text


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_digest_as_html_is_safe():
    hits = [hit(1, "a", title=HOSTILE, text=HOSTILE, url="javascript:alert(1)"), hit(2, "b", title=HOSTILE),
            hit(3, "c", title="x", url='https://x.example/?a="b"&c')]  # fmt: skip
    page = as_html([made_digest("<b>", hits, [0, 1, 2])])
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert "javascript:" not in page
    assert 'href="https://x.example/?a=&quot;b&quot;&amp;c"' in page
    assert "alert('&')" in tags.text


def test_a_feed_is_valid_and_comes_back():
    hits = [hit(1, "a", title=HOSTILE, text=HOSTILE, url="https://x.example/1"), hit(2, "b", title="Second", date=None)]
    content = atom_feed(f"quakes {HOSTILE}", hits, updated="2024-01-01T00:00:00Z")
    root = ElementTree.fromstring(content)
    assert root.tag == f"{{{NAMESPACE}}}feed"
    for element in (root, *root.iterfind(f"{{{NAMESPACE}}}entry")):  # RFC 4287, 4.1.1 and 4.1.2
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{{{NAMESPACE}}}{name}")) == 1
    ids = [each.text for each in root.iter(f"{{{NAMESPACE}}}id")]
    assert len(set(ids)) == 3
    assert all(each.startswith("urn:uuid:") for each in ids)
    assert content == atom_feed(f"quakes {HOSTILE}", hits, updated="2024-01-01T00:00:00Z")
    found, troubles = feed_arrivals(Payload(content), "f")
    assert troubles == []
    assert [arrival.fields["title"] for arrival in found][1] == "Second"
    assert found[0].fields["url"] == "https://x.example/1"
    empty = ElementTree.fromstring(atom_feed("quakes", [], updated="2024-01-01T00:00:00Z"))
    assert empty.find(f"{{{NAMESPACE}}}updated").text == "2024-01-01T00:00:00Z"


def test_stability_is_the_formula():
    """Σ (a - e)·log(a/e) over tenths of what is expected, each bin with half a document more, in plain Python."""
    draw = np.random.default_rng(3)
    expected, found = draw.normal(size=500), draw.normal(0.5, 2.0, size=300)
    edges = [float(np.quantile(expected, tenth / 10)) for tenth in range(1, 10)]

    def shares(scores):
        counts = [0.5] * 10
        for score in scores:
            counts[sum(score >= edge for edge in edges)] += 1
        return [count / sum(counts) for count in counts]

    wanted = sum((a - e) * math.log(a / e) for e, a in zip(shares(expected), shares(found), strict=True))
    assert stability(expected, found) == pytest.approx(wanted, abs=1e-12)
    assert stability(expected, expected) == 0.0
    assert wanted > 0.25 > stability(expected, draw.normal(size=500))


def test_health(watch):
    hits = watch.hits("quake")
    health = health_of(watch, "quake")
    assert (health.hits, health.last_hit, health.status) == (len(hits), hits[-1].at, "following")
    assert health.learnt == sum(each.learnt for each in hits)
    assert 0.0 <= health.drift < 1.0
    assert health.adaptation > health.decision
    watch.judge("quake", "d1", False)
    watch.judge("quake", hits[0].document, True)
    assert (health_of(watch, "quake").judged_on, health_of(watch, "quake").judged_off) == (1, 1)
    watch.follow("late", [made_document(0, "vote")["text"]])
    assert health_of(watch, "late").drift is None  # no document has come since


def test_words_and_near_misses(watch):
    words = [word.word for word in topic_words(watch, "quake", 3)]
    assert set(words) <= {*TOPICS["quake"].split()}  # as they are written, and not their stems
    delivered = {each.document for each in watch.hits("quake")}
    missed = near_misses(watch, "quake", 5)
    assert 0 < len(missed) <= 5
    assert not {miss.document for miss in missed} & delivered
    watch.judge("quake", missed[0].document, False)
    assert missed[0].document not in {miss.document for miss in near_misses(watch, "quake", 5)}


def test_what_is_missed_is_estimated_from_all_scores(tmp_path):
    """The layers, counted by hand from a second passage; only what was sampled counts as judged in them."""
    with Workspace.open(tmp_path / "w") as workspace:
        watch = Watch.begin(workspace, BACKGROUND)
        watch.follow("quake", [made_document(0, "quake")["text"]])
        assert health_of(watch, "quake").missed is None
        watch.process(STREAM)
        trials = replayed(watch, "quake")
        decision = health_of(watch, "quake").decision
        sizes = [0] * N_LAYERS
        for trial in trials:
            if trial.score < decision:
                depth = math.ceil((decision - trial.score) / (BIN * BINS_A_LAYER)) - 1
                sizes[min(depth, N_LAYERS - 1)] += 1
        delivered, below, waiting = layers_now(watch, "quake")
        assert delivered == (len(watch.hits("quake")), 0, 0)
        assert [layer.documents for layer in below] == sizes
        wide = health_of(watch, "quake").missed.p_miss
        for place, (layer, _, row) in enumerate(waiting):
            watch.judge("quake", row.document, place == 0)
            if place == 0:
                assert layers_now(watch, "quake")[1][layer] == (sizes[layer], 1, 1)
        unsampled = next(each.document for each in trials if each.score < decision
                         and each.document not in {row.document for *_, row in waiting})  # fmt: skip
        before = layers_now(watch, "quake")
        watch.judge("quake", unsampled, False)
        assert layers_now(watch, "quake") == before
        found = health_of(watch, "quake").missed
        assert found == estimate_missed(*before[:2])
        assert found.p_miss.low > wide.low  # one of those kept back is on topic
        assert Watch.open(workspace).memory().samples == watch.memory().samples


def test_copies_are_told_by_their_words(watch):
    story = made_document(900, "quake")
    copy = {**story, "id": "copy", "title": "Document 900 (updated)", "text": story["text"] + " updated"}
    watch.process([story, copy, made_document(901, "quake")])
    stories = {
        story.first.document: [copy.document for copy in story.copies] for story in digest_of(watch, "quake").stories
    }
    assert stories["d900"] == ["copy"]
    assert stories["d901"] == []
    assert len(digest_of(watch, "quake", since="2999-01-01").stories) == 0


def test_the_stream_once_more(tmp_path):
    """Where the background never changed, going through the stream again gives the scores that there were."""
    with Workspace.open(tmp_path / "w") as workspace:
        watch = Watch.begin(workspace, BACKGROUND)
        watch.process(STREAM[:20])
        watch.follow("quake", [made_document(0, "quake")["text"]])
        watch.process(STREAM[20:90])
        watch.judge("quake", "d21", False)
        watch.judge("quake", "d22", False)
        watch.undo("quake")
        watch.process(STREAM[90:])
        found = {each.document: each.score for each in replayed(watch, "quake")}
        assert list(found) == [document["id"] for document in STREAM[20:]]
        assert {each.document: each.score for each in watch.hits("quake")}.items() <= found.items()


def test_a_report(watch, tmp_path):
    assert report_of(watch, "quake").response.detection is None
    with pytest.raises(ParameterError, match="there is no curve"):
        _ = report_of(watch, "quake").curve
    on = [document["id"] for place, document in enumerate(STREAM) if place % 18 == 0]
    (tmp_path / "qrels.txt").write_text("".join(f"quake 0 {document} 1\n" for document in on) + "other 0 d1 1\n")
    found = report_of(watch, "quake", tmp_path / "qrels.txt").response
    assert sum(day.hits for day in found.timeline) == found.topic.hits
    detection = found.detection
    assert (detection.on_topic, detection.off_topic) == (len(on), len(STREAM) - len(on))
    trials = replayed(watch, "quake")
    threshold = found.topic.decision
    missed = sum(trial.score < threshold for trial in trials if trial.document in on) / len(on)
    alarms = sum(trial.score >= threshold for trial in trials if trial.document not in on) / (len(STREAM) - len(on))
    assert (detection.p_miss, detection.p_false_alarm) == (missed, alarms)
    assert detection.cost == normalised_cost(missed, alarms)
    assert detection.min_cost <= detection.cost + 1e-12
    (tmp_path / "none.txt").write_text("other 0 d1 1\n")
    with pytest.raises(ParameterError, match="no judgement with the query 'quake'"):
        report_of(watch, "quake", tmp_path / "none.txt")
    watch.judge("quake", on[1], True)
    watch.judge("quake", "d1", False)
    assert report_of(watch, "quake").response.detection.judged_by == "judgements made here"


def test_an_entry_without_a_link_has_content_and_an_address_no_space():
    hits = [hit(1, "a", text="words"), hit(2, "b", text="words", url="https://example.org/x y?q=1&r=é")]
    feed = ElementTree.fromstring(atom_feed("quakes", hits, updated="2024-01-01T00:00:00Z", origin="one"))
    entries = feed.findall(f"{{{NAMESPACE}}}entry")
    assert [entry.findtext(f"{{{NAMESPACE}}}content") for entry in entries] == ["words", "words"]
    assert [link.get("href") for link in feed.iter(f"{{{NAMESPACE}}}link")] == [
        "https://example.org/x%20y?q=1&r=%C3%A9"
    ]
    other = ElementTree.fromstring(atom_feed("quakes", hits, updated="2024-01-01T00:00:00Z", origin="another"))
    ids = [[each.text for each in found.iter(f"{{{NAMESPACE}}}id")] for found in (feed, other)]
    assert not set(ids[0]) & set(ids[1])

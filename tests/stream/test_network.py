"""Feeds and webhooks over a real server on loopback, behaving and misbehaving."""

import json
import math
from itertools import islice

import pytest

from germane.metasearch.clock import Clock
from germane.metasearch.rates import Buckets
from germane.stream import Watch, fetching
from germane.stream import outbox as sending
from germane.stream.feeds import Feed
from germane.stream.fetching import Fetcher, signature
from germane.stream.intake import Intake
from germane.stream.outbox import Outbox
from germane.stream.running import run
from germane.stream.sources import Pipe
from germane.workspace import Workspace
from metasearch.library import Library
from stream.conftest import BACKGROUND, made_document

KIND = "application/rss+xml"


class Later(Clock):
    """A clock whose date is set by hand; it does not wait."""

    ahead = 0.0

    def date(self):
        return 1.7e9 + self.ahead

    async def sleep(self, seconds):
        pass


def rss(*documents):
    items = "".join(
        f"<item><guid>{each['id']}</guid><title>{each['title']}</title><description>{each['text']}</description></item>"
        for each in documents
    )
    return f"<rss><channel>{items}</channel></rss>"


@pytest.fixture
def library():
    made = Library()
    yield made
    made.close()


@pytest.fixture
def clock():
    return Later()


@pytest.fixture
def fetcher(clock):
    return Fetcher(clock=clock, buckets=Buckets(), retries=0)


@pytest.fixture
def watch(tmp_path):
    with Workspace.open(tmp_path / "w.workspace") as workspace:
        made = Watch.begin(workspace, BACKGROUND)
        made.follow("quake", [made_document(0, "quake")["text"]])
        yield made


def asked(watch, *sources, **settings):
    intake = Intake()
    done = [*run(watch, sources, intake, **settings)]
    return [hit.document for each in done for hit in each.hits], intake


def test_a_feed_is_asked_whether_it_has_changed(library, watch, fetcher):
    url = f"{library.url}/news"
    body, later = rss(made_document(9, "quake"), made_document(10)), rss(made_document(11, "quake"))
    library.scripts["/news"] = [
        (200, {"ETag": '"one"', "Last-Modified": "Wed, 01 May 2024 12:00:00 GMT"}, KIND, body),
        (304, {}, KIND, ""), (200, {"ETag": '"two"'}, KIND, later), (200, {}, KIND, later), (200, {}, KIND, rss()),
    ]  # fmt: skip
    feed = Feed(url, watch.store, fetcher)
    assert asked(watch, feed)[0] == [f"{url}#d9"]
    hits, intake = asked(watch, Feed(url, watch.store, fetcher))
    assert (hits, intake.documents, intake.troubles) == ([], 0, [])
    assert asked(watch, feed)[0] == [f"{url}#d11"]
    hits, intake = asked(watch, feed)
    assert (hits, intake.repeated) == ([], 1)
    assert asked(watch, feed)[1].troubles == []  # an empty feed is none
    headers = [headers for _, _, headers in library.log]
    assert "If-None-Match" not in headers[0]
    assert headers[1]["If-None-Match"] == headers[2]["If-None-Match"] == '"one"'
    assert headers[1]["If-Modified-Since"] == "Wed, 01 May 2024 12:00:00 GMT"
    assert headers[3]["If-None-Match"] == '"two"'
    assert "If-Modified-Since" not in headers[3]
    assert "germane" in headers[0]["User-Agent"]


def test_validators_are_kept_only_after_the_documents(library, watch, fetcher):
    url = f"{library.url}/news"
    library.scripts["/news"] = [(200, {"ETag": '"one"'}, KIND, rss(made_document(9, "quake")))] * 2
    for _ in Feed(url, watch.store, fetcher).poll(Intake()):
        break  # the program ends before they are kept
    assert asked(watch, Feed(url, watch.store, fetcher))[0] == [f"{url}#d9"]
    assert all("If-None-Match" not in headers for _, _, headers in library.log)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((200, {}, KIND, "<rss><chan"), "broken XML"), ((200, {}, KIND, ""), "broken XML|empty"),
        ((200, {}, "text/html", "<html><body>x</body></html>"), "neither Atom nor RSS"),
        ((500, {}, KIND, "oh"), "HTTP 500"), ((404, {}, KIND, "gone"), "HTTP 404"),
        ((302, {"Location": "http://127.0.0.1:1/x"}, KIND, ""), "private address.*give that address itself"),
        ((302, {"Location": "http://169.254.169.254/x"}, KIND, ""), "private address"),
        ((302, {"Location": "file:///etc/passwd"}, KIND, ""), "cannot be followed"),
        ((200, {"Content-Length": str(200 << 20)}, KIND, ""), "209,715,200 bytes"),
        ((429, {"Retry-After": "7200"}, KIND, ""), "asks to wait 7200 seconds"),
    ],
)  # fmt: skip
def test_a_feed_that_fails_is_left_alone_for_a_while(library, watch, fetcher, clock, tmp_path, reply, sentence):
    """And the stream goes on: the source after it is read."""
    import re

    from germane.stream.files import Files

    url = f"{library.url}/news"
    library.scripts["/news"] = [reply, (200, {}, KIND, rss(made_document(9, "quake")))]
    (tmp_path / "a.jsonl").write_text(json.dumps(made_document(18, "quake")))
    feed = Feed(url, watch.store, fetcher)
    hits, intake = asked(watch, feed, Files(tmp_path / "a.jsonl", watch.store))
    assert hits == ["d18"]
    assert intake.troubled == {url}
    assert re.search(sentence, intake.troubles[0]), intake.troubles
    requests = len(library.log)
    _, intake = asked(watch, feed)
    assert "left alone for" in intake.troubles[0]
    assert asked(watch, feed)[1].troubles == []  # told once
    assert len(library.log) == requests
    clock.ahead += 59.0 if reply[0] != 429 else 7199.0
    assert asked(watch, feed)[0] == []
    clock.ahead += 2.0
    fetcher._buckets = Buckets()
    assert asked(watch, feed)[0] == [f"{url}#d9"]


def test_back_off_grows_to_a_bound(fetcher):
    assert [fetcher.back_off(n) for n in (1, 2, 3)] == [60.0, 120.0, 240.0]
    assert fetcher.back_off(1000) == 6 * 3600.0


def test_a_feed_that_breaks_off_is_taken_as_far_as_it_came(library, watch, fetcher):
    url = f"{library.url}/news"
    whole = rss(made_document(9, "quake"), made_document(18, "quake"))
    library.scripts["/news"] = [
        (200, {"ETag": '"1"'}, KIND, whole[: whole.index("<guid>d18")]), (200, {"ETag": '"1"'}, KIND, whole)
    ]  # fmt: skip
    feed = Feed(url, watch.store, fetcher)
    hits, intake = asked(watch, feed)
    assert hits == [f"{url}#d9"]
    assert "broken XML" in intake.troubles[0]
    assert asked(watch, feed)[0] == [f"{url}#d18"]  # it was not taken for read


def post(library, path="/hook"):
    return [{"url": f"{library.url}{path}", "secret": "HOOK_KEY"}]


def test_a_webhook_gets_every_hit_signed(library, watch, fetcher, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    library.scripts["/hook"] = [(200, {}, "text/plain", "ok"), (204, {}, "text/plain", "")]
    outbox = Outbox(watch.store, fetcher)
    watch.process([made_document(9, "quake"), made_document(18, "quake"), made_document(1)], posts=post(library))
    assert outbox.waiting() == 2
    assert outbox.deliver(Intake()) == 2
    assert outbox.waiting() == 0
    assert [json.loads(body)["id"] for body in library.bodies] == ["d9", "d18"]
    assert {"number", "topic", "score", "title", "url", "date", "source", "seen"} <= json.loads(
        library.bodies[0]
    ).keys()
    for (_, _, headers), body in zip(library.log, library.bodies, strict=True):
        assert headers["Germane-Signature"] == signature(body, "s3cret")
        assert headers["Content-Type"] == "application/json"
    assert [headers["Germane-Delivery"] for _, _, headers in library.log] == ["1", "2"]
    assert outbox.deliver(Intake()) == 0


def test_the_signature_is_that_of_the_standard():
    """RFC 4231, test case 2."""
    found = signature(b"what do ya want for nothing?", "Jefe")
    assert found == "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"


def test_a_webhook_that_fails_loses_nothing(library, watch, fetcher, clock, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    library.scripts["/hook"] = [
        (503, {}, "text/plain", "later"),
        (302, {"Location": "http://10.0.0.1/"}, "text/plain", ""),
    ]
    outbox = Outbox(watch.store, fetcher)
    intake = Intake()
    documents = [[made_document(9, "quake"), made_document(18, "quake")], [made_document(27, "quake")]]
    for batch in documents:  # the stream goes on
        assert watch.process(batch, posts=post(library)).hits
        assert outbox.deliver(intake) == 0
    assert len(library.log) == 1  # one address is not asked three times
    assert "did not arrive, and is kept" in intake.troubles[0]
    clock.ahead += 11.0
    outbox.deliver(intake)
    assert "redirects a request with a key or a body" in intake.troubles[-1]
    clock.ahead += 15.0
    outbox.deliver(intake)
    assert len(library.log) == 2  # twice as long
    library.scripts["/hook"] = [(200, {}, "text/plain", "")] * 3
    clock.ahead += 10.0
    again = Outbox(Watch.open(watch.workspace).store, fetcher)  # after a restart
    assert again.deliver(Intake()) == 3
    assert [json.loads(body)["id"] for body in library.bodies[2:]] == ["d9", "d18", "d27"]


def test_a_message_that_is_always_refused_does_not_hold_up_the_others(library, watch, fetcher, clock, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    monkeypatch.setattr(sending, "AT_ONCE", 1)
    gone, busy, good = ((status, {}, "text/plain", "") for status in (410, 503, 200))
    replies = [*[gone] * 9, busy, *[gone] * 10, *[good] * 2]  # refusals are counted in a row
    library.scripts["/hook"] = replies
    outbox, intake = Outbox(watch.store, fetcher), Intake()
    watch.process([made_document(n, "quake") for n in (9, 18, 27)], posts=post(library))
    for _ in range(20):
        assert outbox.deliver(intake) == 0
        assert outbox.due_in() > 0
        clock.ahead += 3601.0
    assert (outbox.waiting(), outbox.undeliverable()) == (2, 1)
    assert "was refused 10 times, and is given up (HTTP 410" in intake.troubles[-1]
    assert outbox.deliver(intake) == 2
    assert [json.loads(body)["id"] for body in library.bodies] == ["d9"] * 20 + ["d18", "d27"]
    assert (outbox.waiting(), outbox.undeliverable(), outbox.due_in()) == (0, 1, math.inf)


def test_messages_are_sent_again_between_rounds(library, watch, fetcher, clock, monkeypatch):
    """Ten seconds after a failure and twenty after the next, though a round has three hundred."""
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    library.scripts["/hook"] = [(503, {}, "text/plain", "")] * 2 + [(200, {}, "text/plain", "")]
    watch.process([made_document(9, "quake")], posts=post(library))
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        clock.ahead += seconds

    outbox = Outbox(watch.store, fetcher)
    assert len([*islice(run(watch, [], Intake(), outbox=outbox, follow=True, every=300.0, sleep=sleep), 4)]) == 4
    assert slept == [10.0, 20.0, 270.0]
    assert (len(library.log), outbox.waiting()) == (3, 0)


def test_messages_are_sent_while_a_pipe_is_quiet(library, watch, fetcher, clock, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    library.scripts["/hook"] = [(503, {}, "text/plain", ""), (200, {}, "text/plain", "")]
    watch.process([made_document(9, "quake")], posts=post(library))

    def ready(seconds):
        clock.ahead += seconds
        return clock.ahead > 11.0

    outbox = Outbox(watch.store, fetcher)
    assert asked(watch, Pipe(lambda: b"", ready), outbox=outbox)[1].n_troubles == 1
    assert outbox.waiting() == 0


def test_a_webhook_that_never_answers(library, watch, clock, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    monkeypatch.setattr(fetching, "SEND_TIMEOUT", 0.2)
    library.faults["feed"] = "silent"
    watch.process([made_document(9, "quake")], posts=post(library, "/feed"))
    intake = Intake()
    assert Outbox(watch.store, Fetcher(buckets=Buckets())).deliver(intake) == 0
    assert "no answer in time" in intake.troubles[0] or "no full answer" in intake.troubles[0]
    assert Outbox(watch.store, Fetcher(clock=clock)).waiting() == 1


def test_a_key_that_is_not_there(library, watch, fetcher, monkeypatch):
    monkeypatch.delenv("HOOK_KEY", raising=False)
    watch.process([made_document(9, "quake")], posts=post(library))
    intake = Intake()
    assert Outbox(watch.store, fetcher).deliver(intake) == 0
    assert "HOOK_KEY, which signs it, is not set" in intake.troubles[0]
    assert library.log == []


def test_a_webhook_at_a_private_name_is_refused(watch, fetcher):
    watch.process([made_document(9, "quake")], posts=[{"url": "http://localhost.localdomain:9/x", "secret": ""}])
    intake = Intake()
    assert Outbox(watch.store, fetcher).deliver(intake) == 0
    assert "private address" in intake.troubles[0] or "not known" in intake.troubles[0]

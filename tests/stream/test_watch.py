"""Topics in a stream, kept: against followers by hand, in batches of any size, opened again, judged and undone."""

import io
import sqlite3

import numpy as np
import pytest

from germane.errors import ParameterError, StorageError
from germane.stream import Watch
from germane.stream import watch as watching
from germane.stream.arrivals import Arrival
from germane.stream.health import missed_by, topic_words, words_over_time
from germane.stream.packing import bag_bytes, bag_of, packed, packed_bags, unpacked, unpacked_bags
from germane.text import Analyzer
from germane.track import (
    METHOD_NAMES,
    Background,
    Bag,
    BagMaker,
    Costs,
    Follower,
    Following,
    Reference,
    WordNumbers,
    method_named,
)
from germane.track.missed import BIN
from germane.types import Document
from germane.workspace import Workspace, export_archive, import_archive
from stream.conftest import BACKGROUND, made_document, made_stream

STREAM = made_stream(260)
SEED = made_document(0, "quake")["text"]


def text_of(document):
    return f"{document['title']}\n{document['text']}"


def begun(workspace, **settings):
    watch = Watch.begin(workspace, BACKGROUND)
    watch.follow("quake", [SEED], **settings)
    return watch


def scores(watch, name="quake"):
    return [(hit.document, hit.score, hit.learnt) for hit in watch.hits(name)]


def states(watch):
    return {name: packed(follower.state()) for name, follower in watch.memory().followers.items()}


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_a_stream_is_followed_as_by_hand(workspace, monkeypatch, method):
    """The oracle: one follower, document by document, and a background that is refreshed at every hundredth."""
    monkeypatch.setattr(watching, "REFRESH", 100)
    watch = begun(workspace, method=method)
    maker = BagMaker(Analyzer(), WordNumbers())
    bags = [maker.bag(text_of(document)) for document in BACKGROUND]
    background = Background.of(bags)
    follower = Follower.start(Following(method_named(method)), [maker.bag(SEED)], Reference(bags, background))
    wanted = []
    for number, document in enumerate(STREAM, start=1):
        bag = maker.bag(text_of(document))
        seen = follower.see(bag)
        if seen.delivered:
            wanted.append((document["id"], seen.score, seen.learnt))
        background.add([bag])
        if number % 100 == 0:
            bags += background.waiting
            background.refresh()
            follower.reference = Reference(bags, background)
    for start in range(0, len(STREAM), 7):
        watch.process(STREAM[start : start + 7])
    assert scores(watch) == wanted
    assert len(wanted) > 5
    assert packed(watch.memory().followers["quake"].state()) == packed(follower.state())


def test_batches_of_any_size_give_the_same(tmp_path, monkeypatch):
    """One by one, and at once with the compiled kernels; and with a new process for every batch."""
    monkeypatch.setattr(watching, "REFRESH", 90)
    found = []
    for size, again in ((1, False), (260, False), (70, True)):
        with Workspace.open(tmp_path / f"{size}") as workspace:
            watch = begun(workspace)
            watch.follow("vote", [made_document(0, "vote")["text"]], method="nb")
            for start in range(0, len(STREAM), size):
                if again:
                    watch = Watch.open(workspace)
                watch.process(STREAM[start : start + size])
            tally = {name: counts.tolist() for name, counts in watch.memory().tally.items()}
            found.append(
                (scores(watch), scores(watch, "vote"), states(watch), watch.memory().maker.vocabulary.terms, tally)
            )
            assert all(sum(counts) == len(STREAM) for counts in tally.values())
    assert found[0] == found[1] == found[2]
    assert found[0][1]


def test_each_document_once(workspace):
    watch = begun(workspace)
    one, other = made_document(9, "quake"), made_document(10)
    done = watch.process([one, other, one, {**other, "text": "another text"}])
    assert (done.new, done.repeated, done.changed, [hit.document for hit in done.hits]) == (2, 2, 1, ["d9"])
    done = watch.process([one, {**one, "title": "other"}])
    assert (done.new, done.repeated, done.changed, done.hits) == (0, 2, 1, ())
    assert watch.process([]).new == 0
    (hit,) = watch.hits()
    assert (hit.title, hit.date, hit.fields["text"]) == ("Document 9", "2024-01-01T00:00:09Z", one["text"])
    with pytest.raises(ParameterError, match="no document 'x' was seen"):
        watch.judge("quake", "x", True)
    with pytest.raises(ParameterError, match="no topic 'x' is followed; there are: 'quake'"):
        watch.hits("x")


def test_topics_come_and_go(workspace):
    watch = begun(workspace)
    with pytest.raises(ParameterError, match="there is a topic 'quake' already"):
        watch.follow("quake", [SEED])
    with pytest.raises(ParameterError, match="needs a name"):
        watch.follow(" ", [SEED])
    with pytest.raises(ParameterError, match="a seed with at least one word"):
        watch.follow("nothing", ["of the and"])
    with pytest.raises(ParameterError, match="has a stream 'main' already"):
        Watch.begin(workspace, BACKGROUND)
    with pytest.raises(ParameterError, match="documents with words"):
        Watch.begin(workspace, [{"id": "1", "text": " "}], name="empty")
    with pytest.raises(ParameterError, match="no stream 'other'"):
        Watch.open(workspace, "other")
    watch.pause("quake")
    assert watch.process([made_document(9, "quake")]).hits == ()
    watch.resume("quake")
    assert [hit.document for hit in watch.process([made_document(10, "quake")]).hits] == ["d10"]
    watch.remove("quake")
    assert watch.topics() == []
    assert watch.process([made_document(11, "quake")]).hits == ()
    again = watch.follow("quake", [SEED], costs=Costs(miss=30.0), unjudged=0)
    assert (again.version, again.settings["costs"]["miss"], again.settings["unjudged"]) == (2, 30.0, 0)
    (hit,) = watch.process([made_document(12, "quake")]).hits
    assert not hit.learnt
    assert [each.document for each in watch.hits("quake")] == ["d12"]
    assert workspace.topics.get("quake", 1).model["seeds"] == [SEED]


def test_a_removed_topic_is_restored_as_it_was(workspace):
    watch = begun(workspace)
    watch.process(STREAM[:120])
    before, hits, missed = states(watch), scores(watch), missed_by(watch, "quake")
    watch.remove("quake")
    watch.process(STREAM[120:121])
    watch.restore("quake")
    assert (states(watch), scores(watch), missed_by(watch, "quake")) == (before, hits, missed)
    with pytest.raises(ParameterError, match="there is a topic 'quake' already"):
        watch.restore("quake")
    with pytest.raises(ParameterError, match="no topic 'storm' was removed"):
        watch.restore("storm")


def test_a_later_topic_looks_back_once_and_finds_what_an_earlier_one_would_have(workspace, monkeypatch):
    monkeypatch.setattr(watching, "LOOKED_AT", 50)
    arrivals = [Arrival.of(each) for each in STREAM]
    watch = begun(workspace, unjudged=0)
    watch.process(arrivals[:200])
    watch.follow("later", [SEED], unjudged=0)
    assert watch.look_back("later", {each["id"]: each for each in STREAM}.get) == len(watch.hits("quake"))
    assert watch.look_back("later") == watch.look_back("quake") == 0
    watch.process(arrivals[200:])
    there = {hit.document: hit for hit in watch.hits("later")}
    assert there.keys() == {hit.document for hit in watch.hits("quake")}
    assert all(there[hit.document].fields == hit.fields for hit in watch.hits("quake"))
    again = Watch.open(workspace)
    assert states(again)["later"] == states(watch)["later"]
    assert again.memory().tally[again.topic("later").id].sum() == len(STREAM)


def test_judgements_are_learnt_and_taken_back(workspace):
    watch = begun(workspace)
    watch.process(STREAM[:60])
    before = states(watch)
    first, second = (hit.document for hit in watch.hits("quake")[:2])
    assert watch.judge("quake", "d1", False, by="ann")
    changed = states(watch)
    assert changed != before
    assert not watch.judge("quake", "d1", False)  # said already
    assert states(watch) == changed
    assert watch.judge("quake", first, False)  # it was learnt from as taken to be on topic
    assert watch.judge("quake", second, True)
    assert watch.judge("quake", second, False)
    assert [(each.document, each.on_topic) for each in watch.judged("quake")] == [
        ("d1", False),
        (first, False),
        (second, False),
    ]
    assert watch.judged("quake")[1].score == watch.hits("quake")[0].score
    assert [watch.undo("quake") for _ in range(5)] == [second, second, first, "d1", None]
    assert watch.judged("quake") == []
    # Nothing was refreshed in between: learning anew from the seeds and what was taken is what there was.
    assert states(watch) == before
    assert states(Watch.open(workspace)) == before


def test_a_threshold_is_moved_and_what_was_seen_is_counted_by_it(workspace):
    """The tally after a shift is that of a topic that had the threshold from the beginning."""
    for bins in (7, -7):
        name = f"stream {bins}"
        watch = Watch.begin(workspace, BACKGROUND, name=name)
        watch.follow("quake", [SEED], unjudged=0)
        watch.process(STREAM[:60])
        before, hits = watch.memory().followers["quake"].thresholds, watch.hits("quake")
        version = watch.topic("quake").version
        costs = watch.shift("quake", bins)
        now = Watch.open(workspace, name)
        assert now.memory().followers["quake"].thresholds.decision == pytest.approx(before.decision + BIN * bins)
        assert (costs.miss < 10.0) == (bins > 0)
        assert now.hits("quake") == hits
        assert now.topic("quake").version == version + 1
        other = Watch.begin(workspace, BACKGROUND, name=f"{name} again")
        other.follow("quake", [SEED], costs=costs, unjudged=0)
        other.process(STREAM[:60])
        moved, true = (next(iter(each.memory().tally.values())) for each in (now, other))
        assert moved[8:-8].tolist() == true[8:-8].tolist()  # what lies beyond the outermost bins is known as that alone
        assert (moved[:8].sum(), moved[-8:].sum()) == (true[:8].sum(), true[-8:].sum())
        assert len(now.process(STREAM[60:]).hits) == len(other.process(STREAM[60:]).hits)
        for each in hits:
            now.judge("quake", each.document, True)  # some of them lie below the threshold of now
        missed = missed_by(now, "quake")
        assert missed is not None
        assert 0.0 <= missed.p_miss.low <= missed.p_miss.high <= 1.0


def test_words_over_time_begin_with_the_seeds_and_end_with_what_is_now(workspace):
    watch = begun(workspace)
    watch.process(STREAM[:60])
    watch.judge("quake", "d1", False)
    moments = words_over_time(watch, "quake", moments=4, n=8)
    assert [moment.learnt for moment in moments] == sorted({moment.learnt for moment in moments})
    assert moments[0].learnt == 0
    assert len(moments) == 4
    assert [word.word for word in moments[-1].words] == [word.word for word in topic_words(watch, "quake", 8)]
    weights = dict(topic_words(watch, "quake", 8))
    assert dict(moments[-1].words) == pytest.approx(weights)


def test_what_is_judged_counts_once(workspace):
    """By hand: the seed, the documents it learnt from but the one that was rejected, then the rejection."""
    watch = begun(workspace)
    watch.process(STREAM[:60])
    learnt = [hit.document for hit in watch.hits("quake") if hit.learnt]
    watch.judge("quake", learnt[1], False)
    memory = watch.memory()
    bags = {document["id"]: memory.maker.bag(text_of(document)) for document in STREAM[:60]}
    follower = Follower.start(Following(method_named("germane")), [memory.maker.bag(SEED)], memory.reference)
    for document in learnt:
        if document != learnt[1]:
            follower.learn(bags[document])
    follower.judge(bags[learnt[1]], False)
    assert states(watch) == {"quake": packed(follower.state())}


def test_two_at_once(workspace):
    """Two that have the stream open: each sees what the other did before it changes anything."""
    one, other = begun(workspace), Watch.open(workspace)
    for start in range(0, 120, 10):
        (one if start % 20 else other).process(STREAM[start : start + 15])
    other.judge("quake", "d1", False)
    one.process(STREAM[120:])
    assert states(one) == states(Watch.open(workspace)) == states(other)
    with workspace.database.read() as connection:
        assert one.store.count_arrivals(connection) == len(STREAM)


def test_a_failed_change_leaves_nothing_behind(workspace, monkeypatch):
    watch = begun(workspace)
    watch.process(STREAM[:30])
    before = states(watch), scores(watch)
    monkeypatch.setattr(
        watch.store, "add_sightings", lambda *_: (_ for _ in ()).throw(StorageError("the disk is full"))
    )
    with pytest.raises(StorageError):
        watch.process(STREAM[30:90])
    monkeypatch.undo()
    assert (states(watch), scores(watch)) == before
    assert watch.process(STREAM[30:90]).new == 60


def test_what_was_kept_but_not_told_is_told_again(workspace):
    watch = begun(workspace)
    hits = watch.process(STREAM[:60]).hits
    assert [hit.number for hit in watch.untold()] == [hit.number for hit in hits]
    watch.tell(hits[:2])
    assert [hit.number for hit in Watch.open(workspace).untold()] == [hit.number for hit in hits[2:]]
    watch.tell(hits[2:])
    assert Watch.open(workspace).untold() == []
    watch.tell([])


def test_what_another_program_has_not_told_is_not_forgotten(workspace):
    one = begun(workspace)
    other = Watch.open(workspace)
    turns = ((one, 0), (other, 60), (one, 120))
    first, second, third = (watch.process(STREAM[at : at + 60]).hits for watch, at in turns)
    assert all((first, second, third))
    other.tell(second)  # the first were not told: their program may have ended
    assert [hit.number for hit in other.untold()] == [hit.number for hit in (*first, *second, *third)]
    one.tell(first)
    assert [hit.number for hit in other.untold()] == [hit.number for hit in (*second, *third)]
    other.tell([])
    assert [hit.number for hit in other.untold()] == [hit.number for hit in third]
    one.tell(third)
    assert other.untold() == []


def test_an_archive_goes_on_where_the_workspace_was(workspace, tmp_path):
    watch = begun(workspace)
    watch.process(STREAM[:90])
    watch.judge("quake", "d1", False)
    target = io.StringIO()
    export_archive(workspace, target)
    (tmp_path / "a.jsonl").write_text(target.getvalue(), encoding="utf-8")
    watch.process(STREAM[90:])
    with Workspace.open(tmp_path / "other") as other:
        import_archive(other, tmp_path / "a.jsonl")
        again = Watch.open(other)
        again.process(STREAM)
        assert scores(again) == scores(watch)
        assert states(again) == states(watch)


def test_a_workspace_and_an_archive_of_the_first_schema(tmp_path):
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine

    from germane.workspace import migrations

    engine = create_engine(f"sqlite:///{tmp_path / 'old'}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(next(iter(migrations.__path__))))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    with sqlite3.connect(tmp_path / "old") as raw:
        raw.execute("INSERT INTO notes (document, text, by, at) VALUES ('a', 'kept', 'ann', 'then')")
    with Workspace.open(tmp_path / "old") as workspace:
        assert workspace.notes.of("a")[0].text == "kept"
        assert begun(workspace).process(STREAM[:20]).new == 20
    with Workspace.open(tmp_path / "new") as workspace:
        workspace.notes.add("a", "kept")
        target = io.StringIO()
        export_archive(workspace, target)
    head, *rows, _ = target.getvalue().splitlines(keepends=True)
    import hashlib
    import json

    old = head.replace("0003", "0001") + "".join(rows)
    digest = hashlib.sha256(old.encode()).hexdigest()
    (tmp_path / "a.jsonl").write_text(old + json.dumps({"rows": len(rows), "sha256": digest}) + "\n")
    with Workspace.open(tmp_path / "third") as workspace:
        assert import_archive(workspace, tmp_path / "a.jsonl") == 1
        assert workspace.notes.of("a")[0].text == "kept"


def test_documents_of_other_kinds(workspace):
    watch = begun(workspace)
    done = watch.process([
        Document("with fields", {"title": "Quake", "text": SEED, "author": ["Ann", None], "n": 1.5}),
        {"id": "without words", "text": ""},
        {"text": f"no id, {SEED}"},
        {"id": "\ud800nul\0", "text": "a\0b \udfff"},
    ])  # fmt: skip
    assert done.new == 4
    assert [hit.document[:7] for hit in done.hits] == ["with fi", "sha256:"]


def test_state_as_bytes():
    state = {"a": np.array([0.1, -np.inf, np.nan]), "n": 3, "x": -np.inf, "none": np.zeros(0, np.int64)}
    found = unpacked(packed(state))
    assert list(found) == list(state)
    assert all(np.array_equal(found[name], state[name], equal_nan=name == "a") for name in state)
    assert (int(found["n"]), float(found["x"]), found["none"].dtype) == (3, -np.inf, np.int64)
    bags = [Bag(np.array([1, 5, 70000]), np.array([1.0, 2.0, 1e6])), Bag(np.zeros(0, np.int64), np.zeros(0))]
    for bag, again in zip(
        [*bags, *bags], [*map(bag_of, bag_bytes(bags)), *unpacked_bags(packed_bags(bags))], strict=True
    ):
        assert np.array_equal(bag.terms, again.terms)
        assert np.array_equal(bag.counts, again.counts)
        assert (again.terms.dtype, again.counts.dtype) == (np.int64, np.float64)
    assert unpacked_bags(packed_bags([])) == []
    for damaged in (b"", b"[1]\n", packed(state)[:-20], b"\x80\x04."):
        with pytest.raises(StorageError, match="damaged"):
            unpacked(damaged)

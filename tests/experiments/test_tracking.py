"""Tracking experiments: a stream followed as one would by hand, halves that are tuned on each other, and bad files."""

import gzip
import json

import numpy as np
import pytest

from germane.errors import InputError
from germane.evaluate import min_cost, topic_curve
from germane.experiments import as_markdown, read_experiment, run_experiment, write_report
from germane.experiments.tracked_streams import StreamSource, best_places, follow, follow_live, load_stream
from germane.experiments.tracking import _chosen, _trials
from germane.track import Background, Follower, Following, Reference, method_named

EXPERIMENT = """
kind = "tracking"
title = "Four stories"
measures = ["MinCost", "Cost"]
feedback = [0, 3]
curves_at = 3
[stream]
name = "four"
documents = "four/docs.jsonl.gz"
unsure = "maybe"
refreshes = 3
min_stories = 5
[[system]]
name = "VSM"
method = "vsm"
[[system]]
name = "SD"
method = "sd"
tune = { lam_m = [0.01, 0.5] }
[[system]]
name = "germane"
method = "germane"
live = true
[[outperforms]]
a = "germane"
b = "SD"
[[at_most]]
system = "germane"
value = 0.9
measure = "MinCost"
datasets = ["N=0", "judged"]
[[at_most]]
system = "germane"
value = -1.0
measure = "MinCost"
datasets = ["N=3"]
[[compare]]
a = "germane"
b = "VSM"
measure = "MinCost"
"""


@pytest.fixture
def four(tmp_path, monkeypatch):
    """240 documents, out of order in the file; every third is on one of four stories, and some may be."""
    rng = np.random.default_rng(2)
    rows = []
    for i in range(240):
        words = [f"word{n}" for n in rng.zipf(1.4, 12) % 200]
        story = i % 12 // 3 if i % 3 == 0 else None
        if story is not None:
            words += [f"story{story}x{n}" for n in rng.integers(0, 12, 6)]
        row = {"id": str(i), "date": f"2020-01-{i // 12 + 1:02}T{i % 12:02}", "text": " ".join(words), "kind": "news"}
        row |= {"topics": [f"s{story}"] if story is not None else [], "maybe": ["s1"] if i % 40 == 7 else []}
        rows.append(row)
    rows.append({"id": "x", "date": "2019", "text": "another kind", "kind": "other", "topics": ["s1"]})
    folder = tmp_path / "data" / "four"
    folder.mkdir(parents=True)
    with gzip.open(folder / "docs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in reversed(rows))
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    return tmp_path


def source(**changes):
    settings = {"unsure": "maybe", "where": {"kind": "news"}, "refreshes": 3, "min_stories": 5, **changes}
    return StreamSource("four", "four/docs.jsonl.gz", **settings)


def test_topics_begin_behind_the_background(four):
    stream = load_stream(source())
    assert len(stream.bags) == 240
    assert [topic.name for topic in stream.topics] == ["s0", "s1", "s2", "s3"]
    for number, topic in enumerate(stream.topics):
        on = [i for i in range(60, 240) if i % 12 == 3 * number]
        assert topic.seed == on[0]
        assert (np.flatnonzero(topic.target) + topic.seed + 1).tolist() == on[1:]
    unsure = np.flatnonzero(~stream.topics[1].counted) + stream.topics[1].seed + 1
    assert unsure.tolist() == [i for i in range(stream.topics[1].seed + 1, 240) if i % 40 == 7 and i % 12 != 3]
    assert len(load_stream(source(max_topics=2)).topics) == 2
    with pytest.raises(InputError, match="fewer than two topics"):
        load_stream(source(min_stories=100))


def by_hand(stream, method, topic, feedback):
    """One document after the other, under a background that takes in what was there at each of the stream's steps."""
    background = Background.of(stream.bags[: stream.starts[0]])
    tracker, scores = None, []
    for place in range(stream.starts[0], len(stream.bags)):
        if place in stream.starts[1:]:
            background.refresh()
        bag = stream.bags[place]
        if tracker is not None:
            scores.append(tracker.score(bag))
            if place in feedback:
                tracker.update(bag)
        if place == topic.seed:
            tracker = Reference(stream.references[0].bags, background).start(method, [bag])
        background.add([bag])
    return scores


@pytest.mark.parametrize("name", ["vsm", "nb", "sd", "germane"])
def test_a_topic_is_followed_as_by_hand(four, name):
    stream = load_stream(source())
    for topic in stream.topics[:2]:
        alone = follow(stream, method_named("vsm"), topic, ())
        feedback = best_places(alone, topic, 6).tolist()
        assert feedback == sorted(feedback)
        assert {*feedback} == {topic.seed + 1 + i for i in sorted(range(len(alone)), key=lambda i: -alone[i])[:6]}
        scores = follow(stream, method_named(name), topic, feedback)
        assert scores.tolist() == pytest.approx(by_hand(stream, method_named(name), topic, feedback), abs=1e-9)


@pytest.mark.parametrize("judged", [False, True])
def test_live_is_what_a_follower_does(four, judged):
    stream = load_stream(source(refreshes=0))
    topic = stream.topics[1]
    following = Following(method_named("germane"), unjudged=4)
    scores, n = follow_live(stream, following, topic, judged=judged)
    reference = Reference(stream.references[0].bags, Background.of(stream.bags[: stream.starts[0]]))
    settings = Following(method_named("germane"), unjudged=0 if judged else 4)
    follower = Follower.start(settings, [stream.bags[topic.seed]], reference)
    told = 0
    for place, score in enumerate(scores):
        bag = stream.bags[topic.seed + 1 + place]
        seen = follower.see(bag)
        assert score == pytest.approx(seen.score, abs=1e-9)
        if judged and seen.delivered and topic.counted[place]:
            follower.judge(bag, bool(topic.target[place]))
            told += 1
        told += seen.learnt
    assert n == told > 0


def test_each_half_has_the_setting_that_is_best_on_the_other(four):
    stream = load_stream(source())
    half = np.array([0, 1, 0, 1])
    rng = np.random.default_rng(0)
    good = [_trials(t, t.target + rng.random(len(t.target))) for t in stream.topics]
    bad = [_trials(t, rng.random(len(t.target))) for t in stream.topics]
    mixed = [bad[0], good[1], bad[2], good[3]]
    other = [good[0], bad[1], good[2], bad[3]]
    found = _chosen({"best on 1": mixed, "best on 0": other}, half)
    assert found.settings == ("best on 1", "best on 0")
    assert found.trials == bad
    expected = [min_cost(topic_curve([bad[i] for i in side])).cost for side in ((0, 2), (1, 3))]
    assert found.cost == pytest.approx(np.mean(expected))


def test_the_report(four):
    path = four / "four.toml"
    path.write_text(EXPERIMENT)
    result = run_experiment(read_experiment(path))
    assert [bar.reached for bar in result.bars] == [True, True, False]
    assert "N=3, MinCost: germane" in str(result.bars[2])
    assert result.value("judged", "germane", "Cost") >= result.value("judged", "germane", "MinCost") - 1e-9
    text = as_markdown(result)
    assert "germane against SD, topic by topic" in text
    assert "lam_m=" in text
    assert "| N=3" in text
    write_report(result, four / "results")
    assert (four / "results" / "four-det.png").exists() or list((four / "results").rglob("*det*"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('measures = ["MinCost", "Cost"]', 'measures = ["AP"]', "measures of tracking"),
        ("curves_at = 3", "curves_at = 7", "curves_at"),
        ("feedback = [0, 3]", "feedback = [-1, 3]", "0 or more"),
        ('method = "sd"', 'method = "sdd"', "SD"),
        ('b = "SD"', 'b = "XX"', "not run"),
        ("refreshes = 3", "refreshes = -1", "refreshes"),
        ("refreshes = 3", "background = 1.0", "share"),
        ("min_stories = 5", "min_story = 5", "min_story"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    path = tmp_path / "bad.toml"
    path.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_experiment(path)

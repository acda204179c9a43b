"""Documents against many topics at once: equal, bit for bit, to every topic by itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.track import METHOD_NAMES, Bag, Follower, Following, Reference, method_named, percolator
from germane.track.inverted import InvertedVectors
from germane.track.missed import BIN, N_LAYERS, layers_of, lot_of
from germane.track.percolator import Percolator
from germane.track.topics import REACH, SAMPLE, TopicSet
from track.zipf_bags import zipf_background, zipf_bags

EMPTY = Bag(np.zeros(0, np.int64), np.zeros(0))


@pytest.mark.parametrize("compiled", [False, True])
def test_inverted_vectors_add_in_the_order_of_words(compiled, monkeypatch):
    monkeypatch.setattr("germane.track.inverted.compiler_is_loaded", lambda: compiled)
    rng = np.random.default_rng(0)
    vectors = [(np.sort(rng.choice(90, n, replace=False)), rng.normal(size=n)) for n in (0, 1, 5, 40)]
    inverted = InvertedVectors.of(vectors)
    for n in (0, 3, 100):
        terms, values = np.sort(rng.choice(200, n, replace=False)), rng.normal(size=n)
        expected = []
        for own, held in vectors:
            total, table = 0.0, dict(zip(own.tolist(), held.tolist(), strict=True))
            for word, value in zip(terms.tolist(), values.tolist(), strict=True):
                total += value * table.get(word, 0.0)
            expected.append(total)
        assert inverted.dots(terms, values).tolist() == expected


@pytest.mark.parametrize("plain", [0, 10**9])
def test_percolation_equals_scoring_each_topic(plain, monkeypatch):
    monkeypatch.setattr(percolator, "PLAIN", plain)
    rng = np.random.default_rng(1)
    background = zipf_background(rng)
    trackers = [
        method_named(METHOD_NAMES[i % len(METHOD_NAMES)]).start([seed], background)
        for i, seed in enumerate(zipf_bags(rng, 23))
    ]
    percolation = Percolator(trackers)
    for step in range(6):
        bags = [*zipf_bags(rng, 9), EMPTY]
        found = percolation.scores(percolation.read(bags))
        assert found.tolist() == [[tracker.score(bag) for tracker in trackers] for bag in bags]
        for i in rng.choice(len(trackers), step, replace=False):  # a few topics learn, then many
            trackers[i].update(bags[0], judgement=[None, True, False][step % 3])
        if step == 3:
            background.add(bags)
            background.refresh()


@given(seed=st.integers(0, 2**32 - 1), chunk=st.integers(1, 40), unjudged=st.integers(0, 6))
@settings(max_examples=25, deadline=None)
def test_a_batch_equals_seeing_one_by_one(seed, chunk, unjudged):
    def start():
        rng = np.random.default_rng(seed)
        background = zipf_background(rng)
        reference = Reference(zipf_bags(rng, 30), background)
        followers = {
            name: Follower.start(Following(method_named(name), unjudged=unjudged), [bag], reference)
            for name, bag in zip(METHOD_NAMES, zipf_bags(rng, len(METHOD_NAMES)), strict=True)
        }
        return followers, zipf_bags(rng, 60)

    (one_by_one, bags), (batched, _) = start(), start()
    topics = TopicSet(batched)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("germane.track.topics.CHUNK", chunk)
        found = topics.process(bags)
    expected = [
        (d, t, *seen)
        for d, bag in enumerate(bags)
        for t, follower in enumerate(one_by_one.values())
        if (seen := follower.see(bag)).delivered or seen.learnt
    ]
    assert [*zip(*(column.tolist() for column in found[:5]), strict=True)] == expected
    assert not found.sampled.any()
    assert topics.tally.sum(axis=1).tolist() == [len(bags)] * len(METHOD_NAMES)


def test_the_tally_counts_scores():
    rng = np.random.default_rng(3)
    reference = Reference(zipf_bags(rng, 30), zipf_background(rng))
    followers = {
        str(i): Follower.start(Following(method_named("rm"), unjudged=0), [bag], reference)
        for i, bag in enumerate(zipf_bags(rng, 3))
    }
    topics, bags = TopicSet(followers), zipf_bags(rng, 50)
    topics.process(bags)
    for t, follower in enumerate(followers.values()):
        distances = np.array([follower.see(bag).score - follower.thresholds.decision for bag in bags])
        expected, _ = np.histogram(distances, [-np.inf, *np.arange(-59, 60) * 0.05, np.inf])
        assert topics.tally[t].tolist() == expected.tolist()
    assert TopicSet(followers, topics.tally).tally.tolist() == topics.tally.tolist()


def test_the_sample_has_the_smallest_lots_of_every_layer():
    rng = np.random.default_rng(5)
    reference = Reference(zipf_bags(rng, 30), zipf_background(rng))

    def start():
        return TopicSet(
            {
                name: Follower.start(Following(method_named(name), unjudged=0), [bag], reference)
                for name, bag in zip(METHOD_NAMES, seeds, strict=True)
            }
        )

    seeds, bags = zipf_bags(rng, len(METHOD_NAMES)), zipf_bags(rng, 500)
    lots = [lot_of(f"document {i}") for i in range(len(bags))]
    whole, first, second = start(), start(), start()
    found = whole.process(bags, lots)
    for t, follower in enumerate(whole.followers):
        scores = np.array([follower.see(bag).score for bag in bags])
        layers = layers_of(scores, follower.thresholds.decision)
        sampled = found.document[found.sampled & (found.topic == t)]
        assert not (layers[sampled] < 0).any()
        n_delivered, sizes = whole.layer_sizes(whole.names[t])
        assert [n_delivered, *sizes] == np.bincount(layers + 1, minlength=N_LAYERS + 1).tolist()
        for layer in range(N_LAYERS):
            members = np.flatnonzero(layers == layer)
            smallest = sorted(members, key=lambda i: lots[i])[:SAMPLE]
            assert set(smallest) <= set(sampled.tolist())
    before = first.process(bags[:200], lots[:200])
    for topic, score, document in zip(before.topic, before.score, before.document, strict=True):
        second.resample(second.names[topic], float(score), lots[document])
    after = second.process(bags[200:], lots[200:])
    sampled = {(int(d), int(t)) for d, t in zip(found.document, found.topic, strict=True) if d >= 200}
    assert {(int(d) + 200, int(t)) for d, t in zip(after.document, after.topic, strict=True)} == sampled


@pytest.mark.parametrize("compiled", [False, True])
def test_the_tally_counts_every_score_in_its_bin(compiled, monkeypatch):
    monkeypatch.setattr("germane.track.topics.compiler_is_loaded", lambda: compiled)
    rng = np.random.default_rng(6)
    reference = Reference(zipf_bags(rng, 30), zipf_background(rng))
    following = Following(method_named("sd"), unjudged=0)
    found = TopicSet({str(i): Follower.start(following, [seed], reference) for i, seed in enumerate(zipf_bags(rng, 3))})
    decision = found.followers[0].thresholds.decision
    edges = decision + BIN * np.array([-REACH - 2, -REACH, -1.5, -1, -0.5, 0, 0.5, 1, REACH - 1, REACH + 9])
    scores = np.stack([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)], axis=1)
    found._count(scores)
    expected = np.zeros_like(found.tally)
    for row in scores:
        for topic, score in enumerate(row):
            depth = math.floor((decision - score) / BIN)
            depth = min(depth, -1) if score >= decision else max(depth, 0)
            expected[topic, min(max(REACH - 1 - depth, 0), 2 * REACH - 1)] += 1
    assert found.tally.tolist() == expected.tolist()


def test_layers_of_scores():
    scores = np.array([9.0, 3.0, np.nextafter(3.0, 0.0), 2.86, 2.84, 2.71, 2.69, 2.26, 2.24, -50.0])
    assert layers_of(scores, 3.0).tolist() == [-1, -1, 0, 0, 1, 1, 2, 4, 5, 5]


def test_no_topics_and_no_documents():
    assert len(TopicSet({}).process([EMPTY]).topic) == 0
    assert len(TopicSet({}).process([EMPTY, EMPTY], [0.5, 0.1]).topic) == 0
    rng = np.random.default_rng(4)
    follower = Follower.start(Following(method_named("sd")), zipf_bags(rng, 1), Reference((), zipf_background(rng)))
    assert len(TopicSet({"one": follower}).process([]).topic) == 0

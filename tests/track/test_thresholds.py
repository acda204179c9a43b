"""The scale of scores, thresholds from costs, and a follower that uses both."""

import numpy as np
import pytest
from scipy import stats

from germane.errors import ParameterError
from germane.track import METHOD_NAMES, Background, Bag, Costs, Follower, Following, Reference, method_named
from germane.track.thresholds import thresholds
from track.streams import bag_of

N_WORDS = 400


def texts(n, seed, concentration=60.0):
    """Documents of a language with Zipf's law, each with a leaning of its own."""
    rng = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(1, N_WORDS + 1)
    return [
        bag_of(rng.multinomial(rng.integers(20, 80), rng.dirichlet(concentration * zipf / zipf.sum())))
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def reference():
    return Reference(texts(1200, 1), Background.of(texts(2000, 2)))


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_normalised_scores_of_background_text_are_normal_deviates(name, reference):
    """A typical topic gives other documents of the same source z or more as often as a normal deviate does."""
    method = method_named(name)
    scale = reference.scale(method)
    new = texts(400, 3)
    found = []
    for seed in texts(100, 4):
        tracker = reference.start(method, [seed])
        found.append([scale.normalised(tracker.score(bag)) for bag in new])
    for tail in (0.1, 0.03, 0.01):
        shares = np.mean(np.array(found) >= stats.norm.isf(tail), axis=1)
        assert np.median(shares) == pytest.approx(tail, rel=0.5)


def test_the_scale_follows_the_background(reference):
    method = method_named("germane")
    background = Background.restored(reference.background.state())
    own = Reference(reference.bags, background)
    before = own.scale(method)
    assert own.scale(method) is before
    background.add(texts(3000, 5, concentration=5.0))
    assert own.scale(method) is before
    background.refresh()
    assert own.scale(method) != before


@pytest.mark.parametrize("bags", [[], [bag_of([1, 2])], [bag_of([1, 0]), bag_of([0, 1])], [bag_of([0, 0])] * 3])
def test_samples_too_small_for_a_scale(bags):
    scale = Reference(bags, Background.of(texts(20, 1))).scale(method_named("germane"))
    assert np.isfinite(scale.centre)
    assert scale.spread > 0.0


def test_thresholds_from_costs():
    default = thresholds(Costs())
    assert default.adaptation > default.decision
    assert thresholds(Costs(miss=100.0)).decision < default.decision < thresholds(Costs(false_alarm=10.0)).decision
    assert thresholds(Costs(p_target=0.2)).decision < default.decision
    assert thresholds(Costs(miss=20.0, false_alarm=2.0)) == pytest.approx(default)
    with pytest.raises(ParameterError):
        Costs(p_target=1.0)


def story(words, rng):
    """A text about a few words."""
    counts = np.zeros(N_WORDS)
    np.add.at(counts, rng.choice(words, 25), 1)
    np.add.at(counts, rng.integers(0, 40, 10), 1)
    return bag_of(counts)


def test_a_follower_delivers_learns_and_goes_on_bit_by_bit(reference):
    rng = np.random.default_rng(6)
    words = rng.choice(np.arange(100, N_WORDS), 30, replace=False)
    following = Following(method_named("germane"), unjudged=3)
    whole = Follower.start(following, [story(words, rng)], reference)
    resumed = Follower.resumed(following, whole.state(), reference)
    stream = [story(words, rng) if place % 5 == 0 else each for place, each in enumerate(texts(60, 7))]
    seen = []
    for place, bag in enumerate(stream):
        seen.append(whole.see(bag))
        assert resumed.see(bag) == seen[-1]
        if place % 7 == 0:
            whole.judge(bag, place % 5 == 0)
            resumed.judge(bag, place % 5 == 0)
        resumed = Follower.resumed(following, resumed.state(), reference)
    assert all(each.delivered for each in seen[::5])
    assert sum(each.learnt for each in seen) == 3 == whole.n_unjudged
    assert all(each.delivered for each in seen if each.learnt)


def test_a_document_without_words_is_not_delivered(reference):
    follower = Follower.start(Following(method_named("germane")), [texts(1, 8)[0]], reference)
    assert not follower.see(Bag(np.zeros(0, np.int64), np.zeros(0))).delivered

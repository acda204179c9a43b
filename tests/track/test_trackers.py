"""Trackers against their formulas, written again with dense vectors and in batch; state, memory, bad seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.track import METHOD_NAMES, Background, Bag, Reference, method_named
from germane.track.bounded_mean import ECHO_WORDS, EVENNESS, RARITY
from germane.track.sums import MAX_WORDS
from track.streams import N_WORDS, backgrounds, bag_of, dense, documents, streams

ALL_WORDS = np.arange(N_WORDS)


def model(bag, lam, theta_GE):
    """θ^D = λ·θ̂^D + (1-λ)·θ^GE, dense."""
    counts = dense(bag)
    return lam * counts / counts.sum() + (1 - lam) * theta_GE


def read(tracker):
    """The topic's weights, dense, with the background's share of each word."""
    found = np.zeros(N_WORDS)
    found[tracker.weights.terms] = tracker.weights.values
    return found + tracker.weights.common * tracker.background.probability(ALL_WORDS)


def t_cross_entropy(alpha, bag, lam, theta_GE):
    """Σ_{w∈D} α_w·log(1 + λθ̂_w/((1-λ)θ^GE_w)), SD (4.31)."""
    counts = dense(bag)
    present = counts > 0
    ratios = np.log(1 + lam * counts / counts.sum() / ((1 - lam) * theta_GE))
    return float((alpha * ratios)[present].sum())


def geometric_mean(models, weights):
    """Π θ_i^(W_i/ΣW)/Z, SD (5.13), (5.14)."""
    product = np.exp(sum(w * np.log(each) for w, each in zip(weights, models, strict=True)) / sum(weights))
    return product / product.sum()


@given(streams, backgrounds(), documents)
def test_smoothed_dirichlet_online_is_batch(stream, background, last):
    method = method_named("sd", lam_m=0.3, lam_e=0.1, precision=1.5, seed_weight=2.0)
    theta_GE = background.probability(ALL_WORDS)
    assert theta_GE.sum() == pytest.approx(1.0)
    tracker = method.start(stream[:1], background)
    models, weights = [model(stream[0], 0.3, theta_GE)], []
    alpha = models[0]
    for bag in stream[1:]:
        weights.append(np.exp(1.5 * t_cross_entropy(alpha - theta_GE, bag, 0.1, theta_GE)))  # (5.27)
        models.append(model(bag, 0.3, theta_GE))
        alpha = geometric_mean(models, [2.0 * max(weights), *weights])  # (6.19), (5.13)
        tracker.update(bag)
        assert read(tracker) == pytest.approx(alpha - theta_GE, abs=1e-9)
    assert read(tracker) == pytest.approx(alpha - theta_GE, abs=1e-9)
    assert tracker.score(last) == pytest.approx(t_cross_entropy(alpha - theta_GE, last, 0.1, theta_GE), abs=1e-9)


@given(streams, streams, backgrounds())
def test_smoothed_dirichlet_models_what_was_rejected(on, off, background):
    method = method_named("sd", lam_m=0.3, lam_e=0.1, seed_weight=2.0, rejection=3.0)
    theta_GE = background.probability(ALL_WORDS)
    tracker = method.start(on[:1], background)
    for bag in on[1:]:
        tracker.update(bag, True)
    for bag in off:
        tracker.update(bag, False)
    alpha_R = geometric_mean([model(bag, 0.3, theta_GE) for bag in on], [1.0] * len(on))
    alpha_N = geometric_mean([theta_GE, *(model(bag, 0.3, theta_GE) for bag in off)], [3.0] + [1.0] * len(off))
    assert read(tracker) == pytest.approx(alpha_R - alpha_N, abs=1e-9)


@given(streams, backgrounds(), documents, st.booleans())
def test_naive_bayes_online_is_batch(stream, background, last, mean):
    method = method_named("nb", lam=0.2, prior_odds=0.05, mean=mean)
    theta_GE = background.probability(ALL_WORDS)
    tracker = method.start(stream[:1], background)

    def theta(posteriors):
        """(6.15), (6.16)"""
        counts = [dense(bag) for bag in stream[: len(posteriors)]]
        up = sum(p * f for p, f in zip(posteriors, counts, strict=True))
        down = sum(p * f.sum() for p, f in zip(posteriors, counts, strict=True))
        return 0.2 * up / down + 0.8 * theta_GE

    def log_ratio(bag, theta_R):
        """(6.14) without the prior"""
        return float(dense(bag) @ np.log(theta_R / theta_GE))

    posteriors = [1.0]
    for bag in stream[1:]:
        odds = 0.05 * np.exp(log_ratio(bag, theta(posteriors)))
        posteriors.append(odds / (odds + 1))  # (6.13)
        tracker.update(bag)
    expected = log_ratio(last, theta(posteriors)) / (last.length if mean else 1.0)
    assert tracker.score(last) == pytest.approx(expected, abs=1e-9)
    found = np.full(N_WORDS, tracker.weights.common)
    found[tracker.weights.terms] += tracker.weights.values
    assert found == pytest.approx(np.log(theta(posteriors) / theta_GE), abs=1e-9)


@given(streams, backgrounds(), documents)
def test_relevance_model_is_the_mean_of_models(stream, background, last):
    tracker = method_named("rm", lam_m=0.4, lam_e=0.1).start(stream[:1], background)
    for bag in stream[1:]:
        tracker.update(bag)
    theta_GE = background.probability(ALL_WORDS)
    theta_R = np.mean([model(bag, 0.4, theta_GE) for bag in stream], axis=0)  # (6.10)
    assert read(tracker) == pytest.approx(theta_R - theta_GE, abs=1e-9)
    assert tracker.score(last) == pytest.approx(t_cross_entropy(theta_R - theta_GE, last, 0.1, theta_GE), abs=1e-9)


@given(streams, backgrounds(), documents)
def test_vector_space_is_the_cosine_with_the_mean(stream, background, last):
    tracker = method_named("vsm").start(stream[:1], background)
    for bag in stream[1:]:
        tracker.update(bag)
    idf = background.idf(ALL_WORDS)
    topic, vector = np.mean([dense(bag) * idf for bag in stream], axis=0), dense(last) * idf  # (6.4), (6.2)
    norms = np.linalg.norm(topic) * np.linalg.norm(vector)
    assert tracker.score(last) == pytest.approx(topic @ vector / norms if norms else 0.0, abs=1e-9)  # (6.3)


def direction(bag, background):
    """u = v/‖v‖ with v = f·idf^0.3, dense."""
    vector = dense(bag) * background.idf(ALL_WORDS) ** RARITY
    return vector / np.sqrt((vector**2).sum())


@given(streams, streams, streams, backgrounds(), documents)
def test_germane_bounds_what_is_taken_and_takes_away_what_was_rejected(known, taken, off, background, last):
    tracker = method_named("germane", mu=50.0, share=0.5, rejection=3.0).start(known, background)
    for bag in taken:
        tracker.update(bag)
    directions = [[direction(bag, background) for bag in bags] for bags in (known, taken, off)]
    whole = (sum(directions[0]) + min(1.0, 0.5 * len(known) / len(taken)) * sum(directions[1])) ** EVENNESS
    topic = whole / np.sqrt((whole**2).sum())
    theta_GE = background.probability(ALL_WORDS)
    lam = background.mean_length / (background.mean_length + 50.0)
    assert tracker.score(last) == pytest.approx(t_cross_entropy(topic, last, lam, theta_GE), abs=1e-9)
    for bag in off:
        tracker.update(bag, False)
    topic = topic - sum(directions[2]) / (len(off) + 3.0)
    assert tracker.score(last) == pytest.approx(t_cross_entropy(topic, last, lam, theta_GE), abs=1e-9)


@given(streams, streams, backgrounds())
def test_the_echo_is_what_the_neighbours_have_beyond_all_background_text(seeds, sample, background):
    method = method_named("germane", echo=2.0, neighbours=2)
    tracker = Reference(sample, background).start(method, seeds[:1])
    alone = method.start(seeds[:1], background)
    others = [bag for bag in sample if dense(bag).tolist() != dense(seeds[0]).tolist()]
    near = sorted(others, key=lambda bag: -alone.score(bag))[:2]
    echo = sum((direction(bag, background) for bag in near), np.zeros(N_WORDS)) / max(len(near), 1)
    echo = np.maximum(echo - np.mean([direction(bag, background) for bag in sample], axis=0), 0.0)
    whole = (direction(seeds[0], background) + 2.0 * echo) ** EVENNESS
    assert read(tracker) == pytest.approx(whole / np.sqrt((whole**2).sum()), abs=1e-9)


def test_an_echo_is_short():
    words = np.arange(1, 200)
    sample = [Bag(np.append(0, words[place::4]), np.ones(len(words[place::4]) + 1)) for place in range(4)]
    sample += [Bag(np.arange(300, 320), np.ones(20))] * 30
    reference = Reference(sample, Background.of(sample))
    tracker = reference.start(method_named("germane"), [Bag(np.array([0]), np.ones(1))])
    assert len(tracker.state()["echo_terms"]) == ECHO_WORDS
    assert tracker.score(sample[0]) > tracker.score(sample[-1]) == 0.0


@pytest.mark.parametrize("name", METHOD_NAMES)
@given(stream=streams, background=backgrounds(), judged=st.lists(st.sampled_from([True, False, None]), max_size=8))
def test_a_resumed_tracker_goes_on_bit_by_bit(name, stream, background, judged):
    method = method_named(name)
    whole = method.start(stream[:1], background)
    resumed = method.start(stream[:1], background)
    for bag, judgement in zip(stream, judged, strict=False):
        whole.update(bag, judgement)
        resumed.update(bag, judgement)
        resumed = method.resume(resumed.state(), background)
        assert [whole.score(each) for each in stream] == [resumed.score(each) for each in stream]


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_memory_is_constant(name):
    rng = np.random.default_rng(1)
    tracker = method_named(name).start([bag_of([1] * 100)], Background.of([bag_of([1] * 100)]))
    for number in range(30):
        terms = np.sort(rng.choice(50_000, 400, replace=False))
        tracker.update(Bag(terms, np.ones(400)), [True, False, None][number % 3])
    sizes = [len(value) for value in tracker.state().values() if isinstance(value, np.ndarray)]
    assert max(sizes) == MAX_WORDS


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_documents_without_words(name):
    background = Background.of([bag_of([3] * N_WORDS)])
    empty = bag_of([0] * N_WORDS)
    method = method_named(name)
    for seeds in ([], [empty]):
        with pytest.raises(ParameterError, match="at least one word"):
            method.start(seeds, background)
    tracker = method.start([empty, bag_of([1] * N_WORDS)], background)
    before = tracker.weights
    tracker.update(empty, False)
    assert tracker.weights is before
    assert tracker.score(empty) == 0.0


def test_words_new_to_the_background_are_followed():
    background = Background.of([bag_of([3] * (N_WORDS - 1) + [0])])
    for name in METHOD_NAMES:
        tracker = method_named(name).start([bag_of([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])], background)
        new, known, other = (bag_of(np.eye(N_WORDS)[place]) for place in (-1, 0, 4))
        assert tracker.score(new) > tracker.score(known) > tracker.score(other)


@given(streams, backgrounds())
def test_a_background_grows_on_refresh_alone(stream, background):
    before, version = background.probability(ALL_WORDS), background.version
    background.add(stream)
    assert (background.probability(ALL_WORDS) == before).all()
    assert background.version == version
    known = sum((dense(bag) for bag in stream), np.zeros(N_WORDS))
    n, total = background.n_documents, background.state()["total"]
    background.refresh()
    assert background.version == version + 1
    assert background.n_documents == n + len(stream)
    assert background.state()["total"] == pytest.approx(total + known.sum())
    assert type(background).restored(background.state()).probability(ALL_WORDS).tolist() == (
        background.probability(ALL_WORDS).tolist()
    )

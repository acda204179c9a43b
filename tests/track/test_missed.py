"""Estimates of what is missed, held against streams whose truth is known."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.track.missed import N_LAYERS, PRIOR, Layer, estimate_missed, lot_of, to_judge

SIZES = (40, 80, 160, 320, 640, 8000)


def a_truth(rng):
    """On-topic documents of what is delivered and of every layer, as the model has it."""
    shares = rng.dirichlet(PRIOR)
    counts = rng.poisson(rng.integers(10, 200) * shares)
    return int(counts[0]), np.minimum(counts[1:], SIZES)


def judged(rng, on, n):
    """Layers of which `n` documents were judged each, chosen by lot."""
    return [Layer(size, n, int(rng.hypergeometric(each, size - each, n))) for size, each in zip(SIZES, on, strict=True)]


@pytest.mark.parametrize("n", [0, 8])
def test_intervals_cover_the_truth(n):
    rng = np.random.default_rng(7)
    covered, alarms = [], []
    for _ in range(150):
        hits, on = a_truth(rng)
        if hits + on.sum() == 0:
            continue
        found = estimate_missed(Layer(hits + 20, hits + 20, hits), judged(rng, on, n))
        covered.append(found.p_miss.low <= on.sum() / (hits + on.sum()) <= found.p_miss.high)
        truth = 20 / (20 + sum(SIZES) - on.sum())
        alarms.append(found.p_fa.low - 1e-4 <= truth <= found.p_fa.high + 1e-4)
    assert 0.82 <= np.mean(covered) <= 0.99
    assert np.mean(alarms) > 0.9


def test_judgements_narrow_the_interval():
    def width(n):
        rng = np.random.default_rng(3)
        widths = []
        for _ in range(40):
            hits, on = a_truth(rng)
            found = estimate_missed(Layer(hits + 20, hits + 20, hits), judged(rng, on, n))
            widths.append(found.p_miss.high - found.p_miss.low)
        return np.mean(widths)

    assert width(40) < width(8) < width(0)


def test_all_judged_is_known():
    found = estimate_missed(Layer(30, 30, 20), [Layer(10, 10, 1)] * N_LAYERS)
    assert found.n_missed == (6.0, 6.0, 6.0)
    assert found.p_miss.estimate == pytest.approx(6 / 26)
    assert found.p_fa.estimate == pytest.approx(10 / 64)


def test_unjudged_hits_widen_it():
    below = [Layer(size) for size in SIZES]
    known = estimate_missed(Layer(100, 100, 50), below).p_fa
    guessed = estimate_missed(Layer(100, 10, 5), below).p_fa
    assert guessed.high - guessed.low > known.high - known.low


def test_the_same_again():
    below = [Layer(size, 5, 1) for size in SIZES]
    assert estimate_missed(Layer(9, 9, 4), below) == estimate_missed(Layer(9, 9, 4), below)
    assert lot_of("a") == lot_of("a") != lot_of("b")
    assert 0.0 <= lot_of("\ud800") < 1.0


def test_lots_are_uniform():
    lots = np.array([lot_of(str(i)) for i in range(4000)])
    assert np.histogram(lots, 10, (0, 1))[0] == pytest.approx(400, abs=90)


def test_what_to_judge_next():
    below = [Layer(size) for size in SIZES]
    first = to_judge(Layer(50, 50, 30), below, 12)
    assert sum(first) == 12
    assert to_judge(Layer(50, 50, 30), [Layer(2)] * N_LAYERS, 100) == [2] * N_LAYERS
    assert to_judge(Layer(50, 50, 30), [Layer(0)] * N_LAYERS, 5) == [0] * N_LAYERS


@pytest.mark.parametrize("layer", [Layer(3, 4, 1), Layer(3, 2, 3), Layer(3, 2, -1)])
def test_impossible_layers(layer):
    with pytest.raises(ParameterError, match="cannot have"):
        estimate_missed(Layer(5), [layer] * N_LAYERS)
    with pytest.raises(ParameterError, match="6 layers"):
        estimate_missed(Layer(5), [])

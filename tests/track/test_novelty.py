"""Copies and new stories, held against plain loops over dense vectors."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.track import Bag
from germane.track.novelty import Nearest, RecentTexts, copies
from track.zipf_bags import zipf_background, zipf_bags


def unit(bag, background):
    vector = np.zeros(200)
    vector[bag.terms] = bag.counts * background.idf(bag.terms)
    return vector / max(np.linalg.norm(vector), 1e-300)


@pytest.mark.parametrize("window", [1, 7, 40, 1000])
def test_the_nearest_of_the_last_ones(window, monkeypatch):
    monkeypatch.setattr("germane.track.novelty.BLOCK", 8)
    rng = np.random.default_rng(window)
    background = zipf_background(rng)
    memory, vectors = RecentTexts(background, window), []
    for n, bag in enumerate([*zipf_bags(rng, 60), Bag(np.zeros(0, np.int64), np.zeros(0))]):
        vector = unit(bag, background)
        held = vectors[-window:]
        found = memory.see(bag)
        if not held:
            assert found == Nearest(None, 0.0)
        else:
            cosines = np.array([vector @ other for other in held])
            assert found.similarity == pytest.approx(cosines.max())
            assert cosines[found.number - (n - len(held))] == pytest.approx(cosines.max())
        vectors.append(vector)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("germane.track.novelty.BLOCK", 4)
    rng = np.random.default_rng(0)
    memory = RecentTexts(zipf_background(rng), 10)
    for bag in zipf_bags(rng, 100):
        memory.see(bag)
    assert memory.n_seen == 100
    assert len(memory._blocks) * 4 + len(memory._recent) < 10 + 2 * 4


def test_what_is_only_remembered_is_compared_with():
    rng = np.random.default_rng(3)
    background = zipf_background(rng)
    seen, told = RecentTexts(background, 300), RecentTexts(background, 300)
    bags = zipf_bags(rng, 290)
    for bag in bags[:-1]:
        seen.see(bag)
        told.remember(bag)
    assert told.see(bags[-1]) == seen.see(bags[-1])


def test_copies_join_the_first_that_is_no_copy():
    rng = np.random.default_rng(2)
    background = zipf_background(rng)
    bags = zipf_bags(rng, 30, length=6)
    vectors = [unit(bag, background) for bag in bags]
    leaders, expected = [], []
    for i, vector in enumerate(vectors):
        first = next((j for j in leaders if vector @ vectors[j] >= 0.8), i)
        expected.append(first)
        if first == i:
            leaders.append(i)
    assert copies(bags, background) == expected
    assert len(set(expected)) < len(expected)


def test_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="window"):
        RecentTexts(zipf_background(rng), 0)
    with pytest.raises(ParameterError, match="similarity"):
        copies([], zipf_background(rng), 1.5)
    assert copies([], zipf_background(rng)) == []

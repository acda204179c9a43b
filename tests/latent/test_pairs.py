"""Pairs as rows of word ids, against plain Python."""

from collections import Counter

import numpy as np
import pytest

from germane.errors import InputError, ParameterError
from germane.latent.pairs import BAD_WEIGHT, NO_QUERY, NO_TITLE, Pairs, Texts
from germane.text import Analyzer

PLAIN = Analyzer("none", "none")
GIVEN = [
    ("red car car", "cheap red vehicle", 2.0),
    ("the", "the car", 1.0),
    ("car", "", 1.0),
    ("", "car", 1.0),
    ("car", "red car", float("nan")),
    ("car", "red car", -1.0),
    ("red car car", "car", 0.5),
]


def counts(pairs: Pairs, side: Texts, row: int) -> Counter[str]:
    at = slice(side.starts[row], side.starts[row + 1])
    words = [pairs.vocabulary.words[word] for word in side.words[at].tolist()]
    return Counter(dict(zip(words, side.counts[at].tolist(), strict=True)))


def test_rows_hold_the_words_of_both_sides() -> None:
    pairs = Pairs.build(GIVEN, PLAIN)
    kept = [GIVEN[0], GIVEN[1], GIVEN[6]]
    assert len(pairs) == len(kept)
    for row, (query, title, weight) in enumerate(kept):
        assert counts(pairs, pairs.queries, row) == Counter(query.split())
        assert counts(pairs, pairs.titles, row) == Counter(title.split())
        assert pairs.weights[row] == weight
    assert pairs.dropped == {NO_QUERY: 1, NO_TITLE: 1, BAD_WEIGHT: 2}
    assert pairs.asked.tolist() == [0, 1, 0]


def test_the_most_frequent_words() -> None:
    pairs = Pairs.build(GIVEN, PLAIN, max_words=2)
    assert set(pairs.vocabulary.words) == {"red", "car"}


def test_parts_are_the_whole() -> None:
    pairs = Pairs.build(GIVEN, PLAIN)
    parts = list(pairs.partitions(2))
    assert [len(part) for part in parts] == [2, 1]
    assert np.concatenate([part.titles.words for part in parts]).tolist() == pairs.titles.words.tolist()
    assert pairs.take([2, 0]).weights.tolist() == [0.5, 2.0]


def test_new_words_get_ids_at_the_end() -> None:
    vocabulary = Pairs.build(GIVEN, PLAIN).vocabulary
    larger, texts = vocabulary.extended(["new car", ""])
    assert larger.words == (*vocabulary.words, "new")
    assert sorted(texts.words.tolist()) == sorted([vocabulary.ids["car"], len(vocabulary)])
    assert texts.lengths.tolist() == [2, 0]


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError, match="no pair can be used"):
        Pairs.build([("", "", 1.0)])
    with pytest.raises(ParameterError, match="max_words"):
        Pairs.build(GIVEN, max_words=0)

"""The Lecture's worked examples, through the engine."""

from collections.abc import Mapping
from math import exp, log

import pytest

SONG = ["click", "go", "the", "shears", "boys", "click", "click", "click"]
REST = {"click": 4, "go": 11, "the": 49, "shears": 3, "boys": 5, "hair": 5, "man": 10, "bacon": 5}
"""With the song: 100 tokens, of which shears 4, boys 6, hair 5."""

M1 = {"the": 200, "a": 100, "frog": 10, "toad": 10, "said": 30, "likes": 20, "that": 40, "dog": 5, "cat": 3,
      "monkey": 1}  # fmt: skip
M2 = {"the": 1500, "a": 1200, "frog": 2, "toad": 1, "said": 300, "likes": 400, "that": 400, "dog": 100, "cat": 150,
      "monkey": 20}  # fmt: skip
"""Figure 12.3: counts in texts of 1,000 and of 10,000 words."""


def spell(counts: Mapping[str, int], length: int = 0) -> list[str]:
    tokens = [word for word, count in counts.items() for _ in range(count)]
    return tokens + ["other"] * (length - len(tokens))


@pytest.fixture(scope="module")
def song(build):
    return build({"song": SONG, "rest": spell(REST)})


def score_of(result, doc_id: str) -> float:
    return float(result.scores[result.ids.index(doc_id)])


def test_the_collection_is_as_planned(song) -> None:
    assert song.stats().tokens == 100


def test_linear_smoothing(song) -> None:
    """λ·tf/|d| + (1-λ)·cf/|c| with λ = 0.8: shears 0.1 + 0.008, boys 0.1 + 0.012, hair 0 + 0.01."""
    result = song.search("shears boys hair", model="jm", lam=0.8)
    assert exp(score_of(result, "song")) == pytest.approx(0.108 * 0.112 * 0.01, rel=1e-12)


def test_dirichlet_smoothing(song) -> None:
    """(tf + α·cf/|c|)/(|d| + α) with α = 4: shears 1.16/12, boys 1.24/12, hair 0.2/12."""
    result = song.search("shears boys hair", model="dirichlet", mu=4)
    assert exp(score_of(result, "song")) == pytest.approx(1.16 * 1.24 * 0.2 / 12**3, rel=1e-12)


def test_maximum_likelihood_is_the_limit(song) -> None:
    """λ → 1: click 4/8, shears 1/8."""
    result = song.search("click shears", model="jm", lam=1 - 1e-12)
    assert exp(score_of(result, "song")) == pytest.approx(4 / 8 * 1 / 8, rel=1e-9)


def test_smoothing_gives_unseen_words_a_probability(song) -> None:
    """With an unseen word the document's likelihood stays above zero, and its share grows with smoothing."""
    seldom, often = (score_of(song.search("shears hair", model="jm", lam=lam), "song") for lam in (0.99, 0.5))
    assert log(1e-6) < seldom < often < 0


@pytest.mark.parametrize("model", ["dirichlet", "jm", "twostage", "absolute"])
def test_frog_said_that_toad_likes_frog(build, model: str) -> None:
    engine = build({"M1": spell(M1, 1_000), "M2": spell(M2, 10_000)})
    result = engine.search("frog said that toad likes frog", model=model)
    assert result.ids == ["M1", "M2"]


def test_frog_and_toad_by_maximum_likelihood(build) -> None:
    engine = build({"M1": spell(M1, 1_000), "M2": spell(M2, 10_000)})
    result = engine.search("frog said that toad likes frog", model="jm", lam=1 - 1e-12)
    assert [exp(score) for score in result.scores.tolist()] == pytest.approx([2.4e-11, 1.92e-16], rel=1e-6)

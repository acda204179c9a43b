"""The noisy channel: distances, the argmax, and whole sentences against trying every combination."""

import itertools
import random
from functools import cache
from math import log

import pytest

from germane.errors import ParameterError
from germane.lm import BigramModel, JelinekMercer, Speller
from germane.lm.noisy_channel import Candidate, Lexicon, edits_allowed, log_channel, most_probable
from germane.rank.near_words import edits_between


def literal_distance(a: str, b: str) -> int:
    @cache
    def d(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        ways = [d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            ways.append(d(i - 2, j - 2) + 1)
        return min(ways)

    return d(len(a), len(b))


def random_words(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    return sorted({"".join(rng.choices("abé", k=rng.randrange(7))) for _ in range(n)})


@pytest.mark.parametrize("typed", ["", "a", "ab", "abba", "babéab", "ééa", "zzz"])
@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_lexicon_equals_the_recursion(typed: str, most: int) -> None:
    words = random_words(1, 300)
    expected = {(word, k) for word in words if (k := literal_distance(typed, word)) <= most}
    assert set(Lexicon(words).within(typed, most)) == expected


@pytest.mark.parametrize("typed", ["abba", "aab", "bbabab"])
def test_lexicon_equals_the_dictionary_of_an_index(typed: str) -> None:
    """One channel, two ways: all words of a list at once, and those of an index one by one."""
    words = [word for word in random_words(2, 300) if word.isascii() and word]
    near = dict(Lexicon(words).within(typed, 2))
    assert [edits_between(typed.encode(), word.encode(), 2) for word in words] == [near.get(word, 3) for word in words]


def test_channel() -> None:
    assert [edits_allowed(w) for w in ("ab", "abc", "abcd", "abcde", "mp3s", "x" * 65, "é" * 33)] == [
        0, 1, 1, 2, 0, 0, 0,
    ]  # fmt: skip
    assert log_channel(2, 0.01) == pytest.approx(log(1e-4))
    tied = [Candidate("a", -1.0, -2.0), Candidate("b", -2.0, -1.0), Candidate("c", -9.0, 0.0)]
    assert most_probable(tied).word == "b"


CORPUS = [
    s.split()
    for s in (
        "it takes about 15 minutes", "wait a few minutes", "in about 20 minutes", "five minutes later", "a few minutes",
        "mozart wrote many minuets", "two minuets by bach", "bach wrote a few fugues", "many cats", "a cart", "the car",
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> BigramModel:
    return BigramModel.fit(CORPUS, smoothing=JelinekMercer(lam=0.8))


@pytest.mark.parametrize("typed", ["about 15 minuets", "many minutes", "wrote a cat", "fwe minuts", "zzzz by bahc", ""])
def test_the_best_of_all_sentences(model: BigramModel, typed: str) -> None:
    """Viterbi finds what trying every combination of candidates finds."""
    speller, words = Speller(model, edit=0.02, beam=50), typed.split()

    def options(word: str) -> list[tuple[str, float]]:
        most = edits_allowed(word)
        near = [(w, literal_distance(word, w)) for w in model.words]
        return [(word, 0.0)] + [(w, k * log(0.02)) for w, k in near if 0 < k <= most]

    def score(choice) -> float:
        return model.log_probability([w for w, _ in choice]) + sum(channel for _, channel in choice)

    best = max(itertools.product(*map(options, words)), key=score)
    assert speller.correct(words) == [word for word, _ in best]


def test_context_decides(model: BigramModel) -> None:
    """Lecture: P(about 15 minutes) > P(about 15 minuets). Both are words; only the one before them tells."""
    speller = Speller(model, edit=0.02)
    assert speller.correct(["about", "15", "minuets"]) == ["about", "15", "minutes"]
    assert speller.correct(["many", "minuets"]) == ["many", "minuets"]


def test_candidates_say_why(model: BigramModel) -> None:
    best, second = Speller(model, edit=0.02).candidates("minuets", before="15")[:2]
    assert (best.word, second.word) == ("minutes", "minuets")
    assert best.log_prior == pytest.approx(model.given("15", ["minutes"])[0])
    assert (best.log_channel, second.log_channel) == (pytest.approx(log(0.02)), 0.0)
    between = Speller(model).candidates("minuets", before="few", after="later")[0]
    assert between.log_prior == pytest.approx(
        model.given("few", [between.word])[0] + model.given(between.word, ["later"])[0]
    )


def test_a_narrow_beam_keeps_the_typed_word(model: BigramModel) -> None:
    assert [c.word for c in Speller(model, beam=1).candidates("cars")] == ["car", "cars"]


@pytest.mark.parametrize("wrong", [{"edit": 0}, {"edit": 1.5}, {"beam": 0}])
def test_refused(model: BigramModel, wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        Speller(model, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="list of words"):
        Speller(model).correct("a text")

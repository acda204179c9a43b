"""The bigram model against a literal transcription of its formulas."""

from math import exp, inf, log

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.lm import MLE, AbsoluteDiscounting, BigramModel, Dirichlet, JelinekMercer

SENTENCES = [s.split() for s in ("the cat saw the dog", "the dog saw a cat", "a dog", "", "the the the")]
TOKENS = [word for sentence in SENTENCES for word in (*sentence, "")]
PAIRS = [pair for s in SENTENCES for pair in zip(["", *s], [*s, ""], strict=True)]


def unigram(word: str, delta: float) -> float:
    types = set(TOKENS)
    total = len(TOKENS) + delta * (len(types) + 1)
    if word in types:
        return (TOKENS.count(word) + delta) / total
    alphabet = len(set("".join(TOKENS))) + 1
    return delta / total * (1 / alphabet) ** (len(word) + 1)


def following(before: str) -> list[str]:
    return [w for v, w in PAIRS if v == before]


@pytest.mark.parametrize("before", ["", "the", "cat", "unheard"])
@pytest.mark.parametrize("word", ["", "the", "dog", "saw", "zebra"])
def test_jelinek_mercer_and_dirichlet(before: str, word: str) -> None:
    after, p = following(before), unigram(word, 0.25)
    linear = BigramModel.fit(SENTENCES, smoothing=JelinekMercer(lam=0.7), delta=0.25)
    expected = 0.7 * after.count(word) / len(after) + 0.3 * p if after else p
    assert exp(linear.given(before, [word])[0]) == pytest.approx(expected, rel=1e-12)
    bayesian = BigramModel.fit(SENTENCES, smoothing=Dirichlet(mu=3), delta=0.25)
    assert exp(bayesian.given(before, [word])[0]) == pytest.approx((after.count(word) + 3 * p) / (len(after) + 3))


@pytest.mark.parametrize("smoothing", [MLE(), Dirichlet(mu=5), JelinekMercer(lam=0.5), AbsoluteDiscounting(delta=0.5)])
@pytest.mark.parametrize("before", ["", "the", "saw"])
def test_what_may_follow_sums_to_one(smoothing, before: str) -> None:
    """Known words, the end, and all unknown words together, which weigh δ/(N + δ(V+1))."""
    model = BigramModel.fit(SENTENCES, smoothing=smoothing, delta=0.5)
    known = np.exp(model.given(before, [*model.words, ""])).sum()
    unknown = 0.5 / (len(TOKENS) + 0.5 * (len(set(TOKENS)) + 1))
    after = following(before)
    _, share = smoothing.split(1, len(after), len(set(after)))
    assert known + float(share) * unknown == pytest.approx(1, rel=1e-12)


def test_unknown_words_are_spelt() -> None:
    model = BigramModel.fit(SENTENCES)
    short, long = model.unigram(["dot", "dotage"])
    assert short - long == pytest.approx(3 * log(len(set("".join(TOKENS))) + 1))


def test_a_sentence_is_the_product_of_its_steps() -> None:
    model = BigramModel.fit(SENTENCES, smoothing=JelinekMercer(lam=0.9))
    steps = [("", "the"), ("the", "dog"), ("dog", "")]
    assert model.log_probability(["the", "dog"]) == pytest.approx(sum(model.given(v, [w])[0] for v, w in steps))
    assert model.log_probability([]) == model.given("", [""])[0]


def test_without_smoothing_the_unseen_is_impossible() -> None:
    assert BigramModel.fit(SENTENCES, smoothing=MLE()).log_probability(["cat", "dog"]) == -inf


def test_words() -> None:
    model = BigramModel.fit(SENTENCES)
    assert model.words == ["a", "cat", "dog", "saw", "the"]
    assert "cat" in model
    assert "zebra" not in model
    assert "" not in model  # the edge is no word


def test_refused() -> None:
    with pytest.raises(ParameterError, match="at least one sentence"):
        BigramModel.fit([])
    with pytest.raises(ParameterError, match="list of words"):
        BigramModel.fit(["the cat"])
    with pytest.raises(ParameterError, match="empty word"):
        BigramModel.fit([["the", "", "cat"]])
    with pytest.raises(ParameterError, match="delta"):
        BigramModel.fit(SENTENCES, delta=0)

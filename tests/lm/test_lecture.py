"""The worked examples of the Lecture, number by number."""

from fractions import Fraction
from math import exp, log, prod

import numpy as np
import pytest

from germane.lm import (
    MLE,
    BigramModel,
    CollectionStats,
    Dirichlet,
    JelinekMercer,
    LanguageModel,
    Laplace,
    t_cross_entropy,
)

WORDS = ["click", "go", "the", "shears", "boys", "hair", "man", "bacon"]
ID = {word: i for i, word in enumerate(WORDS)}
SONG = [ID[word] for word in ("click", "go", "the", "shears", "boys", "click", "click", "click")]
ONES = [1] * len(SONG)
STATS = CollectionStats(n_docs=10, n_tokens=100, cf=[8, 12, 50, 4, 6, 5, 10, 5], df=[2, 5, 9, 2, 3, 3, 4, 2])


def test_maximum_likelihood_estimates() -> None:
    song = MLE().model(SONG, ONES)
    assert song.probability([ID[w] for w in ("click", "go", "the", "shears", "boys")]).tolist() == [
        4 / 8,
        1 / 8,
        1 / 8,
        1 / 8,
        1 / 8,
    ]


def test_zero_probability_problem() -> None:
    shears, boys, hair = MLE().model(SONG, ONES).probability([ID["shears"], ID["boys"], ID["hair"]])
    assert (shears, boys, hair) == (0.125, 0.125, 0)
    assert shears * boys * hair == 0


def test_linear_smoothing() -> None:
    song = JelinekMercer(lam=0.8).model(SONG, ONES)
    click, hair = song.probability([ID["click"], ID["hair"]], STATS.p_C)
    assert click == pytest.approx(0.8 * 4 / 8 + 0.2 * 8 / 100, rel=1e-15)
    assert hair == pytest.approx(0.2 * 5 / 100, rel=1e-15)


def test_some_type_of_smoothing() -> None:
    """The slide's figures: a fifth of the mass is taken from the seen words and given to the unseen ones.

    click=0.4, go=0.1, ..., hair=0.01, man=0.01, bacon=0.0001 is λ = 0.8 with the collection saying hair and man once in
    20 words and bacon once in 2,000. The slide's second "the", 0.001, is a word it has listed as seen; we leave it out.
    """
    p_C = np.zeros(len(WORDS) + 1)
    p_C[[ID["hair"], ID["man"], ID["bacon"]]] = 1 / 20, 1 / 20, 1 / 2000
    p_C[-1] = 1 - p_C.sum()
    song = JelinekMercer(lam=0.8).model(SONG, ONES)
    np.testing.assert_allclose(
        song.probability(range(len(WORDS)), p_C), [0.4, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.0001], rtol=1e-12
    )
    assert song.probability(range(len(WORDS) + 1), p_C).sum() == pytest.approx(1, rel=1e-12)


def test_smoothing_is_the_same_for_every_document_or_less_for_longer_ones() -> None:
    """Linear smoothing leaves every document the share λ; Dirichlet's |d|/(α+|d|) trusts longer documents more."""
    twice = SONG + SONG
    linear = [JelinekMercer(lam=0.8).model(d, [1] * len(d)).background for d in (SONG, twice)]
    assert linear == [pytest.approx(0.2), pytest.approx(0.2)]
    dirichlet = [Dirichlet(mu=8).model(d, [1] * len(d)).background for d in (SONG, twice)]
    assert dirichlet == [8 / (8 + 8), 8 / (8 + 16)]


@pytest.mark.parametrize("alpha", [0.5, 8, 2000])
def test_dirichlet_is_linear_smoothing_with_lambda_by_length(alpha: float) -> None:
    everything = range(len(WORDS))
    dirichlet = Dirichlet(mu=alpha).model(SONG, ONES).probability(everything, STATS.p_C)
    linear = JelinekMercer(lam=8 / (alpha + 8)).model(SONG, ONES).probability(everything, STATS.p_C)
    counts = np.bincount(SONG, minlength=len(WORDS))
    literal = 8 / (alpha + 8) * counts / 8 + alpha / (alpha + 8) * STATS.cf / 100
    np.testing.assert_allclose(dirichlet, linear, rtol=1e-14)
    np.testing.assert_allclose(dirichlet, literal, rtol=1e-14)


def test_log_query_likelihood() -> None:
    """log P(q|d) = Σ_{t∈q} log(...), which is |q| times the T-cross-entropy of the query's MLE."""
    query = [ID["shears"], ID["boys"], ID["hair"]]
    literal = sum(
        log(8 / (4 + 8) * SONG.count(t) / 8 + 4 / (4 + 8) * cf / 100) for t, cf in zip(query, [4, 6, 5], strict=True)
    )
    song, asked = Dirichlet(mu=4).model(SONG, ONES), LanguageModel.from_counts(query, [1, 1, 1])
    assert 3 * t_cross_entropy(asked, song, STATS.p_C) == pytest.approx(literal, rel=1e-14)


def test_frog_said_that_toad_likes_frog() -> None:
    vocabulary = ["the", "a", "frog", "toad", "said", "likes", "that", "dog", "cat", "monkey", "(other)"]
    m1 = [0.2, 0.1, 0.01, 0.01, 0.03, 0.02, 0.04, 0.005, 0.003, 0.001]
    m2 = [0.15, 0.12, 0.0002, 0.0001, 0.03, 0.04, 0.04, 0.01, 0.015, 0.002]
    models = [LanguageModel(range(11), [*m, 1 - sum(m)], 0.0) for m in (m1, m2)]
    query = [vocabulary.index(word) for word in ("frog", "said", "that", "toad", "likes", "frog")]
    first, second = (prod(model.probability(query)) for model in models)
    assert first == pytest.approx(0.01 * 0.03 * 0.04 * 0.01 * 0.02 * 0.01, rel=1e-14)
    assert first == pytest.approx(2.4e-11, rel=1e-12)
    assert second == pytest.approx(0.0002 * 0.03 * 0.04 * 0.0001 * 0.04 * 0.0002, rel=1e-14)
    assert second == pytest.approx(1.92e-16, rel=1e-12)
    assert first > second
    asked = LanguageModel.from_counts(query, [1] * 6)
    assert [6 * t_cross_entropy(asked, model) for model in models] == pytest.approx([log(first), log(second)])


def test_both_models_are_distributions_with_room_for_other_words() -> None:
    """Σ P(t|M) = 1: figure 12.3 gives part of each model (0.419 and 0.4073), the rest is in its dots."""
    assert sum([0.2, 0.1, 0.01, 0.01, 0.03, 0.02, 0.04, 0.005, 0.003, 0.001]) == pytest.approx(0.419)
    assert sum([0.15, 0.12, 0.0002, 0.0001, 0.03, 0.04, 0.04, 0.01, 0.015, 0.002]) == pytest.approx(0.4073)


def test_a_uniform_prior_does_not_change_the_order() -> None:
    """P(d|q) ∝ P(q|d)P(d): with P(d) uniform the posterior of M1 is P(q|M1)/(P(q|M1) + P(q|M2))."""
    likelihoods = np.array([2.4e-11, 1.92e-16])
    posterior = likelihoods * 0.5 / (likelihoods * 0.5).sum()
    np.testing.assert_allclose(posterior, [0.999992000064, 7.999936e-06], rtol=1e-6)


CHINA = [["chinese", "beijing", "chinese"], ["chinese", "chinese", "shanghai"], ["chinese", "macao"]]
NOT_CHINA = [["tokyo", "japan", "chinese"]]
VOCABULARY = ["chinese", "beijing", "shanghai", "macao", "tokyo", "japan"]
D5 = ["chinese", "chinese", "chinese", "tokyo", "japan"]


def counts(documents: list[list[str]]) -> list[int]:
    return [sum(document.count(word) for document in documents) for word in VOCABULARY]


def test_zeros_of_maximum_likelihood() -> None:
    """A word that never occurs in the class makes the class impossible, whatever else the document says."""
    china = MLE().model(range(6), counts(CHINA))
    assert china.probability([VOCABULARY.index(word) for word in D5]).tolist() == [5 / 8, 5 / 8, 5 / 8, 0, 0]


def test_add_one_smoothing_of_china() -> None:
    """All numbers of the worked example, from its five documents."""
    china, other = (Laplace().probability(counts(c), sum(counts(c)), 6) for c in (CHINA, NOT_CHINA))
    assert (sum(counts(CHINA)), sum(counts(NOT_CHINA)), len(VOCABULARY)) == (8, 3, 6)
    np.testing.assert_allclose(china, [6 / 14, 2 / 14, 2 / 14, 2 / 14, 1 / 14, 1 / 14], rtol=1e-15)
    np.testing.assert_allclose(other, [2 / 9, 1 / 9, 1 / 9, 1 / 9, 2 / 9, 2 / 9], rtol=1e-15)
    assert china.sum() == pytest.approx(1)
    assert other.sum() == pytest.approx(1)
    d5 = [D5.count(word) for word in VOCABULARY]
    yes, no = 3 / 4 * np.prod(china**d5), 1 / 4 * np.prod(other**d5)
    assert yes == pytest.approx(float(Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) ** 2), rel=1e-14)
    assert no == pytest.approx(float(Fraction(1, 4) * Fraction(2, 9) ** 5), rel=1e-14)
    assert (round(yes, 4), round(no, 4)) == (0.0003, 0.0001)


def test_log_space_agrees_and_does_not_underflow() -> None:
    """log P(c) + Σ log P(t_k|c): the same numbers, and still two of them where both products are 0."""
    china, other = (Laplace().probability(counts(c), sum(counts(c)), 6) for c in (CHINA, NOT_CHINA))
    d5 = np.array([D5.count(word) for word in VOCABULARY])
    yes, no = log(3 / 4) + d5 @ np.log(china), log(1 / 4) + d5 @ np.log(other)
    assert exp(yes) == pytest.approx(3 / 4 * np.prod(china**d5), rel=1e-12)
    assert yes > no
    chinese = np.array([1000, 0, 0, 0, 0, 0])
    assert np.prod(china**chinese) == np.prod(other**chinese) == 0
    assert chinese @ np.log(china) == pytest.approx(1000 * log(3 / 7))
    assert chinese @ np.log(other) == pytest.approx(1000 * log(2 / 9))


@pytest.mark.parametrize(
    ("likelier", "rarer"),
    [
        ("high winds tonight", "large winds tonight"),
        ("about 15 minutes", "about 15 minuets"),
        ("i saw a van", "eyes awe of an"),
    ],
)
def test_probabilities_of_sequences(likelier: str, rarer: str) -> None:
    """The three uses the Lecture opens with: translation, spelling, speech ("tonite" spelt as in our sentences)."""
    heard = [
        "high winds and rain tonight", "winds tonight", "a large house", "the large van", "about 15 minutes",
        "wait 15 minutes", "two minuets by bach", "i saw a man", "a van", "her eyes", "in awe of an old man",
    ]  # fmt: skip
    model = BigramModel.fit([sentence.split() for sentence in heard])
    assert model.log_probability(likelier.split()) > model.log_probability(rarer.split())


def test_a_unigram_model_throws_the_context_away() -> None:
    """P_uni(t1 t2 t3 t4) = P(t1)P(t2)P(t3)P(t4): any order is as likely; a bigram model tells them apart."""
    model = BigramModel.fit([["i", "saw", "a", "van"], ["a", "van", "i", "saw"]])
    assert model.unigram(["i", "saw", "a", "van"]).sum() == pytest.approx(model.unigram(["van", "a", "saw", "i"]).sum())
    assert model.log_probability(["i", "saw", "a", "van"]) > model.log_probability(["van", "a", "saw", "i"])

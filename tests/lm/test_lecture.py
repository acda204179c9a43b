"""The worked examples of the Lecture, number by number."""

from math import log, prod

import numpy as np
import pytest

from germane.lm import MLE, CollectionStats, Dirichlet, JelinekMercer, LanguageModel, Laplace, t_cross_entropy

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


def test_add_one_smoothing_of_china() -> None:
    china, other = Laplace().probability([5, 0, 0], 8, 6), Laplace().probability([1, 1, 1], 3, 6)
    np.testing.assert_allclose(china, [3 / 7, 1 / 14, 1 / 14], rtol=1e-15)
    np.testing.assert_allclose(other, [2 / 9, 2 / 9, 2 / 9], rtol=1e-15)
    d5 = [3, 1, 1]
    assert 3 / 4 * np.prod(china**d5) == pytest.approx(0.0003, abs=5e-5)
    assert 1 / 4 * np.prod(other**d5) == pytest.approx(0.0001, abs=5e-5)

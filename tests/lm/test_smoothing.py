from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.lm import (
    MLE,
    AbsoluteDiscounting,
    Dirichlet,
    JelinekMercer,
    LanguageModel,
    Laplace,
    Size,
    Smoothing,
    TwoStage,
)

V = 6
P_C = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
METHODS = [
    MLE(),
    JelinekMercer(0.3),
    Dirichlet(7.5),
    AbsoluteDiscounting(0.7),
    TwoStage(0.6, 12.0),
    JelinekMercer(0),
    JelinekMercer(1),
    AbsoluteDiscounting(0),
    AbsoluteDiscounting(1),
    TwoStage(0, 3),
    TwoStage(1, 3),
]
texts = st.lists(st.integers(0, V - 1), max_size=20)

# Literal transcriptions: c, |d|, |d|_u and p_C of one word.
LITERAL: list[tuple[Smoothing, Callable[[float, float, float, float], float]]] = [
    (MLE(), lambda c, n, u, p: c / n),
    (JelinekMercer(0.3), lambda c, n, u, p: 0.3 * c / n + (1 - 0.3) * p),
    (Dirichlet(7.5), lambda c, n, u, p: (c + 7.5 * p) / (n + 7.5)),
    (AbsoluteDiscounting(0.7), lambda c, n, u, p: max(c - 0.7, 0) / n + 0.7 * u / n * p),
    (TwoStage(0.6, 12.0), lambda c, n, u, p: 0.6 * (c + 12 * p) / (n + 12) + 0.4 * p),
]


@pytest.mark.parametrize(("method", "formula"), LITERAL)
@given(text=texts.filter(bool))
def test_formula(method: Smoothing, formula: Callable[..., float], text: list[int]) -> None:
    theta = method.model(text, [1] * len(text)).probability(range(V), P_C)
    expected = [formula(text.count(w), len(text), len(set(text)), P_C[w]) for w in range(V)]
    np.testing.assert_allclose(theta, expected, rtol=1e-13)


RANKING = [method for method, _ in LITERAL if not isinstance(method, MLE)]


@pytest.mark.parametrize("method", RANKING, ids=str)
@settings(deadline=None)
@given(text=texts.filter(bool))
def test_coefficients_of_a_ranking(method: Smoothing, text: list[int]) -> None:
    """n·(c - δ)/(m·p_C·(x0 + x1·size)) is e/(a·p_C), and log a where it is said to be the same for all."""
    ratio = method.excess_ratio()
    size = len(set(text)) if ratio.size is Size.UNIQUE else len(text)
    divisor = 1.0 if ratio.size is Size.NONE else ratio.x0 + ratio.x1 * size
    for word in set(text):
        c = text.count(word)
        excess, background = method.split(c, len(text), len(set(text)))
        expected = float(excess) / (float(background) * P_C[word])
        found = ratio.numerator * (c - ratio.delta) / (ratio.denominator * P_C[word] * divisor)
        assert found == pytest.approx(expected, rel=1e-12)
        if ratio.log_background is not None:
            assert ratio.log_background == pytest.approx(np.log(background), rel=1e-12)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in RANKING], ids=str)
def test_no_coefficients_where_a_logarithm_would_be_of_zero(method: Smoothing) -> None:
    with pytest.raises(ParameterError, match="rank"):
        method.excess_ratio()


@pytest.mark.parametrize("method", METHODS)
@given(text=texts)
def test_sums_to_one(method: Smoothing, text: list[int]) -> None:
    assert method.model(text, [1] * len(text)).probability(range(V), P_C).sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_empty_document_is_pure_background(method: Smoothing) -> None:
    model = method.model([], [])
    assert (model.ids.size, model.background) == (0, 1.0)
    excess, background = method.split([0, 2], [0, 4], [0, 1])
    assert (excess[0], background[0]) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_split_of_postings_is_the_split_of_each(method: Smoothing) -> None:
    c_wd, len_d, n_unique = [3, 1, 4], [8, 8, 5], [5, 5, 2]
    excess, background = method.split(c_wd, len_d, n_unique)
    for i in range(3):
        one = method.split(c_wd[i], len_d[i], n_unique[i])
        assert (float(one[0]), float(one[1])) == (excess[i], background[i])


@pytest.mark.parametrize(
    ("limit", "same_as"),
    [
        (JelinekMercer(1), MLE()),
        (AbsoluteDiscounting(0), MLE()),
        (TwoStage(1, 9), Dirichlet(9)),
        (TwoStage(0, 9), JelinekMercer(0)),
    ],
)
def test_limit_cases(limit: Smoothing, same_as: Smoothing) -> None:
    left, right = limit.model([0, 3], [4, 1]), same_as.model([0, 3], [4, 1])
    assert (left.excess.tolist(), left.background) == (right.excess.tolist(), right.background)


def test_lambda_zero_is_the_collection_model() -> None:
    assert JelinekMercer(0).model([0, 3], [4, 1]).probability(range(V), P_C).tolist() == P_C.tolist()


def test_dirichlet_tends_to_its_ends() -> None:
    np.testing.assert_allclose(Dirichlet(1e-12).model([1], [5]).excess, [1], rtol=1e-12)
    assert Dirichlet(1e12).model([1], [5]).background == pytest.approx(1, abs=1e-11)


def test_mle_is_from_counts() -> None:
    left, right = MLE().model([4, 2, 4], [1, 1, 2]), LanguageModel.from_counts([4, 2, 4], [1, 1, 2])
    assert left.ids.tolist() == right.ids.tolist() == [2, 4]
    assert left.excess.tolist() == right.excess.tolist() == [0.25, 0.75]


@given(text=texts, delta=st.floats(0.01, 10))
def test_laplace_formula_and_sum(text: list[int], delta: float) -> None:
    counts = np.bincount(text, minlength=V)
    theta = Laplace(delta).probability(counts, len(text), V)
    np.testing.assert_allclose(theta, [(c + delta) / (len(text) + delta * V) for c in counts], rtol=1e-14)
    assert theta.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None, True])
def test_fractions_are_checked(bad: float) -> None:
    for make in (JelinekMercer, AbsoluteDiscounting, lambda lam: TwoStage(lam, 10)):
        with pytest.raises(ParameterError, match="must"):
            make(bad)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "7", None, False])
def test_pseudo_counts_are_checked(bad: float) -> None:
    for make in (Dirichlet, Laplace, lambda mu: TwoStage(0.5, mu)):
        with pytest.raises(ParameterError, match=r"mu|delta"):
            make(bad)


def test_bad_texts() -> None:
    with pytest.raises(ParameterError, match="negative"):
        MLE().model([1], [-1])
    with pytest.raises(ParameterError, match="2 ids but 1"):
        MLE().model([1, 2], [1])
    with pytest.raises(ParameterError, match="whole numbers"):
        MLE().model([1.5], [1])
    with pytest.raises(ParameterError, match=r"delta = 0\.7"):
        AbsoluteDiscounting(0.7).model([1, 2], [0.5, 3])
    with pytest.raises(ParameterError, match="V must be"):
        Laplace().probability([1], 1, 0)


def test_words_counted_zero_times_are_not_in_the_model() -> None:
    assert AbsoluteDiscounting(0.5).model([1, 2], [0, 3]).ids.tolist() == [2]

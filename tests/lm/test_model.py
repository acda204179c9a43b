import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.lm import Dirichlet, JelinekMercer, LanguageModel

V = 7
P_C = np.array([0.35, 0.25, 0.15, 0.1, 0.08, 0.06, 0.01])
ALL = np.arange(V)


@st.composite
def models(draw: st.DrawFn, smoothed: bool = False) -> LanguageModel:
    text = draw(st.lists(st.integers(0, V - 1), max_size=12))
    mu = draw(st.floats(0.01, 1000))
    if smoothed or draw(st.booleans()):
        return Dirichlet(mu).model(text, [1] * len(text))
    return LanguageModel.from_counts(text, [1] * len(text))


weights = st.floats(0.001, 1e3)


def dense(model: LanguageModel) -> np.ndarray:
    return np.array([sum(model.excess[model.ids == w]) + model.background * P_C[w] for w in ALL])


@given(models())
def test_probability_is_the_formula(model: LanguageModel) -> None:
    np.testing.assert_allclose(model.probability(ALL, P_C), dense(model), rtol=1e-15)
    np.testing.assert_allclose(model.probability(ALL[::-1], P_C), dense(model)[::-1], rtol=1e-15)
    assert model.probability(ALL, P_C).sum() == pytest.approx(1, abs=1e-13)


@given(st.lists(st.tuples(weights, models()), min_size=1, max_size=5))
def test_mixture_is_the_dense_arithmetic_mean(parts: list[tuple[float, LanguageModel]]) -> None:
    total = sum(w for w, _ in parts)
    expected = sum(w / total * dense(m) for w, m in parts)
    mixed = LanguageModel.mixture(parts)
    np.testing.assert_allclose(dense(mixed), expected, rtol=1e-12)
    assert set(mixed.ids) == set().union(*(m.ids for _, m in parts))


@given(st.lists(st.tuples(weights, models(smoothed=True)), min_size=1, max_size=5))
def test_geometric_mean_is_the_dense_geometric_mean(parts: list[tuple[float, LanguageModel]]) -> None:
    pi = np.array([w for w, _ in parts])
    product = np.prod([dense(m) ** w for w, m in zip(pi / pi.sum(), [m for _, m in parts], strict=True)], axis=0)
    mean = LanguageModel.geometric_mean([m for _, m in parts], pi, P_C)
    np.testing.assert_allclose(dense(mean), product / product.sum(), rtol=1e-12)
    assert mean.background > 0
    assert set(mean.ids) == set().union(*(m.ids for _, m in parts))


def test_geometric_mean_by_sd_3_33() -> None:
    """SD (3.33) literally: (1/Z) {Π_i (λθ̂_i/((1-λ)θ^GE) + 1)}^(1/N) (1-λ)θ^GE."""
    lam, texts = 0.6, [[0, 1, 1, 4], [1, 5], [2, 2, 2, 1, 0]]
    mle = [np.bincount(t, minlength=V) / len(t) for t in texts]
    product = np.prod([lam * m / ((1 - lam) * P_C) + 1 for m in mle], axis=0) ** (1 / 3) * (1 - lam) * P_C
    parts = [JelinekMercer(lam).model(t, [1] * len(t)) for t in texts]
    mean = LanguageModel.geometric_mean(parts, [1, 1, 1], P_C)
    np.testing.assert_allclose(dense(mean), product / product.sum(), rtol=1e-13)


def test_geometric_mean_of_one_model_is_that_model() -> None:
    model = Dirichlet(3).model([1, 4], [2, 1])
    np.testing.assert_allclose(dense(LanguageModel.geometric_mean([model], [5], P_C)), dense(model), rtol=1e-14)


def test_interpolation_weighs_the_model_it_is_called_on() -> None:
    query, feedback = LanguageModel.from_counts([1], [1]), LanguageModel.from_counts([2], [1])
    mixed = query.interpolate(feedback, own_weight=0.3)
    assert (mixed.ids.tolist(), mixed.excess.tolist()) == ([1, 2], [0.3, 0.7])
    assert query.interpolate(feedback, own_weight=1).ids.tolist() == [1]
    assert query.interpolate(feedback, own_weight=0).ids.tolist() == [2]


@pytest.mark.parametrize("words", [[2, 5], [2, 3], [5, 7], []], ids=str)
def test_interpolation_is_a_mixture(words: list[int]) -> None:
    query = LanguageModel.of_weights({word: i + 1.0 for i, word in enumerate(words)})
    models = query, LanguageModel([1, 2, 4, 5], [0.1, 0.3, 0.2, 0.3], 0.1)
    for (query, feedback), weight in itertools.product(itertools.permutations(models), (0.0, 0.3, 0.5, 1 / 3, 1.0)):
        mixed = query.interpolate(feedback, own_weight=weight)
        expected = LanguageModel.mixture([(weight, query), (1 - weight, feedback)])
        assert (mixed.ids.tolist(), mixed.excess.tolist()) == (expected.ids.tolist(), expected.excess.tolist())
        assert mixed.background == expected.background


def test_models_of_weights_and_of_arrays() -> None:
    model = LanguageModel.of_weights({5: 2.0, 2: 1.0})
    expected = LanguageModel.from_counts([5, 2], [2.0, 1.0])
    assert (model.ids.tolist(), model.excess.tolist()) == (expected.ids.tolist(), expected.excess.tolist())
    assert LanguageModel.of_weights({}).background == 1.0
    assert LanguageModel.sparse(np.array([0.0, 0.5, 0.25]), 0.25).ids.tolist() == [1, 2]
    for excess, background in (([0.5, np.inf], 0.0), ([0.5], 0.25), ([1.5], -0.5)):
        with pytest.raises(ParameterError, match="sum to 1"):
            LanguageModel.sparse(np.array(excess), background)


def test_everywhere_is_the_probability_of_each_word() -> None:
    model = Dirichlet(3).model([1, 4], [2, 1])
    assert model.everywhere(P_C).tolist() == model.probability(np.arange(len(P_C)), P_C).tolist()


def test_ties_at_the_edge_of_a_truncation_go_to_the_smaller_ids() -> None:
    model = LanguageModel(range(10), [0.2, *[0.1] * 8, 0.0], 0.0)
    assert [model.truncate(n).model.ids.tolist() for n in (1, 3, 9)] == [[0], [0, 1, 2], [*range(9)]]
    assert model.top(3)[0].tolist() == [0, 1, 2]


def test_top_is_strongest_first_and_breaks_ties_by_id() -> None:
    model = LanguageModel([1, 3, 5, 6], [0.2, 0.1, 0.2, 0.3], 0.2)
    ids, excess = model.top(3)
    assert (ids.tolist(), excess.tolist()) == ([6, 1, 5], [0.3, 0.2, 0.2])
    assert model.top(0)[0].size == 0
    assert model.top(99)[0].size == 4


def test_truncation_gives_the_dropped_excess_to_the_kept_words() -> None:
    model = LanguageModel([1, 3, 5, 6], [0.2, 0.1, 0.2, 0.3], 0.2)
    cut, dropped = model.truncate(2)
    assert dropped == pytest.approx(0.3)
    assert cut.ids.tolist() == [1, 6]
    np.testing.assert_allclose(cut.excess, [0.2 * 0.8 / 0.5, 0.3 * 0.8 / 0.5])
    assert cut.background == 0.2
    assert model.truncate(4).dropped == 0
    assert LanguageModel([], [], 1).truncate(3).model.background == 1
    np.testing.assert_allclose(cut.without_background().excess, [0.4, 0.6])


def test_without_background_needs_excess() -> None:
    with pytest.raises(ParameterError, match="all background"):
        LanguageModel([], [], 1.0).without_background()


def test_from_counts_of_nothing_is_background() -> None:
    assert LanguageModel.from_counts([], []).background == 1
    assert LanguageModel.from_counts([3], [0]).background == 1


def test_models_cannot_be_changed_and_do_not_share_arrays() -> None:
    excess = np.array([1.0])
    model = LanguageModel([2], excess, 0.0)
    excess[0] = 5
    assert model.excess.tolist() == [1.0]
    with pytest.raises(ValueError, match="read-only"):
        model.excess[0] = 3
    with pytest.raises(AttributeError):
        model.background = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("ids", "excess", "background", "complaint"),
    [
        ([2, 1], [0.5, 0.5], 0, "sorted"),
        ([1, 1], [0.5, 0.5], 0, "unique"),
        ([-1], [1], 0, "ids must not be negative"),
        ([1.0], [1], 0, "whole numbers"),
        ([[1]], [1], 0, "one dimension"),
        ([1], [[1.0]], 0, "one dimension"),
        ([1], ["x"], 0, "list of numbers"),
        ([1, 2], [1], 0, "2 ids but 1"),
        ([1, 2], [1.5, -0.5], 0, r"found -0\.5"),
        ([1], [float("nan")], 0, "found nan"),
        ([1], [1.5], -0.5, "background must not be negative"),
        ([1], [1], float("nan"), "finite"),
        ([1], [0.5], 0.4, r"sum to 1, not 0\.9"),
        ([1], [0.5], 0.5 + 2e-9, "sum to 1"),
        ([], [], 0, "sum to 1"),
    ],
)
def test_bad_models(ids: list[int], excess: list[float], background: float, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        LanguageModel(ids, excess, background)


def test_sum_tolerance_is_1e_9() -> None:
    LanguageModel([1], [0.5], 0.5 + 5e-10)


def test_bad_arguments() -> None:
    model, bare = Dirichlet(5).model([1], [1]), LanguageModel.from_counts([1], [1])
    bad_calls = [
        (lambda: model.probability([1]), "needs the collection model"),
        (lambda: model.probability([V], P_C), "covers 7 words"),
        (lambda: model.probability([-1], P_C), "negative"),
        (lambda: LanguageModel.mixture([]), "at least one model"),
        (lambda: LanguageModel.mixture([(0, model)]), "at least one model"),
        (lambda: LanguageModel.mixture([(2, model), (-1, model)]), "weights"),
        (lambda: LanguageModel.mixture([("a", model)]), "weights"),  # type: ignore[list-item]
        (lambda: model.interpolate(bare, own_weight=1.5), "own_weight"),
        (lambda: LanguageModel.geometric_mean([model, bare], [1, 1], P_C), "background > 0"),
        (lambda: LanguageModel.geometric_mean([model], [1, 1], P_C), "1 models but 2"),
        (lambda: LanguageModel.geometric_mean([model], [1], [1.0, 0.0]), "greater than 0"),
        (lambda: model.truncate(0), "n_terms"),
        (lambda: model.top(-1), "n must"),
        (lambda: model.top(1.5), "n must"),
    ]
    for call, complaint in bad_calls:
        with pytest.raises(ParameterError, match=complaint):
            call()


def test_a_part_of_weight_zero_is_left_out() -> None:
    model, bare = Dirichlet(5).model([1], [1]), LanguageModel.from_counts([2], [1])
    assert LanguageModel.geometric_mean([model, bare], [1, 0], P_C).ids.tolist() == [1]

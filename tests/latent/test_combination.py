"""The learnt mixture finds the score that tells, and its loss has the gradient it should."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.latent import Combination, Pairs, latent_named
from germane.latent.combination import standardised


def test_the_telling_score_gets_the_weight() -> None:
    rng = np.random.default_rng(0)
    gains = [rng.integers(0, 4, 12).astype(float) for _ in range(60)]
    scores = [np.stack([gain + rng.normal(0, 0.5, 12), rng.normal(0, 9, 12), np.full(12, 2.0)]) for gain in gains]
    found = Combination().fit(scores, gains)
    assert found.weights[0] > 10 * abs(found.weights[1])
    assert abs(found.weights[2]) < 1e-6 + 1 / 3
    order = found.score(scores[0])
    assert np.corrcoef(order, gains[0])[0, 1] > 0.8


def test_the_weights_are_a_maximum() -> None:
    rng = np.random.default_rng(1)
    scores, gains = [rng.normal(size=(2, 6)) for _ in range(20)], [rng.random(6) for _ in range(20)]

    def value(weights: np.ndarray) -> float:
        total = 0.0
        for rows, gain in zip(scores, gains, strict=True):
            s = weights @ standardised(rows)
            total += (gain / gain.sum()) @ (s - np.log(np.exp(s).sum()))
        return total / len(scores) - 0.01 * weights @ weights

    best = Combination(ridge=0.01).fit(scores, gains).weights
    for move in rng.normal(0, 0.05, (20, 2)):
        assert value(best) >= value(best + move) - 1e-9


def test_without_relevant_documents() -> None:
    with pytest.raises(ParameterError, match="there are none"):
        Combination().fit([np.ones((1, 2))], [np.zeros(2)])


def test_weights_of_scores_as_they_are() -> None:
    """Scaling a score divides its weight; the order of documents is that of the scaled ones; none is below 0."""
    rng = np.random.default_rng(2)
    gains = [rng.integers(0, 3, 8).astype(float) + (np.arange(8) == 0) for _ in range(40)]
    scores = [np.stack([gain + rng.normal(0, 1, 8), rng.normal(0, 2, 8) - gain, rng.normal(0, 1, 8)]) for gain in gains]
    free = Combination().fit_weights(scores, gains)
    assert free[1] < 0 < free[0]
    scaled = Combination().fit_weights([rows * np.array([[100.0], [1], [0.1]]) + 7 for rows in scores], gains)
    assert scaled * [100, 1, 0.1] == pytest.approx(free, rel=1e-3, abs=1e-3)
    positive = Combination().fit_weights([rows[[0, 1]] for rows in scores], gains, positive=True)
    assert positive[1] == 0 < positive[0]


PAIRS = [("cheap car", "Used vehicles for sale", 3.0), ("used cars", "Second-hand vehicles", 1.0),
         ("cat food", "Dry food for felines", 2.0), ("kitten meal", "Food for young felines", 1.0)]  # fmt: skip


def test_a_combination_of_models_is_the_sum_of_theirs() -> None:
    pairs = Pairs.build(PAIRS)
    whole = latent_named("combination", parts="wtm, opca", n_dimensions=3, n_iterations=2).fit(pairs)
    wtm, opca = latent_named("wtm", n_iterations=2).fit(pairs), latent_named("opca", n_dimensions=3).fit(pairs)
    titles, query = ["Vehicles near you", "Dry felines", ""], "cheap cars unheard"
    expected = 0.5 * wtm.score(query, wtm.fold_in(titles)) / 3 + 5.0 * opca.score(query, opca.fold_in(titles))
    assert whole.score(query, whole.fold_in(titles)) == pytest.approx(expected)
    assert whole.mixed([1, 0]).score(query, whole.fold_in(titles)) == pytest.approx(
        wtm.score(query, wtm.fold_in(titles)) / 3
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"parts": "wtm"}, "two parts at least"),
        ({"parts": "wtm,nothing"}, "no latent model 'nothing'"),
        ({"parts": "wtm,wtm"}, "named twice"),
        ({"parts": "wtm,combination"}, "no latent model 'combination'"),
        ({"parts": "wtm,opca", "n_topics": 3}, "none of wtm, opca has a parameter 'n_topics'"),
        ({"n_dimensions": 0}, "n_dimensions"),
    ],
)
def test_bad_combinations(parameters: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        latent_named("combination", **parameters)


def test_parts_have_one_vocabulary() -> None:
    a = latent_named("combination", parts="wtm,um").fit(Pairs.build(PAIRS))
    b = latent_named("um").fit(Pairs.build(PAIRS[:1]))
    with pytest.raises(ParameterError, match="their words differ"):
        a.mixed([1, 1], [a.parts[0], b])
    with pytest.raises(ParameterError, match="a finite weight"):
        a.mixed([1.0])
    with pytest.raises(ParameterError, match="a finite weight"):
        a.mixed([1.0, np.nan])

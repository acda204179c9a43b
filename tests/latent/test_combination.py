"""The learnt mixture finds the score that tells, and its loss has the gradient it should."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.latent import Combination
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

"""NDCG with ties against the mean over all orders."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate.tied import tied_ndcg


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_the_mean_over_all_orders(k: int) -> None:
    rng = np.random.default_rng(k)
    for _ in range(10):
        scores, gains = rng.integers(0, 3, 5), rng.integers(0, 4, 5).astype(float)
        gains[0] = 1
        discount = 1 / np.log2(np.arange(2, 7))
        dcg = [
            sum(gains[i] * discount[place] for place, i in enumerate(order[:k]))
            for order in permutations(range(5))
            if all(scores[a] >= scores[b] for a, b in pairwise(order))
        ]
        ideal = max(
            sum(gains[i] * discount[place] for place, i in enumerate(order[:k])) for order in permutations(range(5))
        )
        assert tied_ndcg(scores, gains, k) == pytest.approx(np.mean(dcg) / ideal)


def test_nothing_relevant_and_bad_input() -> None:
    assert tied_ndcg([1.0, 2.0], [0.0, 0.0], 5) == 0
    with pytest.raises(ParameterError, match="a score and a gain"):
        tied_ndcg([1.0], [1.0, 2.0], 5)

"""What the tests of this folder share: all documents of a length, and integrals over the simplex of three words."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import dblquad

Array = npt.NDArray[np.float64]


def _compositions(words: int, left: int) -> Iterator[list[int]]:
    if words == 1:
        yield [left]
        return
    for first in range(left + 1):
        for rest in _compositions(words - 1, left - first):
            yield [first, *rest]


@pytest.fixture(scope="session")
def all_documents() -> Callable[[int, int], Array]:
    """Every count vector over V words with the given sum."""
    return lambda V, length: np.array(list(_compositions(V, length)), dtype=np.float64)


@pytest.fixture(scope="session")
def integral_over_triangle() -> Callable[..., float]:
    """∫ density(θ) dθ_1 dθ_2 over θ_j ≥ least_j, Σθ = 1."""

    def integral(density: Callable[[Array], float], least: npt.ArrayLike = (0.0, 0.0, 0.0)) -> float:
        low = np.asarray(least)
        value, _ = dblquad(
            lambda y, x: density(np.array([x, y, 1 - x - y])),
            low[0],
            1 - low[1] - low[2],
            lambda x: low[1],
            lambda x: max(low[1], 1 - low[2] - x),
            epsrel=1e-7,
        )
        return float(value)

    return integral

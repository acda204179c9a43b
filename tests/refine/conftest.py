"""Small made-up result lists."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from germane.refine.weighting import ResultList


class Example(NamedTuple):
    """A list with marks."""

    results: ResultList
    labels: NDArray[np.int8]


def made_up(seed: int, n: int = 60, n_words: int = 80, topics: int = 4) -> Example:
    """Documents of several topics, one of them relevant; with repeated words, an empty text and two equal ones."""
    random = np.random.default_rng(seed)
    theta = random.dirichlet(np.full(n_words, 0.15), topics)
    topic = random.integers(topics, size=n)
    topic[:topics] = np.arange(topics)
    counts = np.array([random.multinomial(random.integers(5, 40), theta[t]) for t in topic])
    counts[-1], counts[-2] = 0, counts[-3]
    labels = np.full(n, -1, np.int8)
    labels[:12] = topic[:12] == 0
    return Example(ResultList(sparse.csr_matrix(counts)), labels)


@pytest.fixture(params=range(3))
def example(request: pytest.FixtureRequest) -> Example:
    return made_up(request.param)

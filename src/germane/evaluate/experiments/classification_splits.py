"""Random splits into training and test documents, class by class."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.errors import ParameterError


class Split(NamedTuple):
    """Row numbers of the training and of the test documents, ascending."""

    train: Integers
    test: Integers


def random_splits(y: npt.NDArray[Any], n_splits: int, test_share: float = 0.2, *, random_state: int = 0) -> list[Split]:
    """`n_splits` random splits, `test_share` of each class going to the test part (SD §4.1).

    `y`: each document's class; a class of two or more documents has one at least on either side, a class of one trains.
    Of a multi-label indicator matrix the documents are split without regard to their labels. The first splits are the
    same however many are drawn.
    """
    if n_splits < 1:
        raise ParameterError(f"the number of splits must be 1 or more, not {n_splits}")
    if not 0.0 < test_share < 1.0:
        raise ParameterError(f"the share of test documents must lie strictly between 0 and 1, not {test_share:g}")
    if len(y) < 2:
        raise ParameterError(f"{len(y)} documents cannot be split into train and test; two or more can")
    groups = [np.arange(len(y))] if y.ndim == 2 else [np.flatnonzero(y == label) for label in np.unique(y)]
    rng = np.random.default_rng(random_state)
    return [_split(groups, len(y), test_share, rng) for _ in range(n_splits)]


def _split(groups: list[Integers], n_docs: int, test_share: float, rng: np.random.Generator) -> Split:
    test = np.zeros(n_docs, bool)
    for members in groups:
        n_test = min(max(round(test_share * len(members)), 1), len(members) - 1)
        test[rng.permutation(members)[:n_test]] = True
    return Split(np.flatnonzero(~test), np.flatnonzero(test))

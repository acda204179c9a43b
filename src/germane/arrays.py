"""The types of arrays that cross modules, named by what one element is; and sums whose last bit is fixed."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

AnyArray: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
"""Probabilities, scores, weights: always in double precision."""
Integers: TypeAlias = npt.NDArray[np.int64]
"""Counts, ids, places."""
Labels: TypeAlias = npt.NDArray[np.int8]
"""A `germane.types.Mark` for each document."""
Mask: TypeAlias = npt.NDArray[np.bool_]
"""Yes or no for each document, term or place."""
Words: TypeAlias = npt.NDArray[np.uint32]
"""32 bits each: packed lists, or the numbers of terms."""


def sums_of_products(rows: AnyArray, vector: AnyArray) -> Floats:
    """Return Σ_j rows_ij · vector_j of each row, added in float64 from the first number to the last.

    A matrix product depends in its last bit on how many rows it has; this does not.
    """
    if not rows.size:
        return np.zeros(len(rows))
    products = np.asarray(rows, np.float64) * np.asarray(vector, np.float64)
    return np.asarray(np.add.accumulate(products, axis=1)[:, -1])

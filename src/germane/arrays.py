"""The arrays that cross modules, named by what one element is."""

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

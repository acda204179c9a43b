"""Checks of parameters that several distributions share."""

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import reals, wholes


def precision_vector(alpha: npt.ArrayLike) -> Floats:
    """α for at least two words, finite, ≥ 0, with a sum S > 0; read-only."""
    vector = reals("alpha", alpha)
    if vector.size < 2:
        raise ParameterError(f"alpha needs at least two words, not {vector.size}")
    if not 0 < vector.sum() < np.inf:
        raise ParameterError(f"alpha must have a finite sum S greater than 0, not {vector.sum()}")
    vector.setflags(write=False)
    return vector


def probabilities(name: str, values: npt.ArrayLike) -> Floats:
    """One number between 0 and 1 for each word; read-only."""
    vector = reals(name, values)
    if vector.size == 0 or vector.max() > 1:
        raise ParameterError(f"{name} must be numbers between 0 and 1, one for each word")
    vector.setflags(write=False)
    return vector


def at_words(values: Floats, words: npt.ArrayLike) -> Floats:
    """`values` of the given word ids, in the shape of `words`."""
    ids: Integers = wholes("words", np.reshape(words, -1))
    if ids.size and ids.max() >= values.size:
        raise ParameterError(f"word id {ids.max()} is outside the vocabulary of {values.size} words")
    return values[ids].reshape(np.shape(words))


def proportions_of_words(theta: npt.ArrayLike) -> Floats:
    """θ_j strictly between 0 and 1, in any shape."""
    values = np.asarray(theta, dtype=np.float64)
    if not ((values > 0) & (values < 1)).all():
        raise ParameterError("theta must lie strictly between 0 and 1")
    return values


def counts_and_lengths(f: npt.ArrayLike, len_d: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Counts f and lengths |D| with 0 ≤ f ≤ |D|, which may broadcast."""
    times, lengths = np.asarray(f, dtype=np.float64), np.asarray(len_d, dtype=np.float64)
    if not ((times >= 0) & (times <= lengths) & np.isfinite(lengths)).all():
        raise ParameterError("counts must not be negative, nor larger than the length of their document")
    return times, lengths

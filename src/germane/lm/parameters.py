"""Checks of numbers that come from outside: each raises `ParameterError` naming what was found and what would do."""

import math
from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import ParameterError

Choice = TypeVar("Choice")

SMALLEST, LARGEST = 1e-30, 1e30
"""The range of a positive parameter. Beyond it numbers overflow, or are lost beside the counts."""

EDGE = 1e-15
"""What a share that must be neither 0 nor 1 keeps from both."""

SUM_TOLERANCE = 1e-9
"""How far from 1 the sum of a probability distribution may be before it is refused."""


def number(name: str, value: float) -> float:
    """`value` as a float, if it is a finite real number (a bool is not one)."""
    if type(value) is float and math.isfinite(value):
        return value
    try:
        found = math.nan if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) else float(value)
    except OverflowError:  # a whole number beyond all floats
        found = math.inf
    if not math.isfinite(found):
        raise ParameterError(f"{name} must be a finite number, not {value!r}")
    return found


def bounded(name: str, value: float, low: float, high: float) -> float:
    """`value` if low ≤ value ≤ high."""
    if not low <= number(name, value) <= high:
        raise ParameterError(f"{name} must lie between {low:g} and {high:g}, not {value!r}")
    return float(value)


def positive(name: str, value: float) -> float:
    """`value` if it is above 0, from `SMALLEST` to `LARGEST`: with nothing beyond can a formula be infinite."""
    if number(name, value) <= 0:
        raise ParameterError(f"{name} must be greater than 0, not {value!r}")
    return bounded(name, value, SMALLEST, LARGEST)


def fraction(name: str, value: float) -> float:
    """`value` if 0 ≤ value ≤ 1."""
    if not 0 <= number(name, value) <= 1:
        raise ParameterError(f"{name} must lie between 0 and 1, not {value!r}")
    return float(value)


def open_fraction(name: str, value: float) -> float:
    """`value` if 0 < value < 1."""
    if not 0 < number(name, value) < 1:
        raise ParameterError(f"{name} must lie strictly between 0 and 1, not {value!r}")
    return float(value)


def whole(name: str, value: int, *, least: int) -> int:
    """`value` if it is an integer ≥ `least` of at most 64 bits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if value >= 2**63:
        raise ParameterError(f"{name} must be a whole number of at most 64 bits, not {value!r}")
    return int(value)


def reals(name: str, values: npt.ArrayLike) -> Floats:
    """A one-dimensional float64 copy of `values`, if all are finite and ≥ 0."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be a list of numbers: {error}") from None
    if array.ndim != 1:
        raise ParameterError(f"{name} must have one dimension, not {array.ndim}")
    wrong = ~((array >= 0) & np.isfinite(array))
    if wrong.any():
        raise ParameterError(f"{name} must be finite and not negative, found {array[wrong][0]}")
    return array


def wholes(name: str, values: npt.ArrayLike) -> Integers:
    """A one-dimensional int64 copy of `values`, if all are whole numbers ≥ 0."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ParameterError(f"{name} must be whole numbers, not {array.dtype}")
    if array.ndim != 1:
        raise ParameterError(f"{name} must have one dimension, not {array.ndim}")
    if array.size and array.min() < 0:
        raise ParameterError(f"{name} must not be negative, found {array.min()}")
    return array.astype(np.int64)


def distribution(name: str, values: npt.ArrayLike) -> Floats:
    """`values` as `reals`, if they sum to 1 within `SUM_TOLERANCE`."""
    array = reals(name, values)
    total = float(array.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise ParameterError(f"{name} must sum to 1, not {total!r}")
    return array


def named(what: str, name: str, choices: Mapping[str, type[Choice]], parameters: Mapping[str, Any]) -> Choice:
    """The dataclass of that name, made with `parameters`; one left None keeps its default, a foreign one is refused."""
    if name not in choices:
        raise ParameterError(f"there is no {what} '{name}'; choose one of {', '.join(choices)}")
    known = {field.name for field in fields(choices[name])}  # type: ignore[arg-type]
    given = {key: value for key, value in parameters.items() if value is not None}
    foreign = sorted(given.keys() - known)
    if foreign:
        takes = ", ".join(sorted(known))
        raise ParameterError(f"{what} '{name}' has no parameter {', '.join(foreign)}; it takes {takes}")
    return choices[name](**given)


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

"""Named vector fields: what their vectors are, and how they are checked, stored and read back.

| type | a number takes | what is stored |
|---|---|---|
| `float32` | 4 bytes | the number |
| `float16` | 2 bytes | the nearest number of 11 bits |
| `int8` | 1 byte and 1 more | c_j = round(x_j/s), s = max_j |x_j|/127; and r_j = round(254·(x_j/s - c_j)), kept apart |

An int8 vector is s·(c + r/254). A search goes through the c alone; the r are read of the few that may be among the
best, so that nothing is lost by it (`rank.vectors`). With `cosine`, vectors are divided by their lengths before they
are stored, so that an inner product is a cosine.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Integers
from germane.errors import InputError, ParameterError

Vectors = npt.NDArray[np.float32]

TYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "float16": np.dtype("<f2"), "int8": np.dtype("|i1")}
"""What the numbers of a field may be."""
SIMILARITIES = ("cosine", "dot")
MAX_DIMENSION = 1 << 14
STEP = 16
"""Stored vectors are padded with zeros to a multiple of this, for the kernels."""
MAX_NAME = 100
LARGEST = {"float32": 1e15, "float16": 65504.0, "int8": 1e15}
"""A number beyond would be lost, or sums of products would."""
LEVELS, REST = 127, 254.0
NO_PARTS = np.empty((0, 0), np.int8), np.empty(0, np.float32)
"""What float32 and float16 lack: the rest, and factors."""


class Stored(NamedTuple):
    """Vectors as they lie in a file: padded rows, and for int8 the rest r of each and its factor s (else none)."""

    values: AnyArray
    rest: npt.NDArray[np.int8]
    scales: Vectors


@dataclass(frozen=True, slots=True)
class VectorField:
    """`dimension` numbers a vector, kept as `dtype`; compared by `similarity`: cosine, or the inner product.

    `source`: the model that makes all vectors of the field, with its fingerprint; empty where callers bring them.
    """

    dimension: int
    dtype: str = "float32"
    similarity: str = "cosine"
    source: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if type(self.dimension) is not int or not 1 <= self.dimension <= MAX_DIMENSION:
            raise ParameterError(f"vectors have from 1 to {MAX_DIMENSION} numbers, not {self.dimension!r}")
        if self.dtype not in TYPES:
            raise ParameterError(f"the numbers of vectors are {', '.join(TYPES)}, not {self.dtype!r}")
        if self.similarity not in SIMILARITIES:
            raise ParameterError(f"vectors are compared by {' or '.join(SIMILARITIES)}, not by {self.similarity!r}")
        if not isinstance(self.source, str):
            raise ParameterError(f"the source of vectors is a text, not {self.source!r}")

    @classmethod
    def of(cls, given: "VectorField | int | str") -> "VectorField":
        """A field as people write it.

        >>> VectorField.of("128:int8")
        VectorField(dimension=128, dtype='int8', similarity='cosine')
        """
        if isinstance(given, VectorField):
            return given
        dimension, *rest = str(given).split(":")
        if not dimension.isdecimal() or len(rest) > 2 or isinstance(given, bool):
            raise ParameterError(
                f"{given!r} is not a vector field: write its dimension, and if need be the type of its numbers and the "
                "similarity: 128, '128:int8' or '128:float32:dot'"
            )
        return cls(int(dimension), *rest)

    @property
    def stride(self) -> int:
        """Numbers of a padded vector."""
        return -(-self.dimension // STEP) * STEP

    # -- from callers ----------------------------------------------------------------------------------------------

    def checked(self, vectors: object, name: str, of: Callable[[int], str]) -> Vectors:
        """Vectors, one a row, as float32 and with `cosine` of length 1; `of` says whose vector row i is.

        What cannot be one is an InputError.
        """
        rows = self._numbers(vectors, name, of)
        with np.errstate(over="ignore"):
            given = np.ascontiguousarray(rows, np.float64)
            wrong = ~(np.abs(given) <= LARGEST[self.dtype]).all(axis=1)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            value = given[row][~(np.abs(given[row]) <= LARGEST[self.dtype])][0]
            raise InputError(f"{of(row)}: the vector holds {value:g}, where finite numbers are needed", field=name)
        if self.similarity == "cosine":
            lengths = np.sqrt(np.einsum("ij,ij->i", given, given))
            if not lengths.all():
                row = int(np.flatnonzero(lengths == 0)[0])
                raise InputError(
                    f"{of(row)}: a vector of zeros has no direction, and the field compares by cosine: leave it out",
                    field=name,
                )
            given = given / lengths[:, None]
        return given.astype(np.float32)

    def _numbers(self, vectors: object, name: str, of: Callable[[int], str]) -> AnyArray:
        try:
            rows = np.asarray(vectors)
        except ValueError:
            rows = np.empty(0, object)
        if rows.ndim != 2 or rows.dtype.kind not in "fiu":
            what = f"an array of shape {rows.shape[1:]}" if rows.dtype.kind in "fiu" else f"{rows.dtype.name} values"
            raise InputError(f"{of(0)}: a vector is a list of numbers, not {what}", field=name)
        if rows.shape[1] != self.dimension:
            raise InputError(
                f"{of(0)}: the vector has {rows.shape[1]} numbers, those of the field have {self.dimension}", field=name
            )
        return rows

    # -- to and from a file ----------------------------------------------------------------------------------------

    def stored(self, vectors: Vectors) -> Stored:
        """Checked vectors as they are kept."""
        values = np.zeros((len(vectors), self.stride), TYPES[self.dtype])
        if self.dtype != "int8":
            values[:, : self.dimension] = vectors
            return Stored(values, *NO_PARTS)
        scales = (np.abs(vectors).max(axis=1, initial=0) / LEVELS).astype(np.float32)
        numbers = vectors / np.where(scales > 0, scales, 1)[:, None].astype(np.float64)
        codes = np.clip(np.rint(numbers), -LEVELS, LEVELS)
        values[:, : self.dimension] = codes
        rest = np.zeros_like(values)
        rest[:, : self.dimension] = np.clip(np.rint(REST * (numbers - codes)), -LEVELS, LEVELS)
        return Stored(values, rest, scales)

    def floats(self, stored: Stored) -> Vectors:
        """Stored vectors as float32, without padding."""
        return (self.numbers(stored) * _factors(stored)).astype(np.float32)

    def numbers(self, stored: Stored) -> Floats:
        """Stored vectors without padding and, of int8, without their factors: c + r/254."""
        numbers = stored.values[:, : self.dimension].astype(np.float64)
        return numbers + stored.rest[:, : self.dimension] / REST if self.dtype == "int8" else numbers

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        told = {"dimension": self.dimension, "dtype": self.dtype, "similarity": self.similarity}
        return told | ({"source": self.source} if self.source else {})

    @classmethod
    def from_dict(cls, parsed: Mapping[str, Any]) -> "VectorField":
        """The same from JSON; ValueError for what is none."""
        return cls(parsed["dimension"], parsed["dtype"], parsed["similarity"], parsed.get("source", ""))


def check_name(name: object) -> str:
    """The name of a field: printable, and not too long."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        raise ParameterError(
            f"{name!r} is not the name of a vector field: a printable text of at most {MAX_NAME} signs"
        )
    return name


def fields_of(given: Mapping[str, VectorField | int | str] | None) -> dict[str, VectorField]:
    """Vector fields by name, as callers declare them."""
    return {check_name(name): VectorField.of(field) for name, field in (given or {}).items()}


def field_named(fields: Mapping[str, VectorField], name: str | None) -> tuple[str, VectorField]:
    """The field of that name; without a name the only one there is."""
    if name is None and len(fields) == 1:
        return next(iter(fields.items()))
    if name is None or name not in fields:
        if not fields:
            raise ParameterError("the index has no vector field: declare one, or give its documents vectors")
        asked = "name a vector field" if name is None else f"the index has no vector field '{name}'"
        raise ParameterError(f"{asked}: it has {', '.join(sorted(fields))}")
    return name, fields[name]


def largest_length(field: VectorField, stored: Stored) -> float:
    """At least the length of the longest of these vectors, of int8 with and without the rest."""
    longest = 0.0
    for numbers in (field.numbers(stored), stored.values.astype(np.float64)):
        squares = np.einsum("ij,ij->i", numbers, numbers) * (_factors(stored)[:, 0] ** 2)
        longest = max(longest, math.sqrt(float(squares.max(initial=0.0))))
    return longest * (1 + 1e-6)


def _factors(stored: Stored) -> Floats:
    """The factor of each vector, 1 but for int8."""
    return stored.scales.astype(np.float64)[:, None] if len(stored.scales) else np.ones((len(stored.values), 1))


class VectorSource(NamedTuple):
    """Vectors that a new file takes: the document of each in the new numbering, its row, and how rows are fetched."""

    docs: Integers
    rows: Integers
    fetch: Callable[[Integers], Stored]


def sorted_blocks(sources: Sequence[VectorSource], size: int) -> "list[tuple[Integers, Integers]]":
    """For each block of `size` vectors in the order of documents: which source each is of, and its place there."""
    docs = np.concatenate([np.empty(0, np.int64), *(source.docs for source in sources)])
    homes = np.repeat(np.arange(len(sources)), [len(source.docs) for source in sources])
    places = np.concatenate([np.empty(0, np.int64), *(np.arange(len(source.docs)) for source in sources)])
    order = np.argsort(docs, kind="stable")
    return [(homes[order[i : i + size]], places[order[i : i + size]]) for i in range(0, len(order), size)]

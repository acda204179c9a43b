"""Tables with padded rows: kernels take them `LANES` numbers at a time, and none lies across cache lines."""

from typing import Any

import numpy as np

from germane.arrays import AnyArray

LANES = 16
"""Numbers at a time: as many singles as AVX-512 takes, and a cache line."""
_LINE = 64


def padded(n: int) -> int:
    """The numbers of a row of n with its padding."""
    return -(-n // LANES) * LANES


def parts_of(table: AnyArray) -> tuple[int, ...]:
    """What tells a kernel's compiler how wide the rows of a wide table are."""
    return (0,) * (int(table.shape[1]) // LANES)


def wide_zeros(n_rows: int, n_columns: int, dtype: Any) -> AnyArray:
    """A table of zeros with padded rows, at the beginning of a cache line."""
    size, width = np.dtype(dtype).itemsize, padded(n_columns)
    raw = np.zeros(n_rows * width + _LINE // size, dtype)
    first = (-raw.ctypes.data // size) % (_LINE // size)
    return raw[first : first + n_rows * width].reshape(n_rows, width)


def widened(table: AnyArray) -> AnyArray:
    """The table with its padding: itself where it is a part of a wide one, else a copy."""
    n_rows, n_columns = table.shape
    width, size = padded(n_columns), table.dtype.itemsize
    raw = table.base
    if (
        isinstance(raw, np.ndarray)
        and raw.shape == (n_rows * width + _LINE // size,)
        and table.strides == (width * size, size)
    ):
        return np.lib.stride_tricks.as_strided(table, (n_rows, width))
    wide = wide_zeros(n_rows, n_columns, table.dtype)
    wide[:, :n_columns] = table
    return wide

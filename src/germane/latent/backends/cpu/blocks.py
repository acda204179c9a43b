"""Rows in blocks, one thread each: blocks depend on the data alone, so that sums have the same bits on any machine."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from germane.lazy import on_first_use

with on_first_use(__name__):
    import numba

MOST = 8
"""Blocks at most: each has sums of its own, which may be large."""
LEAST_ROWS = 16384
"""Rows of a block at least."""
BlockResult = TypeVar("BlockResult")


def in_blocks(n_rows: int, work: Callable[[int, int], BlockResult], least: int = LEAST_ROWS) -> list[BlockResult]:
    """`work(first, last)` for each block of at least `least` rows, side by side; the results in order."""
    n_blocks = min(max(n_rows // max(least, 1), 1), MOST)
    ends = np.linspace(0, n_rows, n_blocks + 1).astype(int).tolist()
    if n_blocks == 1:
        return [work(0, n_rows)]
    with ThreadPoolExecutor(min(numba.get_num_threads(), n_blocks)) as pool:
        return list(pool.map(work, ends[:-1], ends[1:]))

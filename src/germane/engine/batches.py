"""Many searches at once, on all cores."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from germane.lm.parameters import whole

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_order(one: Callable[[Item], Answer], items: Iterable[Item], threads: int | None) -> Iterator[Answer]:
    """Yield the answer to each item in the items' order; `threads`: how many work at once, None: a thread a core."""
    workers = whole("threads", threads, least=1) if threads is not None else os.cpu_count() or 1
    if workers == 1:
        yield from map(one, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, items)

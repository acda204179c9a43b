"""Pages of a source that numbers them."""

from collections.abc import Iterator
from typing import NamedTuple


class PageOf(NamedTuple):
    """A page, from 0, and how many of its records come before the first that is wanted."""

    number: int
    skip: int


def pages(offset: int, k: int, size: int) -> Iterator[PageOf]:
    """The pages of `size` that hold the records from `offset` on.

    >>> list(pages(150, 200, 100))
    [PageOf(number=1, skip=50), PageOf(number=2, skip=0), PageOf(number=3, skip=0)]
    """
    first, last = offset // size, (offset + k - 1) // size
    for number in range(first, last + 1):
        yield PageOf(number, offset % size if number == first else 0)

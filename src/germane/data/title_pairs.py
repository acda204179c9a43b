"""Pairs of records that agree by title, found list by list: what was compared when one came is not when the last does.

For lists of some hundred records each, all pairs are looked at, by years, identifiers and the bits of their titles in
arrays; few are left to be compared word by word. Of long lists `duplicates` finds the pairs by keys instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers, Mask
from germane.data.duplicates import MOST_ERRORS, SIMILARITY, most_lacking
from germane.data.same_work import agree
from germane.data.works import IDENTIFIERS, SIGNATURE_BITS, Work

_SET_BITS = np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


@dataclass(frozen=True, slots=True)
class _List:
    """The records of one list, a row for each."""

    works: Sequence[Work]
    signatures: npt.NDArray[np.uint16]
    """Sixteen bits a column."""
    words: Integers
    years: Floats
    """Not a number where none is known."""
    preprint: Mask
    identified: Mask
    """Which identifiers a record has."""

    @classmethod
    def of(cls, works: Sequence[Work]) -> "_List":
        raw = b"".join(work.signature.to_bytes(SIGNATURE_BITS // 8, "little") for work in works)
        return cls(
            works,
            np.frombuffer(raw, np.uint16).reshape(len(works), SIGNATURE_BITS // 16),
            np.array([len(work.words) for work in works], np.int64),
            np.array([np.nan if work.year is None else work.year for work in works], np.float64),
            np.array([work.preprint for work in works], bool),
            np.array([[bool(getattr(work, name)) for name in IDENTIFIERS] for work in works], bool),
        )


class TitlePairs:
    """Takes lists one by one, in any order; `pairs` has those of all lists in the order that they stand in at last."""

    def __init__(self, similarity: float = SIMILARITY) -> None:
        self._similarity = similarity
        self._lists: dict[int, _List] = {}
        self._pairs: list[tuple[int, int, int, int]] = []

    def add(self, number: int, works: Sequence[Work]) -> None:
        """A list, which stands before those of higher numbers."""
        if not works:
            return
        new = _List.of(works)
        for other, known in self._lists.items():
            first, second = sorted((number, other))
            earlier, later = (new, known) if first == number else (known, new)
            self._compare(first, earlier, second, later)
        self._compare(number, new, number, new)
        self._lists[number] = new

    def pairs(self, starts: Mapping[int, int]) -> list[tuple[int, int]]:
        """The pairs by place, the later record second and in the order of that; `starts`: each list's first place."""
        placed = ((starts[a] + i, starts[b] + j) for a, i, b, j in self._pairs)
        return sorted(placed, key=lambda pair: (pair[1], pair[0]))

    def _compare(self, first: int, earlier: _List, second: int, later: _List) -> None:
        """Keep the pairs of two lists (or of one) whose titles agree. Records that have identifiers of the same kind
        are not compared: these say already whether it is one work.
        """
        open_ = (earlier.words[:, None] > 0) & (later.words[None, :] > 0)
        for kind in range(len(IDENTIFIERS)):
            open_ &= ~(earlier.identified[:, None, kind] & later.identified[None, :, kind])
        open_ &= earlier.preprint[:, None] == later.preprint[None, :]
        open_ &= ~(np.abs(earlier.years[:, None] - later.years[None, :]) > 1)
        if first == second:
            open_ = np.triu(open_, 1)
        rows, columns = np.nonzero(open_)
        mine, theirs = earlier.signatures[rows], later.signatures[columns]
        n = later.words[columns]
        alone = np.where((n <= earlier.words[rows])[:, None], theirs & ~mine, mine & ~theirs)
        lacks = _SET_BITS[alone].sum(axis=1)
        near = (lacks <= MOST_ERRORS) | (lacks <= most_lacking(n, self._similarity))
        for i, j in zip(rows[near].tolist(), columns[near].tolist(), strict=True):
            one, other = earlier.works[i], later.works[j]
            if one.words != other.words and agree(one, other, self._similarity):
                self._pairs.append((first, i, second, j))

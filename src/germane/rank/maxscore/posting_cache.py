"""Posting lists that are kept unpacked in memory, so that a query's terms are only unpacked once.

A posting takes three bytes, or four where a saturation or a ratio is kept beside the count; a few are kept twice. Lists
are never dropped one by one: when there is no more room those that are there stay, while they serve every second query;
else all are forgotten, and those in use come back. Where they are not kept, in small segments and where there is no
room, a query's lists are unpacked for it alone.
"""

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Integers
from germane.index.blocks import BLOCK
from germane.index.heap import memory_limit
from germane.index.segment import Segment
from germane.lazy import LazyModule
from germane.lm.parameters import whole
from germane.rank.kinds import COUNT, LOG_SIZE_RATIO, SATURATION, SIZED
from germane.rank.maxscore.records import CHUNK, CODES, FREQUENT, LANES, MANTISSA_BITS, PEAKS, Decoded, Lists
from germane.rank.plan import Plan

if TYPE_CHECKING:
    from germane.rank.maxscore import decoding_kernels
else:
    decoding_kernels = LazyModule("germane.rank.maxscore.decoding_kernels")

LEAST_DOCS = 1024
"""The lists of a smaller segment are not worth keeping."""
MOST_TERMS = 2000
"""Sums of more terms may not fit 16 bits."""
NOWHERE = 1 << 62
_new = tuple.__new__
NO_ROWS = np.empty(0, np.int64)
PATIENCE = 64
"""So many queries at least before the lists that are kept are given up for others."""
MOST_CODINGS = 8
"""Of a segment's lists that are kept. The first makes room for one that is asked for often."""
TOLERANCE = 1.02
"""Saturations are kept while lengths weigh the same but for this factor: the average length moves as documents come."""
USUAL_COUNT = 1024
"""The classes of ratios end with that of a document in which nothing but one word is said so often."""


class Coding(NamedTuple):
    """What is kept of a posting beside its count, as a number of one byte.

    Of `kind` SATURATION c/(c + x0 + x1·size), in equal parts of 1; of LOG_SIZE_RATIO the class of (c - delta)/(x0 +
    x1·size), `lowest` being the first of 256 (`decoding_kernels.ratio_class`); of COUNT nothing.
    """

    kind: int
    delta: float
    x0: float
    x1: float
    lowest: int
    by_unique: bool

    @classmethod
    def of(cls, plan: Plan) -> "Coding":
        if plan.kind == SATURATION:
            return _new(cls, (SATURATION, 0.0, plan.x0, plan.x1, 0, plan.sized_by_unique))
        if plan.kind == LOG_SIZE_RATIO:
            lowest = _lowest_class(plan.x0, plan.x1)
            return _new(cls, (LOG_SIZE_RATIO, plan.delta, plan.x0, plan.x1, lowest, plan.sized_by_unique))
        return COUNTS_ALONE

    @property
    def is_sized(self) -> bool:
        """Whether it is kept apart from the counts."""
        return self.kind in SIZED

    @lru_cache(maxsize=16)  # noqa: B019 - tuples of numbers, few of them
    def inflation(self, other: "Coding") -> float:
        """A factor that makes what was kept for the other a bound for this one, and the other way round."""
        if self.kind != SATURATION or other.kind != SATURATION or self.by_unique != other.by_unique:
            return float("inf")
        pairs = [(self.x0, other.x0), (self.x1, other.x1)]
        if any((a == 0.0) != (b == 0.0) for a, b in pairs):
            return float("inf")
        return max(max(a / b, b / a) for a, b in pairs if a > 0.0)


@lru_cache(maxsize=16)
def _lowest_class(x0: float, x1: float) -> int:
    """The first of as many classes of ratios as there are codes."""
    largest = np.array([USUAL_COUNT / (x0 + x1 * USUAL_COUNT)])
    return max(-int(-largest.view(np.int64)[0] >> MANTISSA_BITS) - (CODES - 1), 0)


COUNTS_ALONE = Coding(COUNT, 0.0, 0.0, 0.0, 0, False)


class DecodedLists:
    """Lists of one segment, unpacked when they are first asked for. `room_for`: of these terms alone, to be searched
    once: they have no peaks and no second form."""

    def __init__(self, segment: Segment, coding: Coding, room_for: Integers | None = None) -> None:
        self.coding, self._n_docs, self._once = coding, segment.n_docs, room_for is not None
        df, cf = (segment.df, segment.cf) if room_for is None else (segment.df[room_for], segment.cf[room_for])
        postings, n_lists = int(df.sum()), len(df)
        chunks, words = -(-segment.n_docs // CHUNK), -(-segment.n_docs // LANES)
        n_frequent = int(self._are_frequent(df).sum())
        room = postings + (postings // PEAKS if room_for is None else 0)
        extras = np.empty(room + 1, np.uint8)  # memory is only taken where it is written
        self.decoded = Decoded(
            docs=np.empty(room + LANES, np.uint16),  # so many are looked at together, the last ones too
            extras=extras,
            codes=np.empty(room + 1, np.uint8) if coding.is_sized else extras,
            begins=np.empty((n_lists, chunks + 1), np.int64),
            peaks=np.empty((n_lists, chunks + 1), np.int64),
            cuts=np.empty(n_lists, np.uint8),
            least=np.empty(n_lists, np.uint8),
            tops=np.empty((n_lists, chunks + 1), np.uint8),
            most=np.empty(n_lists, np.int64),
            large=np.full((int(np.minimum(cf // CODES, df).sum()) + 1, 2), NOWHERE, np.int64),
            frequent=np.full(n_lists, -1, np.int64),
            classes=np.zeros((n_frequent, LANES // 2 * words), np.uint8),
            widths=np.zeros(n_frequent, np.int64),
            held=np.zeros((n_frequent, words, 2), np.uint64),
        )
        self.arrays: tuple[AnyArray, ...] = tuple(self.decoded)
        self._n_frequent = 0
        self.row_of = np.full(segment.n_terms, -1, np.int64) if room_for is None else NO_ROWS
        self._state = np.zeros(3, np.int64)
        self.a_posting, self.a_list = 4 if coding.is_sized else 3, 17 * (chunks + 1) + 18
        self.a_frequent = words * (LANES // 2 + 16)

    @property
    def bytes(self) -> int:
        """The memory that is taken."""
        rows, postings, _ = self._state.tolist()
        taken = postings * self.a_posting + rows * self.a_list + self._n_frequent * self.a_frequent
        return int(taken + self.row_of.nbytes + self.decoded.large.nbytes)

    def bytes_of(self, df: Integers) -> int:
        """The memory that lists of these lengths take."""
        frequent = int(self._are_frequent(df).sum())
        return int(df.sum() + df.sum() // PEAKS) * self.a_posting + len(df) * self.a_list + frequent * self.a_frequent

    def add(self, segment: Segment, numbers: Integers) -> Integers:
        """Unpack lists that are not there yet; their rows."""
        size = segment.n_unique if self.coding.by_unique else segment.doc_len
        lists, begin = Lists(segment.first_block, segment.df), int(self._state[0])
        block = np.empty((4, max(BLOCK, CODES)), np.uint32)
        groups = tuple(map(float, self.coding)), numbers, self._state, not self._once, self.arrays, block
        decoding_kernels.fill(*segment.blocks, tuple(lists), size, *groups)
        rows = np.arange(begin, begin + len(numbers))
        frequent = rows[self._are_frequent(segment.df[numbers])]
        if len(frequent):
            decoding_kernels.spread(self.arrays, frequent, self._n_frequent)
            self._n_frequent += len(frequent)
        return rows

    def _are_frequent(self, df: Integers) -> npt.NDArray[np.bool_]:
        if self._once:
            return np.zeros(len(df), np.bool_)
        among: npt.NDArray[np.bool_] = df * FREQUENT >= self._n_docs
        return among


class FoundLists(NamedTuple):
    """The rows of a query's lists, by which factor kept saturations may be too small or too large, and the first class
    of ratios."""

    decoded: tuple[AnyArray, ...]
    rows: Integers
    inflation: float
    lowest: int


def usual_megabytes(processes: int = 1) -> int:
    """What each of so many processes takes for decoded lists: together a sixteenth of what the machine or the container
    has, each from 256 MB to 4 GB."""
    return min(max((memory_limit() >> 20) // 16 // processes, 256), 4096)


def keep_decoded(megabytes: int) -> None:
    """How much memory the process may take for decoded lists, instead of `usual_megabytes`; 0: none are kept."""
    global _room
    whole("megabytes", megabytes, least=0)
    with _lock:
        _room = megabytes << 20
        _forget_all()


class Use:
    """How many of the last queries found all their lists unpacked."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.asked = self.served = 0

    def note(self, served: bool) -> None:
        self.asked += 1
        self.served += served
        if self.asked >= 4 * PATIENCE:
            self.asked, self.served = self.asked // 2, self.served // 2

    @property
    def is_poor(self) -> bool:
        """Whether, of enough queries, fewer than half did."""
        return self.asked >= PATIENCE and 2 * self.served < self.asked


_keeping: "WeakSet[Segment]" = WeakSet()
"""The segments that keep lists, each with its own."""
_use = Use()
_lock = threading.Lock()
_room = usual_megabytes() << 20


def decoded_lists(segment: Segment, plan: Plan, numbers: Integers) -> FoundLists | None:
    """The lists of terms, unpacked, and kept where there is room; None if they are too many."""
    if len(numbers) > MOST_TERMS:
        return None
    coding = Coding.of(plan)
    if segment.n_docs >= LEAST_DOCS and _room > 0:
        with _lock:
            found = _kept(segment, coding, numbers)
        if found is not None:
            return found
    lists = DecodedLists(segment, coding, numbers)
    return FoundLists(lists.arrays, lists.add(segment, numbers), 1.0, coding.lowest)


def _kept(segment: Segment, coding: Coding, numbers: Integers) -> FoundLists | None:
    """The lists of terms, kept from now on; None where there is no room. `_lock` is held."""
    kept: list[DecodedLists] = segment.kept
    for lists in kept:
        inflation = 1.0 if lists.coding == coding else coding.inflation(lists.coding)
        if inflation <= TOLERANCE:
            break
    else:
        if len(kept) == MOST_CODINGS:
            _use.note(served=False)
            if not _use.is_poor:
                return None
            _use.forget()
            del kept[0]
        try:
            lists, inflation = DecodedLists(segment, coding), 1.0
        except MemoryError:  # the tables of a huge segment alone
            return None
        kept.append(lists)
        _keeping.add(segment)
    rows = lists.row_of[numbers]
    served = -1 not in rows.tolist()
    _use.note(served)
    if not served:
        missing = numbers[rows < 0]
        wanted = lists.bytes_of(segment.df[missing])
        if sum(own.bytes for keeping in _keeping for own in keeping.kept) + wanted > _room:
            if _use.is_poor:
                _forget_all()
                _use.forget()
            return None
        try:
            lists.row_of[missing] = lists.add(segment, missing)
        except BaseException:  # whatever was left half done is not to be added to
            kept.remove(lists)
            raise
        rows = lists.row_of[numbers]
    return _new(FoundLists, (lists.arrays, rows, inflation, coding.lowest))


def _forget_all() -> None:
    """Keep no lists any more; `_lock` is held."""
    for segment in _keeping:
        segment.kept.clear()
    _keeping.clear()

"""Posting lists that are kept unpacked in memory, so that a query's terms are only unpacked once.

A posting takes three bytes, or four where saturations are kept beside the counts; a few are kept twice. Lists are never
dropped one by one: when there is no more room those that are there stay, while they serve every second query; else all
are forgotten, and those in use come back. Unpacking takes longer than a search, so that lists must not come and go with
each query.
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
from germane.rank.kinds import BY_COUNT, SATURATION
from germane.rank.plan import Plan
from germane.rank.records import CHUNK, CODES, FREQUENT, LANES, PEAKS, Decoded, Lists

if TYPE_CHECKING:
    from germane.rank import decoding_kernels
else:
    decoding_kernels = LazyModule("germane.rank.decoding_kernels")

LEAST_DOCS = 1024
"""The lists of a smaller segment are not worth keeping."""
MOST_TERMS = 2000
"""Sums of more terms may not fit 16 bits."""
NOWHERE = 1 << 62
_new = tuple.__new__
PATIENCE = 64
"""So many queries at least before the lists that are kept are given up for others."""
TOLERANCE = 1.02
"""Saturations are kept while lengths weigh the same but for this factor: the average length moves as documents come."""


class Coding(NamedTuple):
    """What is kept of a posting beside its count: c/(c + x0 + x1·size), or nothing (x0 < 0)."""

    by_unique: bool
    x0: float
    x1: float

    @classmethod
    def of(cls, plan: Plan) -> "Coding":
        return _new(cls, (plan.sized_by_unique, plan.x0, plan.x1)) if plan.kind == SATURATION else COUNTS_ALONE

    @lru_cache(maxsize=16)  # noqa: B019 - tuples of numbers, few of them
    def inflation(self, other: "Coding") -> float:
        """A factor that makes what was kept for the other a bound for this one, and the other way round."""
        if self.by_unique != other.by_unique or min(self.x0, other.x0) < 0.0:
            return float("inf")
        pairs = [(self.x0, other.x0), (self.x1, other.x1)]
        if any((a == 0.0) != (b == 0.0) for a, b in pairs):
            return float("inf")
        return max(max(a / b, b / a) for a, b in pairs if a > 0.0)


COUNTS_ALONE = Coding(False, -1.0, 0.0)


class DecodedLists:
    """Lists of one segment, unpacked when they are first asked for."""

    def __init__(self, segment: Segment, coding: Coding) -> None:
        self.coding, self._n_docs = coding, segment.n_docs
        postings = int(segment.df.sum())
        chunks, sized = -(-segment.n_docs // CHUNK), coding.x0 >= 0.0
        n_frequent, words = int(self._are_frequent(segment.df).sum()), -(-segment.n_docs // LANES)
        room = postings + postings // PEAKS
        extras = np.empty(room + 1, np.uint8)  # memory is only taken where it is written
        self.decoded = Decoded(
            np.empty(room + LANES, np.uint16),  # so many are looked at together, the last ones too
            extras,
            np.empty(room + 1, np.uint8) if sized else extras,
            np.empty((segment.n_terms, chunks + 1), np.int64),
            np.empty((segment.n_terms, chunks + 1), np.int64),
            np.empty(segment.n_terms, np.uint8),
            np.empty((segment.n_terms, chunks + 1), np.uint8),
            np.empty(segment.n_terms, np.int64),
            np.full((min(segment.n_tokens // CODES, postings) + 1, 2), NOWHERE, np.int64),
            np.full(segment.n_terms, -1, np.int64),
            np.zeros((n_frequent, LANES // 2 * words), np.uint8),
            np.zeros((n_frequent, 2), np.int64),
            np.zeros((n_frequent, words, 2), np.uint64),
        )
        self.arrays: tuple[AnyArray, ...] = tuple(self.decoded)
        self._n_frequent = 0
        self.row_of = np.full(segment.n_terms, -1, np.int64)
        self._state = np.zeros(3, np.int64)
        self.a_posting, self.a_list = 4 if sized else 3, 17 * (chunks + 1) + 25
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

    def add(self, segment: Segment, numbers: Integers) -> None:
        """Unpack lists that are not there yet."""
        size = segment.n_unique if self.coding.by_unique else segment.doc_len
        lists, coding, begin = Lists(segment.first_block, segment.df), self.coding, int(self._state[0])
        block = np.empty((3, max(BLOCK, CODES)), np.uint32)
        groups = self._state, self.arrays, block
        decoding_kernels.fill(*segment.blocks, tuple(lists), size, coding.x0, coding.x1, numbers, *groups)
        rows = np.arange(begin, begin + len(numbers))
        frequent = rows[self._are_frequent(segment.df[numbers])]
        if len(frequent):
            decoding_kernels.spread(self.arrays, frequent, self._n_frequent)
            self._n_frequent += len(frequent)
        self.row_of[numbers] = rows

    def _are_frequent(self, df: Integers) -> npt.NDArray[np.bool_]:
        among: npt.NDArray[np.bool_] = df * FREQUENT >= self._n_docs
        return among


class Found(NamedTuple):
    """The rows of a query's lists, and by which factor kept saturations may be too small or too large."""

    decoded: tuple[AnyArray, ...]
    rows: Integers
    inflation: float


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


def decoded_lists(segment: Segment, plan: Plan, numbers: Integers) -> Found | None:
    """The lists of terms, unpacked; None where they are not kept: there is no room, or no code for their impacts."""
    if segment.n_docs < LEAST_DOCS or len(numbers) > MOST_TERMS or _room == 0:
        return None
    if plan.kind != SATURATION and plan.kind not in BY_COUNT:
        return None
    coding = Coding.of(plan)
    with _lock:
        kept: list[DecodedLists] = segment.kept
        for lists in kept:
            inflation = 1.0 if lists.coding == coding else coding.inflation(lists.coding)
            if inflation <= TOLERANCE:
                break
        else:
            kept[:] = [lists for lists in kept if (lists.coding.x0 < 0.0) != (coding.x0 < 0.0)]
            try:
                lists, inflation = DecodedLists(segment, coding), 1.0
            except MemoryError:  # the tables of a huge segment alone: its lists are read as they are packed
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
                lists.add(segment, missing)
            except BaseException:  # whatever was left half done is not to be added to
                kept.remove(lists)
                raise
            rows = lists.row_of[numbers]
        return _new(Found, (lists.arrays, rows, inflation))


def _forget_all() -> None:
    """Keep no lists any more; `_lock` is held."""
    for segment in _keeping:
        segment.kept.clear()
    _keeping.clear()

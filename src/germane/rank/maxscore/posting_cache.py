"""Posting lists that are kept decoded in memory: a list is decoded when it is first asked for.

A posting takes three bytes, or four where a saturation or a ratio is kept beside the count. Eviction clears the whole
cache. Lists of small segments, and where there is no room, are decoded for one query alone.
"""

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from germane.arrays import AnyArray, Integers
from germane.index.blocks import BLOCK
from germane.index.heap import memory_limit
from germane.index.segment import Segment
from germane.lazy import LazyModule
from germane.lm.parameters import whole
from germane.rank.kinds import COUNT, LOG_SIZE_RATIO, SATURATION, SIZED
from germane.rank.maxscore.records import CHUNK, CODES, LANES, MANTISSA_BITS, Decoded
from germane.rank.plan import Plan

if TYPE_CHECKING:
    from germane.rank.maxscore import decoding_kernels
else:
    decoding_kernels = LazyModule("germane.rank.maxscore.decoding_kernels")

LEAST_DOCS = 1024
"""The lists of a smaller segment are not worth keeping."""
MOST_CODINGS = 8
"""Codings of a segment's lists that are kept; the first makes room for another."""
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
        """The coding of a plan's impacts."""
        if plan.kind == SATURATION:
            return cls(SATURATION, 0.0, plan.x0, plan.x1, 0, plan.sized_by_unique)
        if plan.kind == LOG_SIZE_RATIO:
            return cls(plan.kind, plan.delta, plan.x0, plan.x1, _lowest_class(plan.x0, plan.x1), plan.sized_by_unique)
        return COUNTS_ALONE

    @lru_cache(maxsize=16)  # noqa: B019 - tuples of numbers, few of them
    def inflation(self, other: "Coding") -> float:
        """A factor that makes what was kept for the other a bound for this one, and the other way round."""
        if self == other:
            return 1.0
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
    """Lists of one segment, decoded when they are first asked for; with `only`, of these terms alone."""

    def __init__(self, segment: Segment, coding: Coding, only: Integers | None = None) -> None:
        self.coding = coding
        n_lists = segment.n_terms if only is None else len(only)
        postings, tokens = segment.n_postings, segment.n_tokens
        if only is not None:
            postings, tokens = int(segment.df[only].sum()), int(segment.cf[only].sum())
        chunks, sized = -(-segment.n_docs // CHUNK), coding.kind in SIZED
        extras = np.empty(postings + 1, np.uint8)  # memory is only taken where it is written
        self.decoded = Decoded(
            docs=np.empty(postings + LANES, np.uint16),  # LANES are looked at together, the last ones too
            extras=extras,
            codes=np.empty(postings + 1, np.uint8) if sized else extras,
            begins=np.empty((n_lists, chunks + 1), np.int64),
            least=np.empty(n_lists, np.uint8),
            tops=np.empty((n_lists, chunks + 1), np.uint8),
            most=np.empty(n_lists, np.int64),
            large=np.zeros((min(tokens // CODES, postings) + 2, 2), np.int64),
        )
        self.arrays: tuple[AnyArray, ...] = tuple(self.decoded)
        self.row_of = np.zeros(segment.n_terms if only is None else 0, np.int64)
        """By term the row of its list, plus 1; 0: it is not there."""
        self._state = np.zeros(3, np.int64)
        self._a_posting, self._a_list = 4 if sized else 3, 9 * (chunks + 1) + 9

    @property
    def bytes(self) -> int:
        """The memory that is taken."""
        rows, postings, _ = self._state.tolist()
        return int(postings * self._a_posting + rows * self._a_list)

    def bytes_of(self, df: Integers) -> int:
        """The memory that lists of these lengths take."""
        return int(df.sum()) * self._a_posting + len(df) * self._a_list

    def add(self, segment: Segment, numbers: Integers) -> Integers:
        """Decode lists that are not there yet; return their rows."""
        size = segment.n_unique if self.coding.by_unique else segment.doc_len
        begin, block = int(self._state[0]), np.empty((4, BLOCK), np.uint32)
        lists = segment.first_block, segment.df
        given = size, tuple(map(float, self.coding)), numbers, self._state, self.arrays, block
        decoding_kernels.decode(*segment.blocks, *lists, *given)
        return np.arange(begin, begin + len(numbers))


class Postings(NamedTuple):
    """The rows of a query's lists; `inflation`: by which factor saturations may be too small or too large; `lowest`:
    the first class of ratios."""

    decoded: tuple[AnyArray, ...]
    rows: Integers
    inflation: float
    lowest: int


class PostingCache:
    """The decoded lists of some segments. Safe to use from many threads."""

    def __init__(self) -> None:
        self.kept: WeakKeyDictionary[Segment, list[DecodedLists]] = WeakKeyDictionary()
        with _lock:
            _caches.add(self)

    def postings(self, segment: Segment, plan: Plan, numbers: Integers) -> Postings:
        """The lists of the plan's terms with these numbers, which were verified; kept where there is room."""
        coding = Coding.of(plan)
        if segment.n_docs >= LEAST_DOCS and _room > 0:
            with _lock:
                found = self._keep(segment, coding, numbers)
            if found is not None:
                return found
        lists = DecodedLists(segment, coding, numbers)
        return Postings(lists.arrays, lists.add(segment, numbers), 1.0, coding.lowest)

    def _keep(self, segment: Segment, coding: Coding, numbers: Integers) -> Postings | None:
        """Keep lists from now on; None where there is no room. `_lock` is held."""
        kept = self.kept.setdefault(segment, [])
        for lists in kept:
            inflation = coding.inflation(lists.coding)
            if inflation <= TOLERANCE:
                break
        else:
            del kept[: max(len(kept) + 1 - MOST_CODINGS, 0)]
            try:
                lists, inflation = DecodedLists(segment, coding), 1.0
            except MemoryError:  # the tables of a huge segment alone
                return None
            kept.append(lists)
        rows = lists.row_of[numbers] - 1
        if -1 in rows.tolist():
            missing = numbers[rows < 0]
            n_bytes = lists.bytes_of(segment.df[missing])
            if not _take(n_bytes):
                return None
            try:
                lists.row_of[missing] = lists.add(segment, missing) + 1
            except BaseException:  # whatever was left half done is not to be added to
                kept.remove(lists)
                raise
            rows = lists.row_of[numbers] - 1
        return Postings(lists.arrays, rows, inflation, coding.lowest)

    def _bytes(self) -> int:
        return sum(lists.bytes for kept in self.kept.values() for lists in kept)


_caches: "WeakSet[PostingCache]" = WeakSet()
_lock = threading.Lock()
_taken = 0
"""Bytes that lists have taken since they were last counted."""


def usual_megabytes(processes: int = 1) -> int:
    """What each of so many processes takes for decoded lists: together a sixteenth of what the machine or the container
    has, each from 256 MB to 4 GB."""
    return min(max((memory_limit() >> 20) // 16 // processes, 256), 4096)


_room = usual_megabytes() << 20


def keep_decoded(megabytes: int) -> None:
    """How much memory the process may take for decoded lists, instead of `usual_megabytes`; 0: none are kept."""
    global _room
    whole("megabytes", megabytes, least=0)
    with _lock:
        _room = megabytes << 20
        _forget_all()


def _take(n_bytes: int) -> bool:
    """Whether there is room for so many bytes more; if not, everything is evicted, unless they would never fit.

    `_lock` is held.
    """
    global _taken
    if n_bytes > _room:
        return False
    if _taken + n_bytes > _room:
        _taken = sum(map(PostingCache._bytes, _caches))  # segments and snapshots come and go
    if _taken + n_bytes > _room:
        _forget_all()
        return False
    _taken += n_bytes
    return True


def _forget_all() -> None:
    """Evict everything; `_lock` is held."""
    global _taken
    _taken = 0
    for cache in _caches:
        cache.kept.clear()

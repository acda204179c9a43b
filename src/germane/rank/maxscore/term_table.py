"""The terms that queries asked for, remembered: a term is looked up once, and queries repeat their words.

What the large segments of a snapshot say of them stays while documents are added; what a ranking makes of that is
computed anew for each query, by a kernel, since every commit changes it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from operator import gt
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.recent import NO_LISTS, TermNumbers
from germane.index.snapshot import Snapshot, same
from germane.lazy import LazyModule
from germane.rank.models.base import TermwiseModel
from germane.rank.plan import Collection, Plan, QueryTerm, checked, query_term

if TYPE_CHECKING:
    from germane.rank.maxscore import plan_kernels
else:
    plan_kernels = LazyModule("germane.rank.maxscore.plan_kernels")

FIRST_ROOM, MOST_ROOM = 256, 1 << 16
"""Terms for which there is room at first, and at most: then all are forgotten."""
NUMBERS = frozenset({float, int})
NONE_ASKED = np.empty(0, np.int32)
NOWHERE = 1 << 62
"""The number of a term among recent documents where there are none."""


class NumberedWeights(Mapping[str, float]):
    """A query by its terms' numbers in the only segment, which ascend as the terms do, and their weights above 0.

    The terms themselves are made when somebody asks for them: a search does not.
    """

    def __init__(self, numbers: Integers, weights: Floats, terms: Callable[[], list[str]]) -> None:
        self.numbers, self.weights, self._terms = numbers, weights, terms

    @cached_property
    def _by_term(self) -> dict[str, float]:
        return dict(zip(self._terms(), self.weights.tolist(), strict=True))

    def __repr__(self) -> str:
        return repr(self._by_term)

    def __reduce__(self) -> tuple[type[dict[str, float]], tuple[dict[str, float]]]:
        return dict, (self._by_term,)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_term)

    def __getitem__(self, term: str) -> float:
        return self._by_term[term]


class Numbered(NamedTuple):
    """A plan and, for each large segment (`Snapshot.large`), the numbers of its terms there, -1 where one is not held;
    in the last row those among the recent documents."""

    plan: Plan
    numbers: Integers


class WeighedTerms(Sequence[QueryTerm]):
    """The terms of a plan, made when somebody asks for them: a search does not.

    `told`: for each in its order its place in the query, df and cf.
    """

    def __init__(self, weights: Mapping[str, float], told: Integers) -> None:
        self.weights, self._told = weights, told

    @cached_property
    def _in_turn(self) -> list[tuple[str, float]]:
        return [*self.weights.items()]

    def __len__(self) -> int:
        return len(self._told[0])

    @overload
    def __getitem__(self, i: int) -> QueryTerm: ...

    @overload
    def __getitem__(self, i: slice) -> Sequence[QueryTerm]: ...

    def __getitem__(self, i: int | slice) -> QueryTerm | Sequence[QueryTerm]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        place, df, cf = self._told[:3, i].tolist()
        term, weight = self._in_turn[place]
        return query_term((term, float(weight), df, cf))


class _Cells(NamedTuple):
    """`places`: by term where its row lies in `rows`: df and cf in the large segments, its number in each, and among
    recent documents. What lies there does not change. `by_number`: the same places by the terms' numbers in the only
    segment, -1 for those not asked for yet; empty, where there are several."""

    places: dict[str, int]
    rows: Integers
    by_number: npt.NDArray[np.int32]


class KnownTerms:
    """The terms so far, as all snapshots have them that share the large segments and add to the same recent documents.

    Safe to use from many threads.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._large = [live._replace(vectors={}) for live in snapshot.chosen(snapshot.large)]  # whose files are let go
        self._recent = _numbers_among_recent(snapshot)
        self._only = snapshot.segments[0].segment if len(snapshot.segments) == 1 else None
        self._lock = threading.Lock()
        self.cells, self._taken = self._empty(FIRST_ROOM), 0

    def shares_large(self, snapshot: Snapshot) -> bool:
        """Whether that snapshot has the same large segments."""
        return same(self._large, snapshot.chosen(snapshot.large))

    def serve(self, snapshot: Snapshot) -> bool:
        """Whether what is known here holds for that snapshot too."""
        return self.shares_large(snapshot) and self._recent is _numbers_among_recent(snapshot)

    def with_terms(self, terms: Sequence[str]) -> _Cells:
        """What is known then, these terms among it, which some document holds."""
        rows: dict[str, tuple[int, ...]] = {}
        while True:
            missing = [term for term in terms if term not in self.cells.places and term not in rows]
            rows.update(zip(missing, self._rows(missing), strict=True))  # takes time, or fails: nothing is changed yet
            with self._lock:
                known = self.cells
                fresh = [term for term in terms if term not in known.places]
                if rows.keys() >= set(fresh) and self._make_room(len(fresh)):
                    self._fill(fresh, rows)
                    return self.cells

    def _make_room(self, n: int) -> bool:
        """Whether there is room for so many terms more, made if need be; if not, all are forgotten."""
        known, room = self.cells, len(self.cells.rows)
        if self._taken and self._taken + n > MOST_ROOM:
            self.cells, self._taken = self._empty(FIRST_ROOM), 0
            return False
        if self._taken + n > room:
            copy = self._empty(max(2 * room, self._taken + n))  # who reads the other goes on with it
            copy.rows[:room] = known.rows
            self.cells = copy._replace(places=known.places.copy(), by_number=known.by_number.copy())
        return True

    def _fill(self, fresh: Sequence[str], rows: Mapping[str, tuple[int, ...]]) -> None:
        """Give these terms the next cells."""
        known, n = self.cells, self._taken
        if self._only is not None and not len(known.by_number):
            known = known._replace(by_number=np.full(self._only.n_terms, -1, np.int32))
            places = [*known.places.values()]
            known.by_number[known.rows[places, 2]] = places
        self._taken = n + len(fresh)  # before they are filled: whatever comes between, no place is given twice
        for place, term in enumerate(fresh, n):
            known.rows[place] = rows[term]
            known.places[term] = place
            if self._only is not None:
                known.by_number[rows[term][2]] = place
        self.cells = known

    def _rows(self, terms: list[str]) -> Iterator[tuple[int, ...]]:
        """The rows of terms, whose lists are verified then."""
        numbers = [live.segment.numbers_of(terms) for live in self._large]
        for live, own in zip(self._large, numbers, strict=True):
            live.segment.verify_lists(own)
        numbers.append([NOWHERE] * len(terms) if self._recent is None else self._recent.of(terms))
        counts = np.zeros((2, len(terms)), np.int64)
        for live, places in zip(self._large, np.array(numbers[: len(self._large)], np.int64), strict=True):
            counts[:, places >= 0] += live.frequencies_of(places[places >= 0])
        yield from zip(*counts.tolist(), *numbers, strict=True)

    def _empty(self, room: int) -> _Cells:
        return _Cells({}, np.empty((room, 3 + len(self._large)), np.int64), NONE_ASKED)


def _numbers_among_recent(snapshot: Snapshot) -> TermNumbers | None:
    return None if snapshot.recent is None else snapshot.recent.terms


class TermTable:
    """The terms of one snapshot as one model sees them. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot, known: KnownTerms, model: TermwiseModel, collection: Collection) -> None:
        self._snapshot, self._known = snapshot, known
        self._frame, self._formula = model.frame(collection), np.array(model.formula(collection), np.float64)
        self._recent = NO_LISTS if snapshot.recent is None else snapshot.recent.live

    def plan(self, weights: Mapping[str, float]) -> Numbered | None:
        """The work of a query; None if the collection holds none of its terms. The lists of its terms are verified."""
        found = self._arranged(self._known.cells, weights) if weights else None
        if found is None:
            weights = checked(weights)
            held = zip(weights.items(), self._snapshot.term_stats(weights), strict=True)
            weights = {term: weight for (term, weight), (df, _) in held if df > 0 and weight > 0.0}
            if not weights:
                return None  # all weigh nothing, or none is known
            found = self._arranged(self._known.with_terms([*weights]), weights)
            assert found is not None
        return found

    def _arranged(self, known: _Cells, weights: Mapping[str, float]) -> Numbered | None:
        """The same; None if one of the terms is not known or not held, or weighs nothing."""
        n = len(weights)
        if type(weights) is NumberedWeights:  # `isinstance` of an abstract class takes a tenth of a plan
            if not len(known.by_number):
                return None
            asked = np.array((known.by_number[weights.numbers], weights.weights), np.float64)
            if -1.0 in asked[0].tolist():
                return None
        else:
            weights = dict(weights)
            values = weights.values()
            if not NUMBERS.issuperset(map(type, values)):
                return None
            try:
                asked = np.fromiter(chain(map(known.places.__getitem__, weights), values), np.float64, 2 * n)
            except (KeyError, OverflowError):  # a whole number beyond all floats
                return None
            asked = asked.reshape(2, n)
        weight, scale, own = np.empty(n), np.empty(n), np.empty((1 + known.rows.shape[1], n), np.int64)
        ties, mass, constant = plan_kernels.arrange(known.rows, self._recent, asked, self._formula, weight, scale, own)
        if ties:
            if ties < 0:
                return None
            if type(weights) is dict and any(map(gt, weights, islice(weights, 1, None))):
                return self._arranged(known, dict(sorted(weights.items())))  # terms decide where places do not
        plan = self._frame.of(WeighedTerms(weights, own), weight, scale, mass, constant)
        return Numbered(plan, own[3:])

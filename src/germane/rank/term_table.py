"""What a ranking says of the terms of a snapshot, remembered: a term is looked up once, and queries repeat their words.

The numbers of the terms lie in a table too, so that a query of many words is planned at once.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import gt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.snapshot import Snapshot
from germane.lazy import LazyModule, compiler_is_loaded
from germane.rank.models import TermwiseModel
from germane.rank.plan import MAX_WEIGHT, Collection, Columns, Plan, QueryTerm, checked, query_term, weighed

if TYPE_CHECKING:
    from germane.rank import plan_kernels
else:
    plan_kernels = LazyModule("germane.rank.plan_kernels")

MANY = 17
"""So many terms are planned faster by the table."""
FIRST_ROOM, MOST_ROOM = 256, 1 << 16
"""Terms for which there is room at first, and at most: then all are forgotten."""
NUMBERS = frozenset({float, int})
NONE_ASKED = np.empty(0, np.int32)


NumberedRow: TypeAlias = tuple[float, QueryTerm, float, float, float, tuple[int, ...]]
"""A `plan.Row`, and the term's numbers as `TermNumbers` has them."""
TermNumbers: TypeAlias = Sequence[Sequence[int]] | Integers
"""For each large segment (`Snapshot.large`) the numbers of a plan's terms there, -1 where one is not held; then those
among the recent documents, if there are some."""


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
    """A plan, and the numbers of its terms."""

    plan: Plan
    numbers: TermNumbers


class Remembered(NamedTuple):
    """The terms so far, by name: `rows` of terms that weigh 1, with their numbers behind; () for one that is not held.

    `places`: where the numbers of terms that came in a query of many lie in `values` (all of a row but the term) and
    `numbers`. What lies there does not change. `by_number`: the same places by the terms' numbers in the only segment,
    -1 for those not asked for yet; empty, where there are several.
    """

    rows: dict[str, NumberedRow | tuple[()]]
    places: dict[str, int]
    values: Floats
    numbers: Integers
    by_number: npt.NDArray[np.int32]


class WeighedTerms(Sequence[QueryTerm]):
    """The terms of a plan, made when somebody asks for them: a search does not."""

    def __init__(
        self, rows: Mapping[str, NumberedRow | tuple[()]], weights: Mapping[str, float], order: Integers
    ) -> None:
        self._rows, self._by_term, self._order = rows, weights, order

    @cached_property
    def _weights(self) -> list[tuple[str, float]]:
        return [*self._by_term.items()]

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, i: int) -> QueryTerm: ...

    @overload
    def __getitem__(self, i: slice) -> Sequence[QueryTerm]: ...

    def __getitem__(self, i: int | slice) -> QueryTerm | Sequence[QueryTerm]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        term, weight = self._weights[self._order[i]]
        row = self._rows[term]
        assert row  # a plan has no other terms
        return row[1]._replace(weight=weight)


class TermTable:
    """The terms of one snapshot as one model sees them. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot, model: TermwiseModel, collection: Collection) -> None:
        self._snapshot, self._model, self._collection = snapshot, model, collection
        self._recent = snapshot.recent
        self._only = snapshot.segments[0].segment if len(snapshot.segments) == 1 else None
        self._n_numbers = len(snapshot.large) + (self._recent is not None)
        self._frame = model.frame(collection)
        self._lock = threading.Lock()
        self._remembered, self._taken = self._empty(FIRST_ROOM), 0

    def plan(self, weights: Mapping[str, float]) -> Numbered | None:
        """The work of a query; None if the collection holds none of its terms. The lists of its terms are verified."""
        if not weights:
            return None
        many = len(weights) >= MANY and compiler_is_loaded()
        known = self._remembered
        found = _by_columns(known, weights) if many else self._by_rows(known, weights)
        if found is None:
            weights = checked(weights)
            known = self._with(weights)
            weights = {term: weight for term, weight in weights.items() if weight > 0.0 and known.rows[term]}
            if not weights:
                return None  # all weigh nothing, or none is known
            found = (many and _by_columns(self._in_columns(weights), weights)) or self._by_rows(known, weights)
            assert found is not None
        columns, numbers = found
        return Numbered(self._frame.of(columns), numbers)

    def _with(self, weights: Mapping[str, float]) -> Remembered:
        """What is remembered then, the query's terms among it."""
        known = self._remembered
        fresh = [term for term in weights if term not in known.rows]
        if len(known.rows) + len(fresh) > MOST_ROOM:
            with self._lock:
                known = self._remembered = self._empty(FIRST_ROOM)
                self._taken, fresh = 0, list(weights)
        if len(fresh) >= MANY:  # all at once, which are remembered then
            self._snapshot.in_large(fresh)
        for term in fresh:
            known.rows[term] = self._row(term)
        return known

    def _row(self, term: str) -> NumberedRow | tuple[()]:
        """What is said of a term; each search after a commit asks."""
        df, cf, numbers = self._snapshot.held.get(term) or self._snapshot.in_large((term,))[0]
        if self._recent is not None:
            df, cf, number = self._recent.with_frequency(term, df, cf)
            numbers = (*numbers, number)
        elif self._snapshot.small:
            [(df, cf)] = self._snapshot.term_stats((term,))
        return (*self._model.row(query_term((term, 1.0, df, cf)), self._collection), numbers) if df > 0 else ()

    def _by_rows(
        self, known: Remembered, weights: Mapping[str, float]
    ) -> tuple[Columns, Sequence[Sequence[int]]] | None:
        """The columns of a query and the numbers of its terms; None if one of these is not held, or weighs nothing.

        What is not known yet is looked up, as most words are after a commit.
        """
        rows, own = known.rows, []
        for term, weight in weights.items():
            found = rows.get(term)
            if found is None and type(term) is str and len(rows) < MOST_ROOM:
                found = rows[term] = self._row(term)
            if not found or type(weight) not in NUMBERS or not 0.0 < weight <= MAX_WEIGHT:
                return None
            own.append(found if weight == 1.0 else (*weighed(found[:5], weight), found[5]))
        _, terms, impact, scale, constant, numbers = zip(*sorted(own), strict=True)
        return Columns(terms, impact, scale, constant), [*zip(*numbers, strict=True)]

    def _in_columns(self, weights: Mapping[str, float]) -> Remembered:
        """The same with the numbers of these terms, which are known, in columns."""
        with self._lock:
            known = self._remembered
            fresh = [term for term in weights if term not in known.places]
            n, room = self._taken, len(known.values)
            if self._only is not None and not len(known.by_number):
                known = known._replace(by_number=np.full(self._only.n_terms, -1, np.int32))
                places = [*known.places.values()]
                known.by_number[known.numbers[places, 0]] = places
            if n + len(fresh) > room:
                known = self._roomier(known, max(2 * room, n + len(fresh)))
            self._taken = n + len(fresh)  # before they are filled: whatever comes between, no place is given twice
            for place, term in enumerate(fresh, n):
                row = known.rows.get(term)
                if row:
                    known.values[place], known.numbers[place] = (row[0], *row[2:5]), row[5]
                    known.places[term] = place
                    if self._only is not None:
                        known.by_number[row[5][0]] = place
            self._remembered = known
            return known

    def _empty(self, room: int) -> Remembered:
        return Remembered({}, {}, np.empty((room, 4)), np.empty((room, self._n_numbers), np.int64), NONE_ASKED)

    def _roomier(self, known: Remembered, room: int) -> Remembered:
        """A copy with more room: who reads the other goes on with it."""
        copy, n = self._empty(room), len(known.values)
        copy.values[:n], copy.numbers[:n] = known.values, known.numbers
        return copy._replace(rows=known.rows.copy(), places=known.places.copy(), by_number=known.by_number.copy())


def _by_columns(known: Remembered, weights: Mapping[str, float]) -> tuple[Columns, Integers] | None:
    """The same of many terms; None too if neither their places tell the order nor that in which they came."""
    n, in_order = len(weights), isinstance(weights, NumberedWeights)
    if isinstance(weights, NumberedWeights):
        if not len(known.by_number):
            return None
        places, alpha = known.by_number[weights.numbers], weights.weights.copy()  # which may be written to, as others
        if -1 in places.tolist():
            return None
    else:
        values = weights.values()
        if not NUMBERS.issuperset(map(type, values)):
            return None
        try:
            places = np.fromiter(map(known.places.__getitem__, weights), np.int32, n)
            alpha = np.fromiter(values, np.float64, n)
        except (KeyError, OverflowError):  # a whole number beyond all floats
            return None
        weights = dict(weights)
    columns, numbers, sums = np.empty((4, n)), np.empty((1 + known.numbers.shape[1], n), np.int64), np.empty(2)
    ties = plan_kernels.arrange(known.values, known.numbers, places, alpha, columns, numbers, sums)
    if ties < 0 or (ties > 0 and not in_order and any(map(gt, weights, islice(weights, 1, None)))):
        return None
    terms = WeighedTerms(known.rows, weights, numbers[0])
    return Columns(terms, columns[1], columns[2], columns[3], sums.tolist()), numbers[1:]

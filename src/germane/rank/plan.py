"""The work of one query as plain data: numbers and strings, to be scored here or sent to where the documents lie."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import repeat
from numbers import Real
from operator import add
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError

NOTHING: Floats = np.empty(0, np.float64)
MAX_WEIGHT = 1e12
"""The largest weight of a query's term: far above any topic model, and no sum of products overflows."""


def checked(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of a query, if all are from 0 to `MAX_WEIGHT`."""
    for term, weight in weights.items():
        if not (isinstance(term, str) and isinstance(weight, Real) and 0.0 <= _as_float(weight) <= MAX_WEIGHT):
            raise ParameterError(
                f"a query is words with weights from 0 to {MAX_WEIGHT:g}, and the weight of {term!r} is {weight!r}"
            )
    return {term: float(weight) for term, weight in weights.items()}


def _as_float(number: Real) -> float:
    """The number, infinite if it is a whole one beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


class QueryTerm(NamedTuple):
    """A known term of a query: its weight α_w and its frequencies among live documents."""

    term: str
    weight: float
    df: int
    cf: int


_new_term = tuple.__new__
query_term: Callable[[tuple[str, float, int, int]], QueryTerm] = partial(_new_term, QueryTerm)
"""`QueryTerm` of a tuple, in a third of the time: a query may have hundreds."""


Row: TypeAlias = tuple[float, QueryTerm, float, float, float]
"""What a ranking says of a term: its place in the canonical order, the term, its impact's weight and scale, and what it
adds to the constant."""


def row_of(term: QueryTerm, weight: float, strength: float, scale: float = 0.0, constant: float = 0.0) -> Row:
    """The row of a term; those terms come first that are strong for the number of their postings: -strength/√df."""
    return -strength / math.sqrt(term[2]), term, weight, scale, constant


def weighed(row: Row, weight: float) -> Row:
    """The row of a term that weighs so much, from that of weight 1: all but the scale are proportional to it."""
    place, (term, _, df, cf), impact, scale, constant = row
    return place * weight, _new_term(QueryTerm, (term, weight, df, cf)), impact * weight, scale, constant * weight


def in_turn(values: Iterable[float]) -> float:
    """The sum, one after the other: as a kernel adds them up, to the last bit (`sum` rounds in its own way)."""
    return reduce(add, values, 0.0)


class Columns(NamedTuple):
    """The rows of a query's terms in the canonical order: by their places, then by the terms themselves.

    The order depends on nothing but global statistics, so that a score is the same to the last bit everywhere.
    `constants`: their parts of the constant; `sums`: of the weights and of these, if they were added up already.
    """

    terms: Sequence[QueryTerm]
    weight: Sequence[float] | Floats
    scale: Sequence[float] | Floats
    constants: Sequence[float] | Floats
    sums: Sequence[float] = ()

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Columns":
        """The columns of rows; a query holds each term once."""
        _, *columns = zip(*sorted(rows), strict=True)
        return cls(*columns)


class Collection(NamedTuple):
    """The collection as a ranking sees it: live documents and their tokens.

    `entropy`: H(p_C) = -Σ_w p_C log p_C, there for models that ask for it (`RankingModel.needs_entropy`).
    """

    n_docs: int
    n_tokens: int
    entropy: float | None = None

    @property
    def average_length(self) -> float:
        """avgdl: tokens a document."""
        return max(self.n_tokens, 1) / max(self.n_docs, 1)


_new_plan = tuple.__new__


class Plan(NamedTuple):
    """The kernel's numbers for one query, terms in the order in which impacts are added (see `rank.kernels`)."""

    kind: int
    terms: Sequence[QueryTerm] = ()
    weight: Floats = NOTHING
    scale: Floats = NOTHING
    constant: float = 0.0
    mass: float = 0.0
    delta: float = 0.0
    x0: float = 0.0
    x1: float = 0.0
    sized_by_unique: bool = False

    @classmethod
    def ordered(
        cls,
        kind: int,
        terms: Sequence[QueryTerm],
        weight: Iterable[float],
        strength: Iterable[float],
        scale: Iterable[float] | None = None,
        **rest: float,
    ) -> "Plan":
        """The plan of terms with their weights, strengths and scales; no `scale`: the impacts have none."""
        scales = repeat(0.0, len(terms)) if scale is None else scale
        columns = Columns.of(map(row_of, terms, weight, strength, scales))
        arrays = np.array((columns.weight, columns.scale), np.float64)
        return cls(kind, columns.terms, *arrays, **rest)  # type: ignore[arg-type]

    def of(self, columns: Columns) -> "Plan":
        """The plan of terms in the canonical order, where this is that of none; see `models.TermwiseModel.frame`."""
        kind, _, _, _, constant, mass, delta, x0, x1, by_unique = self
        terms, weight, scale, constants, sums = columns
        if mass:
            mass, own = sums or (in_turn(weight), in_turn(constants))
            constant = own + mass * constant
        arrays = np.asarray(weight, np.float64), np.asarray(scale, np.float64)
        return _new_plan(Plan, (kind, terms, *arrays, constant, mass, delta, x0, x1, by_unique))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; floats survive it to the last bit."""
        lists = {"terms": list(map(list, self.terms)), "weight": self.weight.tolist(), "scale": self.scale.tolist()}
        return {**self._asdict(), **lists}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Plan":
        """What `to_dict` gave."""
        arrays = {name: np.array(content[name], np.float64) for name in ("weight", "scale")}
        return cls(**{**content, **arrays, "terms": tuple(QueryTerm(*term) for term in content["terms"])})

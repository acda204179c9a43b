"""The work of one query as plain data: numbers and strings, to be scored here or sent to where the documents lie."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError

MAX_WEIGHT = 1e12
"""The largest weight of a query's term: far above any topic model, and no sum of products overflows."""


def checked(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of a query, if all are from 0 to `MAX_WEIGHT`."""
    for term, weight in weights.items():
        if type(term) is str and type(weight) is float and 0.0 <= weight <= MAX_WEIGHT:
            continue  # most are
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
    """The sum, one after the other: as a kernel adds them up, to the last bit."""
    total = 0.0
    for value in values:
        total += value
    return total


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

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        return self.sums[0] if self.sums else in_turn(self.weight)

    @property
    def constant(self) -> float:
        """The sum of the parts of the constant."""
        return self.sums[1] if self.sums else in_turn(self.constants)

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


class Plan(NamedTuple):
    """The kernel's numbers for one query, terms in the order in which impacts are added (see `rank.kernels`)."""

    kind: int
    terms: Sequence[QueryTerm]
    weight: Floats
    scale: Floats
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
        return cls.of(kind, Columns.of(map(row_of, terms, weight, strength, scales)), **rest)

    @classmethod
    def of(cls, kind: int, columns: Columns, **rest: float) -> "Plan":
        """The plan of terms in the canonical order; `rest`: the numbers that belong to no term."""
        weight, scale = (np.asarray(column, np.float64) for column in (columns.weight, columns.scale))
        return cls(kind, columns.terms, weight, scale, **rest)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; floats survive it to the last bit."""
        lists = {"terms": list(map(list, self.terms)), "weight": self.weight.tolist(), "scale": self.scale.tolist()}
        return {**self._asdict(), **lists}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Plan":
        """What `to_dict` gave."""
        arrays = {name: np.array(content[name], np.float64) for name in ("weight", "scale")}
        return cls(**{**content, **arrays, "terms": tuple(QueryTerm(*term) for term in content["terms"])})

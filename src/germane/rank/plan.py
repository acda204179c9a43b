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


def weighed(term: QueryTerm, numbers: tuple[float, float, float, float]) -> Row:
    """The row of a term from its `term_formulas.numbers_of`: all but the scale are proportional to its weight.

    Those terms come first that are strong for the number of their postings: -strength/√df.
    """
    (_, weight, df, _), (strength, impact, scale, constant) = term, numbers
    return -strength / math.sqrt(df) * weight, term, impact * weight, scale, constant * weight


def in_turn(values: Iterable[float]) -> float:
    """The sum, one after the other: as a kernel adds them up, to the last bit (`sum` rounds in its own way)."""
    return reduce(add, values, 0.0)


def in_order(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The columns of rows in the canonical order, but for their places: by these, then by the terms.

    It depends on nothing but global statistics, so that a score is the same to the last bit everywhere.
    """
    _, *columns = zip(*sorted(rows), strict=True)  # a query holds each term once
    return columns


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
    """The kernel's numbers for one query, terms in the order in which impacts are added (`impact_kernels`)."""

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
        places = (-own / math.sqrt(term.df) for term, own in zip(terms, strength, strict=True))
        held, *columns = in_order(zip(places, terms, weight, scales, strict=True))
        return cls(kind, held, *np.array(columns, np.float64), **rest)  # type: ignore[arg-type]

    def of(self, terms: Sequence[QueryTerm], weight: Floats, scale: Floats, mass: float, constant: float) -> "Plan":
        """The plan of terms in the canonical order, where this is that of none; see `models.TermwiseModel.frame`.

        `mass`, `constant`: the sums of the weights and of the terms' parts of the constant.
        """
        kind, _, _, _, own, has_mass, delta, x0, x1, by_unique = self
        mass, constant = (mass, constant + mass * own) if has_mass else (0.0, own)
        return _new_plan(Plan, (kind, terms, weight, scale, constant, mass, delta, x0, x1, by_unique))

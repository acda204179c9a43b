"""The work of one query as plain data: numbers and strings, to be scored here or sent to where the documents lie."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError

MAX_WEIGHT = 1e12
"""The largest weight of a query's term: far above any topic model, and no sum of products overflows."""


def checked(weights: Mapping[str, float]) -> Mapping[str, float]:
    """The weights of a query, if all are from 0 to `MAX_WEIGHT`."""
    for term, weight in weights.items():
        try:
            good = 0.0 <= weight <= MAX_WEIGHT and isinstance(term, str)
        except TypeError:
            good = False
        if not good:
            raise ParameterError(
                f"a query is words with weights from 0 to {MAX_WEIGHT:g}, and the weight of {term!r} is {weight!r}"
            )
    return weights


class QueryTerm(NamedTuple):
    """A known term of a query: its weight α_w and its frequencies among live documents."""

    term: str
    weight: float
    df: int
    cf: int


query_term: Callable[[tuple[str, float, int, int]], QueryTerm] = partial(tuple.__new__, QueryTerm)
"""`QueryTerm` of a tuple, in a third of the time: a query may have hundreds."""


class Collection(NamedTuple):
    """The collection as a ranking sees it: live documents and their tokens.

    `entropy`: H(p_C) = -Σ_w p_C log p_C, there for models that ask for it (`RankingModel.needs_entropy`).
    """

    n_docs: int
    n_tokens: int
    entropy: float | None = None


class Plan(NamedTuple):
    """The kernel's numbers for one query, terms in the order in which impacts are added (see `rank.kernels`)."""

    kind: int
    terms: tuple[QueryTerm, ...]
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
        """The plan with its terms in the canonical order: those first that are strong for the number of their postings.

        A term's place is that of strength/√df, then of the term itself. The order depends on nothing but global
        statistics, so that a score is the same to the last bit everywhere. No `scale`: the impacts have none. `rest`:
        the numbers that belong to no term.
        """
        scales = repeat(0.0, len(terms)) if scale is None else scale
        rows = [
            (-own / math.sqrt(term[2]), term, each, by)
            for own, term, each, by in zip(strength, terms, weight, scales, strict=True)
        ]
        rows.sort()  # a query holds each term once
        in_order = tuple([term for _, term, _, _ in rows])
        weights, by = np.array([each for _, _, each, _ in rows]), np.array([by for _, _, _, by in rows])
        return cls(kind, in_order, weights, by, **rest)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; floats survive it to the last bit."""
        lists = {"terms": list(map(list, self.terms)), "weight": self.weight.tolist(), "scale": self.scale.tolist()}
        return {**self._asdict(), **lists}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Plan":
        """What `to_dict` gave."""
        arrays = {name: np.array(content[name], np.float64) for name in ("weight", "scale")}
        return cls(**{**content, **arrays, "terms": tuple(QueryTerm(*term) for term in content["terms"])})

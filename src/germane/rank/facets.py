"""The values of a field among documents."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FacetValue:
    """How many documents hold a value; `high` ends a class of numbers, which begins at `value`.

    A class of whole numbers holds its end, and so does one of values that lie far from the others; of other numbers the
    last class alone does.
    """

    value: str | float
    count: int
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of a field among documents, most frequent first, or classes of numbers, ascending.

    `other`: documents that hold none of the values told; `missing`: documents without the field, or, of a field of
    numbers, without a number. A document with several values counts for each of them.
    """

    field: str
    values: tuple[FacetValue, ...]
    other: int
    missing: int

"""Document priors log P(d), added to the score (Lecture: "Useful priors ... could easily be incorporated").

A prior needs no normalisation: a constant factor of P(d) does not change a ranking. A document without the field gets
the smallest prior any document has. `weight` is an exponent: P(d)^weight.
"""

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError, QueryError, RequestError
from germane.index.columns import KeywordColumn
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.lm.parameters import bounded, positive
from germane.wording import Name

MAX_WEIGHT = 1e6
MAX_LOG_PRIOR = 1e12
"""The largest weight of a prior, and what a log-prior may come to: beyond, scores lose every other digit."""
MAX_DAYS = 1e9
"""A date further away than that is taken for unknown."""
_SECONDS_A_DAY = 86400.0


class Prior(ABC):
    """A log-prior for every document."""

    weight: float

    @abstractmethod
    def values(self, segment: Segment) -> Floats:
        """log P(d) up to a constant, NaN where unknown; one entry a document."""

    def check(self, fields: Collection[str], is_numeric: Callable[[str], bool]) -> None:  # noqa: B027 (most can be)
        """Raise an error where the collection has no such prior; `fields` are those of its documents."""

    def least(self, snapshot: Snapshot) -> float | None:
        """The smallest log P(d) of a live document, without the weight; None where none is known."""
        least: float | None = None
        for live in snapshot.segments:
            values = self.values(live.segment)
            known = values[~live.deletions.deleted & ~np.isnan(values)]
            if len(known):
                smallest = float(known.min())
                least = smallest if least is None else min(least, smallest)
        return least

    def of(self, snapshot: Snapshot, least: float | None) -> list[Floats]:
        """Weighted log-priors, one array a segment, the unknown filled with the least known of the collection."""
        weight = bounded("the weight of a prior", self.weight, -MAX_WEIGHT, MAX_WEIGHT)
        filled = []
        for live in snapshot.segments:
            values = self.values(live.segment)
            filled.append(np.where(np.isnan(values), 0.0 if least is None else least, values))
        for values in filled:
            largest = float(np.abs(values).max(initial=0.0))
            if not largest < np.inf or abs(weight) * largest > MAX_LOG_PRIOR:
                raise ParameterError(f"{self} gives log-priors beyond {MAX_LOG_PRIOR:g}: choose a smaller weight")
        return [weight * values for values in filled]


@dataclass(frozen=True)
class LengthPrior(Prior):
    """P(d) ∝ |d|^weight: longer documents are likelier to be relevant (weight > 0), or less (< 0)."""

    weight: float = 1.0

    def values(self, segment: Segment) -> Floats:
        length = segment.doc_len.astype(np.float64)
        return np.log(np.maximum(length, 0.5))  # an empty document counts as half a token


@dataclass(frozen=True)
class FieldPrior(Prior):
    """P(d) ∝ v^weight for a positive numeric field such as popularity; zero and below count as unknown."""

    field: str
    weight: float = 1.0

    def values(self, segment: Segment) -> Floats:
        values = segment.numbers(self.field)
        return np.log(np.where((values > 0) & (values < np.inf), values, np.nan))

    def check(self, fields: Collection[str], is_numeric: Callable[[str], bool]) -> None:
        """The field must hold numbers, if documents have it."""
        if self.field in fields and not is_numeric(self.field):
            raise ParameterError(f"a prior needs a numeric field, but '{self.field}' holds text")


@dataclass(frozen=True)
class FreshnessPrior(Prior):
    """P(d) ∝ 2^(-age/half_life), age in days between the field's date and `today`.

    The field holds ISO dates (1987-02-26, with or without a time), or numbers: years up to 3000, else seconds since
    1970.
    """

    field: str
    half_life: float
    today: datetime.date
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive("half_life", self.half_life)

    def values(self, segment: Segment) -> Floats:
        column = segment.column(self.field)
        if column is None:
            return np.full(segment.n_docs, np.nan)
        days = _days_of_texts(column) if isinstance(column, KeywordColumn) else np.full(segment.n_docs, np.nan)
        if segment.holds_numbers(self.field):  # where texts are dates among years
            numbers = _days_of_numbers(segment.numbers(self.field))
            days = np.where(np.isnan(numbers), days, numbers)
        age = np.maximum(self.today.toordinal() - np.where(np.abs(days) <= MAX_DAYS, days, np.nan), 0.0)
        log_priors: Floats = -math.log(2.0) * age / self.half_life
        return log_priors


def _days_of_numbers(numbers: Floats) -> Floats:
    """Proleptic day numbers of years and of seconds since 1970."""
    values = np.clip(numbers, -1e15, 1e15)
    years = 365.2425 * (values - 1.0) + 183.0  # the middle of the year
    epoch = datetime.date(1970, 1, 1).toordinal() + values / _SECONDS_A_DAY
    return np.where(values <= 3000.0, years, epoch)


def _days_of_texts(column: KeywordColumn) -> Floats:
    days = np.array([_day(value) for value in column.values])
    out = np.full(len(column.starts) - 1, np.nan)
    has = np.flatnonzero(np.diff(column.starts) > 0)
    out[has] = days[column.codes[column.starts[has]]]
    return out


def _day(text: str) -> float:
    """Day number of an ISO date; NaN if the text is none."""
    try:
        return float(datetime.datetime.fromisoformat(text).toordinal())
    except ValueError:
        return math.nan


# -- as text -----------------------------------------------------------------------------------------------------------


def prior_named(text: str, fields: Collection[str], today: datetime.date) -> Prior:
    """`length`, `field:NAME` or `fresh:FIELD:DAYS`, with `^WEIGHT` behind it if wanted; `fields`: the names known."""
    what, _, exponent = text.partition("^")
    weight = _weight(exponent, text) if exponent or text.endswith("^") else 1.0
    match what.split(":"):
        case ["length"]:
            return LengthPrior(weight)
        case ["field", name]:
            return FieldPrior(_known(name, fields), weight)
        case ["fresh", name, days]:
            return FreshnessPrior(_known(name, fields), _half_life(days, text), today, weight)
    raise RequestError(
        Name("priors"), f" wants length, field:NAME or fresh:FIELD:DAYS (and ^WEIGHT if wanted), not '{text}'"
    )


def _known(name: str, fields: Collection[str]) -> str:
    if name not in fields:
        raise QueryError(f"there is no field '{name}' for a prior (fields: {', '.join(sorted(fields)) or 'none'})")
    return name


def _half_life(text: str, prior: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"'{prior}': a half-life is a number of days, not '{text}'") from None


def _weight(text: str, prior: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise ParameterError(f"'{prior}': a weight is a number, as in length^0.3")
    return weight

"""Values out of JSON of strangers: what is not of the expected kind counts as missing."""

from collections.abc import Iterable
from typing import Any

from germane.data.bibliographic import ordered, year_field
from germane.types import FieldValue, JSONScalar


def at(value: Any, *keys: str | int) -> Any:
    """What stands below these keys; None where one of them is not there.

    >>> at({"a": [{"b": 1}]}, "a", 0, "b")
    1
    """
    for key in keys:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def text(value: Any) -> str:
    """A text, or a number as one; else nothing."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def items(value: Any) -> list[Any]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, list) else []


def number(value: Any) -> int | None:
    """A whole number that is not negative, also where it is written as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def score(value: Any) -> float | None:
    """A finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    return None


def texts(values: Iterable[Any]) -> list[JSONScalar]:
    """The texts among the values, each once, in order."""
    return [*dict.fromkeys(filter(None, map(text, values)))]


def fields(**found: Any) -> dict[str, FieldValue]:
    """The fields of a record without the empty ones, the year as a number."""
    year = found.get("year")
    if isinstance(year, str) and year:
        found["year"] = year_field(year)
    return ordered(found)

"""Read and check the value of a field, from a text or from JSON and Python, and describe it as JSON Schema."""

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NoReturn

from germane.declare.fields import Field
from germane.errors import RequestError
from germane.lazy import load
from germane.types import id_text
from germane.wording import Name

LONGEST_NUMBER = 640
"""Digits of a whole number that are read: Python refuses far longer ones."""
AUTO = "auto"
_OF_JSON = {"setting": "number", "id": "string", "pairs": "object", "filter": "object"}
"""Types of JSON Schema for the kinds that are ours."""


def read(field: Field, texts: "str | Iterable[str]") -> Any:
    """Return the value that a text stands for, or several of a list, as typed or in an address.

    >>> read(Field("k", "Number of results.", "integer", least=1), "20")
    20
    >>> read(Field("mu", "Pseudo-counts.", "setting"), "auto")
    'auto'
    """
    several = [texts] if isinstance(texts, str) else list(texts)
    for text in several:
        if "\0" in text:
            raise RequestError(Name(field.name), " holds a null character")
    if field.reader:
        if field.many:
            check(field, list(dict.fromkeys(several)))
        return load(field.reader)(several)
    values = [_typed(field, text) for text in several]
    return check(field, list(dict.fromkeys(values)) if field.many else values[0])


def _typed(field: Field, text: str) -> Any:
    """Return the number or the truth value of a text; the text itself where it is none, for `check` to refuse."""
    if field.none is not None and text == field.none:
        return None
    if field.kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if field.kind not in ("integer", "number", "setting") or not text.isascii() or "_" in text:
        return text
    is_whole = field.kind == "integer" and text.removeprefix("-").isdigit()
    try:
        return int(text[:LONGEST_NUMBER]) if is_whole else float(text)
    except ValueError:
        return text


def check(field: Field, value: Any) -> Any:
    """Return the value of a field if it is one; a `RequestError` says what it must be.

    >>> check(Field("k", "Number of results.", "integer", least=1), 0)
    Traceback (most recent call last):
    germane.errors.RequestError: 'k' must be a whole number of at least 1, not 0
    """
    if value is None:
        if field.required:
            raise RequestError(Name(field.name), f" is needed: {field.help}")
        return None
    if not field.many:
        return _checked(field, value)
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise RequestError(Name(field.name), f" must be a list, not {_shown(value)}")
    values = tuple(_checked(field, each) for each in value)
    if field.items is not None and len(set(values)) > field.items:
        count = f"{len(set(values)):,}"
        raise RequestError(Name(field.name), f" is given {count} times, where {field.items:,} are taken at once")
    return values


def _checked(field: Field, value: Any) -> Any:
    match field.kind:
        case "integer":
            return _whole(field, value)
        case "number" | "setting":
            return value if field.kind == "setting" and value == AUTO else _number(field, value)
        case "boolean":
            if not isinstance(value, bool):
                _refuse(field, "must be true or false", value)
        case "id":
            value = id_text(value)
        case "string" if not isinstance(value, str):
            _refuse(field, "must be a text", value)
        case "object" | "pairs" if not isinstance(value, Mapping):
            _refuse(field, "must be an object of names and values", value)
    if field.choices and value not in field.choices:
        names = ", ".join(field.choices)
        if field.noun:
            raise RequestError(f"there is no {field.noun} {value!r:.60}; choose one of {names}")
        _refuse(field, f"must be one of {names}", value)
    if isinstance(value, str) and not (field.least or 0) <= len(value) <= (field.most or math.inf):
        if len(value) < (field.least or 0):
            raise RequestError(Name(field.name), " must not be empty")
        raise RequestError(
            Name(field.name), f" has at most {field.most:,.0f} characters, not {len(value):,}: shorten it"
        )
    return value


def _whole(field: Field, value: Any) -> int:
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    if not fits or (field.least is not None and value < field.least):
        bound = "" if field.least is None else f" of at least {field.least:,}"
        _refuse(field, f"must be a whole number{bound}", value)
    if field.most is not None and value > field.most:
        _refuse(field, f"must be at most {field.most:,}", value)
    if value >= 2**63:
        _refuse(field, "must be a whole number of at most 64 bits", value)
    return int(value)


def _number(field: Field, value: Any) -> float:
    least, most = field.least, field.most
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        _refuse(field, "wants a number or 'auto'" if field.kind == "setting" else "must be a finite number", value)
    if least is not None and most is not None and not least <= number <= most:
        _refuse(field, f"must lie between {least:g} and {most:g}", value)
    return number


def _refuse(field: Field, rule: str, value: Any) -> NoReturn:
    raise RequestError(Name(field.name), f" {rule}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a value as a message shows it, and the beginning of a long one."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        digits = str(value)
        return digits if len(digits) <= 20 else f"{digits[:12]}… ({len(digits.lstrip('-')):,} digits)"
    return repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:40]}…"


def schema(field: Field) -> dict[str, Any]:
    """Return the JSON Schema of a field.

    >>> schema(Field("k", "Number of results.", "integer", least=1, most=50, default=10))
    {'type': 'integer', 'minimum': 1, 'maximum': 50, 'default': 10}
    """
    made: dict[str, Any] = {"type": _OF_JSON.get(field.kind, field.kind)}
    if field.choices:
        made["enum"] = list(field.choices)
    low, high = {
        "string": ("minLength", "maxLength"),
        "object": ("minProperties", "maxProperties"),
    }.get(made["type"], ("minimum", "maximum"))
    most = field.items if made["type"] == "object" else field.most
    made |= {name: value for name, value in ((low, field.least), (high, most)) if value is not None}
    if made["type"] == "object" and field.kind == "pairs":
        made["additionalProperties"] = {"type": "number"}
    if field.many:
        made = {"type": "array", "items": made} | ({} if field.items is None else {"maxItems": field.items})
    if field.default is not None and not field.many:
        made["default"] = field.default
    return made

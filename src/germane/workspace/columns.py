"""The types of the columns: numbers of rows, text that every database holds, and JSON kept as its text."""

import math
from typing import Any

import orjson
from sqlalchemy import BigInteger, Integer, Text
from sqlalchemy.types import TypeDecorator

from germane.errors import ParameterError

RowId = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by INTEGER alone, which has 64 bits there."""


class Plain(TypeDecorator[str]):
    """Text; what one of the databases could not hold is refused in both."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return None if value is None else checked_text(value)


class Json(TypeDecorator[Any]):
    """A JSON value as text: the order of its members and the digits of its numbers stay as they are."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str:
        return json_text(value)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        return None if value is None else orjson.loads(value)


def checked_text(value: str) -> str:
    """The text, if it can be kept: no NUL character, and no half of a surrogate pair."""
    if not isinstance(value, str):
        raise ParameterError(f"a text is needed, not {value!r}")
    if "\0" in value:
        raise ParameterError(f"the text {value[:40]!r} holds a NUL character, which a workspace cannot keep")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"the text {value[:40]!r} is not valid Unicode") from None
    return value


def json_text(value: Any) -> str:
    """The value as compact JSON; numbers that JSON does not have are refused."""
    try:
        text = orjson.dumps(value)
    except TypeError as error:
        raise ParameterError(f"this cannot be kept as JSON: {error}") from None
    if b"null" in text and not _finite(value):
        raise ParameterError("numbers that are infinite or not a number cannot be kept")
    return text.decode()


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list | tuple) else True

"""The types of the columns: numbers of rows, text that every database holds, and JSON kept as its text."""

import math
from typing import Any

import orjson
from sqlalchemy import BigInteger, Boolean, Float, Integer, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from germane.errors import InputError, ParameterError


class Kept(TypeDecorator[Any]):
    """A value of one kind. SQLite keeps any kind in any column, so that a damaged file may hold others: refused."""

    kind: type[Any]

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        inner, kind, what = super().result_processor(dialect, coltype), self.kind, self.kind.__name__

        def process(value: Any) -> Any:
            if value is None:
                return None
            try:
                found = value if inner is None else inner(value)
            except (TypeError, ValueError):
                found = None
            if not isinstance(found, kind):
                raise damaged(f"{str(value)[:40]!r} stands where a value of the type {what} was kept")
            return found

        return process


def damaged(what: str) -> InputError:
    """The error of a workspace that holds what was never written to it."""
    return InputError(f"the workspace is damaged: {what}; an archive of it can be imported into a new one")


def ascended(before: int, number: int) -> int:
    """The number of a row that follows one of the number `before`; where rows do not ascend, a reader never ends."""
    if number <= before:
        raise damaged("rows do not follow one another")
    return number


class Whole(Kept):
    """A whole number."""

    impl, kind = Integer, int
    cache_ok = True


class RowId(Kept):
    """The number of a row. SQLite numbers rows by INTEGER alone, which has 64 bits there."""

    impl, kind = BigInteger, int
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return Integer() if dialect.name == "sqlite" else BigInteger()


class Number(Kept):
    """A number of double precision."""

    impl, kind = Float(53), float
    cache_ok = True


class Truth(Kept):
    """A truth value."""

    impl, kind = Boolean, bool
    cache_ok = True
    coerce_to_is_types = (type(None), bool)
    """What `IS` is compared with as it stands, as of SQLAlchemy's own truth values."""


class Bytes(Kept):
    """Bytes."""

    impl, kind = LargeBinary, bytes
    cache_ok = True


class Plain(Kept):
    """Text; what one of the databases could not hold is refused in both."""

    impl, kind = Text, str
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
        try:
            return None if value is None else orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise damaged(f"not JSON: {error}") from None


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

"""A log that is being written: UBI's queries and events, one JSON object a line, appended by several processes at once.

`ClickStore.add` reads the file as it is. A line is on disk when `add` returns. Lines go when they are too old, or when
their user is to be forgotten: the file is written anew without them, and takes the old one's place whole or not at all.
A lock beside the file keeps those who append and those who take out apart.
"""

import fcntl
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from germane.data.appending import append_lines
from germane.data.atomic import open_for_writing
from germane.data.owned import open_owned
from germane.errors import ParameterError
from germane.schema import Response

MOST = 1_000
"""Events at once."""
LONGEST = 20_000
"""Bytes of an event."""


@dataclass(frozen=True, slots=True)
class LogErased(Response):
    """How many lines were taken out of a log."""

    lines: int


class ClickLog:
    """The log in a file, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, events: Sequence[Mapping[str, Any]]) -> int:
        """Append events, all or none; each gets a timestamp where it has none. How many."""
        if len(events) > MOST:
            raise ParameterError(f"at most {MOST:,} events at once, not {len(events):,}")
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        content = b"".join(_line(event, now) for event in events)
        with self._alone():
            append_lines(self.path, content)
        return len(events)

    def read(self) -> Iterator[bytes]:
        """The lines, the oldest first, as they are now: whole lines alone, none longer than `add` writes them."""
        try:
            descriptor = open_owned(self.path)
        except FileNotFoundError:
            return
        with open(descriptor, "rb") as file:
            whole = True
            while line := file.readline(LONGEST + 1):
                ended = line.endswith(b"\n")
                if whole and ended:
                    yield line
                whole = ended

    def erase(self) -> int:
        """Forget everything; how many lines there were."""
        return self._without(lambda event: True)

    def erase_user(self, user: str) -> int:
        """Forget a user: the lines that name the user (`user_id` or `client_id`), those of the user's searches, and
        those of the user's sessions that name nobody. How many."""
        if not user:
            raise ParameterError("name the user to erase: an empty name is nobody's")
        searches: set[str] = set()
        sessions: set[str] = set()
        for event in map(_event, self.read()):
            if _names(event, user):
                searches |= {str(event["query_id"])} if event.get("query_id") else set()
                sessions |= {str(event["session_id"])} if event.get("session_id") else set()

        def gone(event: Mapping[str, Any]) -> bool:
            nobody = not event.get("user_id") and not event.get("client_id")
            return (
                _names(event, user)
                or str(event.get("query_id") or "") in searches
                or (nobody and str(event.get("session_id") or "") in sessions)
            )

        return self._without(gone)

    def erase_before(self, time: datetime) -> int:
        """Forget what is older, and what cannot be dated; how many lines."""

        def gone(event: Mapping[str, Any]) -> bool:
            at = _time_of(event.get("timestamp"))
            return at is None or at < time

        return self._without(gone)

    def _without(self, gone: Callable[[Mapping[str, Any]], bool]) -> int:
        if not self.path.exists():
            return 0
        with self._alone():
            if not any(gone(_event(line)) for line in self.read()):
                return 0
            count = 0
            with open_for_writing(self.path, owned=True) as new:
                for line in self.read():
                    if gone(_event(line)):
                        count += 1
                    else:
                        new.write(line.decode("utf-8", "replace"))
        return count

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock; threads of one process wait for one another too, as each opens the file for itself."""
        descriptor = open_owned(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _line(event: Mapping[str, Any], now: str) -> bytes:
    if not isinstance(event, Mapping) or not (event.get("query_id") or event.get("user_query")):
        raise ParameterError("an event is an object with a query_id or a user_query (UBI)")
    dated = {**event, "timestamp": now if event.get("timestamp") is None else event["timestamp"]}
    if _time_of(dated["timestamp"]) is None:
        raise ParameterError(
            "an event's timestamp is a date and time of ISO 8601, or seconds or milliseconds since 1970"
        )
    try:
        line = orjson.dumps(dated)
    except TypeError as error:
        raise ParameterError(f"an event cannot be written as JSON: {error}") from None
    if len(line) > LONGEST:
        raise ParameterError(f"an event has at most {LONGEST:,} bytes")
    return line + b"\n"


def _event(line: bytes) -> Mapping[str, Any]:
    """What a line says; nothing where it is not to be read."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return event if isinstance(event, dict) else {}


def _names(event: Mapping[str, Any], user: str) -> bool:
    return user in (str(event.get("user_id") or ""), str(event.get("client_id") or ""))


def _time_of(written: Any) -> datetime | None:
    """The time, in UTC where no offset is told; None where it cannot be read.

    >>> _time_of("2026-01-31T10:00:00Z") == _time_of(1769853600) == _time_of(1769853600000)
    True
    """
    try:
        if isinstance(written, str):
            read = datetime.fromisoformat(written)
            return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        if isinstance(written, bool) or not isinstance(written, int | float) or not math.isfinite(written):
            return None
        return datetime.fromtimestamp(written if abs(written) < 1e11 else written / 1000.0, UTC)
    except (ValueError, OverflowError, OSError):
        return None

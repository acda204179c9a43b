"""Clicks on our own results, as OpenSearch's User Behavior Insights (UBI) writes them: one JSON object a line.

`germane clicks import` reads the file as it is. A line is on disk when it is acknowledged.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from germane.errors import ParameterError

MOST = 1_000
"""Events in one request."""
LONGEST = 20_000
"""Bytes of an event."""


class EventLog:
    """Appends events to a file, and reads them back."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()

    def add(self, events: list[Mapping[str, Any]]) -> int:
        """Append events; each gets a timestamp where it has none. All or none."""
        if len(events) > MOST:
            raise ParameterError(f"at most {MOST:,} events at once, not {len(events):,}")
        lines = []
        for event in events:
            if not isinstance(event, Mapping) or not (event.get("query_id") or event.get("user_query")):
                raise ParameterError("an event is an object with a query_id or a user_query (UBI)")
            line = orjson.dumps({"timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"), **event})
            if len(line) > LONGEST:
                raise ParameterError(f"an event has at most {LONGEST:,} bytes")
            lines.append(line + b"\n")
        with self._lock, self.path.open("ab") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        return len(lines)

    def read(self) -> Iterator[bytes]:
        """The lines, the oldest first."""
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from file

    def erase(self) -> int:
        """Forget all events; how many there were."""
        with self._lock:
            count = sum(1 for _ in self.read())
            self.path.unlink(missing_ok=True)
            return count

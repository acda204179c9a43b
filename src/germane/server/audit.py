"""The audit log: one line of JSON for each change, without texts and without names of those erased.

A line is on disk before the change begins, with a status of 0; how it ended is written over that. A change that cannot
be noted is not made, and one that was under way when the process ended has the status 0.
"""

import os
import time
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from germane.data.appending import append_lines, append_open
from germane.errors import StorageError

_ENDING, _ROOM = b"0}", b"  0}\n"


class Entry:
    """A line that waits for how the change ended."""

    def __init__(self, descriptor: int, at: int) -> None:
        self._descriptor, self._at = descriptor, at

    def end(self, status: int) -> None:
        """Write how the change ended, once: the first status counts."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        try:
            with suppress(OSError):  # the line is there, and says that it began
                os.pwrite(descriptor, b"%3d" % status, self._at)
        finally:
            os.close(descriptor)


class Audit:
    """Appends to a file; nothing where there is none. Several processes may append."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def begin(self, scope: MutableMapping[str, Any]) -> Entry | None:
        """Note a change that was asked for: when, from where, by whose token, what."""
        if self._path is None:
            return None
        line = _line(
            client=(scope.get("client") or ("", 0))[0], who=scope["state"].get("who", ""), method=scope["method"],
            path=str(scope["path"])[:500], status=0,
        ).removesuffix(_ENDING)  # fmt: skip
        descriptor, at = append_open(self._path, line + _ROOM)
        return Entry(descriptor, at + len(line))

    def refused(self, scope: MutableMapping[str, Any], status: int) -> None:
        """Note a change that was refused, if there is room for that."""
        with suppress(StorageError):
            entry = self.begin(scope)
            if entry is not None:
                entry.end(status)

    def erased(self, what: str, count: int) -> None:
        """Clicks that were taken out of the log: of one user, all, or those that were too old; how many lines."""
        if self._path is not None:
            append_lines(self._path, _line(method="ERASE", path="/events", what=what, count=count) + b"\n")


def _line(**content: object) -> bytes:
    return orjson.dumps({"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **content})

"""The audit log: one line of JSON for each change, without texts and without names of those erased."""

import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import orjson


class Audit:
    """Appends to a file; nothing where there is none. A line is one write, so that several processes may append."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def request(self, scope: MutableMapping[str, Any], status: int) -> None:
        """A change that was asked for: when, from where, by whose token, what, and how it ended."""
        self._write(
            client=(scope.get("client") or ("", 0))[0], who=scope["state"].get("who", ""), method=scope["method"],
            path=str(scope["path"])[:500], status=status,
        )  # fmt: skip

    def erased(self, what: str, count: int) -> None:
        """Clicks that were taken out of the log: of one user, all, or those that were too old; how many lines."""
        self._write(method="ERASE", path="/events", what=what, count=count)

    def _write(self, **line: object) -> None:
        if self._path is None:
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._path.open("ab", buffering=0) as file:
            file.write(orjson.dumps({"at": at, **line}) + b"\n")

"""Trials remembered on disk, named by what they were made of: an interrupted search goes on where it stopped."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from germane.data.atomic import open_for_writing
from germane.errors import StorageError


def content_key(parts: Mapping[str, Any]) -> str:
    """32 hex digits that change with anything in the parts, and with nothing else."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


class TrialCache:
    """Per-query values by content, one JSON file each, written whole or not at all. Without a folder: in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._memory: dict[str, dict[str, float]] = {}
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StorageError(f"{folder} cannot be made: {error.strerror or error}") from error

    def get(self, key: str) -> dict[str, float] | None:
        """The values, or None; a file that cannot be read counts as missing."""
        if key not in self._memory and self._folder is not None:
            try:
                stored = json.loads((self._folder / f"{key}.json").read_bytes())
                self._memory[key] = {str(query): float(value) for query, value in stored["values"].items()}
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                return None
        return self._memory.get(key)

    def put(self, key: str, values: Mapping[str, float], about: Mapping[str, Any]) -> None:
        """Remember the values; `about` is for people who look into the file."""
        self._memory[key] = dict(values)
        if self._folder is not None:
            with open_for_writing(self._folder / f"{key}.json") as file:
                json.dump({"about": dict(about), "values": dict(values)}, file, indent=1)


def fingerprint(rows: Sequence[Sequence[Any]]) -> str:
    """A digest of topics or judgements, in any order."""
    return content_key({"rows": sorted([str(cell) for cell in row] for row in rows)})

"""What was measured, as one JSON file that several runs fill: a later run replaces what it measures again.

A ratio is made round by round, of engines that took turns in one run, and carries its spread. So each engine's rounds
are kept beside those of ours in the same run.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Spread(NamedTuple):
    """The median of some rounds, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))


def machine() -> dict[str, Any]:
    """The processor in lscpu's words, and what else tells one machine from another."""
    listed = subprocess.run(["lscpu", "--json"], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    fields = {}
    if listed.returncode == 0:
        fields = {line["field"].rstrip(":"): line["data"] for line in json.loads(listed.stdout)["lscpu"]}
    return {
        "processor": fields.get("Model name") or platform.processor() or "unknown",
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "caches": ", ".join(
            f"{level} {fields[f'{level} cache']}" for level in ("L2", "L3") if f"{level} cache" in fields
        ),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }


class Results:
    """The file, read and kept up to date."""

    def __init__(self, path: Path, fresh: bool = False) -> None:
        self.path, here = path, machine()
        self.data: dict[str, Any] = {"machine": here, "runs": []}
        if path.exists() and not fresh:
            self.data = json.loads(path.read_text())
            if self.data["machine"] != here:
                sys.exit(f"{path} was measured on another machine: name another file (--results) or start --fresh")

    def begin(self) -> None:
        """Note a run."""
        command = shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]])
        load = round(os.getloadavg()[0], 1)
        self.data["runs"].append({"date": datetime.date.today().isoformat(), "command": command, "load": load})

    def end(self, trouble: Sequence[str]) -> None:
        """Note what the run could not measure."""
        self.data["runs"][-1]["trouble"] = list(trouble)
        self.put()

    def put(self, *keys: str, **values: Any) -> None:
        """Set values under a path of keys, and write the file."""
        node = self.data
        for key in keys:
            node = node.setdefault(key, {})
        node.update(values)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.data, indent=1) + "\n")
        part.replace(self.path)


def with_ours(rounds: Mapping[str, Sequence[float]], ours: Sequence[str]) -> dict[str, Any]:
    """The rounds of each engine, and of ours in the same run; an engine that missed a round is left out."""
    most = max(map(len, rounds.values()), default=0)
    whole = {name: list(values) for name, values in rounds.items() if len(values) == most}
    own = {name: whole[name] for name in ours if name in whole}
    return {name: {"rounds": values, "ours": own} for name, values in whole.items()}


def ratios(row: Mapping[str, Any], ours: str, peer: str) -> list[float]:
    """Ours divided by the peer's, round by round; empty if they were not measured together."""
    entry = row.get(peer, {})
    own = entry.get("ours", {}).get(ours, [])
    return [a / b for a, b in zip(own, entry.get("rounds", []), strict=False)]

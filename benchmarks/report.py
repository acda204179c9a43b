"""The tables: as text for the terminal, as Markdown for docs/performance.md."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import OURSELVES, Peer

Row = tuple[str, bool, dict[str, float]]  # title, whether higher is better, value by engine


@dataclass(frozen=True)
class Table:
    name: str
    facts: dict[str, Any]
    rows: list[Row]

    @property
    def caption(self) -> str:
        return f"{self.name}: {self.facts['documents']:,} documents, {self.facts['postings']:,} postings"


def number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cell(row: Row, engine: str) -> str:
    """The value, and how many times better (above 1) or worse (below 1) we are."""
    title, higher_is_better, values = row
    if engine not in values:
        return "–"
    ours = values.get(OURSELVES.name)
    if ours is None or engine == OURSELVES.name or "shared" in title:
        return number(values[engine])
    ratio = ours / values[engine] if higher_is_better else values[engine] / ours
    return f"{number(values[engine])} ({ratio:.2g}×)"


def grid(table: Table, engines: Sequence[Peer]) -> list[list[str]]:
    head = ["", *(f"{engine.name} ({engine.model})" for engine in engines)]
    return [head, *([row[0], *(cell(row, e.name) for e in engines)] for row in table.rows if row[2])]


def as_text(tables: Sequence[Table], engines: Sequence[Peer], starts: Sequence[tuple[str, float]]) -> str:
    lines = []
    for table in tables:
        cells = grid(table, engines)
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        lines += ["", table.caption, "(n×): we are so many times better"]
        for line in cells:
            padded = [text.rjust(width) for text, width in zip(line, widths, strict=True)]
            lines.append("  ".join([line[0].ljust(widths[0]), *padded[1:]]))
    if starts:
        lines += ["", "Start-up (ms): " + ", ".join(f"{label}: {value:.0f}" for label, value in starts)]
    return "\n".join(lines)


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def as_markdown(
    tables: Sequence[Table],
    engines: Sequence[Peer],
    starts: Sequence[tuple[str, float]],
    versions: dict[str, str],
    counted: dict[str, str],
    trouble: Sequence[str],
) -> str:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    lines = [
        "# Performance",
        "",
        "Written by `python benchmarks/run.py --write`; not edited by hand.",
        "",
        f"- Date: {datetime.date.today().isoformat()}",
        f"- Machine: {cpu_model()}, {os.cpu_count()} cores, {memory:.0f} GiB memory, "
        f"{platform.system()}, Python {platform.python_version()}",
        f"- Command: `python benchmarks/run.py {' '.join(sys.argv[1:])}`",
        "- One thread for each engine; CPU time of the whole process, warm; medians of interleaved rounds; the same "
        "tokens for all, without stemming or stop words.",
        "- In brackets: how many times better we are (below 1: worse). What is and is not counted: "
        "[benchmarks/README.md](../benchmarks/README.md).",
    ]
    for table in tables:
        head, *body = grid(table, engines)
        lines += ["", f"## {table.caption}", "", f"| {' | '.join(head)} |", "|---" + "|--:" * (len(head) - 1) + "|"]
        lines += [f"| {' | '.join(line)} |" for line in body]
    if starts:
        lines += ["", "## Start-up", "", "| | ms |", "|---|--:|"]
        lines += [f"| `{label}` | {value:.0f} |" for label, value in starts]
    lines += [
        "",
        "## Engines",
        "",
        "| | version | model | counted as dictionary and postings | note |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {e.name} | {versions.get(e.name, '')} | {e.model} | {counted.get(e.name, '')} | {e.note} |" for e in engines
    ]
    if trouble:
        lines += ["", "Not measured:", "", *(f"- {line}" for line in trouble)]
    return "\n".join(lines) + "\n"

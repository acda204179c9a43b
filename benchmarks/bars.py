"""The bars that the engine is held to, and whether the results meet them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from growth import top_slopes
from results import Spread, ratios

BM25, DIRICHLET = "germane-bm25", "germane-dirichlet"
SEARCH_BARS = {
    "short10": (
        "Short queries, top 10",
        ((BM25, "tantivy", 1.3), (DIRICHLET, "tantivy", 1.0), (DIRICHLET, "lucene", 2.0)),
    ),
    "short1000": ("Short queries, top 1000", ((BM25, "tantivy", 1.1), (DIRICHLET, "tantivy", 1.1))),
    "long10": (
        "50 weighted words, top 10",
        ((BM25, "bm25s", 1.5), (DIRICHLET, "bm25s", 1.5), (BM25, "tantivy", 2.5), (DIRICHLET, "tantivy", 2.5)),
    ),
    "long1000": (
        "50 weighted words, top 1000",
        ((BM25, "bm25s", 1.2), (DIRICHLET, "bm25s", 1.2), (BM25, "tantivy", 1.7), (DIRICHLET, "tantivy", 1.7)),
    ),
    "and10": (
        "Two words that must both be there, top 10",
        ((BM25, "tantivy", 1 / 1.2), (DIRICHLET, "tantivy", 1 / 1.2)),
    ),
    "phrase10": ("Phrases of two words, top 10", ((BM25, "tantivy", 0.5), (DIRICHLET, "tantivy", 0.5))),
}
GROWTH_BARS = {"short10": 0.75, "long10": 0.8, "long1000": 0.8}
COLD_BARS = (("first search", 10.0, "CPU-s"), ("warm process", 0.8, "s"), ("demo", 15.0, "CPU-s"))
OVERHEAD_US, FEEDBACK_TIMES, BUILD_RATIO, BUILD_MB = 80.0, 10.0, 1.0, 400.0
WRITER_RATES, WRITER_P99_MS = {"thread": 0.4, "process": 0.65}, 60.0
METHODS = ("rm3", "sd", "consensus")


@dataclass(frozen=True)
class Bar:
    """A limit, at least or at most, and the rounds that were measured; none: it was not."""

    what: str
    where: str
    limit: float
    at_least: bool
    unit: str
    rounds: list[float]

    @property
    def demand(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:.3g}{self.unit}"

    @property
    def verdict(self) -> str:
        """By the median; `narrowly` where the rounds disagree."""
        if not self.rounds:
            return "not measured"
        good = [value >= self.limit if self.at_least else value <= self.limit for value in self.rounds]
        median = Spread.of(self.rounds).median
        word = "met" if (median >= self.limit if self.at_least else median <= self.limit) else "**missed**"
        return word if all(good) or not any(good) else f"{word}, narrowly"


def model_of(engine: str) -> str:
    return {BM25: "BM25", DIRICHLET: "Dirichlet"}[engine]


def bars(data: Mapping[str, Any]) -> list[Bar]:
    return [
        *(bar for name, entry in data.get("collections", {}).items() for bar in collection_bars(name, entry)),
        *(bar for name, tasks in data.get("growth", {}).items() for bar in growth_bars(name, tasks)),
        *cold_bars(data.get("cold", {})),
        *writer_bars(data.get("beside_writer", {})),
    ]


def collection_bars(name: str, entry: Mapping[str, Any]) -> Iterator[Bar]:
    rows = entry.get("rows", {})
    for task, (title, demands) in SEARCH_BARS.items():
        for ours, peer, limit in demands:
            found = ratios(rows.get(task, {}), ours, peer)
            yield Bar(f"{title}: {model_of(ours)} against {peer}", name, limit, True, "×", found)
    build = ratios(rows.get("build", {}), "germane", "tantivy")
    yield Bar("Build, the text stored, against tantivy", name, BUILD_RATIO, True, "×", build)
    memory = rows.get("rss", {}).get("germane", {}).get("rounds", [])
    yield Bar("Build: peak memory", name, BUILD_MB, False, " MB", memory)
    for ours in (BM25, DIRICHLET):
        spent = rows.get("overhead", {}).get(ours, {}).get("rounds", [])
        yield Bar(f"Python overhead of a short query, {model_of(ours)}", name, OVERHEAD_US, False, " µs", spent)
    times = entry.get("feedback", {})
    for method in METHODS:
        found = [a / b for a, b in zip(times.get(method, []), times.get("plain", []), strict=True)]
        yield Bar(f"Feedback against the plain query: {method}", name, FEEDBACK_TIMES, False, "×", found)


def growth_bars(name: str, tasks: Mapping[str, Any]) -> Iterator[Bar]:
    for task, limit in GROWTH_BARS.items():
        for ours in (BM25, DIRICHLET):
            costs = tasks.get(task, {}).get(ours, {})
            sizes = f" from {max(map(int, costs)) // 4:,} to {max(map(int, costs)):,} documents" if costs else ""
            title = f"Slope of {SEARCH_BARS[task][0].lower()}, {model_of(ours)}{sizes}"
            yield Bar(title, name, limit, False, "", top_slopes(costs) if costs else [])


def cold_bars(cold: Mapping[str, list[float]]) -> Iterator[Bar]:
    for kind, limit, unit in COLD_BARS:
        found = {label: rounds for label, rounds in cold.items() if label.startswith(kind)} or {kind: []}
        for label, rounds in found.items():
            cache = "" if kind == "warm process" else ", empty cache"
            yield Bar(f"Cold start: {label}{cache}", "", limit, False, f" {unit}", rounds)


def writer_bars(beside: Mapping[str, Mapping[str, list[float]]]) -> Iterator[Bar]:
    """`beside`: for a writer in another thread or process, the reader's rate against that alone, and the adds' p99."""
    for writer, found in (beside or {"thread": {}}).items():
        where = f"writer in another {writer}"
        least = WRITER_RATES[writer.partition(",")[0]]
        yield Bar("Beside a writer: reader's rate", where, least, True, "×", found.get("ratio", []))
        yield Bar(
            "Beside a writer: 99th percentile of adds", where, WRITER_P99_MS, False, " ms", found.get("p99_ms", [])
        )

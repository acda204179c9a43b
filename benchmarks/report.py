"""docs/performance.md, made of the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bars import METHODS, bars
from growth import slopes, top_slopes
from peers import OUR_NAMES, OURS, PEERS, Peer
from results import Spread, ratios

SEARCH_TITLES = {
    "short10": "Short queries, top 10 (queries per CPU-second)",
    "short1000": "Short queries, top 1000 (queries per CPU-second)",
    "long10": "50 weighted words, top 10 (queries per CPU-second)",
    "long1000": "50 weighted words, top 1000 (queries per CPU-second)",
    "and10": "Two words that must both be there, top 10 (queries per CPU-second)",
    "phrase10": "Phrases of two words, top 10 (queries per CPU-second)",
}
INDEX_TITLES = {
    "build": "Index build from text (documents per CPU-second)",
    "rss": "Peak memory of the build (MB)",
    "size": "Dictionary and postings on disk (MB)",
    "open": "Opening an index (ms)",
    "add": "One more document, durable and searchable (ms)",
}
OTHER_TITLES = {
    "overlap": "Top 10 shared with ours of the same model, short queries (%)",
    "threads": "Queries per second in two threads against one, short, top 10 (×)",
    "overhead": "CPU time outside the kernels, short, top 10 (µs a query)",
}
ENGINES = {engine.name: engine for engine in (*OURS, *PEERS)}
Cells = list[list[str]]


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(values: Sequence[float], unit: str = "") -> str:
    """The median, and between which values the rounds lie."""
    if not values:
        return "–"
    median, low, high = Spread.of(values)
    width = f" ({number(low)}–{number(high)})" if len(values) > 1 else ""
    return f"{number(median)}{unit}{width}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> list[str]:
    rule = "|---" * text_columns + "|--:" * (len(head) - text_columns) + "|"
    return ["", f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def median_of(row: Mapping[str, Any], engine: str) -> str:
    return number(Spread.of(row[engine]["rounds"]).median) if engine in row else "–"


def title(engine: Peer) -> str:
    return f"{engine.index} ({engine.model})"


def measured_engines(rows: Mapping[str, Any], tasks: Mapping[str, str]) -> list[str]:
    found = {name for task in tasks for name in rows.get(task, {})}
    return [name for name in ENGINES if name in found]


def collection(name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    facts, rows = entry["facts"], entry.get("rows", {})
    yield from ("", f"## {name}: {facts['documents']:,} documents, {facts['postings']:,} postings")
    tasks = {task: text for task, text in (SEARCH_TITLES | OTHER_TITLES).items() if rows.get(task)}
    engines = measured_engines(rows, tasks)
    if tasks:
        head = ["", *(title(ENGINES[engine]) for engine in engines)]
        yield from table(head, [[text, *(median_of(rows[task], e) for e in engines)] for task, text in tasks.items()])
    yield from ratio_table(rows)
    tasks = {task: text for task, text in INDEX_TITLES.items() if rows.get(task)}
    if tasks:
        indexes = list(dict.fromkeys(engine.index for engine in ENGINES.values()))
        indexes = [index for index in indexes if any(index in rows[task] for task in tasks)]
        body = [
            [text, *(spread(rows[task].get(index, {}).get("rounds", [])) for index in indexes)]
            for task, text in tasks.items()
        ]
        yield from table(["", *indexes], body)
    yield from feedback_table(entry.get("feedback", {}))


def ratio_table(rows: Mapping[str, Any]) -> Iterator[str]:
    """Our rate divided by each peer's."""
    body = []
    for task, text in SEARCH_TITLES.items():
        for peer in measured_engines(rows, {task: text}):
            if peer not in OUR_NAMES:
                found = [ratios(rows[task], own, peer) for own in OUR_NAMES]
                if any(found):
                    body.append([text.partition(" (")[0], peer, *(spread(each, "×") for each in found)])
    found = ratios(rows.get("build", {}), "germane", "tantivy")
    if found:
        body.append(["Index build", "tantivy", spread(found, "×"), "the same"])
    if body:
        yield from ("", "How many times as fast as the peer we are, round by round (below 1: slower):")
        yield from table(["", "peer", "our BM25", "our Dirichlet"], body, text_columns=2)


def feedback_table(times: Mapping[str, list[float]]) -> Iterator[str]:
    if times:
        yield from (
            "",
            "Feedback with 20 documents and 100 words, top 10: medians over the queries. Peers: the same two rankings, "
            "words given, means.",
        )
        body = []
        for kind, rounds in times.items():
            against = [a / b for a, b in zip(rounds, times["plain"], strict=True)] if kind in METHODS else []
            body.append([kind, spread(rounds), spread(against, "×")])
        yield from table(["", "CPU ms a query", "against plain"], body)


def growth(name: str, tasks: Mapping[str, Any]) -> Iterator[str]:
    sizes = sorted({int(size) for task in tasks.values() for costs in task.values() for size in costs})
    body = []
    for task, costs_of in tasks.items():
        for engine, costs in costs_of.items():
            cells = [number(Spread.of(costs[str(size)]).median) if str(size) in costs else "–" for size in sizes]
            own = [spread(top_slopes(costs)), spread(slopes(costs))]
            body.append([SEARCH_TITLES[task].partition(" (")[0], title(ENGINES[engine]), *cells, *own])
    yield from ("", f"## Growth: the first documents of {name}, the same queries, CPU ms a query")
    head = ["", "", *(f"{size:,}" for size in sizes), f"slope from {sizes[-1] // 4:,}", "slope of all"]
    yield from table(head, body, text_columns=2)


def markdown(data: Mapping[str, Any]) -> str:
    here = data["machine"]
    lines = [
        "# Performance",
        "",
        "Written by `python benchmarks/run.py --write`; not edited by hand.",
        "",
        f"- Processor: {here['processor']}, {here['architecture']}, {here['cores']} cores"
        f"{', ' + here['caches'] if here['caches'] else ''}; {here['memory_gib']} GiB memory, {here['system']}, "
        f"Python {here['python']}",
        "- One thread for each engine; CPU time of the whole process, warm; medians of interleaved rounds, in brackets "
        "the lowest and the highest; the same tokens for all, without stemming or stop words.",
        "- What is and is not counted: [benchmarks/README.md](../benchmarks/README.md).",
        "- Runs, with the machine's load when each began:",
        *(f"  - {run['date']}, load {run['load']}: `{run['command']}`" for run in data["runs"]),
    ]
    judged = bars(data)
    if judged:
        lines += ["", "## Bars", "", "Met or missed by the median; narrowly: some rounds say otherwise."]
        body = [[bar.what, bar.where, bar.demand, spread(bar.rounds), bar.verdict] for bar in judged]
        lines += table(["what", "where", "bar", "measured", "verdict"], body, text_columns=2)
    for name, entry in data.get("collections", {}).items():
        lines += collection(name, entry)
    for name, tasks in data.get("growth", {}).items():
        lines += growth(name, tasks)
    if data.get("cold"):
        body = [
            [kind, spread(rounds), "wall s" if kind.startswith("warm") else "CPU-s"]
            for kind, rounds in data["cold"].items()
        ]
        lines += ["", "## Cold start", "", "Whole processes, from an empty cache of compiled kernels; warm: wall time."]
        lines += table(["", "seconds", ""], body)
    if data.get("startup"):
        body = [[f"`{label}`", spread(rounds)] for label, rounds in data["startup"].items()]
        lines += ["", "## Start-up", *table(["", "ms"], body)]
    versions, counted = data.get("versions", {}), data.get("counted", {})
    body = [
        [engine.name, versions[name], engine.model, counted.get(engine.index, ""), engine.note]
        for name, engine in ENGINES.items()
        if name in versions
    ]
    head = ["", "version", "model", "counted as dictionary and postings", "note"]
    lines += ["", "## Engines", *table(head, body, text_columns=5)]
    trouble = dict.fromkeys(line for run in data["runs"] for line in run.get("trouble", []))
    if trouble:
        lines += ["", "Not measured:", "", *(f"- {line}" for line in trouble)]
    return "\n".join(lines) + "\n"

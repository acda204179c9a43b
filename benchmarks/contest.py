"""One collection and the engines that search it: everything is measured in interleaved rounds."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import corpora
from peers import OUR_NAMES, OURS, WORK, Peer
from processes import PeakMemory, Process, WorkerError
from results import Results, with_ours

SEARCHES = {
    "short10": ("short", 10, "any"),
    "short1000": ("short", 1000, "any"),
    "long10": ("long", 10, "any"),
    "long1000": ("long", 1000, "any"),
    "and10": ("pairs", 10, "all"),
    "phrase10": ("phrases", 10, "phrase"),
}
"""For each task its queries, how many results, and how the words of a query belong together."""
N_FEEDBACK_DOCS = 20
"""Hits of the first of two passes; as many as ours learns from."""


def say(*words: object) -> None:
    print(*words, file=sys.stderr, flush=True)


def summary(rounds: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{name} {statistics.median(values):.4g}" for name, values in rounds.items())


class Engines:
    """The engines that take part, and the process of each that runs."""

    def __init__(self, engines: Sequence[Peer], results: Results) -> None:
        self.engines, self.results = engines, results
        self.failures: list[str] = []
        self.processes: dict[str, Process] = {}

    @property
    def by_index(self) -> list[Peer]:
        """One engine for each index: ours build theirs once."""
        return list({engine.index: engine for engine in self.engines}.values())

    def running(self) -> list[Peer]:
        return [engine for engine in self.engines if engine.name in self.processes]

    @contextmanager
    def failing_alone(self, engine: Peer) -> Iterator[None]:
        """An engine that fails is reported and left out of what follows; the others go on."""
        try:
            yield
        except WorkerError as error:
            self.failures.append(str(error))
            self.processes.pop(engine.name, None)
            say(error)

    def start(self, engine: Peer) -> Process:
        process = Process(engine)
        self.results.put("versions", **{engine.name: process.ask("version")["version"]})
        return process

    def build(self, engine: Peer, source: Path, path: Path) -> dict[str, float]:
        """A new process builds the index; beside it, a file says what that took."""
        say(f"{engine.index}: building {path}")
        marker = marker_of(path)
        shutil.rmtree(path, ignore_errors=True)
        marker.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        process = self.start(engine)
        with PeakMemory(process.popen.pid) as memory:
            reply = process.ask("build", source=str(source), path=str(path))
        process.close()
        reply["peak_rss"] = max(reply["peak_rss"], memory.peak)
        marker.write_text(json.dumps(reply))
        return reply

    def build_missing(self, engines: Sequence[Peer], source: Path, folder: str) -> None:
        for engine in engines:
            path = index_path(engine, folder)
            if not marker_of(path).exists():
                with self.failing_alone(engine):
                    self.build(engine, source, path)

    def close(self) -> None:
        for process in self.processes.values():
            process.close()
        self.processes = {}


def index_path(engine: Peer, folder: str) -> Path:
    return WORK / "indexes" / folder / engine.index


def marker_of(index: Path) -> Path:
    return index.with_name(f"{index.name}.json")


class Contest(Engines):
    """A collection; each method measures one thing and puts it into the results."""

    def __init__(self, name: str, args: argparse.Namespace, engines: Sequence[Peer], results: Results) -> None:
        super().__init__(engines, results)
        say(f"\n== {name}: preparing")
        self.name, self.args = name, args
        self.folder = corpora.prepare(name, args.docs)
        facts = json.loads((self.folder / "collection.json").read_text())
        self.n_docs = facts["documents"]
        results.put("collections", self.folder.name, facts=facts)

    def run(self, tasks: Sequence[str]) -> None:
        if "build" in tasks:
            self.builds()
        self.build_missing(self.by_index, self.folder / "docs.jsonl", self.folder.name)
        self.open(tasks)
        searches = [task for task in SEARCHES if task in tasks]
        if searches:
            self.overlap()
        for task in searches:
            self.search(task)
        for task in ("threads", "overhead", "feedback"):
            if task in tasks:
                getattr(self, task)()
        self.close()
        if "add" in tasks:
            self.add()

    def put(self, row: str, rounds: Mapping[str, Sequence[float]]) -> None:
        say(f"{row}: {summary(rounds)}")
        ours = (*OUR_NAMES, OURS[0].index)
        self.results.put("collections", self.folder.name, "rows", row, **with_ours(rounds, ours))

    def queries(self, kind: str) -> list[corpora.Query]:
        if kind == "pairs":
            return [query[:2] for query in self.queries("short") if len(query) > 1]
        return corpora.read_queries(self.folder / f"queries_{kind}.tsv")[: self.args.queries]

    def builds(self) -> None:
        """Rounds of whole builds, after one of a few documents: what is compiled once is compiled then."""
        rates: dict[str, list[float]] = {}
        memory: dict[str, list[float]] = {}
        with tempfile.TemporaryDirectory(dir=WORK) as scratch:
            few = Path(scratch, "docs.jsonl")
            with (self.folder / "docs.jsonl").open("rb") as lines, few.open("wb") as out:
                out.writelines(islice(lines, 1_000))
            for engine in self.by_index:
                with self.failing_alone(engine):
                    self.build(engine, few, Path(scratch, engine.index))
        for _ in range(self.args.build_rounds):
            for engine in self.by_index:
                with self.failing_alone(engine):
                    path = index_path(engine, self.folder.name)
                    reply = self.build(engine, self.folder / "docs.jsonl", path)
                    rates.setdefault(engine.index, []).append(self.n_docs / reply["cpu_s"])
                    memory.setdefault(engine.index, []).append(reply["peak_rss"] / 1e6)
        self.put("build", rates)
        self.put("rss", memory)

    def open(self, tasks: Sequence[str]) -> None:
        times: dict[str, list[float]] = {}
        sizes: dict[str, list[float]] = {}
        for engine in self.engines:
            path = index_path(engine, self.folder.name)
            if not marker_of(path).exists():
                continue
            with self.failing_alone(engine):
                process = self.start(engine)
                times[engine.index] = [1e3 * process.ask("open", path=str(path))["wall_s"] for _ in range(5)]
                self.processes[engine.name] = process
                size = process.ask("size")
                sizes[engine.index] = [size["bytes"] / 1e6]
                self.results.put("counted", **{engine.index: size["counted"]})
        for row, rounds in (("open", times), ("size", sizes)):
            if row in tasks:
                self.put(row, rounds)

    def overlap(self) -> None:
        """Do engines of one model find the same documents?  A check of the set-up, not a contest."""
        rows: dict[str, list[list[int]]] = {}
        queries = self.queries("short")[:50]
        for engine in self.running():
            with self.failing_alone(engine):
                rows[engine.name] = self.processes[engine.name].ask("top", queries=queries, k=10)["rows"]
        found = {}
        for engine in self.running():
            alike = next(own.name for own in OURS if own.model == engine.model)
            if alike in rows:
                pairs = zip(rows[engine.name], rows[alike], strict=True)
                found[engine.name] = [100 * statistics.mean(len(set(a) & set(b)) / max(1, len(b)) for a, b in pairs)]
        self.put("overlap", found)

    def search(self, task: str) -> None:
        kind, k, structure = SEARCHES[task]
        given = {"queries": self.queries(kind), "k": k, "budget_s": self.args.budget, "structure": structure}
        rates: dict[str, list[float]] = {}
        hits: dict[str, int] = {}
        for turn in range(-1, self.args.rounds):  # turn -1 warms up
            for engine in self.running():
                with self.failing_alone(engine):
                    for _ in range(engine.warm_up if turn < 0 else 1):
                        reply = self.processes[engine.name].ask("search", **given)
                    if "unsupported" not in reply and turn >= 0:
                        rates.setdefault(engine.name, []).append(reply["queries"] / reply["cpu_s"])
                        if reply["queries"] == len(given["queries"]):
                            hits[engine.name] = reply["hits"]
        if len(set(hits.values())) > 1:
            say(f"{task}: the engines find {hits} results")
        self.put(task, rates)

    def threads(self) -> None:
        """Queries per second of wall time in two threads, divided by those in one: short queries, top 10."""
        scaling: dict[str, list[float]] = {}
        queries, budget = self.queries("short"), self.args.budget
        for turn in range(-1, self.args.rounds):
            for engine in self.running():
                if engine.threads:
                    with self.failing_alone(engine):
                        ask = self.processes[engine.name].ask
                        one, two = (ask("search", queries=queries, k=10, budget_s=budget, threads=n) for n in (1, 2))
                        ratio = two["queries"] / two["wall_s"] / (one["queries"] / one["wall_s"])
                        if turn >= 0:
                            scaling.setdefault(engine.name, []).append(ratio)
        self.put("threads", scaling)

    def overhead(self) -> None:
        """Microseconds of CPU time of a short query outside the kernels: means of each round."""
        spent: dict[str, list[float]] = {}
        queries = self.queries("short")
        for turn in range(-1, self.args.rounds):
            for engine in self.running():
                if engine in OURS:
                    with self.failing_alone(engine):
                        reply = self.processes[engine.name].ask("overhead", queries=queries, k=10)
                        if turn >= 0:
                            spent.setdefault(engine.name, []).append(statistics.mean(reply["us"]))
        self.put("overhead", spent)

    def feedback(self) -> None:
        """Feedback searches divided by the plain query, and the two passes through the peers, in CPU milliseconds.

        The peers do less: the short query, then the weighted words that our RM3 found, handed to them ready made. They
        neither read documents nor learn.
        """
        ours = next((engine for engine in self.running() if engine is OURS[1]), None)
        if ours is None:
            return
        short = self.queries("short")[: self.args.feedback_queries]
        expanded = self.processes[ours.name].ask("expand", queries=short)["queries"]
        times: dict[str, list[float]] = {}
        for turn in range(-1, self.args.rounds):
            with self.failing_alone(ours):
                reply = self.processes[ours.name].ask("feedback", queries=short, k=10)
                if turn >= 0:
                    for kind, each in reply["ms"].items():
                        times.setdefault(kind, []).append(statistics.median(each))
            for engine in self.running():
                if engine.name in self.args.feedback_peers:
                    with self.failing_alone(engine):
                        total = two_passes_ms(self.processes[engine.name], short, expanded, self.args.budget)
                        if turn >= 0:
                            times.setdefault(engine.name, []).append(total)
        say(f"feedback: {summary(times)}")
        self.results.put("collections", self.folder.name, feedback=times)

    def add(self) -> None:
        """Five additions of a document to a copy of the index, by each engine in turn."""
        times: dict[str, list[float]] = {}
        with (self.folder / "docs.jsonl").open() as lines:
            text = json.loads(next(lines))["text"]
        for engine in self.by_index:
            path, copy = index_path(engine, self.folder.name), WORK / "added" / engine.index
            if not marker_of(path).exists():
                continue
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(path, copy)
            with self.failing_alone(engine):
                process = self.start(engine)
                for turn in range(6):
                    word = f"zzyzx{'abcdef'[turn]}"
                    reply = process.ask("add", path=str(copy), text=f"{text} {word}", word=word)
                    if "unsupported" not in reply and turn:  # the first warms up
                        times.setdefault(engine.index, []).append(1e3 * reply["wall_s"])
                process.close()
            shutil.rmtree(copy, ignore_errors=True)
        self.put("add", times)


def two_passes_ms(process: Process, short: list[Any], expanded: list[Any], budget_s: float) -> float:
    """Mean CPU milliseconds of the short queries and the expanded ones."""
    total = 0.0
    for queries, k in ((short, N_FEEDBACK_DOCS), (expanded, 10)):
        reply = process.ask("search", queries=queries, k=k, budget_s=budget_s)
        total += 1e3 * reply["cpu_s"] / reply["queries"]
    return total

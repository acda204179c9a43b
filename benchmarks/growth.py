"""How the cost of a query grows with the collection: prefixes of one generated collection, the same queries for all."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence

import corpora
from contest import SEARCHES, Engines, index_path, marker_of, say
from peers import OURS, Peer
from processes import Process
from results import Results

PEERS_OF_GROWTH = ("tantivy",)
TOP = 4
"""The slope at the top is that of the sizes from the largest down to a quarter of it."""

Costs = Mapping[str, Sequence[float]]  # a size, and the milliseconds of a query there, round by round


def slopes(costs: Costs, smallest: float = 0) -> list[float]:
    """Least squares of log cost on log size, round by round: 1 is linear growth, 0 none."""
    sizes = sorted(int(size) for size in costs if int(size) >= smallest)
    if len(sizes) < 2:
        return []
    x = [math.log(size) for size in sizes]
    rounds = zip(*(costs[str(size)] for size in sizes), strict=True)
    return [statistics.linear_regression(x, [math.log(cost) for cost in each]).slope for each in rounds]


def top_slopes(costs: Costs) -> list[float]:
    return slopes(costs, max(map(int, costs)) / TOP)


class Growth(Engines):
    """Ours and one peer at all sizes."""

    def __init__(self, name: str, args: argparse.Namespace, engines: Sequence[Peer], results: Results) -> None:
        chosen = [engine for engine in engines if engine in OURS or engine.name in PEERS_OF_GROWTH]
        super().__init__(chosen, results)
        self.name, self.args = name, args

    def folder_of(self, size: int) -> str:
        """Where the indexes are; the first documents are the collection itself, whose index may be there already."""
        return corpora.folder_of(self.name, size).name

    def run(self) -> None:
        say(f"\n== {self.name}: growth")
        queries = corpora.prepare(self.name, self.args.docs)
        for size, source in corpora.prepare_prefixes(self.name, self.args.sizes).items():
            self.build_missing(self.by_index, source, self.folder_of(size))
        opened = self.open()
        for task, (kind, k, structure) in SEARCHES.items():
            if structure != "any":
                continue
            asked = corpora.read_queries(queries / f"queries_{kind}.tsv")[: self.args.queries]
            costs: dict[str, dict[str, list[float]]] = {}
            for turn in range(-1, self.args.rounds):  # turn -1 warms up
                for (name, size), process in opened.items():
                    reply = process.ask("search", queries=asked, k=k, budget_s=self.args.budget)
                    if turn >= 0:
                        cost = 1e3 * reply["cpu_s"] / reply["queries"]
                        costs.setdefault(name, {}).setdefault(str(size), []).append(cost)
            self.results.put("growth", self.name, task, **costs)
            for name, found in costs.items():
                means = ", ".join(f"{size} {statistics.median(each):.3f}" for size, each in found.items())
                say(f"{task}: {name}: {means}; slope {statistics.median(slopes(found)):.2f}")
        for process in opened.values():
            process.close()

    def open(self) -> dict[tuple[str, int], Process]:
        opened = {}
        for engine in self.engines:
            for size in self.args.sizes:
                path = index_path(engine, self.folder_of(size))
                if marker_of(path).exists():
                    with self.failing_alone(engine):
                        process = self.start(engine)
                        process.ask("open", path=str(path))
                        opened[engine.name, size] = process
        return opened

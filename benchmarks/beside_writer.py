"""A reader's rate alone and beside a writer that adds documents one by one, and how long an add takes.

    python benchmarks/beside_writer.py --docs 50000 --adds 150

The writer works in another thread of the reader's process (they share the interpreter), or in another process (the
reader calls `Engine.refresh` before each query, and once more with `within=0.1`: then it may miss the news of a tenth
of a second). Each add is one durable commit. Wall-clock time: the machine should be otherwise idle, with a core for
each of the two. A shared one slows down for moments, so that rounds are short and many, and each rate is compared with
the reader's alone right before and right after. The reader runs the short queries of the synthetic collection, top 10,
in turn: alone, beside the thread, alone, beside each process, alone, and again. Each reader has run all of them once
before its time counts, and each writer has added some documents: what a process does once is in none of the rates.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import corpora

from germane import Analyzer, Document, Engine
from germane.data import read_documents

WORK = Path(__file__).parent / "work"
BAR_RATES, BAR_P99_MS = {"thread": 0.4, "process": 0.65}, 60
WITHIN = 0.1
"""Seconds that what the lenient reader sees may be old."""
ALONE_S = 1.5
"""Seconds that a reader is alone before and after."""
FIRST_ADDS = 16
"""Adds that do not count: with the first a writer begins, and after some it loads its kernels."""
BETWEEN_LOOKS = 10
"""Queries before a reader asks whether the writer is done: asking takes as long as a tenth of a search."""


def extra_documents(folder: Path, prefix: str) -> Iterator[Document]:
    """Documents of the collection under ids of their own, without end."""
    while True:
        for i, document in enumerate(read_documents(folder / "docs.jsonl")):
            yield Document(f"{prefix}{time.monotonic_ns()}-{i}", document.fields)


def add_one_by_one(engine: Engine, documents: Iterator[Document], pause_s: float) -> list[float]:
    """Seconds that each add took."""
    times = []
    for document in documents:
        start = time.perf_counter()
        engine.add([document], threads=1)
        times.append(time.perf_counter() - start)
        time.sleep(pause_s)
    return times


def read_while(engine: Engine, queries: list[str], going: Callable[[], bool], within: float | None = None) -> float:
    """Queries per second until `going` says no; `within`: look for news before each, as `Engine.refresh` has it."""
    done, start = 0, time.perf_counter()
    while going():
        for _ in range(BETWEEN_LOOKS):
            if within is not None:
                engine.refresh(within=within)
            engine.search(queries[done % len(queries)], k=10)
            done += 1
    return done / (time.perf_counter() - start)


def warm_reader(path: Path, queries: list[str]) -> Engine:
    """An engine that has run all the queries."""
    engine = Engine.open(path)
    for query in queries:
        engine.search(query, k=10)
    return engine


def alone(path: Path, queries: list[str], seconds: float) -> float:
    engine = warm_reader(path, queries)
    end = time.perf_counter() + seconds
    return read_while(engine, queries, lambda: time.perf_counter() < end)


def beside_thread(path: Path, queries: list[str], folder: Path, adds: int, pause_s: float) -> tuple[float, list[float]]:
    with warm_reader(path, queries) as engine:
        times: list[float] = []
        documents = extra_documents(folder, "t")
        add_one_by_one(engine, islice(documents, FIRST_ADDS), 0)
        few = islice(documents, adds)
        writer = threading.Thread(target=lambda: times.extend(add_one_by_one(engine, few, pause_s)))
        writer.start()
        rate = read_while(engine, queries, writer.is_alive)
        writer.join()
    return rate, times


def beside_process(
    path: Path, queries: list[str], folder: Path, adds: int, pause_s: float, within: float = 0.0
) -> tuple[float, list[float]]:
    command = [sys.executable, __file__, "--write", str(path), "--source", str(folder), "--adds", str(adds)]
    reader = warm_reader(path, queries)
    writer = subprocess.Popen([*command, "--pause", str(pause_s)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    writer.stdout.readline()  # it has made its first adds: importing and loading kernels is over
    rate = read_while(reader, queries, lambda: writer.poll() is None, within)
    times: list[float] = json.loads(writer.stdout.read())
    return rate, times


def write_only(path: Path, folder: Path, adds: int, pause_s: float) -> None:
    """The writing process."""
    documents = extra_documents(folder, "p")
    with Engine.open(path) as engine:
        add_one_by_one(engine, islice(documents, FIRST_ADDS), 0)
        print("ready", flush=True)
        print(json.dumps(add_one_by_one(engine, islice(documents, adds), pause_s)))


def quantile_ms(times: list[float], q: float) -> float:
    return sorted(times)[min(len(times) - 1, int(q * len(times)))] * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=50_000, help="documents of the synthetic collection")
    parser.add_argument("--adds", type=int, default=150, help="documents added in each part of a round")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two adds")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print each round's ratio and p99, nothing else")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        write_only(args.write, args.source, args.adds, args.pause)
        return
    folder = corpora.prepare("synthetic", args.docs)
    queries = [" ".join(word for word, _ in query) for query in corpora.read_queries(folder / "queries_short.tsv")]
    path = WORK / "beside-writer"
    shutil.rmtree(path, ignore_errors=True)
    with Engine.create(path, analyzer=Analyzer(stemmer="none", stopwords="none"), fields=("text",)) as engine:
        engine.add(read_documents(folder / "docs.jsonl"))
        engine.search(queries[0])
    ways = {
        "thread": beside_thread,
        "process": beside_process,
        f"process, seen within {WITHIN} s": partial(beside_process, within=WITHIN),
    }
    told: dict[str, dict[str, list[float]]] = {name: {"ratio": [], "p99_ms": []} for name in ways}
    adds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(args.rounds):
        before = alone(path, queries, ALONE_S)
        for name, beside in ways.items():
            rate, times = beside(path, queries, folder, args.adds, args.pause)
            after = alone(path, queries, ALONE_S)
            adds[name] += times
            told[name]["ratio"].append(2 * rate / (before + after))
            told[name]["p99_ms"].append(quantile_ms(times, 0.99))
            before = after
    if args.json:
        print(json.dumps(told))
        shutil.rmtree(path)
        return
    for name, times in adds.items():
        ratios, bar = told[name]["ratio"], BAR_RATES[name.partition(",")[0]]
        print(
            f"beside a writer in another {name}: {statistics.median(ratios):.2f} of the rate alone "
            f"({min(ratios):.2f}-{max(ratios):.2f}; bar {bar}); an add p50 {quantile_ms(times, 0.5):.1f} ms, "
            f"p99 {quantile_ms(times, 0.99):.1f} ms (bar {BAR_P99_MS}); {len(times) / sum(times):.0f} adds a second"
        )
    with Engine.open(path) as engine:
        print(f"segments: {engine.stats().segments}, documents: {len(engine)}")
    shutil.rmtree(path)


if __name__ == "__main__":
    main()

"""Measure searches as users meet them: each query once, in a fresh process, opening included, beside the peers.

python benchmarks/first_touch.py                           # 500,000 documents, as docs/performance.md has them
python benchmarks/first_touch.py --docs 100000 --collections synthetic --tasks short10

Kernels are compiled before (`germane warmup`), and loaded by searches of a small index. CPU time of all threads; the
engines take turns, and the median of the rounds counts. A line for each engine: queries a CPU-second (opening
included), milliseconds of opening with the first query, resident megabytes at the end, and how many times as fast the
first engine is.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path
from typing import NamedTuple

import corpora
from contest import SEARCHES, Engines, index_path
from peers import OUR_PYTHON, OURS, PEERS, WORK, Peer
from processes import Process
from results import Results

SMALL_DOCS = 25_000
"""Documents of the index that loads the kernels: a smaller one is searched without (`rank.scoring.scorers`)."""
TASKS = {"short10": 1_000, "short1000": 200, "long10": 200}
"""Queries of each task of `contest.SEARCHES`."""
ENGINES = (OURS[0], *(peer for peer in PEERS if peer.name in ("tantivy", "bm25s")))
MEGABYTE = 1 << 20


class Touch(NamedTuple):
    """One process: queries a CPU-second, milliseconds until the first answer, resident megabytes."""

    rate: float
    first_ms: float
    resident: float


def resident(pid: int) -> float:
    """Return the resident megabytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / MEGABYTE for line in lines if line.startswith("VmRSS:"))


def touch(engine: Peer, folder: Path, small: Path, task: str) -> Touch:
    """Open an index in a fresh process and ask each query once."""
    kind, k, structure = SEARCHES[task]
    asked = {"k": k, "budget_s": 600.0, "structure": structure}
    queries = corpora.read_queries(folder / f"queries_{kind}.tsv")[: TASKS[task]]
    process = Process(engine)
    process.ask("open", path=str(index_path(engine, small.name)))
    process.ask("search", queries=corpora.read_queries(small / f"queries_{kind}.tsv")[:20], **asked)
    opened = process.ask("open", path=str(index_path(engine, folder.name)))["cpu_s"]
    first = process.ask("search", queries=queries[:1], **asked)["cpu_s"]
    rest = process.ask("search", queries=queries[1:], **asked)["cpu_s"]
    found = Touch(len(queries) / (opened + first + rest), 1e3 * (opened + first), resident(process.popen.pid))
    process.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=corpora.N_DOCS)
    parser.add_argument("--collections", default="synthetic,bursty,msmarco_medical")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--engines", default=",".join(engine.name for engine in ENGINES))
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    engines = [engine for engine in ENGINES if engine.name in args.engines.split(",")]
    builders = Engines(engines, Results(WORK / "first_touch.json"))
    subprocess.run([str(OUR_PYTHON), "-m", "germane.cli", "warmup"], check=True)
    small = corpora.prepare("synthetic", SMALL_DOCS)
    builders.build_missing(engines, small / "docs.jsonl", small.name)
    for name in args.collections.split(","):
        folder = corpora.prepare(name, args.docs)
        builders.build_missing(engines, folder / "docs.jsonl", folder.name)
        for task in args.tasks.split(","):
            rounds: dict[str, list[Touch]] = {engine.name: [] for engine in engines}
            for _ in range(args.rounds):
                for engine in engines:
                    rounds[engine.name].append(touch(engine, folder, small, task))
            medians = {name: Touch(*map(statistics.median, zip(*found, strict=True))) for name, found in rounds.items()}
            ours = medians[engines[0].name].rate
            for engine, (rate, first_ms, memory) in medians.items():
                print(
                    f"{folder.name:20} {task:10} {engine:14} {rate:8.0f} a CPU-s {first_ms:8.1f} ms first "
                    f"{memory:6.0f} MB  ours/it {ours / rate:5.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

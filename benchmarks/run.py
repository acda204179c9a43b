"""Measure Germane beside its peers: the same tokens, one thread each, in one run, in interleaved rounds.

python benchmarks/run.py                         # everything that is installed
python benchmarks/run.py --quick                 # a smoke run: 20,000 documents, few queries
python benchmarks/run.py --only tantivy,pisa --tasks short10,short1000
python benchmarks/run.py --write                 # also write docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import corpora
from peers import OURSELVES, PEERS, Peer, works
from report import Table, as_markdown, as_text

HERE = Path(__file__).parent
WORK = HERE / "work"
SEARCHES = {"short10": ("short", 10), "short1000": ("short", 1000), "long10": ("long", 10), "long1000": ("long", 1000)}
TASKS = (*SEARCHES, "build", "size", "open", "add", "startup")
TITLES = {
    "short10": "Short queries, top 10 (queries per CPU-second)",
    "short1000": "Short queries, top 1000 (queries per CPU-second)",
    "long10": "50 weighted words, top 10 (queries per CPU-second)",
    "long1000": "50 weighted words, top 1000 (queries per CPU-second)",
    "build": "Index build from text (documents per CPU-second)",
    "rss": "Peak memory of the build (MB)",
    "size": "Dictionary and postings on disk (MB)",
    "open": "Opening an index (ms)",
    "add": "One more document, durable and searchable (ms)",
    "overlap": "Top 10 shared with ours, short queries (%)",
}
HIGHER_IS_BETTER = {*SEARCHES, "build"}
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


class WorkerError(RuntimeError):
    pass


class Process:
    """A worker in its own process."""

    def __init__(self, peer: Peer, log: Path) -> None:
        self.peer = peer
        self.log = log
        with log.open("w") as errors:
            self.popen = subprocess.Popen(
                [peer.python, peer.script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | ONE_THREAD,
            )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        try:
            self.popen.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.popen.stdin.flush()
            line = self.popen.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            last = self.log.read_text().strip().splitlines()[-1:]
            raise WorkerError(f"{self.peer.name}: {do}: {' '.join(last) or 'the worker ended'}")
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(f"{self.peer.name}: {do}: {reply['error']}")
        return reply

    def close(self) -> None:
        self.popen.stdin.close()
        self.popen.wait()


class PeakMemory:
    """The largest sum of resident memory over a process and its descendants, looked at every 50 ms."""

    def __init__(self, pid: int) -> None:
        self.pid, self.peak, self.ended = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.ended.wait(0.05):
            self.peak = max(self.peak, self._tree(self.pid))

    def _tree(self, pid: int) -> int:
        try:
            resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            tasks = Path(f"/proc/{pid}/task").glob("*/children")
            return resident + sum(self._tree(int(child)) for task in tasks for child in task.read_text().split())
        except OSError:  # it has just ended
            return 0


class Run:
    def __init__(self, args: argparse.Namespace, available: list[Peer]) -> None:
        self.args, self.available = args, available
        self.failures: list[str] = []
        self.counted: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.processes: dict[str, Process] = {}

    def collection(self, name: str) -> Table:
        print(f"\n== {name}: preparing", file=sys.stderr, flush=True)
        folder = corpora.prepare(name, self.args.docs)
        facts = json.loads((folder / "collection.json").read_text())
        values: dict[str, dict[str, float]] = {peer.name: {} for peer in self.available}
        for peer in self.available:
            with self.failing_alone(peer):
                self.build(peer, folder, facts, values[peer.name])
        self.open_all(folder, values)
        self.search(folder, values)
        for process in self.processes.values():
            process.close()
        self.processes = {}
        if "add" in self.args.tasks:
            for peer in self.available:
                with self.failing_alone(peer):
                    self.add(peer, folder, values[peer.name])
        return Table(
            name,
            facts,
            [
                (TITLES[key], key in HIGHER_IS_BETTER, {n: v[key] for n, v in values.items() if key in v})
                for key in TITLES
            ],
        )

    @contextmanager
    def failing_alone(self, peer: Peer) -> Iterator[None]:
        """An engine that fails is reported and left out of what follows; the others go on."""
        try:
            yield
        except WorkerError as error:
            self.failures.append(str(error))
            self.processes.pop(peer.name, None)
            print(error, file=sys.stderr, flush=True)

    def index_path(self, peer: Peer, folder: Path) -> Path:
        return WORK / "indexes" / folder.name / peer.name

    def start(self, peer: Peer) -> Process:
        process = Process(peer, WORK / f"{peer.name}.log")
        self.versions.setdefault(peer.name, process.ask("version")["version"])
        return process

    def build(self, peer: Peer, folder: Path, facts: dict[str, Any], values: dict[str, float]) -> None:
        """A new process for each build.  Without the task `build`, an index that is there is used again."""
        path = self.index_path(peer, folder)
        marker = path.with_suffix(".json")
        if not marker.exists() or "build" in self.args.tasks:
            print(f"{peer.name}: building", file=sys.stderr, flush=True)
            shutil.rmtree(path, ignore_errors=True)
            marker.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            process = self.start(peer)
            with PeakMemory(process.popen.pid) as memory:
                reply = process.ask("build", source=str(folder / "docs.jsonl"), path=str(path))
            process.close()
            reply["peak_rss"] = max(reply["peak_rss"], memory.peak)
            marker.write_text(json.dumps(reply))
        if "build" in self.args.tasks:
            reply = json.loads(marker.read_text())
            values["build"] = facts["documents"] / reply["cpu_s"]
            values["rss"] = reply["peak_rss"] / 1e6

    def open_all(self, folder: Path, values: dict[str, dict[str, float]]) -> None:
        for peer in self.available:
            if not self.index_path(peer, folder).with_suffix(".json").exists():
                continue
            with self.failing_alone(peer):
                process = self.start(peer)
                path = str(self.index_path(peer, folder))
                times = [process.ask("open", path=path)["wall_s"] for _ in range(5)]
                self.processes[peer.name] = process
                if "open" in self.args.tasks:
                    values[peer.name]["open"] = statistics.median(times) * 1e3
                if "size" in self.args.tasks:
                    size = process.ask("size")
                    values[peer.name]["size"] = size["bytes"] / 1e6
                    self.counted[peer.name] = size["counted"]

    def search(self, folder: Path, values: dict[str, dict[str, float]]) -> None:
        queries = {
            kind: corpora.read_queries(folder / f"queries_{kind}.tsv")[: self.args.queries]
            for kind in ("short", "long")
        }
        tasks = [task for task in SEARCHES if task in self.args.tasks]
        if tasks:
            self.overlap(queries["short"][:50], values)
        for task in tasks:
            kind, k = SEARCHES[task]
            rates: dict[str, list[float]] = {}
            for turn in range(-1, self.args.rounds):  # turn -1 warms up
                for peer in self.running():
                    with self.failing_alone(peer):
                        for _ in range(peer.warm_up if turn < 0 else 1):
                            reply = self.processes[peer.name].ask(
                                "search", queries=queries[kind], k=k, budget_s=self.args.budget
                            )
                        if turn >= 0:
                            rates.setdefault(peer.name, []).append(reply["queries"] / reply["cpu_s"])
            for name, found in rates.items():
                values[name][task] = statistics.median(found)
            print(
                f"{task}: " + ", ".join(f"{n} {statistics.median(r):.0f}" for n, r in rates.items()),
                file=sys.stderr,
                flush=True,
            )

    def running(self) -> list[Peer]:
        return [peer for peer in self.available if peer.name in self.processes]

    def overlap(self, queries: list[Any], values: dict[str, dict[str, float]]) -> None:
        """Do the engines find the same documents?  A check of the set-up, not a contest."""
        rows: dict[str, list[list[int]]] = {}
        for peer in self.running():
            with self.failing_alone(peer):
                rows[peer.name] = self.processes[peer.name].ask("top", queries=queries, k=10)["rows"]
        if OURSELVES.name not in rows:
            return
        for name, found in rows.items():
            shared = [len(set(a) & set(b)) / max(1, len(b)) for a, b in zip(found, rows[OURSELVES.name], strict=True)]
            values[name]["overlap"] = 100 * statistics.mean(shared)

    def add(self, peer: Peer, folder: Path, values: dict[str, float]) -> None:
        """Median of five additions to a copy of the index."""
        path = self.index_path(peer, folder)
        if not path.with_suffix(".json").exists():
            return
        copy = WORK / "added" / peer.name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        process = self.start(peer)
        with (folder / "docs.jsonl").open() as lines:
            text = json.loads(next(lines))["text"]
        times = []
        for turn in range(6):
            word = f"zzyzx{'abcdef'[turn]}"
            reply = process.ask("add", path=str(copy), text=f"{text} {word}", word=word)
            if "unsupported" not in reply and turn:  # the first warms up
                times.append(reply["wall_s"])
        process.close()
        shutil.rmtree(copy, ignore_errors=True)
        if times:
            values["add"] = statistics.median(times) * 1e3


def startup() -> list[tuple[str, float]]:
    """Median wall milliseconds of five cold processes each."""
    python = str(OURSELVES.python)
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import germane'": [python, "-c", "import germane"],
        "germane --help": [str(OURSELVES.python.parent / "germane"), "--help"],
    }
    found = []
    for label, command in commands.items():
        times = []
        for _ in range(6):
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True)
            times.append(time.perf_counter() - start)
        if done.returncode == 0:
            found.append((label, statistics.median(times[1:]) * 1e3))
    return found


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("synthetic", *corpora.REAL)
    parser.add_argument("--docs", type=int, default=500_000, help="documents of the synthetic collection")
    parser.add_argument("--queries", type=int, default=1_000, help="at most so many queries of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds; medians are reported")
    parser.add_argument("--budget", type=float, default=10, help="seconds after which an engine's round is cut short")
    parser.add_argument("--only", default="", help="peers, e.g. tantivy,pisa; 'germane' alone: no peer")
    parser.add_argument("--tasks", default=",".join(TASKS), help=f"of {','.join(TASKS)}")
    parser.add_argument("--collections", default=",".join(names), help=f"of {','.join(names)}")
    parser.add_argument("--quick", action="store_true", help="20,000 documents, 100 queries, 2 rounds, synthetic only")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    args = parser.parse_args()
    if args.quick:
        args.docs, args.queries, args.rounds, args.budget, args.collections = 20_000, 100, 2, 2.0, "synthetic"
    for option, known in (
        ("tasks", TASKS),
        ("collections", names),
        ("only", [OURSELVES.name, *(p.name for p in PEERS)]),
    ):
        chosen = [part for part in getattr(args, option).split(",") if part]
        if set(chosen) - set(known):
            parser.error(f"--{option}: unknown {sorted(set(chosen) - set(known))}; known: {', '.join(known)}")
        setattr(args, option, chosen)
    if "GERMANE_DATA" not in os.environ:
        args.collections = [name for name in args.collections if name not in corpora.REAL]
    return args


def main() -> None:
    args = parse()
    WORK.mkdir(exist_ok=True)
    available, unavailable = [], []
    for peer in (OURSELVES, *PEERS):
        if args.only and peer.name not in args.only and peer is not OURSELVES:
            continue
        reason = works(peer)
        if reason:
            unavailable.append(f"{peer.name}: {reason}")
        else:
            available.append(peer)
    print("\n".join(f"unavailable: {line}" for line in unavailable), file=sys.stderr)
    run = Run(args, available)
    tables = [run.collection(name) for name in args.collections]
    starts = startup() if "startup" in args.tasks and not any(u.startswith(OURSELVES.name) for u in unavailable) else []
    print(as_text(tables, available, starts))
    print("\n".join(f"failed: {line}" for line in run.failures))
    if args.write:
        page = as_markdown(tables, available, starts, run.versions, run.counted, unavailable + run.failures)
        (HERE.parent / "docs" / "performance.md").write_text(page)


if __name__ == "__main__":
    main()

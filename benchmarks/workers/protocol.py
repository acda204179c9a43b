"""What every worker speaks: one JSON object per line in, one out.

    {"do": "build", "source": "docs.jsonl", "path": "index"}     -> {"cpu_s", "wall_s", "peak_rss"}
    {"do": "open", "path": "index"}                              -> {"wall_s"}
    {"do": "search", "queries": [[[word, weight], ...], ...],
     "k": 10, "budget_s": 20, "threads": 1,
     "structure": "any", "all" or "phrase"}                      -> {"queries", "cpu_s", "wall_s", "hits"}
    {"do": "top", "queries": [...], "k": 10}                     -> {"rows": [[document number, ...], ...]}
    {"do": "size"}                                               -> {"bytes", "counted"}
    {"do": "add", "path": "index", "text": "...", "word": "..."} -> {"wall_s"}
    {"do": "overhead" or "feedback", "queries": [...], "k": 10}  -> {"us": [...]} or {"ms": {kind: [...]}}
    {"do": "expand", "queries": [...]}                           -> {"queries": [[[word, weight], ...], ...]}
    {"do": "quit"}

A worker is a subclass of `Worker`.  Standard output belongs to the protocol: whatever a library prints there goes to
standard error instead.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

Query = list[tuple[str, float]]  # words with their weights; every weight is 1 in an unweighted query
BATCH = 50  # queries handed over between two looks at the clock


def cpu_seconds() -> float:
    """CPU time of this process, all its threads, and its ended children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_rss() -> int:
    """Bytes.  Not ru_maxrss, which a freshly started process inherits from the one that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def read_documents(source: str) -> Iterator[tuple[str, str]]:
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield document["id"], document["text"]


def file_bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


class Worker:
    """One engine.  `prepare` turns a query into what the engine's users would hand over (a string, as a rule)."""

    def version(self) -> str:
        raise NotImplementedError

    def build(self, source: str, path: Path) -> None:
        raise NotImplementedError

    def open(self, path: Path) -> None:
        raise NotImplementedError

    def prepare(self, query: Query) -> Any:
        return " ".join(word if weight == 1 else f"{word}^{weight:.6f}" for word, weight in query)

    def prepare_all(self, query: Query) -> Any:
        """Documents that hold all the words."""
        raise NotImplementedError

    def prepare_phrase(self, query: Query) -> Any:
        """Documents that hold the words side by side."""
        raise NotImplementedError

    def search(self, prepared: Sequence[Any], k: int) -> int:
        """Run the queries, one after another; return how many hits they had in all."""
        raise NotImplementedError

    def search_cpu(self) -> float:
        """The clock that searches are measured by."""
        return cpu_seconds()

    def top(self, prepared: Any, k: int) -> list[int]:
        """The numbers (from 0, in order of indexing) of the best documents."""
        raise NotImplementedError

    def size(self) -> tuple[int, str]:
        """Bytes of dictionary and postings, and which files were counted."""
        raise NotImplementedError

    def add(self, path: Path, text: str, word: str) -> float:
        """Seconds until one more document is on disk and found by `word`."""
        raise NotImplementedError

    def overhead(self, prepared: Sequence[Any], k: int) -> list[float]:
        """Microseconds of CPU time that each query spends outside the kernels; asked of ourselves."""
        raise NotImplementedError

    def feedback(self, prepared: Sequence[Any], k: int) -> dict[str, list[float]]:
        """Milliseconds of CPU time of each query, plain and by method of feedback; asked of ourselves."""
        raise NotImplementedError

    def expand(self, prepared: Sequence[Any]) -> list[Query]:
        """The weighted words of the second ranking; asked of ourselves."""
        raise NotImplementedError


def run_search(
    worker: Worker, queries: list[Query], k: int, budget_s: float, threads: int = 1, structure: str = "any"
) -> dict[str, Any]:
    """The queries in turn; with several threads, each takes its share of them."""
    prepare = {"any": worker.prepare, "all": worker.prepare_all, "phrase": worker.prepare_phrase}[structure]
    prepared = [prepare([(word, weight) for word, weight in query]) for query in queries]
    batch = 1 if len(prepared) and len(queries[0]) > 20 else BATCH
    wall, cpu = time.perf_counter(), worker.search_cpu()

    def work(share: list[Any]) -> tuple[int, int]:
        done = hits = 0
        while done < len(share) and (done == 0 or time.perf_counter() - wall < budget_s):
            some = share[done : done + batch]
            hits += worker.search(some, k)
            done += len(some)
        return done, hits

    if threads == 1:
        counts = [work(prepared)]
    else:
        with ThreadPoolExecutor(threads) as pool:
            counts = list(pool.map(work, (prepared[i::threads] for i in range(threads))))
    done, hits = (sum(column) for column in zip(*counts, strict=True))
    return {"queries": done, "hits": hits, "cpu_s": worker.search_cpu() - cpu, "wall_s": time.perf_counter() - wall}


def answer(worker: Worker, message: dict[str, Any]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), cpu_seconds()
    match message["do"]:
        case "version":
            return {"version": worker.version()}
        case "build":
            worker.build(message["source"], Path(message["path"]))
            return {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall, "peak_rss": peak_rss()}
        case "open":
            worker.open(Path(message["path"]))
            return {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall}
        case "search":
            own = {name: message[name] for name in ("threads", "structure") if name in message}
            return run_search(worker, message["queries"], message["k"], message["budget_s"], **own)
        case "top":
            return {"rows": [worker.top(worker.prepare(q), message["k"]) for q in message["queries"]]}
        case "size":
            size, counted = worker.size()
            return {"bytes": size, "counted": counted}
        case "add":
            return {"wall_s": worker.add(Path(message["path"]), message["text"], message["word"])}
        case "overhead":
            return {"us": worker.overhead([worker.prepare(q) for q in message["queries"]], message["k"])}
        case "feedback":
            return {"ms": worker.feedback([worker.prepare(q) for q in message["queries"]], message["k"])}
        case "expand":
            return {"queries": worker.expand([worker.prepare(q) for q in message["queries"]])}
    raise ValueError(f"unknown command {message['do']!r}")


def serve(worker: Worker) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "quit":
            break
        try:
            reply = answer(worker, message)
        except NotImplementedError:
            reply = {"unsupported": True}
        except Exception as error:  # the harness reports it beside the engine's name
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(reply), file=out, flush=True)

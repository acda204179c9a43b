"""Cost of the seam: a plain query of one collection, beside another release and beside four collections opened as one.

    GERMANE_DATA=... python benchmarks/seam.py                          # four collections beside one
    GERMANE_DATA=... python benchmarks/seam.py --against OTHER/src      # this release beside another, one collection

Each contestant has a process of its own; rounds of the same queries alternate between them, and their CPU times are
compared round by round. The bars: one collection at most 1.05 times the release before the seam, four at most 1.3 times
one. Four collections hold a quarter of the documents each, and every message between them passes through bytes.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

QUERIES, ROUNDS, PARTS = 300, 15, 4
WORKER = """
import json, sys, time
from germane import Engine
paths, queries = json.loads(sys.stdin.readline())
engine = Engine.open(paths if len(paths) > 1 else paths[0])
def run():
    began = time.process_time()
    for query in queries:
        engine.search(query, 10, syntax=False)
    return time.process_time() - began
run(), run(), run()
print("ready", flush=True)
for line in sys.stdin:
    print(run(), flush=True)
"""


class Contestant:
    """A process that answers the queries once a round."""

    def __init__(self, source: Path, paths: Sequence[str], queries: Sequence[str]) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environment = {**os.environ, **threads, "PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._write(json.dumps([[*paths], [*queries]]))
        self._read()

    def _write(self, line: str) -> None:
        stream: IO[str] | None = self._process.stdin
        assert stream is not None
        print(line, file=stream, flush=True)

    def _read(self) -> str:
        stream: IO[str] | None = self._process.stdout
        assert stream is not None
        return stream.readline()

    def round(self) -> float:
        """CPU seconds of all queries."""
        self._write("again")
        return float(self._read())

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def prepare(name: str, folder: Path) -> tuple[list[list[str]], list[str]]:
    """Index a collection whole and in parts; return the paths of both, and the queries."""
    from germane import Engine  # of this release: both read its files

    data = Path(os.environ["GERMANE_DATA"]) / name
    with gzip.open(data / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    with (data / "queries.tsv").open(encoding="utf-8") as lines:
        queries = [line.rstrip("\n").split("\t")[1] for line in lines][:QUERIES]
    whole, parts = str(folder / name), [str(folder / f"{name}-{i}") for i in range(PARTS)]
    for path, some in [(whole, documents), *((path, documents[i::PARTS]) for i, path in enumerate(parts))]:
        with Engine.create(path) as engine:
            engine.add(some)
    return [[whole], parts], queries


def ratios(one: Contestant, other: Contestant, rounds: int) -> tuple[list[float], float]:
    """CPU time of one contestant over the other's, round by round, and the first one's seconds a round."""
    times = [(one.round(), other.round()) for _ in range(rounds)]
    return [a / b for a, b in times], statistics.median(a for a, _ in times)


def main() -> int:
    """Measure, print a row for each collection, and return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="the folder src of another release")
    parser.add_argument("--collections", default="nfcorpus,scifact,msmarco_medical")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    here, missed = Path(__file__).parents[1] / "src", False
    for name in arguments.collections.split(","):
        with tempfile.TemporaryDirectory() as folder:
            (whole, parts), queries = prepare(name, Path(folder))
            if arguments.against is None:
                bar, pair = 1.3, (Contestant(here, parts, queries), Contestant(here, whole, queries))
            else:
                bar, pair = 1.05, (Contestant(here, whole, queries), Contestant(arguments.against, whole, queries))
            found, seconds = ratios(*pair, arguments.rounds)
            for each in pair:
                each.end()
        median = statistics.median(found)
        missed |= median > bar
        each_query = 1e6 * seconds / len(queries)
        print(f"{name}\t{each_query:.0f} us a query\t{median:.3f} ({min(found):.2f}-{max(found):.2f})\tbar {bar}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

"""Fuzz on: `python -m fuzz [SUITE ...] [--cases N] [--first N]` in the folder `tests`, or `make fuzz`."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fuzz.harness import Judge, fuzz
from fuzz.index_cases import IndexJudge, make_corpus
from fuzz.model_cases import CiffJudge, ClassifierJudge
from fuzz.power_cases import PowerJudge
from fuzz.query_cases import QueryJudge
from fuzz.reader_cases import LongReaderJudge, ReaderJudge
from fuzz.users import as_nobody
from fuzz.workspace_cases import WorkspaceJudge

SUITES: dict[str, Callable[[Path], Judge]] = {
    "readers": ReaderJudge,
    "long": LongReaderJudge,
    "queries": QueryJudge,
    "classifiers": ClassifierJudge,
    "ciff": CiffJudge,
    "index": lambda folder: IndexJudge(make_corpus(folder / "corpus"), folder),
    "power": PowerJudge,
    "workspaces": WorkspaceJudge,
}
STEP = 500


def main() -> int:
    """Judge cases `first`, `first` + 1, ... of each suite; 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", default=list(SUITES), help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--cases", type=int, default=5000, help="how many of each suite")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--as-nobody", action="store_true", help="as an ordinary user, where we are root")
    options = parser.parse_args()
    found = 0
    for name in options.suites:
        with tempfile.TemporaryDirectory() as folder:
            judge, begin = SUITES[name](Path(folder)), time.process_time()
            if options.as_nobody:
                judge = as_nobody(judge, Path(folder))
            for first in range(options.first, options.first + options.cases, STEP):
                last = min(first + STEP, options.first + options.cases)
                report = fuzz(judge, range(first, last))
                found += len(report.findings)
                print(f"{name} {first} to {last - 1}: {report}", flush=True)
            print(f"{name}: {time.process_time() - begin:.0f} s of this process", flush=True)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())

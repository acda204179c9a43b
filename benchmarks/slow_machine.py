"""First answers on a slow machine: one core, shared with busy loops, and nothing compiled yet.

    python benchmarks/slow_machine.py                     # the bars
    python benchmarks/slow_machine.py --loops 7 --load "make demo"

Told are the CPU seconds of `germane serve --check` and `germane demo`, alone and with the processes that they started,
and how they ended. The bars: both end with status 0, and the server's own CPU time is at most 10 s. With a further
`--load`, that command runs in the same way. The loops end with this program, and after an hour at the latest.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

BAR = 10.0
"""Own CPU seconds of the first answer."""
LOOP = "import sys, time\nend = time.time() + 3600\nwhile time.time() < end: pass"
MEASURED = """
import json, os, resource, sys
from germane.cli import main
sys.argv = ["germane", *sys.argv[2:]]
code = 1
try:
    main()
    code = 0
except SystemExit as end:
    code = end.code or 0
finally:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    with open(os.environ["MEASURED"], "w") as file:
        json.dump([each.ru_utime + each.ru_stime for each in used], file)
sys.exit(code)
"""


class Ended(NamedTuple):
    """How a command ended, its CPU seconds without and with its children's, and those of the clock."""

    status: int
    own: float
    whole: float
    wall: float


@contextmanager
def busy(loops: int, core: int) -> Iterator[None]:
    """So many processes that keep the core busy."""
    os.sched_setaffinity(0, {core})  # what is started from now on stays there
    running = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def measured(words: list[str], folder: Path) -> Ended:
    """A command of the program in a process of its own, with empty caches and an empty home."""
    told = folder / "measured.json"
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels"), "GERMANE_HOME": str(folder / "home"),
        "MEASURED": str(told),
    }  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURED, "germane", *words], env=environment, check=False)
    wall = time.perf_counter() - began
    own, others = (float(part) for part in told.read_text().strip("[]").split(","))
    return Ended(done.returncode, own, own + others, wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=3, help="busy loops beside")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--load", metavar="COMMAND", help="a command to run there, too")
    given = parser.parse_args()
    failed = False
    with busy(given.loops, given.core):
        for words in (["serve", "--check", "--port", "0"], ["demo"]):
            with tempfile.TemporaryDirectory() as folder:
                found = measured(words, Path(folder))
            print(
                f"germane {' '.join(words)}: status {found.status}, {found.own:.1f} CPU-s of its own, "
                f"{found.whole:.1f} with its processes, {found.wall:.0f} s by the clock",
                flush=True,
            )
            failed |= found.status != 0 or (words[0] == "serve" and found.own > BAR)
        if given.load:
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "GERMANE_HOME": str(Path(folder) / "home")}
                began = time.perf_counter()
                status = subprocess.run(shlex.split(given.load), env=environment, check=False).returncode
                print(f"{given.load}: status {status}, {time.perf_counter() - began:.0f} s by the clock")
                failed |= status != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

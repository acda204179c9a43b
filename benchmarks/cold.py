"""What a new process costs: with nothing compiled yet, with everything compiled, and at the command line."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from peers import OUR_PYTHON
from processes import WorkerError

PYTHON = str(OUR_PYTHON)
GERMANE = [PYTHON, "-m", "germane.cli"]
SEARCH = "import sys, germane; print(germane.Engine.open(sys.argv[1]).search(sys.argv[2], model=sys.argv[3]).ids)"
MODELS = ("bm25", "dirichlet")
WARM_RUNS = 5


def cost(command: list[str], **environment: str) -> tuple[float, float]:
    """CPU-seconds of a process, its threads and children, and wall seconds."""
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        env = os.environ | environment
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        if process.returncode:
            errors.seek(0)
            last = errors.read().strip().splitlines()[-1:]
            raise WorkerError(f"{' '.join(command[:3])}: {' '.join(last) or process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def cold_start(index: Path, query: str, rounds: int) -> dict[str, list[float]]:
    """Opening an index and one search, whole processes, by model: CPU-seconds with an empty cache, then warm.

    A warm process is measured in wall seconds, which a busy machine lengthens, and in CPU-seconds. `demo` is the CPU
    time of the command `germane demo`, again with an empty cache.
    """
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for model in MODELS:
            command = [PYTHON, "-c", SEARCH, str(index), query, model]
            with tempfile.TemporaryDirectory() as cache:
                found.setdefault(f"first search, {model}", []).append(cost(command, NUMBA_CACHE_DIR=cache)[0])
                warm = [cost(command, NUMBA_CACHE_DIR=cache) for _ in range(WARM_RUNS)]
            cpu, wall = (statistics.median(column) for column in zip(*warm, strict=True))
            found.setdefault(f"warm process, {model}", []).append(wall)
            found.setdefault(f"CPU of a warm process, {model}", []).append(cpu)
        with tempfile.TemporaryDirectory() as cache:
            found.setdefault("demo", []).append(cost([*GERMANE, "demo"], NUMBA_CACHE_DIR=cache)[0])
    return found


def start_up() -> Mapping[str, list[float]]:
    """Wall milliseconds of new processes, files in the page cache."""
    commands = {
        "python -c pass": [PYTHON, "-c", "pass"],
        "python -c 'import germane'": [PYTHON, "-c", "import germane"],
        "germane --help": [*GERMANE, "--help"],
    }
    return {label: [1e3 * cost(command)[1] for _ in range(6)][1:] for label, command in commands.items()}

"""Workers in processes of their own, and the memory that they need."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from peers import Peer

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


class WorkerError(RuntimeError):
    pass


class Process:
    """A worker in its own process."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self.popen = subprocess.Popen(
            peer.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
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
            self.errors.seek(0)
            last = self.errors.read().strip().splitlines()[-1:]
            raise WorkerError(f"{self.peer.name}: {do}: {' '.join(last) or 'the worker ended'}")
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(f"{self.peer.name}: {do}: {reply['error']}")
        return reply

    def close(self) -> None:
        self.popen.stdin.close()
        self.popen.wait()
        self.errors.close()


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

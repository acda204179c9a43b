"""Several processes that share a socket, the indexes and the workspace.

The one that was started only looks after them: it passes signals on, starts another where one has ended, and ends when
all have. Changes of an index wait for one another (`Library.changing`), each process sees every commit at its next
request (`Library.engine`), jobs are done by one of them (`jobs.py`), and requests are counted in memory that all share
(`rates.py`).
"""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from germane.errors import ParameterError
from germane.rank.decoded import keep_decoded, usual_megabytes
from germane.server.rates import make_shared
from germane.server.running import GRACE, listening, open_library, server_of
from germane.server.settings import Settings

QUICK = 5.0
"""A process that ends within so many seconds of its start did not start well."""
MOST_QUICK = 3
"""So many of them in a row, and there is no use in going on."""


@dataclass(frozen=True, slots=True)
class Served:
    """What each process opens."""

    indexes: tuple[Path, ...]
    settings: Settings
    workspace: str | None


def run_workers(served: Served, home: Path, taken: socket.socket) -> None:
    """Run `settings.workers` processes until they are told to end. Each listens at the port of `taken` by itself: the
    system spreads connections over them, where of one shared socket the quickest would take them all."""
    rates = home / "rates.bin"
    make_shared(rates)
    settings = replace(served.settings, rates=rates, port=taken.getsockname()[1])
    served = replace(served, settings=settings)
    context = multiprocessing.get_context("spawn")
    ending = threading.Event()

    def started() -> tuple[BaseProcess, float]:
        process = context.Process(target=_serve, args=(served,), name="germane-worker")
        process.start()
        return process, time.monotonic()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ending.set())
    workers = [started() for _ in range(served.settings.workers)]
    quick = 0
    while not ending.is_set():
        wait([process.sentinel for process, _ in workers], timeout=0.2)
        for i, (process, since) in enumerate(workers):
            if process.is_alive() or ending.is_set():
                continue
            quick = quick + 1 if time.monotonic() - since < QUICK else 0
            if quick >= MOST_QUICK:
                _end(workers)
                raise ParameterError("the server's processes end as soon as they are started; what they said is above")
            workers[i] = started()
    _end(workers)


def _end(workers: Sequence[tuple[BaseProcess, float]]) -> None:
    for process, _ in workers:
        if process.is_alive():
            process.terminate()
    until = time.monotonic() + GRACE + 5
    for process, _ in workers:
        process.join(max(until - time.monotonic(), 0.1))
        if process.is_alive():
            process.kill()
            process.join()


def _serve(served: Served) -> None:
    """One process: serve until told to end, or until the one that started it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def orphaned() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=orphaned, name="germane-parent", daemon=True).start()
    keep_decoded(usual_megabytes(served.settings.workers))
    library = open_library(served.indexes, served.settings, workspace=served.workspace)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl+C reaches all processes of a terminal
        server_of(library).run(sockets=[listening(served.settings)])

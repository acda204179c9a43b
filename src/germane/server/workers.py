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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from germane.errors import ParameterError
from germane.rank.maxscore.posting_cache import keep_decoded, usual_megabytes
from germane.server.rates import make_shared
from germane.server.running import GRACE, listening, open_library, run, starting_server, tell_when_ready
from germane.server.settings import Settings

QUICK = 5.0
"""A process that ends before it is ready, or within this many seconds of its start, did not start well."""
MOST_QUICK = 3
"""After this many of them in a row the server gives up."""


@dataclass(frozen=True, slots=True)
class Served:
    """Indexes, settings and workspace that each process opens."""

    indexes: tuple[Path, ...]
    settings: Settings
    workspace: str | None


class Worker(NamedTuple):
    """A process, whether it has been ready, and when it was started."""

    process: BaseProcess
    answers: Event
    since: float


def run_workers(served: Served, home: Path, taken: socket.socket, ready: Callable[[], None]) -> None:
    """Run `settings.workers` processes until they are told to end. Each listens at the port of `taken` by itself: the
    system spreads connections over them, where of one shared socket the quickest would take them all. `ready` is called
    when all of them answer for the first time."""
    rates = home / "rates.bin"
    make_shared(rates)
    settings = replace(served.settings, rates=rates, port=taken.getsockname()[1])
    served = replace(served, settings=settings)
    context = multiprocessing.get_context("spawn")
    ending = threading.Event()

    def started() -> Worker:
        answers = context.Event()
        process = context.Process(target=_serve, args=(served, answers), name="germane-worker")
        process.start()
        return Worker(process, answers, time.monotonic())

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ending.set())
    workers = [started() for _ in range(served.settings.workers)]
    quick, told = 0, False
    while not ending.is_set():
        wait([worker.process.sentinel for worker in workers], timeout=0.2)
        if not told and all(worker.answers.is_set() for worker in workers):
            told = True
            ready()
        for i, (process, answers, since) in enumerate(workers):
            if process.is_alive() or ending.is_set():
                continue
            quick = quick + 1 if not answers.is_set() or time.monotonic() - since < QUICK else 0
            if quick >= MOST_QUICK:
                _end(workers)
                raise ParameterError("the server's processes end as soon as they are started; what they said is above")
            workers[i] = started()
    _end(workers)


def _end(workers: Sequence[Worker]) -> None:
    for process, *_ in workers:
        if process.is_alive():
            process.terminate()
    until = time.monotonic() + GRACE + 5
    for process, *_ in workers:
        process.join(max(until - time.monotonic(), 0.1))
        if process.is_alive():
            process.kill()
            process.join()


def _serve(served: Served, answers: Event) -> None:
    """One process: serve until told to end, or until the one that started it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def orphaned() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=orphaned, name="germane-parent", daemon=True).start()
    keep_decoded(usual_megabytes(served.settings.workers))
    settings = served.settings
    server, start = starting_server(
        settings, lambda say: open_library(served.indexes, settings, workspace=served.workspace)
    )
    tell_when_ready(start, answers.set)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl+C reaches all processes of a terminal
        run(server, start, listening(settings))

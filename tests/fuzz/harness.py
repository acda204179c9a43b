"""Runs many cases in a child process with limits, and goes on with a new child where one crashes or hangs.

A judge is a function from a case's number to a `Verdict`: it makes the input from that number alone (`random.Random`),
uses it, and says whether what came of it is right. It runs in a forked child, so what it needs is prepared before.
Exceptions of `germane.errors` are refusals and fine; any other exception, a signal, or a case that takes longer than
its time, is a finding.
"""

import faulthandler
import gc
import json
import os
import random
import resource
import select
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from germane.errors import GermaneError

Outcome = Literal["same", "refused", "wrong", "raw", "crash", "hang"]
FINE: tuple[Outcome, ...] = ("same", "refused")

SECONDS = 20
"""A case that takes longer hangs; none takes more than a second on an idle machine."""
MEMORY = 2 << 30
"""Bytes that a child may take beside what its parent had."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a case."""

    outcome: Outcome
    detail: str = ""


Judge = Callable[[int], Verdict]


@dataclass(slots=True)
class FuzzReport:
    """How often each outcome was met, and what was found wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[int, Verdict]] = field(default_factory=list)

    def note(self, case: int, verdict: Verdict) -> None:
        self.counts[verdict.outcome] += 1
        if verdict.outcome not in FINE:
            self.findings.append((case, verdict))

    def __str__(self) -> str:
        lines = [", ".join(f"{name}: {n}" for name, n in sorted(self.counts.items()))]
        lines += [f"case {case}: {verdict.outcome}: {verdict.detail}" for case, verdict in self.findings[:20]]
        return "\n".join(lines)


def fuzz(judge: Judge, cases: Iterable[int], *, seconds: float = SECONDS, memory: int = MEMORY) -> FuzzReport:
    """Judge every case."""
    report = FuzzReport()
    waiting = list(cases)[::-1]
    while waiting:
        _one_child(judge, waiting, report, seconds, memory)
    return report


def _one_child(judge: Judge, waiting: list[int], report: FuzzReport, seconds: float, memory: int) -> None:
    """Let a child judge cases from the end of `waiting` until all are done or one ends it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads, which are asleep here
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(judge, waiting, writing, memory)
    os.close(writing)
    buffer, last = b"", time.monotonic()
    hung = False
    while True:
        ready, _, _ = select.select([reading], [], [], 0.5)
        piece = os.read(reading, 1 << 16) if ready else None
        if piece == b"":
            break
        if piece:
            last = time.monotonic()
            *lines, buffer = (buffer + piece).split(b"\n")
            for line in lines:
                outcome, detail = json.loads(line)
                report.note(waiting.pop(), Verdict(outcome, detail))
        elif time.monotonic() - last > seconds:
            hung = True
            os.kill(pid, signal.SIGKILL)
            break
    os.close(reading)
    status = os.waitpid(pid, 0)[1]
    if status and waiting:
        ended = f"signal {status & 127}" if status & 127 else f"status {status >> 8}"
        report.note(waiting.pop(), Verdict("hang" if hung else "crash", ended))


def _work(judge: Judge, waiting: list[int], writing: int, memory: int) -> NoReturn:
    """The child: a line for each case."""
    status = 1
    try:
        gc.freeze()  # collecting would copy every page of the parent
        faulthandler.disable()
        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + memory, size + memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.simplefilter("ignore")
        for case in reversed(waiting):
            verdict = judged(judge, case)
            os.write(writing, json.dumps([verdict.outcome, verdict.detail]).encode() + b"\n")
        status = 0
    finally:
        os._exit(status)


def judged(judge: Judge, case: int) -> Verdict:
    """The verdict on one case, exceptions included."""
    try:
        return judge(case)
    except GermaneError as error:
        return Verdict("refused", str(error)[:300])
    except Exception:
        return Verdict("raw", traceback.format_exc()[-2000:])


# -- mutations of bytes ------------------------------------------------------------------------------------------------


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bit flips, byte changes, truncations, splices: other bytes than before."""
    if not data:
        return bytes([rng.randrange(256)])
    for _ in range(100):
        changed = _mutation(bytearray(data), rng)
        if changed != data:
            return changed
    raise AssertionError("no mutation changes anything")


def _mutation(data: bytearray, rng: random.Random) -> bytes:
    size, at = len(data), rng.randrange(len(data))
    length = min(size - at, rng.choice((1, 4, 8, 64, 1024)))
    kind = rng.randrange(8)
    if kind <= 1:
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == 2:
        data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    elif kind == 3:
        del data[rng.randrange(size) :]
    elif kind == 4:
        del data[at : at + length]
    elif kind == 5:
        data[at:at] = data[(source := rng.randrange(size)) : source + length]
    elif kind == 6:
        source = rng.randrange(size)
        data[at : at + length] = data[source : source + length].ljust(length, b"\0")[:length]
    else:
        data[at : at + length] = rng.choice((b"\0", b"\xff")) * length
    return bytes(data)

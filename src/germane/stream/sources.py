"""Where documents come from: something that is polled, and a pipe of JSON Lines.

What cannot be read is a sentence in the `Intake`, and the stream goes on. Nothing is lost by reading twice: a document
whose id has been seen is passed over.
"""

import os
import select
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO

from germane.stream.arrivals import Arrival
from germane.stream.intake import Intake
from germane.stream.lines import line_arrival, lines_of

BATCH = 1_024
"""Documents that are handed on together."""
QUIET = 1.0
"""Seconds without a line after which a pipe lets others have their turn."""
LINGER = 0.01
"""Seconds that a pipe waits for more while its writer keeps it full: lots get larger, and no lone document waits."""
_PIECE = 1 << 16


class ArrivalSource(ABC):
    """Somewhere that documents come from."""

    name: str

    @abstractmethod
    def poll(self, intake: Intake) -> Iterator[list[Arrival]]:
        """What is new, in batches."""

    @abstractmethod
    def settle(self) -> None:
        """All that `poll` gave is on disk."""


def batched(arrivals: Iterable[Arrival], intake: Intake) -> Iterator[list[Arrival]]:
    """Documents by `BATCH`, counted."""
    counted = map(intake.take, arrivals)
    while batch := [*islice(counted, BATCH)]:
        yield batch


@dataclass
class Pipe(ArrivalSource):
    """JSON Lines to their end; a batch is what is waiting, `BATCH` documents at most, or none after `QUIET` seconds.

    `read` gives the next bytes, waiting for some, and none at the end; `ready` says whether it need not wait, after so
    many seconds at most.
    """

    read: Callable[[], bytes]
    ready: Callable[[float], bool]
    name: str = "stdin"

    @classmethod
    def of_stream(cls, stream: IO[bytes], name: str = "stdin") -> "Pipe":
        """The lines of an open file, such as the standard input."""
        try:
            number = stream.fileno()
        except OSError:  # not a file of the system's
            return cls(lambda: stream.read(_PIECE), lambda _: True, name)
        return cls(lambda: os.read(number, _PIECE), lambda wait: bool(select.select([number], [], [], wait)[0]), name)

    def poll(self, intake: Intake) -> Iterator[list[Arrival]]:
        """The documents as they come; empty batches while none do."""
        batch: list[Arrival] = []
        for line in lines_of(self._pieces(), self.name, intake):
            found = None if line is None else line_arrival(line[1], line[0], self.name, intake)
            if found is not None:
                batch.append(intake.take(found))
            if len(batch) >= BATCH or line is None:
                yield batch
                batch = []
        if batch:
            yield batch

    def settle(self) -> None:
        """Nothing is to be remembered: a pipe is read once."""

    def _pieces(self) -> Iterator[bytes]:
        """The bytes as they come; none where nothing is waiting."""
        piece = b""
        while True:
            if not self.ready(LINGER if len(piece) == _PIECE else 0.0):
                yield b""
                while not self.ready(QUIET):
                    yield b""
            piece = self.read()
            if not piece:
                return
            yield piece

"""Input of the reader: single keys, and now and then a line, from a terminal or a pipe."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from germane.cli import streams
from germane.lazy import on_first_use

with on_first_use(__name__):
    import termios
    import tty

END = ""
"""The key that stands for the end of the input."""
_END_OF_INPUT = "\x04"
_ESCAPE = "\x1b"
_WAIT = 0.05
"""Seconds within which the rest of an arrow key follows its first byte."""


class Keys(Protocol):
    """Keys, one at a time, and lines."""

    def key(self) -> str:
        """The next key; `END` when nothing more will come."""

    def line(self, prompt: str) -> str:
        """A line of text."""


@contextmanager
def keys() -> Iterator[Keys]:
    """The keys of standard input; within, a terminal passes each on as it is typed, and afterwards is as it was."""
    if not sys.stdin.isatty():
        yield PipedKeys()
        return
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        yield TerminalKeys(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


class PipedKeys:
    """Keys from a pipe or a file: white space between them means nothing, a line is the rest of the key's own line."""

    def key(self) -> str:
        """The next character that is no white space."""
        while (found := sys.stdin.read(1)).isspace():
            pass
        return found

    def line(self, prompt: str) -> str:
        """Return the rest of the key's line."""
        return sys.stdin.readline().strip()


class TerminalKeys:
    """Keys from a terminal that is in cbreak mode (`keys`); an arrow or another long key is one key, unknown to all."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._typed = b""

    def key(self) -> str:
        """The next key."""
        found = self._character()
        if found == _ESCAPE:
            while self._typed or select.select([self._fd], [], [], _WAIT)[0]:
                following = self._character()
                if not following or following.isalpha() or following == "~":
                    break
        return END if found == _END_OF_INPUT else found

    def line(self, prompt: str) -> str:
        """A line that can be corrected while it is typed: the terminal's own editing, for so long."""
        changed = termios.tcgetattr(self._fd)
        before = [*changed]
        changed[3] |= termios.ICANON | termios.ECHO
        streams.prompt(prompt)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, changed)
        try:
            while b"\n" not in self._typed:
                more = os.read(self._fd, 4096)
                if not more:
                    break
                self._typed += more
        finally:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)
        text, _, self._typed = self._typed.partition(b"\n")
        return text.decode(errors="replace").strip()

    def _character(self) -> str:
        """One character; several bytes may make it."""
        while True:
            if self._typed:
                length = next((n for n in range(1, 5) if _is_whole(self._typed[:n])), None)
                if length is not None:
                    found, self._typed = self._typed[:length], self._typed[length:]
                    return found.decode()
                if len(self._typed) >= 4:  # no character begins so
                    self._typed = self._typed[1:]
                    continue
            more = os.read(self._fd, 4096)
            if not more:
                return END
            self._typed += more


def _is_whole(data: bytes) -> bool:
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False

"""How the program ends when something is wrong: one line on stderr and an exit code, never a traceback.

0  done                     2  an error in the input, the index, a parameter or the command line
1  nothing found, damage    130  interrupted            141  the reader of our output has gone
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from germane.cli.streams import for_people, one_line, tell
from germane.errors import CutShortError, GermaneError

NOTHING_FOUND = 1
DAMAGED = 1
FAILED = 2
INTERRUPTED = 130
NO_READER = 141

DEBUG = "GERMANE_DEBUG"
"""Set this environment variable to see the traceback of an error."""


_FOLDER = r"""(?:'([^']*)'|"([^"]*)")"""
_COMMANDS = tuple(
    (re.compile(pattern), command)
    for pattern, command in (
        (rf"Engine\.create\({_FOLDER}\)", r"'germane index SRC --into \1\2'"),
        (rf"Engine\.open\({_FOLDER}\) opens it", r"'germane add \1\2 SRC' adds to it"),
        (rf"Engine\.upgrade\({_FOLDER}, new\)", r"'germane upgrade \1\2 --into NEW'"),
        (r"\bon_duplicate='(\w+)'", r"--on-duplicate \1"),
        (r'\brerank="([\w-]+)"', r"--rerank \1"),
        (r"\brerank=\.\.\.", "--rerank NAME"),
        (r"\breplace=True\b", "--replace"),
        (r"\bshare=([\d.]+\d)", r"--share \1"),
        (r'\bhold_out="(\w+)"', r"--hold-out \1"),
    )
)
"""What errors tell a program to call, and what a person types instead."""

_UsageError: Any = typer.BadParameter.__base__
"""Of the Click that Typer brings with it, or of the one it finds installed."""


class Program(TyperGroup):
    """The command group, whose commands may raise what they like."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the program; nothing that it writes for people commands their terminal."""
        with for_people():
            return super().main(*args, **settings)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Read the command line."""
        with _neutral_complaints():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors that a user can mend become one line."""
        try:
            with _neutral_complaints():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except (GermaneError, OSError, MemoryError, KeyboardInterrupt) as error:
            if os.environ.get(DEBUG):
                raise
            raise typer.Exit(_report(error)) from None
        return result


@contextmanager
def _neutral_complaints() -> Iterator[None]:
    """What was typed may be the name of a file that someone else made; Typer repeats it in colours."""
    try:
        yield
    except _UsageError as error:
        error.message = one_line(error.message)
        raise


def _report(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return NO_READER
    if isinstance(error, KeyboardInterrupt):
        tell("germane: interrupted")
        return INTERRUPTED
    tell(f"germane: error: {_sentence(error)}")
    if isinstance(error, OSError):
        _silence_stdout()
    return FAILED


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason
    if isinstance(error, MemoryError):
        return "out of memory; a smaller --memory, or fewer documents at a time, may help"
    text = as_commands(" ".join(str(error).split()))
    return f"{text}; --on-error skip takes the records that are whole" if isinstance(error, CutShortError) else text


def as_commands(message: str) -> str:
    """The message with commands and options where it names functions and arguments of the package.

    >>> as_commands("here is no index; Engine.create('my index') would make one")
    "here is no index; 'germane index SRC --into my index' would make one"
    """
    for pattern, command in _COMMANDS:
        message = pattern.sub(command, message)
    return message


def _silence_stdout() -> None:
    """Send what is still in the buffer nowhere: flushing it at exit would fail again, and noisily."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

"""How the program ends when something is wrong: one line on stderr and an exit code, never a traceback.

0  done                     2  an error in the input, the index, a parameter or the command line
1  nothing found, damage    130  interrupted            141  the reader of our output has gone
"""

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from germane.cli.streams import tell
from germane.errors import GermaneError

NOTHING_FOUND = 1
DAMAGED = 1
FAILED = 2
INTERRUPTED = 130
NO_READER = 141

DEBUG = "GERMANE_DEBUG"
"""Set this environment variable to see the traceback of an error."""


class Program(TyperGroup):
    """The command group, whose commands may raise what they like."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors that a user can mend become one line."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (GermaneError, OSError, MemoryError, KeyboardInterrupt) as error:
            if os.environ.get(DEBUG):
                raise
            raise typer.Exit(_report(error)) from None
        return result


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
    return " ".join(str(error).split())


def _silence_stdout() -> None:
    """Send what is still in the buffer nowhere: flushing it at exit would fail again, and noisily."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

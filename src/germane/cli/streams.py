"""Results go to stdout; everything said about them goes to stderr.

What documents, file names and field names hold may be made to command a terminal: to set its title, clear it, or turn
the direction of writing. `neutral` makes such characters visible. It stands between the program and its streams
(`for_people`), so that no command can forget it. JSON alone is written as it is: it is for programs.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from germane.lazy import on_first_use

with on_first_use(__name__):
    import traceback

    import orjson
    from rich import console as rich_console
    from rich import segment as rich_segment

    from germane import schema

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from germane.schema import Response

_BIDI_AND_LINES = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_COMMANDS = re.compile(f"[\0-\x08\x0b-\x1f\x7f-\x9f{_BIDI_AND_LINES}]")
"""C0 without tab and line feed, DEL, C1, the controls of writing direction, and Unicode's separators of lines."""
_BETWEEN_CELLS = re.compile("[\t\n]")
LONGEST_MESSAGE = 4000
_STYLE = re.compile("(\x1b\\[[0-9;]*m)")
"""Colours: what Rich writes to a terminal, and nothing else."""


def neutral(text: str) -> str:
    r"""The text with every character that commands a terminal written as an escape.

    >>> neutral("a title\x1b]0;owned\x07 and \u202eback")
    'a title\\x1b]0;owned\\x07 and \\u202eback'
    """
    return _COMMANDS.sub(_escaped, text)


def one_line(text: str) -> str:
    r"""`neutral`, tabs and line feeds too: nothing in it ends a cell or a line."""
    return _BETWEEN_CELLS.sub(_escaped, neutral(text))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class PeopleStream:
    """A text stream that writes nothing but `neutral` text; the bytes beneath it (`buffer`) are for JSON.

    To a terminal it lets colours through: Typer writes its help and its complaints with them.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.beneath = stream

    def write(self, text: str) -> int:
        """Write the text, made harmless."""
        if self.beneath.isatty():
            parts = _STYLE.split(text)
            self.beneath.write("".join(part if i % 2 else neutral(part) for i, part in enumerate(parts)))
        else:
            self.beneath.write(neutral(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


@contextmanager
def for_people() -> Iterator[None]:
    """Within, stdout and stderr are `PeopleStream`s."""
    before = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (PeopleStream(stream) for stream in before)
        yield
    finally:
        sys.stdout, sys.stderr = before


def tell(message: str) -> None:
    """One line on stderr, of `LONGEST_MESSAGE` characters at most: it may repeat what stands in a file."""
    if len(message) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        message = f"{message[:half]} ... {message[-half:]}"
    print(one_line(message), file=sys.stderr, flush=True)


def tell_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an uncaught exception; its message may repeat the content of a file."""
    print(neutral("".join(traceback.format_exception(kind, error, trace))), end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Text for people, or lines for programs, on stdout."""
    put_bytes(neutral(text).encode(errors="backslashreplace") + b"\n")


def prompt(text: str) -> None:
    """Print a question on the line on which the answer is typed."""
    sys.stdout.write(text)
    sys.stdout.flush()


def put_row(cells: Iterable[object]) -> None:
    """One line of results, with tabs between its cells; numbers in full, NumPy's as Python's."""
    say("\t".join(repr(float(cell)) if isinstance(cell, float) else one_line(str(cell)) for cell in cells))


def put_json(answer: "Response | Sequence[Any]") -> None:
    """A response, or a list of them, as one line of JSON."""
    put_json_line(orjson.dumps(schema.json_value(answer)))


def put_json_line(line: bytes) -> None:
    """A line that is JSON already: whatever the terminal's encoding, JSON is UTF-8."""
    put_bytes(line + b"\n")


def put_bytes(content: bytes) -> None:
    """Write bytes unchanged: text for programs names its own encoding (JSON, XML)."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def query_typed(query: str) -> str:
    """The query, from stdin if it is `-`."""
    if query == "-":
        query = sys.stdin.buffer.read().decode(errors="replace")
    return query.encode(errors="surrogateescape").decode(errors="replace")


class _Neutral:
    """Whatever Rich can print, its text made harmless after it has been laid out."""

    def __init__(self, renderable: Any) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else rich_segment.Segment(neutral(segment.text), segment.style)


class _EverythingNeutral:
    """Rich's hook for all that a console prints."""

    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Neutral(renderable) for renderable in renderables]


def terminal(*, stderr: bool = False) -> "Console":
    """Return the console that prints tables for people: without markup, so that no document can change its look."""
    stream = sys.stderr if stderr else sys.stdout
    file = stream.beneath if isinstance(stream, PeopleStream) else stream  # what Rich itself adds may command it

    class _Console(rich_console.Console):
        def on_broken_pipe(self) -> None:
            """Rich would end the program as if nothing had been found."""
            raise BrokenPipeError

    console = _Console(file=file, highlight=False, markup=False, emoji=False)
    console.push_render_hook(_EverythingNeutral())  # type: ignore[arg-type]
    return console

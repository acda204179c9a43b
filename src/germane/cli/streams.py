"""Results go to stdout; everything said about them goes to stderr."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from germane.schema import Response


def tell(message: str) -> None:
    """One line on stderr."""
    print(message, file=sys.stderr, flush=True)


def counted(n: int, noun: str) -> str:
    """`1 document`, `1,234 documents`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def put(line: bytes) -> None:
    """One line of results, as bytes: whatever the terminal's encoding, JSON is UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line + b"\n")


def put_json(answer: "Response | Sequence[Any]") -> None:
    """A response, or a list of them, as one line of JSON."""
    import orjson

    from germane.schema import json_value

    put(orjson.dumps(json_value(answer)))


def query_typed(query: str) -> str:
    """The query, from stdin if it is `-`."""
    if query == "-":
        query = sys.stdin.buffer.read().decode(errors="replace")
    return query.encode(errors="surrogateescape").decode(errors="replace")


def terminal() -> "Console":
    """Where tables for people are printed: stdout, without markup, so that no document can change its look."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)

"""JSON Lines of a stream, from a pipe or a file: a line that cannot be read is told, and costs only itself."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import orjson

from germane.data.fields import field_value
from germane.data.lines import BOM
from germane.errors import InputError
from germane.stream.arrivals import Arrival
from germane.stream.intake import Intake

MAX_LINE = 16 << 20
"""The longest line that is read."""
_HALVES = re.compile(
    r"\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<alone>\\u[dD][89a-fA-F][\da-fA-F]{2})"
)


def lines_of(pieces: Iterable[bytes], source: str, intake: Intake) -> Iterator[tuple[int, bytes] | None]:
    """Lines with their numbers, without a byte order mark; None where a piece is empty: no more is waiting."""
    held, number, dropping = b"", 0, False
    for piece in chain(pieces, (b"\n",)):  # the last line may lack its end
        if not piece:
            yield None
            continue
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            number += 1
            if dropping:
                dropping = False
            elif len(line) > MAX_LINE:
                _tell_long(source, number, intake)
            else:
                yield number, line.removeprefix(BOM) if number == 1 else line
        if len(held) > MAX_LINE and not dropping:
            _tell_long(source, number + 1, intake)
            dropping = True
        if dropping:
            held = b""


def _tell_long(source: str, number: int, intake: Intake) -> None:
    reason = f"a line of more than {MAX_LINE:,} bytes, which is passed over"
    intake.trouble(str(InputError(reason, source=source, line=number)))


def line_arrival(line: bytes, number: int, source: str, intake: Intake) -> Arrival | None:
    """The document of a line of JSON; None for a blank line, and for one that cannot be read, which is told."""
    if not line.strip():
        return None
    try:
        record, mended = _record(line)
        if not isinstance(record, dict):
            raise ValueError("a JSON object is needed")
    except ValueError as error:
        reason = f"not valid JSON ({error.msg})" if isinstance(error, orjson.JSONDecodeError) else str(error)
        message = f"{reason}: {line[:60].decode(errors='replace')}"
        intake.trouble(str(InputError(message, source=source, line=number)))
        return None
    intake.odd.update(mended)
    return Arrival.of(
        {name: value if type(value) is str else field_value(value) for name, value in record.items()}, source
    )


def _record(line: bytes) -> tuple[object, tuple[str, ...]]:
    """What the line holds. Bytes that are not UTF-8 are read as Windows-1252, halves of surrogate pairs replaced."""
    try:
        return orjson.loads(line), ()
    except orjson.JSONDecodeError:
        pass
    mended: tuple[str, ...] = ()
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text, mended = line.decode("cp1252", errors="replace"), ("encoding",)
    return orjson.loads(_HALVES.sub(lambda half: r"\ufffd" if half["alone"] else half[0], text)), mended

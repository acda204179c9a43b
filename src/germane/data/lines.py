"""Numbered lines of a file, and the records gathered from them, as UTF-8 bytes of bounded size."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from germane.data.budget import longest_record, spend
from germane.data.compression import open_binary
from germane.errors import InputError

MAX_RECORD_BYTES = 256 << 20
"""The longest line, and the longest record of several lines, that is read into memory."""

MAX_BLANK_LINES = 1_000_000
LOOK_EVERY = 1024
"""After so many lines it is looked whether the time for reading is up."""

BOM = b"\xef\xbb\xbf"


def read_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, bytes]]:
    """The file's lines, numbered from 1, with their line ends and without a byte order mark."""
    number = blank = 0
    limit = MAX_RECORD_BYTES
    with open_binary(path, encoding) as stream:
        try:
            for number, line in enumerate(iter(partial(stream.readline, limit + 1), b""), 1):
                if not number % LOOK_EVERY:
                    spend()
                if len(line) > limit:
                    raise too_long(str(path), number, limit)
                if len(line) > 2 or not line.isspace():
                    blank = 0
                else:
                    blank += 1
                    if blank > MAX_BLANK_LINES:
                        message = f"more than {MAX_BLANK_LINES:,} blank lines, one after another: this is no text"
                        raise InputError(message, source=str(path), line=number)
                if number == 1 and line.startswith(BOM):
                    line = line[len(BOM) :]
                    if not line:
                        return
                yield number, line
        except InputError as error:
            if error.line is not None:
                raise
            raise InputError(error.message, source=error.source, line=number + 1) from error.__cause__


def begins_with_mark(path: str | Path) -> bool:
    """Whether a file begins with the byte order mark of UTF-8."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(BOM)) == BOM


def too_long(source: str, line: int, most: int) -> InputError:
    """The error for a line or record that is longer than records are."""
    return InputError(
        f"longer than {most:,} bytes: is this the right format, and does every record end?",
        source=source,
        line=line,
    )


def decode(data: bytes, source: str, line: int) -> str:
    """Decode UTF-8; an invalid byte raises with its own line, `line` being that of the first byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"byte {column} of the line (0x{data[error.start]:02x}) is not valid UTF-8; "
            "give the file's encoding, such as latin-1",
            source=source,
            line=line,
        ) from None


class Block:
    """The lines of one record while they are being gathered."""

    __slots__ = ("_most", "_parts", "at", "line", "size", "source")

    def __init__(self, source: str, line: int, at: int = 0) -> None:
        self.source = source
        self.line = line
        self.at = at
        """How many bytes of the file come before its first line."""
        self._parts: list[bytes] = []
        self._most = longest_record(MAX_RECORD_BYTES)
        self.size = 0

    def add(self, part: bytes) -> None:
        """Append bytes; a record that grows beyond all measure raises."""
        self.size += len(part)
        if self.size > self._most:
            raise too_long(self.source, self.line, self._most)
        self._parts.append(part)

    def text(self) -> str:
        """The whole record, with plain line ends."""
        return decode(b"".join(self._parts), self.source, self.line).replace("\r\n", "\n")

"""A record's own text, kept beside its fields, so that it can leave as it came: byte for byte.

Fields hold what a record says; how it says it (line breaks within a value, spaces, LaTeX, the lines between records) is
its text alone. `record_source` is that text: from the record's first line to the next record's, what comes before the
first record included, so that the sources of all records, one after the other, are the file. `read_documents` keeps it
where it is asked to (`keep_source`); `data/writing.py` writes it again if it still says what the fields say.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from germane.data.lines import MAX_RECORD_BYTES, read_lines, too_long
from germane.types import Document

SOURCE_FIELD = "record_source"


class SourceLines:
    """The numbered lines of a file; with `keep`, also their bytes, until they are taken."""

    def __init__(self, path: str | Path, encoding: str, *, keep: bool) -> None:
        self._path = path
        self._encoding = encoding
        self._keep = keep
        self._kept = bytearray()
        self._start = 0
        self.at = 0
        """How many bytes came before the present line."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        length = 0
        for number, line in read_lines(self._path, self._encoding):
            self.at += length
            length = len(line)
            if self._keep:
                self._kept += line
                if len(self._kept) > 2 * MAX_RECORD_BYTES:
                    raise too_long(str(self._path), number, MAX_RECORD_BYTES)
            yield number, line

    def take(self, end: int | None) -> str | None:
        """What was read from the last `end` to this one, or all; None where it is no text."""
        length = len(self._kept) if end is None else end - self._start
        taken = bytes(self._kept[:length])
        del self._kept[:length]
        self._start += length
        try:
            return taken.decode()
        except UnicodeDecodeError:
            return None


class TextLines:
    """The numbered lines of a text, as a file has them: a carriage return alone ends none."""

    at = 0

    def __init__(self, text: str) -> None:
        *whole, rest = text.encode().split(b"\n")
        self._lines = [*(line + b"\n" for line in whole), *([rest] if rest else [])]

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return iter(enumerate(self._lines, 1))


Lines: TypeAlias = SourceLines | TextLines


def with_sources(records: Iterable[tuple[int, Document]], lines: SourceLines) -> Iterator[Document]:
    """Each document with its source; the records come with the place of their first line."""
    held: Document | None = None
    for at, document in records:
        if held is not None:
            yield _sourced(held, lines.take(at))
        held = document
    if held is not None:
        yield _sourced(held, lines.take(None))


def _sourced(document: Document, source: str | None) -> Document:
    return Document(document.id, {**document.fields, SOURCE_FIELD: source}) if source else document

"""Documents on their way out: RIS, BibTeX, JSON Lines and CSV, whose cells no spreadsheet takes for formulas.

An export is made a piece at a time, as fast as its reader takes it: however large it is, and however many are under
way, a piece of each is in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from germane.data.formulas import no_formula
from germane.data.writing import written
from germane.errors import ParameterError, UnknownDocumentError
from germane.types import Document, FieldValue

if TYPE_CHECKING:
    from germane.engine import Engine

TYPES = {
    "ris": "application/x-research-info-systems", "csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson",
    "bibtex": "application/x-bibtex; charset=utf-8",
}  # fmt: skip
ENDINGS = {"ris": "ris", "csv": "csv", "jsonl": "jsonl", "bibtex": "bib"}
PIECE = 64 << 10
"""Bytes that are handed on at once: as many as a connection takes before it says that it waits."""


class Attachment(NamedTuple):
    """A file on its way out, a piece at a time, its format, and what it is called but for the ending."""

    pieces: Iterator[bytes]
    format: str
    name: str = "germane"


class RepeatedDocuments:
    """Documents that are found again by each iteration."""

    def __init__(self, find: Callable[[], Iterable[Document]]) -> None:
        self._find = find

    def __iter__(self) -> Iterator[Document]:
        return iter(self._find())


def chosen(engine: "Engine", ids: Sequence[str]) -> RepeatedDocuments:
    """Some documents of an index; one that is deleted meanwhile is left out."""

    def read() -> Iterator[Document]:
        for name in ids:
            with suppress(UnknownDocumentError):
                yield engine.document(name)

    return RepeatedDocuments(read)


def attachment(documents: Iterable[Document], format: str, name: str = "germane") -> Attachment:
    """The documents as a file in a format of `TYPES`."""
    return Attachment(exported(documents, format), format, name)


def exported(documents: Iterable[Document], format: str) -> Iterator[bytes]:
    """The documents in a format of `TYPES`, in pieces."""
    if format not in TYPES:
        raise ParameterError(f"an export is {', '.join(TYPES)}, not '{format}'")
    if format == "csv":
        unsafe = list(documents) if isinstance(documents, Iterator) else documents
        documents = RepeatedDocuments(lambda: map(harmless, unsafe))
    return in_pieces(text.encode() for text in written(documents, format))


def in_pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of a size, the last one smaller.

    >>> [len(piece) for piece in in_pieces([b"x" * PIECE, b"y", b"z" * PIECE])]
    [65536, 65536, 1]
    """
    waiting = bytearray()
    for part in parts:
        waiting += part
        while len(waiting) >= PIECE:
            yield bytes(waiting[:PIECE])
            del waiting[:PIECE]
    if waiting:
        yield bytes(waiting)


def harmless(document: Document) -> Document:
    """The document with an apostrophe before every text that a spreadsheet would compute.

    >>> harmless(Document("1", {"title": "=1+1", "year": -5})).fields
    {'title': "'=1+1", 'year': -5}
    """
    fields = {no_formula(name): _value(value) for name, value in document.fields.items()}
    return Document(no_formula(document.id), fields)


def _value(value: FieldValue) -> FieldValue:
    if isinstance(value, list):
        return [no_formula(item) if isinstance(item, str) else item for item in value]
    return no_formula(value) if isinstance(value, str) else value

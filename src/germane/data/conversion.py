"""What a format cannot hold: each record is written, read again, and compared, field by field, by what they mean."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from germane.data.bibliographic import FORMAT_FIELD, listed
from germane.data.bibtex import bibtex_records
from germane.data.endnote import endnote_records
from germane.data.fields import squeeze
from germane.data.medline import medline_records
from germane.data.ris import ris_records
from germane.data.writing import meanings_of, record_text
from germane.schema import Response
from germane.types import Document, FieldValue

NOTE = "becomes a note"
SPACES = "loses line breaks or spaces"
TEXT = "becomes text"
JOINED = "becomes one text, with semicolons"
CHANGED = "is changed or lost"

_READ = {"ris": ris_records, "medline": medline_records, "bibtex": bibtex_records, "endnote-xml": endnote_records}


class Loss(NamedTuple):
    """What becomes of a field, in how many records, and the id of the first of them."""

    field: str
    what: str
    records: int
    first: str


@dataclass(frozen=True, slots=True)
class ConversionResponse(Response):
    """How many records were written, in which format, and what it cannot hold of them."""

    records: int
    format: str
    losses: tuple[Loss, ...]


@dataclass(slots=True)
class LossReport:
    """What is lost on the way, counted by field."""

    format: str
    records: int = 0
    _found: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are, each looked at on its way."""
        for document in documents:
            self.records += 1
            for loss in losses(document, self.format):
                count, first = self._found.get(loss, (0, document.id))
                self._found[loss] = (count + 1, first)
            yield document

    def response(self) -> ConversionResponse:
        """What was found, the most frequent first."""
        rows = [Loss(name, what, count, first) for (name, what), (count, first) in self._found.items()]
        return ConversionResponse(self.records, self.format, tuple(sorted(rows, key=lambda row: -row.records)))


def losses(document: Document, format: str) -> list[tuple[str, str]]:
    """The fields of a document that the format does not hold as they are, each with what becomes of it.

    >>> losses(Document("1", {"title": "Copper", "shelf": "B 7"}), "ris")
    [('shelf', 'becomes a note')]
    """
    if format == "jsonl" or document.fields.get(FORMAT_FIELD) == format:
        return []
    before = meanings_of(document.fields)
    if format in ("csv", "tsv"):
        cells = {name: _in_a_cell(name, value, tabs=format == "tsv") for name, value in before.items()}
        return [(name, what) for name, what in cells.items() if what]
    read = _READ[format](record_text(document, format))
    after = meanings_of(read[0].fields) if read else {}
    written = squeeze(" ".join(listed(after.get("note"))))
    compared = {name: _compared(name, value, after, written) for name, value in before.items() if name != "type"}
    return [(name, what) for name, what in compared.items() if what]


def _compared(name: str, value: FieldValue, after: Mapping[str, FieldValue], notes: str) -> str:
    had, has = listed(value), listed(after.get(name))
    if had == has or (name == "note" and set(had) <= set(has)):
        return ""
    if squeeze(" ".join(had)) == squeeze(" ".join(has)):
        return SPACES
    if f"{name}: {squeeze('; '.join(had))}" in notes:
        return NOTE
    return CHANGED


def _in_a_cell(name: str, value: FieldValue, *, tabs: bool) -> str:
    if isinstance(value, list):
        return JOINED
    if value is not None and not isinstance(value, str) and name != "year":
        return TEXT
    return SPACES if tabs and any(sign in str(value) for sign in "\t\r\n") else ""

"""Documents on their way out: RIS, BibTeX, JSON Lines and CSV, whose cells no spreadsheet takes for formulas."""

import io
from collections.abc import Iterable
from typing import NamedTuple

from germane.data.formulas import no_formula
from germane.data.writing import write_documents
from germane.errors import ParameterError
from germane.types import Document, FieldValue

TYPES = {
    "ris": "application/x-research-info-systems", "csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson",
    "bibtex": "application/x-bibtex; charset=utf-8",
}  # fmt: skip
ENDINGS = {"ris": "ris", "csv": "csv", "jsonl": "jsonl", "bibtex": "bib"}


class Attachment(NamedTuple):
    """A file on its way out, and its format."""

    content: bytes
    format: str


def exported(documents: Iterable[Document], format: str) -> bytes:
    """The documents in a format of `TYPES`."""
    if format not in TYPES:
        raise ParameterError(f"an export is {', '.join(TYPES)}, not '{format}'")
    target = io.StringIO()
    write_documents(target, map(harmless, documents) if format == "csv" else documents, format)
    return target.getvalue().encode()


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

"""MEDLINE (NBIB): the tagged text that PubMed exports, `PMID- 12345678` first and a blank line between records."""

import re
from collections.abc import Iterator
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import clean_doi, descriptor, ordered, unique, year_field
from germane.data.lines import Block, read_lines
from germane.data.tagged import Values, rest, tagged_documents, take, take_one
from germane.errors import InputError
from germane.types import Document, FieldValue

_TAG_LINE = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_TAG_BYTES = re.compile(rb"([A-Z][A-Z0-9]{1,3}) {0,2}-(?: |\r?\n|$)")


def read_medline(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of a MEDLINE file: the common fields, and every other tag in lower case."""
    return tagged_documents(_blocks(path, encoding, on_bad), _TAG_LINE, _fields, path, on_bad)


def _blocks(path: str | Path, encoding: str, on_bad: OnBad) -> Iterator[Block]:
    """Cut at blank lines and before each PMID."""
    source = str(path)
    block: Block | None = None
    seen = stray = False
    for number, line in read_lines(path, encoding):
        if line.isspace():
            if block is not None:
                yield block
            block, stray = None, False
            continue
        tag = _TAG_BYTES.match(line)
        if tag and (block is None or tag[1] == b"PMID"):
            if block is not None:
                yield block
            block, seen, stray = Block(source, number), True, False
        if block is not None:
            block.add(line)
        elif not stray:
            stray = True  # said once
            error = InputError("a record must start with a tag, such as 'PMID- '", source=source, line=number)
            if not seen:
                raise InputError(f"not a MEDLINE file: {error.message}", source=source, line=number)
            on_bad(error)
    if block is not None:
        yield block


def _fields(values: Values) -> dict[str, FieldValue]:
    journal = take_one(values, "JT", "TA")
    pmid = take_one(values, "PMID")
    date = take_one(values, "DP")
    identifiers = values.get("LID", []) + values.get("AID", [])
    fields: dict[str, FieldValue] = {
        "title": take_one(values, "TI", "BTI", "TT"),
        "text": take_one(values, "AB"),
        "author": [*take(values, "FAU", "AU"), *take(values, "CN")],
        "year": year_field(date) if date else "",
        "date": date,
        "journal": journal,
        "doi": next((clean_doi(value) for value in identifiers if "[doi]" in value), ""),
        "pmid": pmid,
        "keywords": unique(value.lstrip("*") for value in take(values, "OT")),
        "mesh": unique(descriptor(value) for value in take(values, "MH")),
        "publication_type": [*take(values, "PT")],
        "language": [*take(values, "LA")],
        "pmcid": take_one(values, "PMC"),
    }
    return ordered(fields | rest(values))

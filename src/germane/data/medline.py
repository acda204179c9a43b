"""MEDLINE (NBIB): the tagged text that PubMed exports, `PMID- 12345678` first and a blank line between records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import (
    RecordFormat,
    Values,
    clean_doi,
    descriptor,
    first,
    listed,
    one,
    origin,
    paragraphs,
    unique,
    year_field,
)
from germane.data.lines import Block
from germane.data.sources import Lines, SourceLines, TextLines, with_sources
from germane.data.tagged import tagged_documents, tagged_records
from germane.errors import InputError
from germane.types import Document, FieldValue

NOTE = "GN"
TITLES = ("TI", "BTI", "TT")
AUTHORS = ("FAU", "AU")
JOURNALS = ("JT", "TA")

_TAG_LINE = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_TAG_BYTES = re.compile(rb"([A-Z][A-Z0-9]{1,3}) {0,2}-(?: |\r?\n|$)")


def read_medline(
    path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop, keep_source: bool = False
) -> Iterator[Document]:
    """Documents of a MEDLINE file: the common fields, and all else that its tags say (`data/bibliographic.py`)."""
    lines = SourceLines(path, encoding, keep=keep_source)
    records = tagged_records(_blocks(lines, str(path), on_bad), _TAG_LINE, MEDLINE, NOTE, path, on_bad)
    return with_sources(records, lines) if keep_source else (document for _, document in records)


def medline_records(text: str) -> list[Document]:
    """The documents of a text; a record that cannot be used is an error."""
    return [*tagged_documents(_blocks(TextLines(text), "", stop), _TAG_LINE, MEDLINE, NOTE, "", stop)]


def _blocks(lines: Lines, source: str, on_bad: OnBad) -> Iterator[Block]:
    """Cut at blank lines and before each PMID."""
    block: Block | None = None
    seen = stray = False
    for number, line in lines:
        if line.isspace():
            if block is not None:
                yield block
            block, stray = None, False
            continue
        tag = _TAG_BYTES.match(line)
        if tag and (block is None or tag[1] == b"PMID"):
            if block is not None:
                yield block
            block, seen, stray = Block(source, number, lines.at), True, False
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


def _derive(values: Values) -> dict[str, FieldValue]:
    date = one(values, "DP")
    mesh = unique(descriptor(heading) for heading in values.get("MH", ()))
    identifiers = values.get("LID", []) + values.get("AID", [])
    return {
        "title": one(values, *TITLES),
        "text": "\n".join(values.get("AB", ())),
        "author": [*first(values, *AUTHORS), *values.get("CN", ())],
        "year": year_field(date) if date else "",
        "date": date,
        "journal": one(values, *JOURNALS),
        "doi": next((clean_doi(value) for value in identifiers if "[doi]" in value), ""),
        "pmid": one(values, "PMID"),
        "keywords": unique([*(term.lstrip("*") for term in values.get("OT", ())), *map(str, mesh)]),
        "mesh": mesh,
        "publication_type": [*values.get("PT", ())],
        "language": [*values.get("LA", ())],
        "pmcid": one(values, "PMC"),
    }


def _invert(fields: Mapping[str, FieldValue], tags: Sequence[str]) -> Values:
    authors, mesh = listed(fields.get("author")), listed(fields.get("mesh"))
    headings = frozenset(mesh)
    n_people = max(len(authors) - tags.count("CN"), 0)
    doi = [] if tags else [f"{doi} [doi]" for doi in listed(fields.get("doi"))]
    return {
        "PMID": listed(fields.get("pmid")),
        "DP": listed(fields.get("date") or fields.get("year")),
        origin(tags, *TITLES): listed(fields.get("title")),
        "LID": doi,
        "AB": paragraphs(fields, tags),
        origin(tags, *AUTHORS): authors[:n_people],
        "CN": authors[n_people:],
        "LA": listed(fields.get("language")),
        "PT": listed(fields.get("publication_type")),
        origin(tags, *JOURNALS): listed(fields.get("journal")),
        "PMC": listed(fields.get("pmcid")),
        "MH": mesh,
        "OT": [term for term in listed(fields.get("keywords")) if term not in headings],
    }


MEDLINE = RecordFormat(
    "medline",
    _derive,
    _invert,
    frozenset(
        ("title", "text", "author", "year", "date", "journal", "doi", "pmid", "keywords", "mesh", "publication_type",
         "language", "pmcid")
    ),
)  # fmt: skip

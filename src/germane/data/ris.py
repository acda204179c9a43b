"""RIS: the tagged text of reference managers, from `TY  - JOUR` to `ER  -`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import (
    RecordFormat,
    Values,
    clean_doi,
    first,
    listed,
    one,
    origin,
    paragraphs,
    plain_doi,
    unique,
    year_field,
)
from germane.data.lines import Block
from germane.data.sources import Lines, SourceLines, TextLines, with_sources
from germane.data.tagged import tagged_documents, tagged_records
from germane.errors import CutShortError, InputError
from germane.types import Document, FieldValue

NOTE = "N1"
TITLES = ("TI", "T1", "CT", "BT")
ABSTRACTS = ("AB", "N2")
AUTHORS = ("AU", "A1")
DATES = ("PY", "Y1", "DA")
JOURNALS = ("JO", "JF", "T2", "JA", "J2", "J1")
"""Of each kind, the first tag that a record has is the one whose values are taken."""

_TAG_LINE = re.compile(r"([A-Z][A-Z0-9]) {1,2}- ?(.*)")
_TAG_BYTES = re.compile(rb"([A-Z][A-Z0-9]) {1,2}-")


def read_ris(
    path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop, keep_source: bool = False
) -> Iterator[Document]:
    """Documents of an RIS file: the common fields, and all else that its tags say (`data/bibliographic.py`).

    The id is the PMID, else the DOI, the reference id (`ID`), the accession number (`AN`), or `file name:N`.
    """
    lines = SourceLines(path, encoding, keep=keep_source)
    records = tagged_records(_blocks(lines, str(path), on_bad), _TAG_LINE, RIS, NOTE, path, on_bad)
    return with_sources(records, lines) if keep_source else (document for _, document in records)


def ris_records(text: str) -> list[Document]:
    """The documents of a text; a record that cannot be used is an error."""
    return [*tagged_documents(_blocks(TextLines(text), "", stop), _TAG_LINE, RIS, NOTE, "", stop)]


def _blocks(lines: Lines, source: str, on_bad: OnBad) -> Iterator[Block]:
    """From TY to ER. A record that the next TY cuts short still counts; one that the end of the file cuts is bad."""
    block: Block | None = None
    seen = stray = False
    for number, line in lines:
        tag = _TAG_BYTES.match(line)
        if tag and tag[1] in (b"TY", b"ER"):
            if block is not None:
                yield block
            block = Block(source, number, lines.at) if tag[1] == b"TY" else None
            seen, stray = True, False
        elif block is None and not stray and line.strip() and not line.strip().rstrip(b".").isdigit():
            stray = True  # said once; some exports number their records, which is no fault
            error = InputError("a record must start with 'TY  - '", source=source, line=number)
            if not seen and not tag:
                raise InputError(f"not an RIS file: {error.message}", source=source, line=number)
            on_bad(error)
        if block is not None:
            block.add(line)
    if block is not None:
        message = "the last record is not closed by 'ER  - ': the file may be cut short"
        if on_bad(CutShortError(message, source=source, line=block.line)):
            yield block


def _derive(values: Values) -> dict[str, FieldValue]:
    values["DO"] = [plain_doi(value) for value in values.get("DO", ())]
    date = one(values, *DATES)
    year = year_field(date) if date else ""
    accession = one(values, "AN")
    database = " ".join(values.get("DB", []) + values.get("DP", [])).lower()
    pmid = one(values, "PM")
    if not pmid and accession.isdigit() and ("pubmed" in database or "medline" in database or "nlm" in database):
        pmid = accession
    return {
        "title": one(values, *TITLES),
        "text": "\n".join(first(values, *ABSTRACTS)),
        "author": [*first(values, *AUTHORS)],
        "year": year,
        "date": date if date != str(year) else "",
        "journal": one(values, *JOURNALS),
        "doi": next(filter(None, map(clean_doi, values["DO"])), ""),
        "pmid": pmid,
        "keywords": unique(values.get("KW", ())),
        "type": one(values, "TY"),
        "key": one(values, "ID"),
        "accession": accession,
        "url": one(values, "UR"),
    }


def _invert(fields: Mapping[str, FieldValue], tags: Sequence[str]) -> Values:
    return {
        "TY": listed(fields.get("type")),
        origin(tags, *TITLES): listed(fields.get("title")),
        origin(tags, *AUTHORS): listed(fields.get("author")),
        origin(tags, *DATES): listed(fields.get("date") or fields.get("year")),
        origin(tags, *JOURNALS): listed(fields.get("journal")),
        "DO": listed(fields.get("doi")),
        "PM": listed(fields.get("pmid")) if not tags or "PM" in tags else [],
        "AN": listed(fields.get("accession")),
        "ID": listed(fields.get("key")),
        "KW": listed(fields.get("keywords")),
        "UR": listed(fields.get("url")),
        origin(tags, *ABSTRACTS): paragraphs(fields, tags),
    }


RIS = RecordFormat(
    "ris",
    _derive,
    _invert,
    frozenset((
        "title", "text", "author", "year", "date", "journal", "doi", "pmid", "keywords", "type", "key", "accession",
        "url",
    )),
)  # fmt: skip

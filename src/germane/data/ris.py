"""RIS: the tagged text of reference managers, from `TY  - JOUR` to `ER  -`."""

import re
from collections.abc import Iterator
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import clean_doi, ordered, unique, year_field
from germane.data.lines import Block, read_lines
from germane.data.tagged import Values, rest, tagged_documents, take, take_one
from germane.errors import InputError
from germane.types import Document, FieldValue

_TAG_LINE = re.compile(r"([A-Z][A-Z0-9]) {1,2}- ?(.*)")
_TAG_BYTES = re.compile(rb"([A-Z][A-Z0-9]) {1,2}-")


def read_ris(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of an RIS file: the common fields, and every other tag in lower case.

    The id is the PMID, else the DOI, the reference id (`ID`), the accession number (`AN`), or `file name:N`.
    """
    return tagged_documents(_blocks(path, encoding, on_bad), _TAG_LINE, _fields, path, on_bad)


def _blocks(path: str | Path, encoding: str, on_bad: OnBad) -> Iterator[Block]:
    """From TY to ER. A record that the next TY cuts short still counts; one that the end of the file cuts does not."""
    source = str(path)
    block: Block | None = None
    seen = stray = False
    for number, line in read_lines(path, encoding):
        tag = _TAG_BYTES.match(line)
        if tag and tag[1] in (b"TY", b"ER"):
            if block is not None:
                yield block
            block = Block(source, number) if tag[1] == b"TY" else None
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
        on_bad(InputError("the last record is not closed by 'ER  - '", source=source, line=block.line))


def _fields(values: Values) -> dict[str, FieldValue]:
    date = take_one(values, "PY", "Y1", "DA")
    accession = take_one(values, "AN")
    database = " ".join(values.get("DB", []) + values.get("DP", [])).lower()
    pmid = take_one(values, "PM")
    if not pmid and accession.isdigit() and ("pubmed" in database or "medline" in database or "nlm" in database):
        pmid = accession
    fields: dict[str, FieldValue] = {
        "title": take_one(values, "TI", "T1", "CT", "BT"),
        "text": take_one(values, "AB", "N2"),
        "author": [*take(values, "AU", "A1")],
        "year": year_field(date) if date else "",
        "date": date if "/" in date else "",
        "journal": take_one(values, "JO", "JF", "T2", "JA", "J2", "J1"),
        "doi": next(filter(None, map(clean_doi, values.pop("DO", []))), ""),
        "pmid": pmid,
        "keywords": unique(take(values, "KW")),
        "type": take_one(values, "TY"),
        "key": take_one(values, "ID"),
        "accession": accession,
        "url": take_one(values, "UR"),
    }
    return ordered(fields | rest(values))

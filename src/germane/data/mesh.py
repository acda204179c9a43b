"""MeSH as NLM publishes it: descriptors (desc20xx) and supplementary records (supp20xx, c20xx), in XML or ASCII (.bin).

A record has a heading and further terms that are read as it. In ASCII the heading is `MH` or `NM`, the terms are
`ENTRY`, `PRINT ENTRY` and `SY`, up to their first |; in XML they are the terms of all its concepts, but for permuted
ones ("Infarction, Myocardial"), which NLM makes from others by turning words round. Records of qualifiers have none.
Entities are refused, as in PubMed XML.
"""

from collections.abc import Iterator
from pathlib import Path

from germane.data.compression import open_binary
from germane.data.fields import squeeze
from germane.data.lines import decode, read_lines
from germane.data.pubmed import Articles, xml_records
from germane.errors import InputError

NEW_RECORD = "*NEWRECORD"
HEADINGS = ("MH", "NM")
TERMS = ("ENTRY", "PRINT ENTRY", "SY")
NAMES = {"DescriptorRecord": "DescriptorName/String", "SupplementalRecord": "SupplementalRecordName/String"}
"""The records of XML, and where each has its heading."""
_TERM = "ConceptList/Concept/TermList/Term"
_ROOTS = ("DescriptorRecordSet", "SupplementalRecordSet")
_LOOKED_AT = 4096


class _Records(Articles):
    format = "MeSH XML"
    roots = _ROOTS
    records = tuple(NAMES)


def is_mesh(path: str | Path) -> bool:
    """Whether the file begins as one of MeSH's does: with a record, or with a tag."""
    return _head(path).startswith((NEW_RECORD, "<"))


def read_mesh(path: str | Path) -> dict[str, str]:
    """Terms of a MeSH file, each with its heading; a heading is its own, so that no part of it is read as another.

    Of a term in two records the first counts.
    """
    found: dict[str, str] = {}
    for heading, terms in _xml(path) if _head(path).startswith("<") else _ascii(path):
        for term in (heading, *terms):
            found.setdefault(term, heading)
    if not found:
        raise InputError("there is no record with a heading in it", source=str(path))
    return found


def _head(path: str | Path) -> str:
    with open_binary(path) as stream:
        return stream.read(_LOOKED_AT).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")


def _xml(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    for line, record in xml_records(path, "utf-8", _Records):
        heading = squeeze(record.findtext(NAMES[record.tag]) or "")
        if not heading:
            raise InputError(f"<{record.tag}> without {NAMES[record.tag]}", source=str(path), line=line)
        terms = [term for term in record.iterfind(_TERM) if term.get("IsPermutedTermYN") != "Y"]
        yield heading, [text for term in terms if (text := squeeze(term.findtext("String") or ""))]


def _ascii(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    heading, terms = "", list[str]()
    for number, raw in read_lines(path):
        line = decode(raw, str(path), number).strip()
        name, sign, value = (part.strip() for part in line.partition("="))
        if line == NEW_RECORD:
            if heading:
                yield heading, terms
            heading, terms = "", []
        elif line and not sign:
            raise InputError(
                f"a line of MeSH is NAME = VALUE or {NEW_RECORD}, not '{line[:60]}'", source=str(path), line=number
            )
        elif name in HEADINGS:
            heading = squeeze(value)
        elif name in TERMS and (term := squeeze(value.partition("|")[0])):
            terms.append(term)
    if heading:
        yield heading, terms

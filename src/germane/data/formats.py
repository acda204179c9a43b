"""Which format a file of documents is in: by its name, else by how it begins."""

import re
from pathlib import Path
from typing import NamedTuple

from germane.data.compression import ENDINGS, open_binary
from germane.data.fields import ID_NAMES
from germane.errors import InputError
from germane.types import DEFAULT_FIELDS, RECORD_FIELDS


class Format(NamedTuple):
    """Where its reader is, the endings of its files' names, and a pattern of how its files begin, white space aside.

    A reader takes a path, `encoding` and `on_bad`, and gives documents; with `records` also the `mapping` of fields and
    `number`, which else are seen to for it. A format without endings and beginning has to be named. `unmistakable` is a
    beginning that no plain text has: files of a folder that hold such a thing are no texts, whatever they are called.
    `text_fields` are searched where nobody says otherwise. `sources`: the reader takes `keep_source`.
    """

    reader: str
    endings: tuple[str, ...] = ()
    beginning: bytes | None = None
    records: bool = False
    unmistakable: bytes | None = None
    text_fields: tuple[str, ...] = DEFAULT_FIELDS
    sources: bool = False


_PUBMED = rb"<\?xml|<!DOCTYPE\s+(?:Pubmed|Medline)|<(?:Pubmed|Medline)"
_ENDNOTE = rb"(?is:(?:<\?xml.{,1000}?\?>\s*)?<xml>\s*<records)"

FORMATS: dict[str, Format] = {
    "jsonl": Format("germane.data.jsonl.read_jsonl", (".jsonl", ".ndjson"), rb"\{", records=True),
    "csv": Format("germane.data.delimited.read_csv", (".csv",), records=True),
    "tsv": Format("germane.data.delimited.read_tsv", (".tsv", ".tab"), records=True),
    "folder": Format("germane.data.folder.read_folder"),
    "trec": Format(
        "germane.data.trec.read_trec",
        (".trec", ".trectext", ".sgml", ".sgm"),
        rb"(?is:(?:\s*<!--.*?-->)?\s*<DOC[\s>])",
        unmistakable=rb"(?is:(?:\s*<!--.*?-->)?\s*<DOC>\s*<DOCNO>)",
    ),
    "medline": Format(
        "germane.data.medline.read_medline",
        (".nbib", ".medline"),
        rb"PMID ?-",
        unmistakable=rb"PMID ?- ?\d",
        text_fields=RECORD_FIELDS,
        sources=True,
    ),
    "endnote-xml": Format(
        "germane.data.endnote.read_endnote",
        beginning=_ENDNOTE,
        unmistakable=_ENDNOTE,
        text_fields=RECORD_FIELDS,
    ),
    "pubmed": Format(
        "germane.data.pubmed.read_pubmed",
        beginning=rb"(?i:" + _PUBMED + rb")",
        unmistakable=rb"(?is:<\?xml.{,1000}?)?(?i:<!DOCTYPE\s+(?:Pubmed|Medline)|<(?:Pubmed|Medline)[a-z]*Set)",
        text_fields=RECORD_FIELDS,
    ),
    "ris": Format(
        "germane.data.ris.read_ris",
        (".ris",),
        rb"(?:\d+\.?\s+)?TY {1,2}-",
        unmistakable=rb"(?:\d+\.?\s+)?TY {1,2}- ?[A-Z]+\s",
        text_fields=RECORD_FIELDS,
        sources=True,
    ),
    "bibtex": Format(
        "germane.data.bibtex.read_bibtex",
        (".bib", ".bibtex"),
        rb"(?:%[^\n]*\n\s*)*@\s*[A-Za-z]+\s*[{(]",
        text_fields=RECORD_FIELDS,
        sources=True,
    ),
}
"""The formats of documents. A new one is an entry here; see docs/extending.md."""

FORMAT_TITLES = {
    "jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV", "folder": "folder of texts", "trec": "TREC",
    "medline": "MEDLINE", "endnote-xml": "EndNote XML", "pubmed": "PubMed XML", "ris": "RIS", "bibtex": "BibTeX",
}  # fmt: skip
"""What people are told a format is."""

_HEAD_BYTES = 1 << 14


def detect_format(path: Path, encoding: str = "utf-8") -> str | None:
    """The name of the format, or None for an empty file of unknown ending."""
    named = _by_ending(path)
    if named is not None:
        return named
    head = _head(path, encoding)
    if not head:
        return None
    for name, format in FORMATS.items():
        if format.beginning is not None and re.match(format.beginning, head):
            return name
    if head.startswith(b"["):
        raise InputError("a JSON array cannot be read piece by piece: write one object per line", source=str(path))
    first_line = head.splitlines()[0].decode(errors="replace").lower()
    for name, separators in (("tsv", "\t"), ("csv", ",;|")):
        for separator in separators:
            cells = [cell.strip(' "') for cell in first_line.split(separator)]
            if len(cells) > 1 and any(name in cells for name in ID_NAMES):
                return name
    raise InputError(f"the format is not recognised; name it: {', '.join(FORMATS)}", source=str(path))


def format_of(source: str | Path, encoding: str = "utf-8") -> str | None:
    """The format of a file; None for a folder, a data set, or what is no file."""
    path = Path(source)
    return detect_format(path, encoding) if path.is_file() else None


def format_in_folder(path: Path, encoding: str = "utf-8") -> str | None:
    """The format of one file of a folder: by its ending, or a beginning that no text has; None for a text."""
    named = _by_ending(path)
    if named is not None:
        return named
    try:
        head = _head(path, encoding)
    except InputError:
        return None  # a picture, perhaps: reading it as a text will say what is wrong
    for name, format in FORMATS.items():
        if format.unmistakable is not None and re.match(format.unmistakable, head):
            return name
    return None


def _by_ending(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in ENDINGS:
        suffixes.pop()
    return next((name for name, format in FORMATS.items() if suffixes and suffixes[-1] in format.endings), None)


def _head(path: Path, encoding: str) -> bytes:
    with open_binary(path, encoding) as stream:
        return stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()

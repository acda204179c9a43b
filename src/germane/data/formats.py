"""Which format a file of documents is in: by its name, else by how it begins."""

import re
from pathlib import Path

from germane.data.compression import ENDINGS, open_binary
from germane.data.fields import ID_NAMES
from germane.errors import InputError

BY_ENDING = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".nbib": "medline",
    ".medline": "medline",
    ".ris": "ris",
    ".bib": "bibtex",
    ".bibtex": "bibtex",
    ".trec": "trec",
    ".trectext": "trec",
    ".sgml": "trec",
    ".sgm": "trec",
}
FORMATS = ("jsonl", "csv", "tsv", "folder", "trec", "medline", "pubmed", "ris", "bibtex")

_HEAD_BYTES = 1 << 14
_BEGINNINGS = (
    ("jsonl", re.compile(rb"\{")),
    ("trec", re.compile(rb"(?:\s*<!--.*?-->)?\s*<DOC[\s>]", re.IGNORECASE | re.DOTALL)),
    ("pubmed", re.compile(rb"<\?xml|<!DOCTYPE\s+(?:Pubmed|Medline)|<(?:Pubmed|Medline)", re.IGNORECASE)),
    ("medline", re.compile(rb"PMID ?-")),
    ("ris", re.compile(rb"(?:\d+\.?\s+)?TY {1,2}-")),
    ("bibtex", re.compile(rb"(?:%[^\n]*\n\s*)*@\s*[A-Za-z]+\s*[{(]")),
)


def detect_format(path: Path, encoding: str = "utf-8") -> str | None:
    """The name of the format, or None for an empty file of unknown ending."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in ENDINGS:
        suffixes.pop()
    if suffixes and suffixes[-1] in BY_ENDING:
        return BY_ENDING[suffixes[-1]]
    with open_binary(path, encoding) as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        return None
    for name, beginning in _BEGINNINGS:
        if beginning.match(head):
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

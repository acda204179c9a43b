"""Documents as files: JSON Lines, CSV, TSV, RIS, MEDLINE (NBIB), BibTeX and EndNote XML, one record at a time.

A record that is written in the format it was read from is the same record: every tag with every value, in its order
(`data/bibliographic.py`); and the same bytes, where its own text was kept (`data/sources.py`) and still says what its
fields say, as reading it again shows. In another format each field goes under the tag that means the same; what no tag
means becomes a note, `name: value`. An id that the record does not give by itself is a note too, and read back as the
id.

In CSV and TSV a list is one cell with semicolons between its items; TSV has no tabs and line breaks within a cell, and
spaces stand for them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

import orjson

from germane.data.atomic import open_for_writing
from germane.data.bibliographic import (
    FORMAT_FIELD,
    ID_FIELDS,
    ID_NOTE,
    TAGS_FIELD,
    RecordFormat,
    clean_doi,
    listed,
    own_id,
)
from germane.data.bibtex import BIBTEX, ID_FIELD, MONTHS, PEOPLE, VERBATIM, bibtex_records
from germane.data.delimited import SEPARATORS
from germane.data.endnote import ENDNOTE, HEAD, TAG, TAIL, TYPES, write_record
from germane.data.endnote import NOTE as ENDNOTE_NOTE
from germane.data.fields import VECTORS
from germane.data.latex import text_to_latex
from germane.data.medline import MEDLINE, medline_records
from germane.data.medline import NOTE as MEDLINE_NOTE
from germane.data.ris import NOTE as RIS_NOTE
from germane.data.ris import RIS, ris_records
from germane.data.sources import SOURCE_FIELD
from germane.data.tagged import in_order, on_one_line
from germane.errors import InputError, ParameterError
from germane.types import Document, FieldValue

ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".ris": "ris",
    ".nbib": "medline", ".medline": "medline", ".bib": "bibtex", ".bibtex": "bibtex", ".xml": "endnote-xml",
}  # fmt: skip
TABLES = ("csv", "tsv")
"""Formats that name their columns first."""
WRITABLE = tuple(dict.fromkeys(ENDINGS.values()))

MEANINGS: dict[str, dict[str, str]] = {
    "ris": {
        "vl": "volume", "is": "issue", "sn": "issn", "pb": "publisher", "cy": "address", "et": "edition",
        "la": "language", "sp": "pages", "ep": "last_page", "j2": "short_journal", "a2": "editor", "c2": "pmcid",
        "n1": "note",
    },
    "medline": {
        "vi": "volume", "ip": "issue", "is": "issn", "pg": "pages", "pl": "address", "ta": "short_journal",
        "gn": "note", "isbn": "isbn", "pb": "publisher", "en": "edition",
    },
    "bibtex": {"number": "issue", "shortjournal": "short_journal", "annote": "note"},
    "endnote-xml": {
        "volume": "volume", "number": "issue", "isbn": "issn", "publisher": "publisher", "pub-location": "address",
        "edition": "edition", "language": "language", "pages": "pages", "periodical/abbr-1": "short_journal",
        "custom2": "pmcid", "notes": "note",
    },
}  # fmt: skip
"""Names of each format's fields, by the names that documents of no format use."""

MOST = {("ris", "TY"): 1, ("ris", "ER"): 0, ("medline", "PMID"): 1}
"""Number of times that a tag which begins or ends a record may stand in it: further values are notes."""

_TYPES = {
    "JOUR": "article", "CONF": "inproceedings", "CPAPER": "inproceedings", "BOOK": "book", "CHAP": "incollection",
    "THES": "phdthesis", "RPRT": "techreport", "UNPB": "unpublished", "GEN": "misc",
}  # fmt: skip
_RIS_TAG = re.compile(r"[A-Z][A-Z0-9]")
_MEDLINE_TAG = re.compile(r"[A-Z][A-Z0-9]{1,3}")
_BIBTEX_NAME = re.compile(r"[^\s={},\"#%()]+")
_PAGES = re.compile(r"\s*([^\s\-–]+)\s*(?:-+|–)\s*([^\s\-–]+)\s*")
_AND = re.compile(r"(?:^|\s)and(?:\s|$)", re.IGNORECASE)
_AFTER_BACKSLASH = re.compile(r"(?<=\\)([_%&#~$])")


def format_for(path: str | Path | None, format: str | None = None) -> str:
    """The format to write: the one named, else that of the file's ending; JSON Lines where there is no file.

    >>> format_for("kept.nbib"), format_for("kept.txt", "ris")
    ('medline', 'ris')
    """
    if format is not None:
        if format not in WRITABLE:
            raise ParameterError(f"documents cannot be written as '{format}'; the formats are {', '.join(WRITABLE)}")
        return format
    if path is None:
        return "jsonl"
    found = ENDINGS.get(Path(path).suffix.lower())
    if found is None:
        raise ParameterError(
            f"the ending of '{path}' does not say in which format to write: name the file {', '.join(ENDINGS)}, or "
            f"name the format: {', '.join(WRITABLE)}"
        )
    return found


def write_documents(
    target: str | Path | TextIO, documents: Iterable[Document], format: str | None = None, *, encoding: str = "utf-8"
) -> int:
    """Write the documents, whole or not at all, in the format (`format_for`); returns how many there are.

    `encoding` is that of a file, UTF-8 unless another is named; a text that it lacks is an error.
    """
    chosen = format_for(target if isinstance(target, str | Path) else None, format)
    counted = _Counted(_again(documents) if chosen in TABLES else documents)
    with open_for_writing(target, encoding=encoding) as file:
        file.writelines(written(counted, chosen))
    return counted.count


def written(documents: Iterable[Document], format: str) -> Iterator[str]:
    """What a file of the documents holds, a piece at a time, however many there are.

    A table names its columns first: what can be gone through twice is, and what cannot is held in memory meanwhile.
    NUL, which no reader takes for text, is left out.
    """
    return (piece.replace("\x00", "") for piece in _written(documents, format))


def _written(documents: Iterable[Document], format: str) -> Iterator[str]:
    if format in TABLES:
        yield from _table(_again(documents), tabs=format == "tsv")
        return
    records = _Records(format)
    if format == ENDNOTE.name:
        yield HEAD
    yield from map(records.next, documents)
    if format == ENDNOTE.name:
        yield TAIL


def _again(documents: Iterable[Document]) -> Iterable[Document]:
    """The documents, to be gone through more than once."""
    return list(documents) if isinstance(documents, Iterator) else documents


class _Counted:
    """Documents, and how many there were when they were gone through last."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.count = 0
        self._documents = documents

    def __iter__(self) -> Iterator[Document]:
        self.count = 0
        for document in self._documents:
            self.count += 1
            yield document


class _Records:
    """The records of a file, one after the other: as they came, where that is known, or anew."""

    def __init__(self, format: str) -> None:
        self.count = 0
        self._format = format
        self._macros = dict(MONTHS)
        self._last = ""

    def next(self, document: Document) -> str:
        source = str(document.fields.get(SOURCE_FIELD) or "")
        if source and document.fields.get(FORMAT_FIELD) == self._format and self._says(source, document):
            text = self._parted(source)
        else:
            text = self._parted(record_text(document, self._format))
        self.count += 1
        self._last = text
        return text

    def _says(self, source: str, document: Document) -> bool:
        """Whether reading the source gives this document. One without an id of its own has its place for one."""
        macros = dict(self._macros)
        try:
            found = bibtex_records(source, macros) if self._format == BIBTEX.name else _READ[self._format](source)
        except InputError:
            return False
        if len(found) != 1 or found[0].fields != {
            name: value for name, value in document.fields.items() if name != SOURCE_FIELD
        }:
            return False
        numbered = found[0].id == ":1" and document.id.endswith(f":{self.count + 1}")
        if numbered or found[0].id == document.id:
            self._macros = macros
            return True
        return False

    def _parted(self, text: str) -> str:
        """The record, parted from the one before, whose own text may end with its last line."""
        if self._format == "jsonl" or not self._last or self._format == ENDNOTE.name:
            return text
        needed = "" if self._last.endswith("\n") else "\n"
        if self._format == MEDLINE.name and not text.startswith("PMID"):
            needed += "" if self._last.endswith(("\n\n", "\n\r\n")) else "\n"
        return needed + text


_READ = {"ris": ris_records, "medline": medline_records}


def record_text(document: Document, format: str) -> str:
    """The document as one record of the format, made anew; not of a table."""
    return _RECORDS[format](document)


def _jsonl(document: Document) -> str:
    vectors = {VECTORS: dict(document.vectors)} if document.vectors else {}
    record = {"id": document.id, **document.fields, **vectors}
    return orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY).decode() + "\n"


def _ris(document: Document) -> str:
    """From TY to ER, an empty line behind it."""
    lines = _tagged(document, RIS, _RIS_TAG, RIS_NOTE)
    kind = next((value for tag, value in lines if tag == "TY"), "")
    rest = [f"{tag}  - {value}" for tag, value in lines if tag != "TY"]
    return "\n".join([f"TY  - {kind}", *rest, "ER  - ", "", ""])


def _medline(document: Document) -> str:
    """Its lines, which are not wrapped, and an empty one behind them; a PMID, which begins a record, stands first."""
    lines = sorted(_tagged(document, MEDLINE, _MEDLINE_TAG, MEDLINE_NOTE), key=lambda line: line[0] != "PMID")
    return "\n".join([*(f"{tag:<4}- {value}" for tag, value in lines), "", ""])


def _bibtex(document: Document) -> str:
    fields = _translated(document.fields, BIBTEX)
    key = str(fields.get("key") or "")
    if fields.get(FORMAT_FIELD) != BIBTEX.name:
        key = re.sub(r"[\s,={}()\"#%\\~]+", "_", key or document.id)
    values, names = BIBTEX.values_of(fields)
    notes = [f"{name}: {'; '.join(values.pop(name))}" for name in [*values] if not _BIBTEX_NAME.fullmatch(name)]
    if notes:
        values["annote"] = [*values.get("annote", ()), *notes]
    if _read_back(fields | {"key": key}, BIBTEX) != document.id:
        values[ID_FIELD] = [document.id]
    people = {name: [" and ".join(map(_person, values.pop(name)))] for name in PEOPLE if values.get(name)}
    lines = []
    for name, value in in_order(people | values, names):
        written = value if name in PEOPLE else _verbatim(value) if name in VERBATIM else text_to_latex(value)
        lines.append(f"  {name} = {{{written}}}")
    content = ",\n".join([key, *lines])
    return f"@{fields.get('type') or 'misc'}{{{content}\n}}\n\n"


def _endnote(document: Document) -> str:
    return write_record(_tagged(document, ENDNOTE, TAG, ENDNOTE_NOTE))


_RECORDS: dict[str, Callable[[Document], str]] = {
    "jsonl": _jsonl, "ris": _ris, "medline": _medline, "bibtex": _bibtex, ENDNOTE.name: _endnote,
}  # fmt: skip


def _tagged(document: Document, format: RecordFormat, tag_of: re.Pattern[str], note: str) -> list[tuple[str, str]]:
    """The lines of a record: tags with their values, notes for what has no tag."""
    fields = _translated(document.fields, format)
    values, tags = format.values_of(fields)
    written: dict[str, list[str]] = {}
    notes: list[str] = []
    same_format = fields.get(FORMAT_FIELD) == format.name
    known = (
        MEANINGS[format.name].keys() | format.invert({}, ()).keys() if format is ENDNOTE and not same_format else None
    )
    for name, found in values.items():
        tag = name.upper() if same_format and format is not ENDNOTE else name
        if tag_of.fullmatch(tag) and (known is None or tag in known):
            most = MOST.get((format.name, tag), len(found))
            written[tag] = [*map(str.strip if format is ENDNOTE else on_one_line, found[:most])]
            found = found[most:]
            if not found:
                continue
        notes.append(f"{name}: {'; '.join(map(on_one_line, found))}".rstrip())
    own_notes = written.setdefault(note, [])
    known_notes = frozenset(own_notes)
    own_notes += [told for told in notes if told not in known_notes]  # joined records may say a thing in both ways
    lines = [(tag, value) for tag, value in in_order(written, tags) if value]
    claims = any(tag == note and value.startswith(ID_NOTE) for tag, value in lines)
    if claims or _read_back(fields, format) != document.id:
        # The first that claims to be the id is: ours stands above others, behind the line that begins the record.
        place = len(lines) if not claims else 1 if lines[0][0] in ("PMID", "TY") else 0
        lines.insert(place, (note, f"{ID_NOTE}{on_one_line(document.id)}"))
    return lines


def _read_back(fields: Mapping[str, FieldValue], format: RecordFormat) -> str:
    """The id that a reader of the record finds in it; empty where that is not sure."""
    known = {name: value for name, value in fields.items() if format is BIBTEX or name in format.names}
    if any(not isinstance(known.get(name, ""), str) for name in ID_FIELDS):
        return ""  # what is read of it is a text
    return own_id(known | {"doi": clean_doi(str(known.get("doi") or ""))})


def _translated(fields: Mapping[str, FieldValue], format: RecordFormat) -> dict[str, FieldValue]:
    """The fields under the names that `format` has for them; as they are where the record is of that format."""
    source = str(fields.get(FORMAT_FIELD, ""))
    if source == format.name:
        return dict(fields)
    meant = meanings_of(fields)
    if format is ENDNOTE:
        code = _ris_type(str(meant.get("type") or ("article" if source == "medline" else "")))
        meant["type"] = TYPES[code][0] if code in TYPES else "Generic"
    elif format is RIS:
        meant["type"] = _ris_type(str(meant.get("type") or ("article" if source == "medline" else "")))
        pages = _PAGES.fullmatch(str(meant.get("pages", "")))
        if pages:
            meant |= {"pages": pages[1], "last_page": pages[2]}
    elif format is BIBTEX:
        meant["type"] = _bibtex_type(str(meant.get("type") or ""), source)
    theirs = {
        meaning: name if format in (BIBTEX, ENDNOTE) else name.upper()
        for name, meaning in MEANINGS[format.name].items()
    }
    return {theirs.get(name, name): value for name, value in meant.items()}


def meanings_of(fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields by the names that documents of no format have for them."""
    source = str(fields.get(FORMAT_FIELD, ""))
    meanings = MEANINGS.get(source, {})
    meant = {
        meanings.get(name, name): value
        for name, value in fields.items()
        if name not in (FORMAT_FIELD, TAGS_FIELD, SOURCE_FIELD)
    }
    if "pages" in meant and "last_page" in meant:
        meant["pages"] = f"{meant['pages']}-{meant.pop('last_page')}"
    if "text" not in meant and "abstract" in meant:
        meant["text"] = meant.pop("abstract")
    if source == ENDNOTE.name:
        codes = {name: code for code, (name, _) in TYPES.items()}
        meant["type"] = codes.get(str(meant.get("type")), "GEN")
        if meant.get("ref-type") == TYPES[str(meant["type"])][1]:
            del meant["ref-type"]  # the same said by a number
    return meant


def _ris_type(kind: str) -> str:
    known = {theirs: ours for ours, theirs in reversed(_TYPES.items())}
    return known.get(kind.lower(), kind.upper() if kind.upper() in _TYPES else "GEN")


def _bibtex_type(kind: str, source: str) -> str:
    return _TYPES.get(kind.upper()) or ("article" if source == "medline" else "misc")


def _person(name: str) -> str:
    written = text_to_latex(name)
    return f"{{{written}}}" if _AND.search(written) else written


def _verbatim(value: str) -> str:
    return _AFTER_BACKSLASH.sub(r"\\\1", re.sub(r"[{}\s]+", " ", value).strip())


def _table(documents: Iterable[Document], *, tabs: bool) -> Iterator[str]:
    """A header of all fields that occur, but for the records' own texts, and a row for each document."""
    names = list(dict.fromkeys(
        name for document in documents for name in document.fields if name not in ("id", SOURCE_FIELD)
    ))  # fmt: skip
    for place, cells in enumerate(_rows(documents, names)):
        if tabs:
            yield "\t".join(" ".join(re.split(r"[\t\r\n]+", cell)) for cell in cells) + "\n"
        else:
            # In the header any separator is quoted, so that a reader cannot take it for the one.
            yield ",".join(_cell(cell, _IN_HEADER if place == 0 else _IN_ROWS) for cell in cells) + "\n"


_IN_ROWS = re.compile(r'[,"\r\n]')
_IN_HEADER = re.compile(rf'["\r\n{re.escape(SEPARATORS)}]')


def _cell(text: str, special: re.Pattern[str]) -> str:
    return '"' + text.replace('"', '""') + '"' if special.search(text) else text


def _rows(documents: Iterable[Document], names: list[str]) -> Iterator[list[str]]:
    yield ["id", *names]
    for document in documents:
        yield [document.id, *("; ".join(listed(document.fields.get(name))) for name in names)]

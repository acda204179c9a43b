"""BibTeX: entries in braces or parentheses, `@string` abbreviations, values joined by `#`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import (
    RecordFormat,
    Values,
    clean_doi,
    listed,
    one,
    origin,
    plain_doi,
    reference_id,
    unique,
    year_field,
)
from germane.data.fields import squeeze
from germane.data.latex import latex_to_text
from germane.data.lines import Block
from germane.data.sources import Lines, SourceLines, TextLines, with_sources
from germane.errors import InputError
from germane.types import Document, FieldValue

MONTHS = {name[:3].lower(): name for name in (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)}  # fmt: skip

MAX_EXPANSION = 10
FREE_EXPANSION = 1 << 24
"""How many times as long as the file its abbreviations may make it, and the characters that are not counted."""

_ENTRY = re.compile(rb"(?<![^\s})])@\s*([A-Za-z]+)\s*([{(])")
_ENTRY_ALONE = re.compile(rb"(?<![^\s})])@\s*[A-Za-z]+\s*$")
_LINE_START = re.compile(rb"@\s*[A-Za-z]+\s*\{\s*[^\s{}=]+\s*,")
_MARK = re.compile(rb'[{}()"]')
_HEAD = re.compile(r"@\s*([A-Za-z]+)\s*[{(]")
_NAME = re.compile(r"[\s,]*+([^\s={},\"#%()]++)\s*+")
_BARE = re.compile(r"[^\s={},\"#%()]+")
_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"[{}]")
_QUOTE = re.compile(r'[{}"]')
_AND = re.compile(r"(?<!\s)\s++and\s++", re.IGNORECASE)
PEOPLE = ("author", "editor")
ABSTRACTS = ("abstract", "text")
JOURNALS = ("journal", "journaltitle", "booktitle")
KEYWORDS = ("keywords", "keyword")
ID_FIELD = "germane-id"
"""Gives the id, where the entry itself does not."""
VERBATIM = ("doi", "url", "pmid", "pmcid", "eprint", "file", "isbn", "issn", "key")

_Parts: TypeAlias = list[tuple[str, list[str]]]
"""The fields of an entry in their order, each with the parts that are joined by #."""


def read_bibtex(
    path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop, keep_source: bool = False
) -> Iterator[Document]:
    """Documents of a BibTeX file: the common fields, and all others under their own names (`data/bibliographic.py`).

    LaTeX becomes plain text (`data/latex.py`), and abbreviations what they stand for.
    The id is the PMID, else the DOI, else the citation key; `type` is the entry's type and `key` its key.
    """
    lines = SourceLines(path, encoding, keep=keep_source)
    records = _records(lines, path, dict(MONTHS), on_bad)
    return with_sources(records, lines) if keep_source else (document for _, document in records)


def bibtex_records(text: str, macros: dict[str, str] | None = None) -> list[Document]:
    """The documents of a text; an entry that cannot be used is an error. `macros` gets the abbreviations in it."""
    known = dict(MONTHS) if macros is None else macros
    return [document for _, document in _records(TextLines(text), "", known, stop)]


def _records(lines: Lines, path: str | Path, macros: dict[str, str], on_bad: OnBad) -> Iterator[tuple[int, Document]]:
    """The documents, each with the place of the line where its entry begins."""
    budget = _Budget(str(path))
    number = 0
    for block in _blocks(lines, str(path), on_bad):
        try:
            kind, key, values = _parse(block, macros)
        except InputError as error:
            number += 1
            on_bad(error)
            continue
        budget.spend(block, values)
        if kind == "string":
            macros.update({name: "".join(parts) for name, parts in reversed(values)})
        elif kind not in ("comment", "preamble"):
            number += 1
            identifier, fields = _fields(kind, key, values)
            yield block.at, Document(identifier or reference_id(fields, path, number), fields)


class _Budget:
    """How much longer abbreviations may make what was read: each can be made of others, twice as long every time."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = FREE_EXPANSION

    def spend(self, block: Block, values: "_Parts") -> None:
        """Take off what the entry's values are longer than its text, before they are joined."""
        self._left += MAX_EXPANSION * block.size - sum(len(part) for _, parts in values for part in parts)
        if self._left < 0:
            raise InputError(
                f"the @string abbreviations make the text more than {MAX_EXPANSION} times as long as the file: "
                "they are made of one another, and the file is refused",
                source=self._source,
                line=block.line,
            )
        self._left = min(self._left, FREE_EXPANSION)


def _blocks(lines: Lines, source: str, on_bad: OnBad) -> Iterator[Block]:
    """Each entry from its @ to the brace that closes it. What stands between entries is comment."""
    block: Block | None = None
    opener, depth, quoted = b"{", 0, False
    held = b""
    for number, line in lines:
        if block is not None and _LINE_START.match(line):
            on_bad(_unclosed(source, block.line))
            block = None
        line, held = held + line, b""
        position = 0
        while True:
            if block is None:
                entry = _ENTRY.search(line, position)
                if entry is None:
                    alone = _ENTRY_ALONE.search(line, position)
                    held = alone[0] if alone and len(alone[0]) < 1000 else b""
                    break
                block = Block(source, number - entry[0].count(b"\n"), lines.at)
                opener, depth, quoted = entry[2], 0, False
                block.add(entry[0])
                position = entry.end()
            start = position
            closed = False
            for mark in _MARK.finditer(line, position):
                sign = mark[0]
                if sign == b"{":
                    depth += 1
                elif sign == b"}" and (depth or opener == b"{"):
                    closed = depth == 0
                    depth -= 1
                elif sign == b'"' and depth == 0 and opener == b"(":
                    quoted = not quoted
                elif sign == b")" and depth == 0 and opener == b"(":
                    closed = not quoted
                if closed:
                    position = mark.end()
                    break
            block.add(line[start:position] if closed else line[start:])
            if not closed:
                break
            yield block
            block = None
    if block is not None:
        on_bad(_unclosed(source, block.line))


def _unclosed(source: str, line: int) -> InputError:
    return InputError("the entry is not closed: a brace is missing", source=source, line=line)


def _parse(block: Block, macros: dict[str, str]) -> tuple[str, str, _Parts]:
    """The entry's type, its key, and each field with its parts (an abbreviation is replaced by what it stands for)."""
    text = block.text()
    head = _HEAD.match(text)
    if head is None:
        raise InputError("not a BibTeX entry", source=block.source, line=block.line)
    kind = head[1].lower()
    if kind in ("comment", "preamble"):
        return kind, "", []
    position, end = head.end(), len(text) - 1  # the last character closes the entry
    key = ""
    if kind != "string":
        comma = text.find(",", position, end)
        key = text[position : end if comma < 0 else comma].strip()
        if "=" in key:  # no key at all
            key = ""
        else:
            position = end if comma < 0 else comma
    values: _Parts = []
    while (name := _NAME.match(text, position, end)) is not None:
        field = name[1].lower()
        position = name.end()
        if text[position : position + 1] != "=":
            raise _bad(block, text, position, field, "'=' is missing after the field's name")
        parts, position = _value(block, text, position + 1, end, field, macros)
        values.append((field, parts))
    if text[position:end].strip(" \t\n\r,"):
        raise _bad(block, text, position, None, f"'{squeeze(text[position:end])[:20]}' is not a field")
    return kind, key, values


def _value(
    block: Block, text: str, position: int, end: int, field: str, macros: dict[str, str]
) -> tuple[list[str], int]:
    parts: list[str] = []
    while True:
        position = _SPACE.match(text, position, end).end()  # type: ignore[union-attr]
        if text[position : position + 1] in ("{", '"') and position < end:
            close = _closing(text, position, end)
            if close < 0:
                raise _bad(block, text, position, field, f"the value's {text[position]} is not closed")
            parts.append(text[position + 1 : close])
            position = close + 1
        elif bare := _BARE.match(text, position, end):
            parts.append(macros.get(bare[0].lower(), bare[0]))
            position = bare.end()
        else:
            raise _bad(block, text, position, field, "a value is missing")
        position = _SPACE.match(text, position, end).end()  # type: ignore[union-attr]
        if text[position : position + 1] != "#" or position >= end:
            return parts, position
        position += 1


def _closing(text: str, position: int, end: int) -> int:
    """Where the value that opens at `position` closes, or -1."""
    braces = text[position] == "{"
    depth = 0
    for mark in (_BRACE if braces else _QUOTE).finditer(text, position + 1, end):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == '"':
            if depth == 0:
                return mark.start()
        elif depth == 0:
            return mark.start() if braces else -1
        else:
            depth -= 1
    return -1


def _bad(block: Block, text: str, position: int, field: str | None, message: str) -> InputError:
    line = block.line + text.count("\n", 0, position)
    return InputError(message, source=block.source, line=line, field=field)


def _fields(kind: str, key: str, parts: _Parts) -> tuple[str, dict[str, FieldValue]]:
    """The id that the entry was given, if it was, and all its fields."""
    values: Values = {}
    names: list[str] = []
    identifier = ""
    for name, pieces in parts:
        raw = "".join(pieces)
        if name == ID_FIELD:
            identifier = latex_to_text(raw)
            continue
        if name in PEOPLE:
            found = [*filter(None, map(latex_to_text, _people(raw)))]
        elif name in KEYWORDS:
            found = [*filter(None, [", ".join(_terms(latex_to_text(raw)))])]
        else:
            found = [*filter(None, [_verbatim(raw) if name in VERBATIM else latex_to_text(raw)])]
        if found and not (name in PEOPLE and values.get(name)):
            names.append(name)
        values.setdefault(name, []).extend(found)
    values["doi"] = [plain_doi(value) for value in values.get("doi", ())]
    fields = BIBTEX.fields_of(values, names)
    return identifier, _headed(fields, kind, key)


def _verbatim(raw: str) -> str:
    """A value that is no LaTeX, but may have its special characters escaped."""
    return squeeze(re.sub(r"\\([_%&#~$])|[{}]", r"\1", raw))


def _headed(fields: dict[str, FieldValue], kind: str, key: str) -> dict[str, FieldValue]:
    """The fields with the entry's type and key, which are no tags."""
    return fields | {"type": kind} | ({"key": key} if key else {})


def _derive(values: Values) -> dict[str, FieldValue]:
    date = one(values, "year", "date")
    return {
        "title": one(values, "title"),
        "text": one(values, *ABSTRACTS),
        "author": [*values.get("author", ())],
        "editor": [*values.get("editor", ())],
        "year": year_field(date) if date else "",
        "journal": one(values, *JOURNALS),
        "doi": clean_doi(one(values, "doi")),
        "keywords": unique(_terms(one(values, *KEYWORDS))),
    }


def _invert(fields: Mapping[str, FieldValue], tags: Sequence[str]) -> Values:
    keywords = listed(fields.get("keywords"))
    return {
        "author": listed(fields.get("author")),
        "title": listed(fields.get("title")),
        "editor": listed(fields.get("editor")),
        origin(tags, *JOURNALS): listed(fields.get("journal")),
        "year": listed(fields.get("year")) if not tags or "year" in tags else [],
        "doi": listed(fields.get("doi")),
        origin(tags, *KEYWORDS): [", ".join(keywords)] if keywords else [],
        origin(tags, *ABSTRACTS): listed(fields.get("text")),
    }


BIBTEX = RecordFormat(
    "bibtex",
    _derive,
    _invert,
    frozenset(("title", "text", "author", "editor", "year", "journal", "doi", "keywords", "type", "key")),
)


def _terms(value: str) -> list[str]:
    return [term for term in (term.strip() for term in re.split(r"[;,]", value)) if term]


def _people(value: str) -> list[str]:
    """Cut at each `and` that stands outside braces."""
    people: list[str] = []
    depth = start = position = 0
    for joint in _AND.finditer(value):
        depth += value.count("{", position, joint.start()) - value.count("}", position, joint.start())
        position = joint.start()
        if depth == 0:
            people.append(value[start : joint.start()])
            start = joint.end()
    return [*people, value[start:]]

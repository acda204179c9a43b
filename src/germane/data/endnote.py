"""EndNote XML: `<xml><records><record>…`, read one record at a time and written as EndNote writes it.

A tag of a record is the path of an element that holds text (`titles/title`), or of one of its attributes
(`ref-type@name`), in the order of the file. The faces of letters (`<style face="italic">`) are not kept. Entities are
refused, as in PubMed XML.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring
from xml.sax.saxutils import escape, quoteattr

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import (
    ID_NOTE,
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
from germane.data.pubmed import Articles, xml_records
from germane.errors import InputError
from germane.types import Document, FieldValue

HEAD = '<?xml version="1.0" encoding="UTF-8" ?><xml><records>'
TAIL = "</records></xml>\n"
NOTE = "notes"
DEPTH = 20
"""Elements within one another; what is deeper is read as text."""
TYPE, TYPE_NUMBER = "ref-type@name", "ref-type"
AUTHORS = "contributors/authors/author"
EDITORS = "contributors/secondary-authors/author"
JOURNALS = ("periodical/full-title", "titles/secondary-title", "titles/alt-title")
URL = "urls/related-urls/url"
TYPES = {
    "JOUR": ("Journal Article", "17"), "CONF": ("Conference Proceedings", "10"), "CPAPER": ("Conference Paper", "47"),
    "BOOK": ("Book", "6"), "CHAP": ("Book Section", "5"), "THES": ("Thesis", "32"), "RPRT": ("Report", "27"),
    "UNPB": ("Unpublished Work", "34"), "GEN": ("Generic", "13"),
}  # fmt: skip
"""What RIS calls a kind of reference, and what EndNote does, by name and number."""

TAG = re.compile(r"[a-z_][\w.-]*(?:/[a-z_][\w.-]*)*(?:@[a-z_][\w.-]*)?", re.ASCII)
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _References(Articles):
    format = "EndNote XML"
    roots = ("xml", "records")
    records = ("record",)


def read_endnote(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of an EndNote XML file: the common fields, and all else that it says (`data/bibliographic.py`)."""
    for number, (line, record) in enumerate(xml_records(path, encoding, _References, on_bad), 1):
        document = _document(record, path, number)
        if document is None:
            on_bad(InputError("<record> without any text", source=str(path), line=line))
        else:
            yield document


def endnote_records(text: str) -> list[Document]:
    """The document of a `<record>` that we have written."""
    return [document for document in [_document(fromstring(text), "", 1)] if document is not None]


def _document(record: Element, path: str | Path, number: int) -> Document | None:
    tags = list(_leaves(record))
    if not tags:
        return None
    given = next((tag for tag in tags if tag[0] == NOTE and tag[1].startswith(ID_NOTE)), None)
    if given is not None:
        tags.remove(given)
    values: Values = {}
    for tag, value in tags:
        values.setdefault(tag, []).append(value)
    fields = ENDNOTE.fields_of(values, [tag for tag, _ in tags])
    identifier = given[1].removeprefix(ID_NOTE).strip() if given else ""
    return Document(identifier or reference_id(fields, path, number), fields)


def write_record(tags: Iterable[tuple[str, str]]) -> str:
    """`<record>` with an element for each tag; elements that follow one another share those around them."""
    parts = ["<record>"]
    around: list[str] = []
    attributes: dict[str, str] = {}
    for tag, value in tags:
        path, _, attribute = tag.partition("@")
        if attribute:
            attributes[attribute] = value
            continue
        *above, name = path.split("/")
        shared = 0
        while shared < min(len(above), len(around)) and above[shared] == around[shared]:
            shared += 1
        parts += [f"</{name}>" for name in reversed(around[shared:])] + [f"<{name}>" for name in above[shared:]]
        around = above
        written = "".join(f" {key}={_quoted(text)}" for key, text in attributes.items())
        parts.append(f"<{name}{written}>{_escaped(value)}</{name}>")
        attributes = {}
    return "".join([*parts, *(f"</{name}>" for name in reversed(around)), "</record>"])


def _leaves(element: Element, above: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The tags with their values. An element without text is left out, with its attributes."""
    for child in element:
        path = f"{above}{child.tag.lower()}"
        if depth == DEPTH or all(grandchild.tag == "style" for grandchild in child):
            text = "".join(child.itertext()).strip()
            if text:
                yield from ((f"{path}@{name.lower()}", value) for name, value in child.items() if value)
                yield path, text
        else:
            yield from _leaves(child, f"{path}/", depth + 1)


def _escaped(value: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", value), {"\r": "&#13;"})


def _quoted(value: str) -> str:
    return quoteattr(_UNWRITABLE.sub("\ufffd", value), {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def _derive(values: Values) -> dict[str, FieldValue]:
    date = one(values, "dates/year", "dates/pub-dates/date")
    accession = one(values, "accession-num")
    database = " ".join(values.get("remote-database-name", []) + values.get("remote-database-provider", [])).lower()
    is_pmid = accession.isdigit() and any(name in database for name in ("pubmed", "medline", "nlm"))
    return {
        "title": squeeze(one(values, "titles/title")),
        "text": one(values, "abstract"),
        "author": [*values.get(AUTHORS, ())],
        "editor": [*values.get(EDITORS, ())],
        "year": year_field(squeeze(date)) if date else "",
        "journal": squeeze(one(values, *JOURNALS)),
        "doi": clean_doi(plain_doi(one(values, "electronic-resource-num"))),
        "pmid": accession if is_pmid else "",
        "keywords": unique(values.get("keywords/keyword", ())),
        "type": one(values, TYPE),
        "key": one(values, "label"),
        "accession": accession,
        "url": one(values, URL),
    }


def _invert(fields: Mapping[str, FieldValue], tags: Sequence[str]) -> Values:
    pmid = [] if tags else listed(fields.get("pmid"))
    number = dict(TYPES.values()).get(str(fields.get("type")))
    return {
        TYPE: listed(fields.get("type")),
        TYPE_NUMBER: [number] if number and not tags else [],
        AUTHORS: listed(fields.get("author")),
        EDITORS: listed(fields.get("editor")),
        "titles/title": listed(fields.get("title")),
        origin(tags, *JOURNALS): listed(fields.get("journal")),
        "keywords/keyword": listed(fields.get("keywords")),
        "dates/year": listed(fields.get("year")) if not tags or "dates/year" in tags else [],
        "accession-num": pmid or listed(fields.get("accession")),
        "remote-database-name": ["PubMed"] if pmid else [],
        "label": listed(fields.get("key")),
        "abstract": listed(fields.get("text")),
        URL: listed(fields.get("url")),
        "electronic-resource-num": listed(fields.get("doi")),
    }


ENDNOTE = RecordFormat(
    "endnote-xml",
    _derive,
    _invert,
    frozenset((
        "title", "text", "author", "editor", "year", "journal", "doi", "pmid", "keywords", "type", "key", "accession",
        "url",
    )),
)  # fmt: skip

"""What PubMed, MEDLINE, RIS and BibTeX have in common: the fields of a reference, its id, and how nothing is lost.

Every reader of references fills the same fields where the record has them: `title`, `text` (the abstract), `author`
(a list), `year` (a whole number), `journal`, `doi`, `pmid`, `keywords` (a list: the authors' keywords and the subject
headings), `mesh` (a list: the MeSH descriptors among them).

A record of MEDLINE, RIS or BibTeX is kept whole. Where the common fields do not say all that stood under a tag (a
second title, an abbreviated journal, a heading with its qualifiers, a tag that nobody knows), the values of that tag
are a field of their own, named as the tag in lower case, or `tag_NAME` where a common field has that name already: a
list where there are several. `record_format` is the format, `record_tags` the tags in their order. From these the
record can be written again, tag by tag (`data/writing.py`). Tags without a value are left out.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from germane.data.fields import year_of
from germane.data.sources import SOURCE_FIELD
from germane.types import FieldValue, JSONScalar

Values: TypeAlias = dict[str, list[str]]
"""The values of each tag of a record, in their order."""

FORMAT_FIELD, TAGS_FIELD = "record_format", "record_tags"
_OURS = (FORMAT_FIELD, TAGS_FIELD, SOURCE_FIELD)
ID_NOTE = "germane id: "
"""What a note begins with that gives the id, where the record itself does not."""
ID_FIELDS = ("pmid", "doi", "key", "accession")
"""What a record brings as its id: the first of them that it has."""
RAW = "tag_"

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_DOI_ALONE = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:? ?)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_ORDER = ("title", "text", "author", "year", "journal", "doi", "pmid", "keywords", "mesh")


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """How a format's tags become fields and fields its tags.

    `derive(values)` makes the common fields; `invert(fields, tags)` says which values they stand for in a record that
    had these tags (none: one that comes from elsewhere). What the two do not carry over is kept under the tag's own
    name, so that reading loses nothing whatever `derive` leaves out. `names`: all that `derive` may fill.
    """

    name: str
    derive: Callable[[Values], dict[str, FieldValue]]
    invert: Callable[[Mapping[str, FieldValue], Sequence[str]], Values]
    names: frozenset[str]

    def fields_of(self, values: Values, tags: Sequence[str]) -> dict[str, FieldValue]:
        """All fields of a record; `tags` has each tag as often as it has values."""
        fields = ordered(self.derive(values))
        said = self.invert(fields, tags)
        for tag, found in values.items():
            if found and said.get(tag) != found:
                fields[self.field_of(tag)] = found[0] if len(found) == 1 else [*found]
        return fields | {FORMAT_FIELD: self.name, TAGS_FIELD: " ".join(tags)}

    def field_of(self, tag: str) -> str:
        """The name of the field with a tag's own values."""
        name = tag.lower()
        taken = name in self.names or name in ("id", *_OURS) or name.startswith(RAW)
        return RAW + name if taken else name

    def values_of(self, fields: Mapping[str, FieldValue]) -> tuple[Values, list[str]]:
        """The values of each tag, and the tags in the order of the record: `fields_of` undone.

        Names of fields that are no tags come along as they are.
        """
        tags = str(fields.get(TAGS_FIELD, "")).split() if fields.get(FORMAT_FIELD) == self.name else []
        values = {tag: found for tag, found in self.invert(fields, tags).items() if found}
        cased = {tag.lower(): tag for tag in tags}
        for name, value in fields.items():
            if name not in self.names and name not in _OURS:
                tag = name.removeprefix(RAW) if tags else name
                values[cased.get(tag, tag)] = listed(value)
        return values, tags


def listed(value: FieldValue) -> list[str]:
    """The value as texts: none, one, or as many as the list has."""
    items = value if isinstance(value, list | tuple) else [value]
    return [str(item) for item in items if item is not None and item != ""]


def first(values: Mapping[str, Sequence[str]], *tags: str) -> list[str]:
    """The values of the first of the tags that has any."""
    return next(([*values[tag]] for tag in tags if values.get(tag)), [])


def one(values: Mapping[str, Sequence[str]], *tags: str) -> str:
    """The first value of the first of the tags that has any; empty where none has."""
    return next(iter(first(values, *tags)), "")


def origin(tags: Sequence[str], *candidates: str) -> str:
    """Which of the candidates `first` would have taken its values from; the first where none of them is there."""
    return next((tag for tag in candidates if tag in tags), candidates[0])


def paragraphs(fields: Mapping[str, FieldValue], tags: Sequence[str]) -> list[str]:
    """The abstract as values of tags: one for each that was read, or one in all where it comes from elsewhere."""
    text = str(fields.get("text") or "")
    return [part for part in (text.split("\n") if tags else [text]) if part]


def clean_doi(text: str) -> str:
    """The bare DOI, without `https://doi.org/`, `doi:` or `[doi]`; empty where there is none.

    >>> clean_doi("https://doi.org/10.1145/383952.383972")
    '10.1145/383952.383972'
    """
    found = _DOI.search(text)
    return found[0].rstrip(".,;") if found else ""


def plain_doi(text: str) -> str:
    """The bare DOI where the text is nothing but a DOI or its address; else the text as it stands."""
    found = _DOI_ALONE.fullmatch(text)
    return found[1] if found and clean_doi(found[1]) == found[1] else text


def year_field(text: str) -> int | str:
    """The year as a number where there is one, else the text as it stands ("in press")."""
    year = year_of(text)
    return text if year is None else year


def unique(values: Iterable[str]) -> list[JSONScalar]:
    """The non-empty values, each once, in order."""
    return [*dict.fromkeys(value for value in values if value)]


def descriptor(heading: str) -> str:
    """The descriptor of a MeSH heading, without qualifiers and stars.

    >>> descriptor("*Asthma/drug therapy")
    'Asthma'
    """
    return heading.partition("/")[0].replace("*", "").strip()


def reference_id(fields: Mapping[str, FieldValue], path: str | Path, number: int) -> str:
    """PMID, else DOI, else citation key, else accession number, else `file name:N` with the record's number."""
    return own_id(fields) or f"{Path(path).name}:{number}"


def own_id(fields: Mapping[str, FieldValue]) -> str:
    """The id that a record brings with it: PMID, else DOI, else citation key, else accession number; empty for none."""
    for name in ID_FIELDS:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def ordered(fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields without the empty ones, the common names first."""
    names = [name for name in _ORDER if name in fields] + [name for name in fields if name not in _ORDER]
    return {name: fields[name] for name in names if fields[name] not in ("", [], None)}

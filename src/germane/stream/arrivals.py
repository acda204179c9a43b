"""A document as it comes in: its id, its words, its date; what was missing or odd about it is told."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from germane.data.fields import ID_NAMES, document_id, squeeze
from germane.metasearch.payload import plain
from germane.types import Document, FieldValue, text_of

DATE_FIELDS = ("date", "published", "updated", "pubDate", "time", "timestamp")
"""Where the date of a document is looked for, in this order."""
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z]\w*);")
_UNSPOKEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document of a stream. `date`: as ISO 8601 has it, in UTC; None where it has none that can be read.

    `oddities`: what was mended, as `Intake` counts it: "no id", "no date", "markup".
    """

    id: str
    fields: Mapping[str, FieldValue]
    source: str = ""
    date: str | None = None
    oddities: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document | Mapping[str, Any], source: str = "", *, made_id: bool = False) -> "Arrival":
        """The document with HTML taken off its texts. One without an id gets one from what it says.

        `made_id`: the document's id says nothing of it (its place in a file), and counts as missing.
        """
        identifier, found = _parts(document)
        stripped = {name: _plain(value) for name, value in found.items()}
        oddities = []
        if made_id or not identifier:
            identifier = f"sha256:{digest_of(found)[:32]}"
            oddities.append("no id")
        date = next((date for name in DATE_FIELDS if (date := iso_date(found.get(name))) is not None), None)
        if date is None:
            oddities.append("no date")
        if stripped != found:
            oddities.append("markup")
        return cls(identifier, stripped, source, date, tuple(oddities))

    def text(self, names: tuple[str, ...]) -> str:
        """The words that are followed."""
        return text_of(self.fields, names)

    @property
    def digest(self) -> str:
        """What tells it from another document under the same id."""
        return digest_of(self.fields)

    @property
    def title(self) -> str:
        """Its title on one line, else how its text begins."""
        return title_of(self.fields)


def title_of(fields: Mapping[str, FieldValue], length: int = 100) -> str:
    """The title on one line, else how the text begins."""
    said = squeeze(text_of(fields, ("title",))) or squeeze(text_of(fields, ("text",)))
    return said if len(said) <= length else said[:length].rstrip() + " …"


def digest_of(fields: Mapping[str, Any]) -> str:
    """SHA-256 of the fields, whatever their order."""
    return hashlib.sha256(orjson.dumps(dict(fields), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()


def iso_date(value: Any) -> str | None:
    """The moment in UTC, to the second; of ISO 8601, of RFC 2822 as in RSS, or seconds since 1970.

    >>> iso_date("Tue, 10 Jun 2003 04:00:00 +0200"), iso_date("2003-06-10"), iso_date("soon")
    ('2003-06-10T02:00:00Z', '2003-06-10T00:00:00Z', None)
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _written(datetime.fromtimestamp(value, UTC)) if abs(value) > 1e8 else None
        text = str(value or "").strip()
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            found = parsedate_to_datetime(text)
        return _written(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _parts(document: Document | Mapping[str, Any]) -> tuple[str, dict[str, FieldValue]]:
    if isinstance(document, Document):
        fields, identifier = dict(document.fields), document.id
    else:
        fields = dict(document)
        found = fields.pop("id", None)
        if found is None:
            found = fields.pop(next((name for name in ID_NAMES if name in fields), "id"), None)
        identifier = document_id(found) or ""
    for name, value in [*fields.items()]:
        if isinstance(value, list):
            fields[name] = [*map(_clean, value)]
        elif isinstance(value, str) and not _is_clean(value):
            fields[name] = _clean(value)
    if not all(map(_is_clean, fields)):
        fields = {_clean(name): value for name, value in fields.items()}
    return _clean(identifier).strip(), fields


def _clean(value: Any) -> Any:
    """Without what no database keeps: NUL characters, and halves of surrogate pairs."""
    return value if not isinstance(value, str) or _is_clean(value) else _SURROGATES.sub("\ufffd", value)


def _is_clean(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _plain(value: FieldValue) -> FieldValue:
    if isinstance(value, str):
        marked = ("<" in value or "&" in value) and _MARKUP.search(value)
        return plain(_UNSPOKEN.sub(" ", value)) if marked else value
    return [_plain(item) for item in value] if isinstance(value, list) else value  # type: ignore[misc]

"""Text for messages: counts with their nouns ("1 record", "2 records"), author names in reading order, field names.

"Müller, Jürgen" becomes "Jürgen Müller".
"""

import re
from collections.abc import Mapping
from typing import Any

_GIVEN = re.compile(r"(?:[^\W\d_][\w.'’-]*+\s*+){1,5}")
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV)\.?", re.IGNORECASE)


class Name(str):
    """Name of a field of a request, as a part of a message (`errors.RequestError`)."""

    __slots__ = ()


def counted(n: int, noun: str, many: str = "") -> str:
    """Return a number with its noun; `many` is the plural where it is irregular.

    >>> counted(1, "document"), counted(1234, "document"), counted(2, "query"), counted(2, "hit is", "hits are")
    ('1 document', '1,234 documents', '2 queries', '2 hits are')
    """
    return f"{n:,} {noun if n == 1 else many or plural(noun)}"


def plural(noun: str) -> str:
    """Return the regular English plural of a noun.

    >>> plural("class"), plural("day"), plural("story")
    ('classes', 'days', 'stories')
    """
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u", ""):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def without_a_number(unreadable: Mapping[str, int], noun: str = "record") -> list[str]:
    """Return one sentence for each numeric field: the number of records where its value cannot be read.

    >>> without_a_number({"year": 3, "score": 1})
    ['3 records have no readable year', '1 record has no readable score']
    """
    return [
        f"{counted(n, noun)} {'has' if n == 1 else 'have'} no readable {field}" for field, n in unreadable.items() if n
    ]


def people(value: Any) -> list[str]:
    """Return the names in an author field with given names first; a semicolon separates several names in one string.

    >>> people("Müller, Jürgen; Smith, Anna B."), people(["King, Martin L., Jr.", "WHO", "Li Wei"])
    (['Jürgen Müller', 'Anna B. Smith'], ['Martin L. King Jr.', 'WHO', 'Li Wei'])
    """
    listed = value if isinstance(value, list | tuple) else [value]
    texts = (part for item in listed if item for part in str(item).split(";"))
    return [_said(" ".join(text.split())) for text in texts if text.strip()]


def _said(name: str) -> str:
    family, *rest = (part.strip() for part in name.split(","))
    suffix = rest.pop() if len(rest) == 2 and _SUFFIX.fullmatch(rest[-1]) else ""
    if not family or len(rest) != 1 or not _GIVEN.fullmatch(rest[0]):
        return name
    return " ".join(filter(None, (rest[0], family, suffix)))


def titled(titles: Mapping[str, str]) -> str:
    """Return names with the titles that they stand for."""
    return ", ".join(name if name == title.lower() else f"{name} ({title})" for name, title in titles.items())


def some_of(ids: list[str]) -> str:
    """Return the first ids in quotes, with dots where there are more."""
    return ", ".join(f"'{doc_id}'" for doc_id in ids[:3]) + (" ..." if len(ids) > 3 else "")

"""Counts in sentences: one record, two records."""

from collections.abc import Mapping


def counted(n: int, noun: str, many: str = "") -> str:
    """A number with its noun, whose plural is `many` where it is no regular one.

    >>> counted(1, "document"), counted(1234, "document"), counted(2, "query"), counted(2, "hit is", "hits are")
    ('1 document', '1,234 documents', '2 queries', '2 hits are')
    """
    return f"{n:,} {noun if n == 1 else many or plural(noun)}"


def plural(noun: str) -> str:
    """Several of it, by the rules of English spelling.

    >>> plural("class"), plural("day"), plural("story")
    ('classes', 'days', 'stories')
    """
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u", ""):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def without_a_number(unreadable: Mapping[str, int], noun: str = "record") -> list[str]:
    """Which fields of numbers hold something else, and in how many records.

    >>> without_a_number({"year": 3, "score": 1})
    ['3 records have no readable year', '1 record has no readable score']
    """
    return [
        f"{counted(n, noun)} {'has' if n == 1 else 'have'} no readable {field}" for field, n in unreadable.items() if n
    ]

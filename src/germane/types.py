"""Value types that several packages share: documents, topics, relevance judgements, run entries and marks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from germane.errors import ParameterError

JSONScalar: TypeAlias = str | int | float | bool | None
FieldValue: TypeAlias = JSONScalar | list[JSONScalar]
"""The value of a document field: one scalar, or a list of them (authors, subject headings)."""

DocId: TypeAlias = str | int
"""A document id as an argument: a string, or an integer that stands for its decimal digits."""


def id_text(doc_id: object) -> str:
    """Return a document id as the index stores it. Raise `ParameterError` where it is neither string nor integer.

    >>> id_text(7), id_text("7")
    ('7', '7')
    """
    if isinstance(doc_id, str):
        return doc_id
    if isinstance(doc_id, bool) or not isinstance(doc_id, Integral):
        raise ParameterError(f"an id is a text, or a whole number that stands for its digits, not {doc_id!r:.60}")
    return str(int(doc_id))


DEFAULT_FIELDS = ("title", "text")
"""Default text fields: their words are indexed and searched."""
RECORD_FIELDS = ("title", "text", "keywords")
"""Default text fields of references (RIS, NBIB, PubMed XML, BibTeX): keywords and subject headings are searched too."""
RESULT_FIELDS = ("title", "abstract", "text")
"""Default text fields of results from other engines, which may have a separate field for the abstract."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to index: an id and named fields, which keep their order.

    By default the words of `title` and `text` are indexed. Every other field is stored and can be used in filters.
    `vectors` maps the name of a vector field to a list or array of numbers.
    """

    id: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    vectors: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def n_characters(fields: Mapping[str, FieldValue]) -> int:
    """Count the characters in the texts of a document.

    >>> n_characters({"title": "Copper", "year": 1912, "keywords": ["liver", "brain"]})
    16
    """
    values = (item for value in fields.values() for item in (value if isinstance(value, list | tuple) else [value]))
    return sum(len(value) for value in values if isinstance(value, str))


def text_of(fields: Mapping[str, FieldValue], names: Iterable[str]) -> str:
    """Join the values of the named fields by line breaks, list items too; skip missing values.

    >>> text_of({"title": "Copper", "year": 1912, "keywords": ["liver", "brain"], "text": None}, ("keywords", "text"))
    'liver\\nbrain'
    """
    parts: list[str] = []
    for name in names:
        value = fields.get(name)
        if isinstance(value, list | tuple):
            parts += [str(item) for item in value if item is not None]
        elif value is not None:
            parts.append(str(value))
    return parts[0] if len(parts) == 1 else "\n".join(parts)


TITLE_WORDS = 12


def title_of(fields: Mapping[str, FieldValue], names: Iterable[str] = ("text",)) -> str:
    """Return the title on one line; without a title, the first `TITLE_WORDS` words of the named fields.

    >>> title_of({"title": "", "text": "Copper is a metal."})
    'Copper is a metal.'
    """
    title = " ".join(text_of(fields, ("title",)).split())
    return title or " ".join(text_of(fields, names).split(maxsplit=TITLE_WORDS)[:TITLE_WORDS])


class Topic(NamedTuple):
    """A TREC topic: the id of a query and its text."""

    id: str
    text: str


class Judgement(NamedTuple):
    """One line of a TREC qrels file; a grade above 0 means relevant."""

    query_id: str
    doc_id: str
    grade: int


class RunEntry(NamedTuple):
    """One line of a TREC run file; ranks start at 1."""

    query_id: str
    doc_id: str
    rank: int
    score: float
    tag: str


class Mark(IntEnum):
    """The label of a document in an array of labels: 1 and 0, and -1 for unlabelled, as in scikit-learn."""

    RELEVANT = 1
    NOT_RELEVANT = 0
    UNMARKED = -1


@dataclass(frozen=True, slots=True)
class Marks:
    """Relevance marks of a user: the ids of relevant documents and of documents that are not relevant.

    Duplicate ids are dropped. Raise `ParameterError` where an id is in both.
    """

    relevant: tuple[str, ...] = ()
    not_relevant: tuple[str, ...] = ()

    def __init__(self, relevant: Iterable[DocId] = (), not_relevant: Iterable[DocId] = ()) -> None:
        if isinstance(relevant, str) or isinstance(not_relevant, str):
            raise ParameterError("marks are lists of ids, not one string")
        object.__setattr__(self, "relevant", tuple(dict.fromkeys(map(id_text, relevant))))
        object.__setattr__(self, "not_relevant", tuple(dict.fromkeys(map(id_text, not_relevant))))
        rejected = set(self.not_relevant)
        both = [doc_id for doc_id in self.relevant if doc_id in rejected]
        if both:
            raise ParameterError(f"marked relevant and not relevant at once: {', '.join(both)}")

    @classmethod
    def of(cls, marks: "Marks | Mapping[str, bool] | Mapping[int, bool] | None") -> "Marks":
        """Convert a mapping from ids to True (relevant) and False (not relevant); return `Marks` as they are."""
        if marks is None or isinstance(marks, Marks):
            return marks or cls()
        if not isinstance(marks, Mapping) or any(
            isinstance(i, bool) or not isinstance(i, str | Integral) or not isinstance(mark, bool)
            for i, mark in marks.items()
        ):
            raise ParameterError("marks are Marks, or a mapping from ids to True (relevant) and False (not relevant)")
        return cls((i for i, mark in marks.items() if mark), (i for i, mark in marks.items() if not mark))

    def __bool__(self) -> bool:
        return bool(self.relevant or self.not_relevant)

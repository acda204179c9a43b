"""The few values that cross layers: documents, topics, judgements, marks and results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from germane.errors import ParameterError

JSONScalar: TypeAlias = str | int | float | bool | None
FieldValue: TypeAlias = JSONScalar | list[JSONScalar]
"""What a document field may hold: one scalar, or a list of them (authors, subject headings)."""

DocId: TypeAlias = str | int
"""How a document is named where it is looked up: ids are texts, and a whole number stands for its digits."""


def id_text(doc_id: object) -> str:
    """The id as it is kept.

    >>> id_text(7), id_text("7")
    ('7', '7')
    """
    if isinstance(doc_id, str):
        return doc_id
    if isinstance(doc_id, bool) or not isinstance(doc_id, Integral):
        raise ParameterError(f"an id is a text, or a whole number that stands for its digits, not {doc_id!r:.60}")
    return str(int(doc_id))


DEFAULT_FIELDS = ("title", "text")
"""The fields whose words are searched unless others are named."""
RECORD_FIELDS = ("title", "text", "keywords")
"""The same for references (RIS, NBIB, PubMed XML, BibTeX): their keywords and subject headings are searched too."""
RESULT_FIELDS = ("title", "abstract", "text")
"""The same for results of any engine, where the abstract may have a field of its own."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text to index: its id and its named fields, in the order they were read.

    By convention `title` and `text` hold the words; every other field is stored and can be filtered on. `vectors`: by
    the name of a vector field, a list or array of numbers.
    """

    id: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    vectors: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def text_of(fields: Mapping[str, FieldValue], names: Iterable[str]) -> str:
    """The values of the named fields in this order, one a line, each item of a list too; what is missing is left out.

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
    """The document's title on one line; without one, the first words of the named fields.

    >>> title_of({"title": "", "text": "Copper is a metal."})
    'Copper is a metal.'
    """
    title = " ".join(text_of(fields, ("title",)).split())
    return title or " ".join(text_of(fields, names).split(maxsplit=TITLE_WORDS)[:TITLE_WORDS])


class Topic(NamedTuple):
    """An information need as TREC writes it: a query id and its words."""

    id: str
    text: str


class Judgement(NamedTuple):
    """One line of a TREC qrels file: grade > 0 means relevant."""

    query_id: str
    doc_id: str
    grade: int


class RunEntry(NamedTuple):
    """One line of a TREC run: rank is 1-based."""

    query_id: str
    doc_id: str
    rank: int
    score: float
    tag: str


class Mark(IntEnum):
    """What a person said of one document, as arrays of labels hold it: scikit-learn's 1, 0 and -1 for unlabelled."""

    RELEVANT = 1
    NOT_RELEVANT = 0
    UNMARKED = -1


@dataclass(frozen=True, slots=True)
class Marks:
    """What a person has marked: ids of relevant documents and of those that are not. No id may be among both."""

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
        """Marks, or a mapping from ids to True (relevant) and False (not relevant)."""
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

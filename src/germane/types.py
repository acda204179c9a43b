"""The few values that cross layers: documents, topics, judgements and results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

JSONScalar: TypeAlias = str | int | float | bool | None
FieldValue: TypeAlias = JSONScalar | list[JSONScalar]
"""What a document field may hold: one scalar, or a list of them (authors, subject headings)."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text to index: its id and its named fields, in the order they were read.

    By convention `title` and `text` hold the words; every other field is stored and can be filtered on.
    """

    id: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


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

"""Queries with known relevant documents, over collections of many shapes: reviews, labelled texts, judged topics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from germane.data import read_documents, read_topics
from germane.data.catalog import data_root
from germane.evaluate.rankings import load_qrels
from germane.types import Document


@dataclass(frozen=True)
class ListSource:
    """A collection to be queried, as `[[collection]]` of an experiment file has it; files are below GERMANE_DATA.

    name = "ADHD"
    documents = "reviews_cohen2006/ADHD.jsonl.gz"
    text = ["title", "abstract"]        the fields that are the text of a result
    where = { split = "test" }          only documents whose fields have these values

    relevant = { included = 1 }         either: documents whose fields have these values are relevant
    queries = ["ADHD drugs", "..."]     or { text = "...", relevant = { label = "C01" } } each with its own

    topics = "med/queries.tsv"          or: judged topics
    judgements = "med/qrels.txt"
    above = 0                           of these, documents of a higher grade are relevant
    min_relevant = 12                   topics with fewer relevant documents are left out
    first = 40                          only so many topics
    judged_only = false                 true: a topic's list holds judged documents only
    """

    name: str
    documents: str
    text: Sequence[str] = ("title", "abstract")
    where: Mapping[str, Any] = field(default_factory=dict)
    relevant: Mapping[str, Any] = field(default_factory=dict)
    queries: Sequence[str | Mapping[str, Any]] = ()
    topics: str = ""
    judgements: str = ""
    above: int = 0
    min_relevant: int = 1
    first: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        if bool(self.queries) == bool(self.topics) or bool(self.topics) != bool(self.judgements):
            raise ValueError(f"collection '{self.name}' needs either queries, or topics and judgements")
        if not all(relevant for _, relevant in self.own_queries()):
            raise ValueError(f"collection '{self.name}' does not say which documents are relevant to a query")

    def own_queries(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The queries that the file gives, each with the field values that make a document relevant."""
        return [
            (query, self.relevant) if isinstance(query, str) else (query["text"], query["relevant"])
            for query in self.queries
        ]


class JudgedQuery(NamedTuple):
    """A query, which documents are relevant, and those that may be in its list (None: all)."""

    text: str
    relevant: NDArray[np.bool_]
    among: NDArray[np.bool_] | None


def source_documents(source: ListSource) -> list[Document]:
    """The documents of the collection, in the file's order."""
    documents = read_documents(data_root() / source.documents)
    return [document for document in documents if _has(document, source.where)]


def judged_queries(source: ListSource, documents: Sequence[Document]) -> Iterator[JudgedQuery]:
    """The queries of the collection, in order."""
    for text, wanted in source.own_queries():
        yield JudgedQuery(text, np.array([_has(document, wanted) for document in documents], bool), None)
    if source.topics:
        yield from _judged_topics(source, [document.id for document in documents])


def _judged_topics(source: ListSource, ids: Sequence[str]) -> Iterator[JudgedQuery]:
    qrels = load_qrels(data_root() / source.judgements)
    taken = 0
    for topic in read_topics(data_root() / source.topics):
        grades = qrels.get(topic.id, {})
        relevant = np.array([grades.get(identifier, source.above) > source.above for identifier in ids], bool)
        if relevant.sum() < source.min_relevant:
            continue
        if taken == source.first:
            return
        taken += 1
        among = np.array([identifier in grades for identifier in ids], bool) if source.judged_only else None
        yield JudgedQuery(topic.text, relevant, among)


def _has(document: Document, wanted: Mapping[str, Any]) -> bool:
    return all(str(document.fields.get(name)) == str(value) for name, value in wanted.items())

"""Graded lists of titles and short texts as collections to be searched: shops, entities, papers by example.

What was not judged for a query counts as not relevant to it.

homedepot: products by title, relevant from a mean rating of 2.33. chorus_electronics: name and description, from 2.
dbpedia_entity_v2: titles alone, from 1. nfcorpus_titles: titles alone, the queries of `dev`, from level 2. csfcube:
papers, a paper's title as the query, from 1.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from germane.data import catalog
from germane.data.lines import decode, read_lines
from germane.evaluate.rankings import Qrels
from germane.types import Document, Topic


class Judged(NamedTuple):
    """A collection as it is read."""

    documents: Iterable[Document]
    topics: list[Topic]
    qrels: Qrels


def rows_of(dataset: str, file: str) -> list[dict[str, str]]:
    """The rows of a table without quoting, by the names of its columns."""
    return list(csv.DictReader(_lines(dataset, file), delimiter="\t", quoting=csv.QUOTE_NONE))


def read_list(name: str) -> Judged:
    """The collection of that name."""
    documents, queries, grades = _READERS[name]()
    qrels: dict[str, dict[str, int]] = {}
    for query, doc, relevant in grades:
        qrels.setdefault(query, {})[doc] = max(int(relevant), qrels.get(query, {}).get(doc, 0))
    topics = [Topic(query, text) for query, text in queries.items()]
    return Judged([Document(doc, {"title": text}) for doc, text in documents.items()], topics, qrels)


Read = tuple[Mapping[str, str], Mapping[str, str], Iterable[tuple[str, str, bool]]]
"""documents, queries, and which document is relevant to which query"""


def _homedepot() -> Read:
    rows = rows_of("homedepot", "labels.tsv.gz")
    grades = ((row["query_id"], row["product_id"], float(row["relevance"]) >= 2.33) for row in rows)
    return (
        {row["product_id"]: row["title"] for row in rows}, {row["query_id"]: row["query"] for row in rows}, grades
    )  # fmt: skip


def _chorus() -> Read:
    rows = rows_of("chorus_electronics", "labels.tsv.gz")
    grades = ((row["query_id"], row["doc_id"], float(row["final_rating"] or 0) >= 2) for row in rows)
    documents = {row["doc_id"]: f"{row['title']} {row['description']}" for row in rows}
    return documents, {row["query_id"]: row["query"] for row in rows}, grades


def _dbpedia() -> Read:
    rows = rows_of("dbpedia_entity_v2", "labels.tsv.gz")
    queries = {row["query_id"]: row["query"] for row in rows_of("dbpedia_entity_v2", "queries.tsv.gz")}
    grades = ((row["query_id"], row["title"], int(row["grade"]) >= 1) for row in rows)
    return {row["title"]: row["title"] for row in rows}, queries, grades


def _nfcorpus() -> Read:
    documents = {row["doc_id"]: row["title"] for row in rows_of("nfcorpus_titles", "docs.tsv.gz")}
    queries = {r["query_id"]: r["query"] for r in rows_of("nfcorpus_titles", "queries.tsv.gz") if r["split"] == "dev"}
    rows = rows_of("nfcorpus_titles", "labels.tsv.gz")
    grades = ((row["query_id"], row["doc_id"], int(row["level"]) >= 2) for row in rows if row["split"] == "dev")
    return documents, queries, grades


def _csfcube() -> Read:
    documents = {row["doc_id"]: f"{row['title']} {row['abstract'] or ''}" for row in _objects("docs.jsonl.gz")}
    queries = {row["query_id"]: row["title"] for row in _objects("queries.jsonl.gz")}
    grades = ((row["query_id"], row["doc_id"], row["grade"] >= 1) for row in _objects("judgments.jsonl.gz"))
    return documents, queries, grades


def _objects(file: str) -> Iterator[dict[str, Any]]:
    return map(orjson.loads, _lines("csfcube", file))


def _lines(dataset: str, file: str) -> Iterator[str]:
    path = catalog.dataset_path(dataset) / file
    return (decode(line, str(path), number) for number, line in read_lines(path))


_READERS: dict[str, Callable[[], Read]] = {
    "homedepot": _homedepot,
    "chorus_electronics": _chorus,
    "dbpedia_entity_v2": _dbpedia,
    "nfcorpus_titles": _nfcorpus,
    "csfcube": _csfcube,
}
LISTS = tuple(_READERS)

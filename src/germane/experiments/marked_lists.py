"""Result lists with marks, as in Refine §VI: the first results of a query, marked from the top, the rest to judge.

The queries have known relevant documents, over collections of many shapes: reviews, labelled texts, judged topics.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from germane.arrays import Labels
from germane.data import read_documents, read_topics
from germane.data.catalog import data_root
from germane.engine import Engine
from germane.evaluate.rankings import load_qrels
from germane.refine.refinement import SetMeasures
from germane.refine.weighting import ResultList
from germane.text import Analyzer
from germane.text.counting import count_all
from germane.types import Document, Mark, text_of

K1, B = 1.2, 0.75
"""BM25's, for the lists."""
POSITIVES = (2, 3, 4, 5)
"""How many relevant results are marked: the candidate lists take turns."""
MIN_REJECTED = 4
"""With fewer rejected results than this nothing can be clustered (Refine §IV): one more relevant one is marked."""
QUERY_LENGTH = 60
"""As much of a query as a table's cell holds."""


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


@dataclass(frozen=True)
class ListRules:
    """Which lists are used.

    `top`: results of a list. Lists are left out that are shorter than `min_length`, whose last mark is below rank
    `max_depth`, or that have fewer than `min_left` relevant results below it.
    """

    top: int = 200
    min_length: int = 60
    max_depth: int = 120
    min_left: int = 5


@dataclass(frozen=True)
class MarkedList:
    """A result list: `labels` 1 relevant, 0 not, -1 unmarked; `relevant` is the truth about every result."""

    collection: str
    query: str
    results: ResultList
    labels: Labels
    relevant: NDArray[np.bool_]

    @property
    def rest(self) -> NDArray[np.bool_]:
        """The unmarked results, on which methods are judged."""
        return np.asarray(self.labels < 0)

    @property
    def short_query(self) -> str:
        """The query as a table's cell holds it."""
        return shorten(self.query.replace("|", "/"), QUERY_LENGTH, placeholder=" ...")


def marked_lists(
    sources: Sequence[ListSource], rules: ListRules | None = None, *, analyzer: Analyzer | None = None
) -> Iterator[MarkedList]:
    """The usable lists of the collections, in order. `analyzer`: of the texts that are refined, not of the search."""
    rules = rules or ListRules()
    number = 0
    for source in sources:
        documents = source_documents(source)
        texts = [text_of(document.fields, source.text) for document in documents]
        counts = word_counts(texts, analyzer)
        with tempfile.TemporaryDirectory() as folder, _engine(Path(folder) / "index", texts) as engine:
            for query in judged_queries(source, documents):
                order = _best(engine, query, rules.top)
                labels = marks_from_the_top(query.relevant[order], POSITIVES[number % len(POSITIVES)], rules)
                number += 1
                if labels is not None:
                    rows = counts[order]
                    rows = rows[:, np.unique(rows.indices)]
                    yield MarkedList(source.name, query.text, ResultList(rows), labels, query.relevant[order])


def word_counts(texts: Sequence[str], analyzer: Analyzer | None = None) -> Any:
    """Counts of the texts' terms; numbers and single letters are discarded (Refine §VI)."""
    counted = count_all(texts, analyzer or Analyzer())
    words = [i for i, term in enumerate(counted.terms) if len(term) > 1 and not any(map(str.isdigit, term))]
    return counted.counts[:, words]


def marks_from_the_top(relevant: NDArray[np.bool_], n: int, rules: ListRules) -> Labels | None:
    """Labels for the first n relevant results and the non-relevant ones above the last of them; None: not usable."""
    places = np.flatnonzero(relevant)
    while n <= POSITIVES[-1] and len(places) >= n + rules.min_left and places[n - 1] < rules.max_depth:
        depth = int(places[n - 1]) + 1
        if depth - n >= MIN_REJECTED and len(relevant) >= rules.min_length:
            labels = np.full(len(relevant), Mark.UNMARKED, np.int8)
            labels[:depth] = relevant[:depth]
            return labels
        n += 1
    return None


def _engine(folder: Path, texts: Sequence[str]) -> Engine:
    engine = Engine.create(folder, fields=("text",))
    engine.add((Document(str(number), {"text": text}) for number, text in enumerate(texts)), threads=1)
    return engine


def _best(engine: Engine, query: JudgedQuery, top: int) -> NDArray[np.int64]:
    """The documents' numbers, best first."""
    k = top if query.among is None else len(query.among)
    found = engine.search(query.text, k, model="bm25", k1=K1, b=B, syntax=False)
    order = np.array([int(identifier) for identifier in found.ids], np.int64)
    return order if query.among is None else order[query.among[order]][:top]


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


def average_precision(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """Mean over the relevant results of the precision at their rank; ties stay in order. 0 without a relevant one."""
    order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
    ranks = np.flatnonzero(np.asarray(relevant, bool)[order]) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0


def set_measures(predicted: npt.ArrayLike, relevant: npt.ArrayLike) -> SetMeasures:
    """Precision, recall and F1 of the set that is predicted relevant, Refine (16)-(18)."""
    guess, truth = (np.asarray(flags, bool) for flags in (predicted, relevant))
    return SetMeasures.of(int((guess & truth).sum()), int(guess.sum()), int(truth.sum()))


def set_f1(predicted: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """F1 = 2PR/(P + R) of the relevant class, Refine (18)."""
    return set_measures(predicted, relevant).f1

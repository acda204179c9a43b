"""Result lists with marks, as in Refine §VI: the first results of a query, marked from the top, the rest to judge."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Labels
from germane.classify.counting import count_all
from germane.engine import Engine
from germane.evaluate.refine_sources import JudgedQuery, ListSource, judged_queries, source_documents
from germane.refine.weighting import ResultList
from germane.text import Analyzer
from germane.types import Document, Mark, text_of

K1, B = 1.2, 0.75
"""BM25's, for the lists."""
POSITIVES = (2, 3, 4, 5)
"""How many relevant results are marked: the candidate lists take turns."""
MIN_REJECTED = 4
"""With fewer rejected results than this nothing can be clustered (Refine §IV): one more relevant one is marked."""


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


def marked_lists(sources: Sequence[ListSource], rules: ListRules | None = None) -> Iterator[MarkedList]:
    """The usable lists of the collections, in order."""
    rules = rules or ListRules()
    number = 0
    for source in sources:
        documents = source_documents(source)
        texts = [text_of(document.fields, source.text) for document in documents]
        counts = word_counts(texts)
        with tempfile.TemporaryDirectory() as folder, _engine(Path(folder) / "index", texts) as engine:
            for query in judged_queries(source, documents):
                order = _best(engine, query, rules.top)
                labels = marks_from_the_top(query.relevant[order], POSITIVES[number % len(POSITIVES)], rules)
                number += 1
                if labels is not None:
                    rows = counts[order]
                    rows = rows[:, np.unique(rows.indices)]
                    yield MarkedList(source.name, query.text, ResultList(rows), labels, query.relevant[order])


def word_counts(texts: Sequence[str]) -> Any:
    """Counts of the texts' terms; numbers and single letters are discarded (Refine §VI)."""
    counted = count_all(texts, Analyzer())
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

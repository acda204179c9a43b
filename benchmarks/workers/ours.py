"""Germane, through its Python interface: the whole `Engine.search` call, external ids included.

    ours.py bm25        ours.py dirichlet

BM25 has the parameters of Lucene and tantivy, Dirichlet smoothing Lucene's mu of these benchmarks.
"""

from __future__ import annotations

import importlib.metadata
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from protocol import Query, Worker, serve

from germane import Analyzer, Document, Engine
from germane.data import read_documents
from germane.feedback import RM3, SD, Consensus, FeedbackMethod
from germane.lm import Dirichlet
from germane.rank import BM25, QueryLikelihood
from germane.rank.scoring.scorers import Scorers

MODELS = {"bm25": BM25(k1=1.2, b=0.75), "dirichlet": QueryLikelihood(Dirichlet(1000.0))}
N_DOCS, N_TERMS = 20, 100
METHODS: dict[str, FeedbackMethod] = {
    "consensus": Consensus(n_docs=N_DOCS, n_terms=N_TERMS),
    "rm3": RM3(n_docs=N_DOCS, n_terms=N_TERMS),
    "sd": SD(n_docs=N_DOCS, n_terms=N_TERMS),
}


@contextmanager
def timing_kernels() -> Iterator[list[int]]:
    """While open, the nanoseconds of CPU time spent in `Scorers.top_k` add up in [0]."""
    spent, scorer = [0], Scorers.top_k

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.thread_time_ns()
        found = scorer(*args, **kwargs)
        spent[0] += time.thread_time_ns() - start
        return found

    Scorers.top_k = timed  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Scorers.top_k = scorer  # type: ignore[method-assign]


def each_ms(call: Callable[[str], Any], queries: Sequence[str]) -> list[float]:
    """CPU milliseconds of each call."""
    found = []
    for query in queries:
        start = time.process_time_ns()
        call(query)
        found.append((time.process_time_ns() - start) / 1e6)
    return found


class Ours(Worker):
    engine: Engine

    def __init__(self, model: str) -> None:
        self.model = MODELS[model]

    def version(self) -> str:
        return importlib.metadata.version("germane")

    def build(self, source: str, path: Path) -> None:
        engine = Engine.create(path, analyzer=Analyzer(stemmer="none", stopwords="none"), fields=("text",))
        engine.add(read_documents(source), threads=1)
        engine.close()

    def open(self, path: Path) -> None:
        self.engine = Engine.open(path)

    def prepare(self, query: Query) -> str | dict[str, float]:
        """Words as they would be typed; weighted ones as a program has them."""
        return dict(query) if any(weight != 1 for _, weight in query) else super().prepare(query)

    def prepare_all(self, query: Query) -> str:
        return " AND ".join(word for word, _ in query)

    def prepare_phrase(self, query: Query) -> str:
        return f'"{super().prepare(query)}"'

    def search(self, prepared: Sequence[str | dict[str, float]], k: int) -> int:
        return sum(len(self.engine.search(query, k=k, model=self.model).ids) for query in prepared)

    def top(self, prepared: str | dict[str, float], k: int) -> list[int]:
        return [int(i[1:]) - 1 for i in self.engine.search(prepared, k=k, model=self.model).ids]

    def size(self) -> tuple[int, str]:
        stats = self.engine.stats()
        return stats.bytes_dictionary + stats.bytes_postings, "bytes_dictionary + bytes_postings of stats()"

    def add(self, path: Path, text: str, word: str) -> float:
        with Engine.open(path) as engine:
            start = time.perf_counter()
            engine.add([Document(f"x{time.time_ns()}", {"text": text})])
            if not engine.search(word, k=1, model=self.model).ids:
                raise RuntimeError("the added document is not found")
            return time.perf_counter() - start

    def overhead(self, prepared: Sequence[str], k: int) -> list[float]:
        found = []
        with timing_kernels() as spent:
            for query in prepared:
                start, before = time.thread_time_ns(), spent[0]
                self.search([query], k)
                if spent[0] == before:
                    raise RuntimeError(f"no segment was searched for {query!r}")
                found.append((time.thread_time_ns() - start - (spent[0] - before)) / 1e3)
        return found

    def feedback(self, prepared: Sequence[str], k: int) -> dict[str, list[float]]:
        """The whole call: first ranking(s), learning from N_DOCS documents, second ranking with N_TERMS words, ids."""
        search = self.engine.search
        times = {"plain": each_ms(lambda q: search(q, k, model=self.model, syntax=False).ids, prepared)}
        for name, method in METHODS.items():
            times[name] = each_ms(lambda q, m=method: search(q, k, feedback=m, syntax=False).ids, prepared)
        return times

    def expand(self, prepared: Sequence[str]) -> list[Query]:
        reports = [self.engine.search(q, feedback=METHODS["rm3"], syntax=False).feedback for q in prepared]
        return [list(report.weights.items()) if report is not None else [] for report in reports]


if __name__ == "__main__":
    serve(Ours(sys.argv[1]))

"""Germane, through its Python interface: the whole `Engine.search` call, external ids included."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Sequence
from pathlib import Path

from protocol import Worker, serve

from germane import Analyzer, Document, Engine
from germane.data import read_documents

MU = 1000


class Ours(Worker):
    engine: Engine

    def version(self) -> str:
        return importlib.metadata.version("germane")

    def build(self, source: str, path: Path) -> None:
        engine = Engine.create(path, analyzer=Analyzer(stemmer="none", stopwords="none"), fields=("text",))
        engine.add(read_documents(source), threads=1)
        engine.close()

    def open(self, path: Path) -> None:
        self.engine = Engine.open(path)

    def search(self, prepared: Sequence[str], k: int) -> int:
        return sum(len(self.engine.search(query, k=k, model="dirichlet", mu=MU).ids) for query in prepared)

    def top(self, prepared: str, k: int) -> list[int]:
        return [int(i[1:]) - 1 for i in self.engine.search(prepared, k=k, model="dirichlet", mu=MU).ids]

    def size(self) -> tuple[int, str]:
        stats = self.engine.stats()
        return stats.bytes_dictionary + stats.bytes_postings, "bytes_dictionary + bytes_postings of stats()"

    def add(self, path: Path, text: str, word: str) -> float:
        with Engine.open(path) as engine:
            start = time.perf_counter()
            engine.add([Document(f"x{time.time_ns()}", {"text": text})])
            if not engine.search(word, k=1, model="dirichlet", mu=MU).ids:
                raise RuntimeError("the added document is not found")
            return time.perf_counter() - start


if __name__ == "__main__":
    serve(Ours())

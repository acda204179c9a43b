"""bm25s (BM25, Numba back end): scores precomputed, no pruning, no query weights, no updates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bm25s
from protocol import Query, Worker, file_bytes, read_documents, serve


class Bm25s(Worker):
    path: Path
    model: bm25s.BM25

    def version(self) -> str:
        return bm25s.__version__

    def build(self, source: str, path: Path) -> None:
        texts = [text for _, text in read_documents(source)]
        tokens = bm25s.tokenize(texts, lower=False, token_pattern=r"\S+", stopwords=None, show_progress=False)
        model = bm25s.BM25(backend="numba")
        model.index(tokens, show_progress=False)
        model.save(str(path))

    def open(self, path: Path) -> None:
        self.path = path
        self.model = bm25s.BM25.load(str(path), load_corpus=False)
        self.model.backend = "numba"

    def prepare(self, query: Query) -> list[str]:
        return [word for word, _ in query]

    def _retrieve(self, queries: list[list[str]], k: int) -> bm25s.Results:
        return self.model.retrieve(queries, k=k, n_threads=1, show_progress=False)

    def search(self, prepared: Sequence[list[str]], k: int) -> int:
        return self._retrieve(list(prepared), k).documents.size

    def top(self, prepared: list[str], k: int) -> list[int]:
        return self._retrieve([prepared], k).documents[0].tolist()

    def size(self) -> tuple[int, str]:
        return file_bytes(list(self.path.iterdir())), "all files (CSC arrays, vocabulary)"


if __name__ == "__main__":
    serve(Bm25s())

"""Xapian (BM25): the system's python3-xapian, glass back end, compacted.

Xapian 1.4 has a Dirichlet weighting, but its formulae were found wrong and were removed in 2024; BM25 is what its users
run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import xapian
from protocol import Query, Worker, file_bytes, read_documents, serve


def to_document(text: str) -> xapian.Document:
    document = xapian.Document()
    for word, count in Counter(text.split()).items():
        if len(word) < 200:  # the back end's limit is about 245 bytes
            document.add_term(word, count)
    return document


class Xapian(Worker):
    path: Path

    def version(self) -> str:
        return xapian.version_string()

    def build(self, source: str, path: Path) -> None:
        path.mkdir(parents=True)
        loose = path / "loose"
        database = xapian.WritableDatabase(str(loose), xapian.DB_CREATE_OR_OVERWRITE)
        for i, (_, text) in enumerate(read_documents(source), 1):
            database.add_document(to_document(text))
            if i % 100_000 == 0:
                database.commit()
        database.commit()
        database.compact(str(path / "compact"))
        database.close()
        for file in loose.iterdir():
            file.unlink()
        loose.rmdir()

    def open(self, path: Path) -> None:
        self.path = path
        self.database = xapian.Database(str(path / "compact"))

    def prepare(self, query: Query) -> Query:
        return [(word, weight) for word, weight in query]

    def _mset(self, query: Query, k: int) -> xapian.MSet:
        if all(weight == 1 for _, weight in query):
            parsed = xapian.Query(xapian.Query.OP_OR, [word for word, _ in query])
        else:
            parts = [xapian.Query(xapian.Query.OP_SCALE_WEIGHT, xapian.Query(w), x) for w, x in query]
            parsed = xapian.Query(xapian.Query.OP_OR, parts)
        enquire = xapian.Enquire(self.database)
        enquire.set_query(parsed)
        enquire.set_weighting_scheme(xapian.BM25Weight())
        return enquire.get_mset(0, k)

    def search(self, prepared: Sequence[Query], k: int) -> int:
        return sum(self._mset(query, k).size() for query in prepared)

    def top(self, prepared: Query, k: int) -> list[int]:
        return [match.docid - 1 for match in self._mset(prepared, k)]

    def size(self) -> tuple[int, str]:
        return file_bytes([self.path / "compact" / "postlist.glass"]), "postlist.glass (terms, postings, lengths)"

    def add(self, path: Path, text: str, word: str) -> float:
        database = xapian.WritableDatabase(str(path / "compact"), xapian.DB_OPEN)
        start = time.perf_counter()
        database.add_document(to_document(text))
        database.commit()
        enquire = xapian.Enquire(xapian.Database(str(path / "compact")))
        enquire.set_query(xapian.Query(word))
        if not enquire.get_mset(0, 1).size():
            raise RuntimeError("the added document is not found")
        seconds = time.perf_counter() - start
        database.close()
        return seconds


if __name__ == "__main__":
    serve(Xapian())

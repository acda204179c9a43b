"""SQLite FTS5 (BM25, no query weights): a contentless table, optimised after loading."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from protocol import Query, Worker, read_documents, serve

SELECT = "SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?"


class Fts5(Worker):
    path: Path
    database: sqlite3.Connection

    def version(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    def build(self, source: str, path: Path) -> None:
        path.mkdir(parents=True)
        database = sqlite3.connect(path / "fts.db")
        database.execute("CREATE VIRTUAL TABLE docs USING fts5(text, content='', tokenize='ascii')")
        database.executemany(
            "INSERT INTO docs(rowid, text) VALUES (?, ?)",
            ((i, text) for i, (_, text) in enumerate(read_documents(source), 1)),
        )
        database.execute("INSERT INTO docs(docs) VALUES ('optimize')")
        database.commit()
        database.execute("VACUUM")
        database.close()

    def open(self, path: Path) -> None:
        self.path = path
        self.database = sqlite3.connect(f"file:{path / 'fts.db'}?mode=ro", uri=True)
        self.database.execute("PRAGMA mmap_size = 4000000000")
        self.database.execute("SELECT rowid FROM docs LIMIT 1").fetchall()

    def prepare(self, query: Query) -> str:
        return " OR ".join(f'"{word}"' for word, _ in query)

    def search(self, prepared: Sequence[str], k: int) -> int:
        return sum(len(self.database.execute(SELECT, (query, k)).fetchall()) for query in prepared)

    def top(self, prepared: str, k: int) -> list[int]:
        return [row - 1 for (row,) in self.database.execute(SELECT, (prepared, k))]

    def size(self) -> tuple[int, str]:
        (used,) = self.database.execute("SELECT sum(length(block)) FROM docs_data").fetchone()
        return used, "blocks of the docs_data table (positions within: BM25 needs them for its counts)"

    def add(self, path: Path, text: str, word: str) -> float:
        database = sqlite3.connect(path / "fts.db")
        start = time.perf_counter()
        database.execute("INSERT INTO docs(text) VALUES (?)", (text,))
        database.commit()
        if not database.execute(SELECT, (f'"{word}"', 1)).fetchall():
            raise RuntimeError("the added document is not found")
        return time.perf_counter() - start


if __name__ == "__main__":
    serve(Fts5())

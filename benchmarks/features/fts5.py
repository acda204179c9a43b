"""Probes of SQLite's FTS5, by Python's own sqlite3."""

import sqlite3

ROWS = [
    (1, "heart attack", "a heart attack needs help at once", 2015),
    (2, "heart surgery", "the surgery took four hours", 2009),
    (3, "attack on a castle", "the heart of the army was brave", 1415),
]


def _base() -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(title, text, year UNINDEXED, tokenize = 'porter unicode61')")
    base.executemany("INSERT INTO t(rowid, title, text, year) VALUES (?, ?, ?, ?)", ROWS)
    return base


def _ids(base: sqlite3.Connection, query: str, more: str = "") -> set[int]:
    return {row[0] for row in base.execute(f"SELECT rowid FROM t WHERE t MATCH ? {more} ORDER BY rank", (query,))}


def boolean() -> None:
    assert _ids(_base(), "heart AND (help OR surgery) NOT hours") == {1}


def phrase() -> None:
    assert _ids(_base(), '"heart attack"') == {1}


def proximity() -> None:
    assert _ids(_base(), "NEAR(attack help, 3)") == {1}


def prefix() -> None:
    assert _ids(_base(), "surg*") == {2}


def fields() -> None:
    assert _ids(_base(), "title: attack") == {1, 3}


def ranges() -> None:
    assert _ids(_base(), "heart", "AND year >= 2010") == {1}


def facets() -> None:
    counts = _base().execute("SELECT year / 1000, count(*) FROM t WHERE t MATCH 'heart' GROUP BY 1").fetchall()
    assert counts == [(1, 1), (2, 2)]


def snippets() -> None:
    found = _base().execute("SELECT snippet(t, 1, '[', ']', '...', 5) FROM t WHERE t MATCH 'text: surgery'").fetchone()
    assert "[surgery]" in found[0]


def deletions() -> None:
    base = _base()
    base.execute("DELETE FROM t WHERE rowid = 1")
    assert _ids(base, "heart") == {2, 3}


def incremental() -> None:
    base = _base()
    base.execute("INSERT INTO t(rowid, title, text) VALUES (4, '', 'heart rate')")
    assert 4 in _ids(base, "heart")


def ranking() -> None:
    best = _base().execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH 'surgery OR heart' ORDER BY bm25(t)").fetchall()
    assert best[0][0] == 2

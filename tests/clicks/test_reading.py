"""Logs in every form, and everything that can be wrong with them: counted, reported, and never fatal to the rest."""

import gzip
import json
import unicodedata

import duckdb
import pytest

from clicks.conftest import click, query, write_jsonl
from germane.clicks import ClickStore, ImportRules, reading
from germane.errors import InputError, ParameterError

GOOD = [
    query("q1", "2026-01-01T10:00:00Z", "Copper liver", ["a", "b"]),
    click("q1", "2026-01-01T10:00:05Z", "b", 2),
]
QUERIES = "query_id, time, user_id, client_id, session, query, hits"
EVENTS = "query_id, time, user_id, client_id, session, query, action, object, position, title"


@pytest.fixture
def add(tmp_path):
    """Imports files into a new history; the report, and the rows there are."""

    def added(*paths, rules=None, **settings):
        store = ClickStore.create(tmp_path / f"history{len(list(tmp_path.iterdir()))}", rules or ImportRules())
        report = store.add(paths, memory_mb=256, threads=1, **settings)
        rows = []
        for table, columns in (("queries", QUERIES), ("events", EVENTS)):
            files = store.paths(table, store.days)
            if files:
                rows += duckdb.execute(f"SELECT {columns} FROM read_parquet(?) ORDER BY time", [files]).fetchall()
        return report, rows

    return added


def times(rows):
    return [row[1].isoformat() for row in rows]


def test_ubi_as_json_lines_and_parquet(tmp_path, add):
    path = write_jsonl(tmp_path / "ubi.jsonl", GOOD)
    report, rows = add(path)
    assert (report.rows, report.queries, report.events, report.dropped, report.unreadable) == (2, 1, 1, {}, ())
    assert [row[0] for row in rows] == ["q1", "q1"]
    assert rows[0][5:] == ("Copper liver", ["a", "b"])
    assert rows[1][6:] == ("click", "b", 2, "Title of b")
    for name, rows_of in (("q", GOOD[:1]), ("e", GOOD[1:])):
        write_jsonl(tmp_path / f"{name}.json", rows_of)
        duckdb.execute(f"COPY (FROM read_json('{tmp_path}/{name}.json')) TO '{tmp_path}/{name}.parquet'")
    # The same with attributes as a text that holds JSON, as other writers of Parquet have it.
    duckdb.execute(
        f"COPY (SELECT * REPLACE (CAST(to_json(event_attributes) AS VARCHAR) AS event_attributes) "
        f"FROM read_json('{tmp_path}/e.json')) TO '{tmp_path}/e2.parquet'"
    )
    assert add(tmp_path / "q.parquet", tmp_path / "e.parquet")[1] == rows
    assert add(tmp_path / "q.parquet", tmp_path / "e2.parquet")[1] == rows
    (tmp_path / "ubi.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert add(tmp_path / "ubi.jsonl.gz")[1] == rows
    dump = write_jsonl(tmp_path / "dump.jsonl", [{"_index": "ubi", "_source": row} for row in GOOD])
    assert add(dump)[1] == rows
    (tmp_path / "wide.jsonl").write_bytes(path.read_text().encode("utf-16"))
    assert add(tmp_path / "wide.jsonl", encoding="utf-16")[1] == rows


def test_columns_with_a_mapping(tmp_path, add):
    header = ["when", "who", "words", "item", "rank", "what"]
    lines = [["2026-01-01T10:00:00+02:00", "ann", "copper, liver", "d1", "0", "click"]]
    text = "\n".join("\t".join(line) for line in [header, *lines]) + "\n"
    (tmp_path / "log.tsv").write_text(text, encoding="latin-1")
    (tmp_path / "log.csv").write_text(text.replace("copper, liver", '"copper, liver"').replace("\t", ","))
    write_jsonl(tmp_path / "log.jsonl", [dict(zip(header, line, strict=True)) for line in lines])
    mapping = {"time": "when", "user": "who", "query": "words", "object": "item", "position": "rank", "action": "what"}
    for name in ("log.tsv", "log.csv", "log.jsonl"):
        report, rows = add(tmp_path / name, mapping=mapping, rules=ImportRules(first_position=0))
        assert report.dropped == {}, name
        assert times(rows) == ["2026-01-01T08:00:00"]
        assert rows[0][2:3] + rows[0][5:] == ("ann", "copper, liver", "click", "d1", 1, None)
    with pytest.raises(ParameterError, match="no column of ours is called 'document'"):
        add(tmp_path / "log.csv", mapping={"document": "item"})
    report, rows = add(tmp_path / "log.csv", mapping={"query": "words", "time": "nowhere"})
    assert "there is no column 'nowhere'" in report.unreadable[0]
    assert rows == []


def test_the_engines_own_request_is_not_taken_for_a_query(tmp_path, add):
    """UBI's `query` is the DSL: a row without `user_query` is no query of a person."""
    path = write_jsonl(tmp_path / "dsl.jsonl", [{"timestamp": "2026-01-01", "query_id": "q", "query": "{match_all}"}])
    assert add(path)[0].dropped == {"neither a query nor an event": 1}
    duckdb.execute("COPY (SELECT '2026-01-01' AS timestamp, 'q' AS query_id, 'dsl' AS query, "
                   f"NULL::VARCHAR AS user_query, ['a'] AS hits) TO '{tmp_path}/dsl.parquet'")  # fmt: skip
    assert add(tmp_path / "dsl.parquet")[1][0][5] is None


def test_bad_rows_are_counted_and_the_others_kept(tmp_path, add):
    bad = {
        b'{"timestamp": "2026-01-01T10:00:00Z", "query_id": "q1", "user_q': "not a JSON object, or half of one",
        b"[1, 2]": "not a JSON object, or half of one",
        b'"text"': "not a JSON object, or half of one",
        b'{"timestamp": "2026-01-01", "query_id": "q7", "user_query": "caf\xe9"}': "not UTF-8",
        b"{}": "neither a query nor an event",
        b'{"query_id": "q8", "user_query": "no time"}': "no time that can be read",
        b'{"query_id": "q8", "user_query": "bad time", "timestamp": "yesterday"}': "no time that can be read",
        b'{"query_id": "q8", "user_query": "old", "timestamp": "1066-10-14"}': "a time before 1990 or after 2100",
        b'{"query_id": "q8", "user_query": "far", "timestamp": "infinity"}': "a time before 1990 or after 2100",
        b'{"user_query": "no id", "timestamp": "2026-01-01"}': "a query without an id",
        b'{"action_name": "click", "timestamp": "2026-01-01"}': "an event of no query",
        b'{"query_id": "q9", "user_query": {"text": "moved"}, "timestamp": "2026-01-01"}': (
            "an object or a list where a text is needed"
        ),
        b'{"x": "' + b"y" * (1 << 20) + b'"}': "a line of more than 1,048,576 bytes",
    }
    good = [json.dumps(row).encode() for row in GOOD]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join([good[0], b"", b"  ", *bad, good[1]]))
    report, rows = add(tmp_path / "log.jsonl")
    expected: dict[str, int] = {}
    for reason in bad.values():
        expected[reason] = expected.get(reason, 0) + 1
    assert report.dropped == expected
    assert (report.rows, len(rows)) == (2 + len(bad), 2)


def test_times_of_all_kinds(tmp_path, add):
    written = ["2026-01-01T10:00:00Z", "2026-01-01T10:00:00.25-08:00", "2026-01-01 10:00", 1767261600, 1767261600123,
               "1767261600123456", "2026-01-01T10:00:00+0530"]  # fmt: skip
    path = write_jsonl(tmp_path / "log.jsonl", [query(f"q{i}", t, "x", ["a"]) for i, t in enumerate(written)])
    found = {row[0]: row[1].isoformat() for row in add(path)[1]}
    assert [found[f"q{i}"] for i in range(len(written))] == [
        "2026-01-01T10:00:00", "2026-01-01T18:00:00.250000", "2026-01-01T10:00:00", "2026-01-01T10:00:00",
        "2026-01-01T10:00:00.123000", "2026-01-01T10:00:00.123456", "2026-01-01T04:30:00",
    ]  # fmt: skip


def test_positions_that_are_none(tmp_path, add):
    written = [2, "3", 2.5, "second", 0, -1, None, 1e99, True]
    rows = [click("q1", f"2026-01-01T10:00:0{i}Z", "a", position) for i, position in enumerate(written)]
    found = [row[8] for row in add(write_jsonl(tmp_path / "log.jsonl", rows))[1]]
    assert found == [2, 3, None, None, 0, -1, None, None, None]


def test_files_that_break_off_or_are_none(tmp_path, add):
    good = write_jsonl(tmp_path / "good.jsonl", GOOD)
    packed = gzip.compress(b"".join(json.dumps(query(f"p{i}", "2026-01-02", f"w{i}", ["a"])).encode() + b"\n"
                                    for i in range(5000)))  # fmt: skip
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "zeros.jsonl").write_bytes(good.read_bytes().replace(b"q1", b"q2") + b"\0" * 100)
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "other.parquet").unlink(missing_ok=True)
    duckdb.execute(f"COPY (SELECT 1 AS something) TO '{tmp_path}/other.parquet'")
    (tmp_path / "notes.txt").write_text("hello")
    names = ["cut.jsonl.gz", "zeros.jsonl", "cut.parquet", "empty.csv", "other.parquet", "notes.txt", "good.jsonl"]
    report, rows = add(*(tmp_path / name for name in names))
    ids = {row[0] for row in rows}
    assert {"q1", "q2", "p0"} <= ids, "what came before the break, and all of the others"
    assert "p4999" not in ids
    told = "\n".join(report.unreadable)
    for name in names[:3] + names[4:-1]:
        assert name in told
    assert "good.jsonl" not in told
    with pytest.raises(InputError, match="no such file"):
        add(tmp_path / "missing.jsonl")


def test_a_schema_that_changes_midway(tmp_path, add):
    """JSON Lines row by row; CSV rows with another number of columns, and a second header, are counted."""
    rows = [
        *GOOD,
        {"time": "2026-01-02T00:00:00Z", "query_id": "q2", "action": "click", "object_id": "z", "position": 4},
    ]
    assert [row[7] for row in add(write_jsonl(tmp_path / "log.jsonl", rows))[1][1:]] == ["b", "z"]
    (tmp_path / "log.csv").write_bytes(
        b"time,query_id,action,object,position\n2026-01-01,q1,click,a,1\ntime,query_id,action,object,position,new\n"
        b"2026-01-01,q1,click,b,2,x\n2026-01-01,q1,cl\xefck,c,3\ntime,query_id,action,object,position\n2026-01-01,q1,click,d,4\n2026-01"
    )
    report, found = add(tmp_path / "log.csv")
    assert [row[7] for row in found] == ["a", "d"]
    assert report.rows == 7
    assert sum(report.dropped.values()) == 5
    assert report.dropped["no time that can be read"] == 1


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("write to ann.b@example.org now", "write to now"),
        ("call 555-123 4567 today", "call today"),
        ("card 4111 1111 1111 1111", "card"),
        ("ssn 078-05-1120", "ssn"),
        ("iphone 14 pro 2024", "iphone 14 pro 2024"),
        ("\u0661\u0662\u0663\u0664\u0665 digits", "digits"),
        ("2x4 lumber", "2x4 lumber"),
        ("  tabs\tand \u00a0 spaces ", "tabs and spaces"),
        ("me@example.org", None),
    ],
)
def test_redaction(tmp_path, add, words, left):
    path = write_jsonl(tmp_path / "log.jsonl", [query("q1", "2026-01-01", words, ["a"])])
    assert add(path)[1][0][5] == left


def test_redaction_can_be_set(tmp_path, add):
    path = write_jsonl(tmp_path / "log.jsonl", [query("q1", "2026-01-01", "a@b.c 12345 7", ["a"])])
    assert add(path, rules=ImportRules(redact_digits=0, redact_addresses=False))[1][0][5] == "a@b.c 12345 7"
    assert add(path, rules=ImportRules(redact_digits=1))[1][0][5] is None


def test_every_space_of_unicode_becomes_one():
    """What is looked for before anything is replaced leaves none out."""
    spaces = [chr(code) for code in range(1, 0x11000) if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc")]
    assert len(spaces) > 80
    connection = duckdb.connect()
    connection.execute(f"CREATE MACRO redacted(q) AS {reading._redaction(ImportRules())}")
    texts = [text for space in spaces for text in (f"a{space}b", f"{space}a b", f"a b{space}", f"a {space}b")]
    found = connection.execute("SELECT DISTINCT redacted(unnest(?::VARCHAR[]))", [texts]).fetchall()
    assert found == [("a b",)]
    assert connection.execute("SELECT redacted(''), redacted(NULL), redacted(' ')").fetchall() == [(None, None, None)]

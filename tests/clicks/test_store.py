"""The history: idempotent, whole or not at all, and without a trace of who was erased."""

import json
from datetime import date

import duckdb
import pytest

from clicks.conftest import click, query, write_jsonl
from germane.clicks import ClickStore, ImportRules, PairRules, observe, store, write_pairs
from germane.errors import IndexLockedError, InputError, ParameterError

DAYS = ["2026-01-01", "2026-01-02", "2026-01-03"]


def log(users=("ann", "bob", "cat"), days=DAYS):
    rows = []
    for day in days:
        for user in users:
            name = f"{user}-{day}"
            rows.append(query(name, f"{day}T10:00:00Z", "copper", ["a", "b", "c"], f"device-{user}"))
            rows.append(click(name, f"{day}T10:00:09Z", "b", 2, f"device-{user}", user_id=user, session_id=f"s-{user}"))
    return rows


def everything(folder):
    """All bytes of a folder, and all texts in its Parquet files, which are compressed."""
    found = b""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found += path.name.encode() + path.read_bytes()
        if path.suffix == ".parquet":
            found += str(duckdb.execute("FROM read_parquet(?)", [str(path)]).fetchall()).encode()
    return found


def test_importing_twice_adds_nothing(history, tmp_path):
    made = history(log())
    before = (made.rows("queries"), made.rows("events"), made.days)
    again = made.add([tmp_path / "log.jsonl"], memory_mb=256, threads=1)
    assert (again.queries, again.events, again.dropped) == (0, 0, {"there already": 18})
    path = write_jsonl(tmp_path / "more.jsonl", [*log(), *log(), *log(("dan",))])
    more = made.add([path], memory_mb=256, threads=1)
    assert (more.queries, more.events, more.dropped) == (3, 3, {"there already": 36})
    opened = ClickStore.open(made.folder)
    assert (before, opened.rows("queries"), opened.days) == ((9, 9, DAYS), 12, DAYS)
    assert opened.dropped == {"there already": 54}


def test_an_import_that_fails_leaves_the_history_as_it_was(history, tmp_path, monkeypatch):
    made = history(log(days=DAYS[:2]))
    before = everything(made.folder)
    path = write_jsonl(tmp_path / "more.jsonl", log(days=DAYS[2:]))

    def full(*_, **named):
        raise OSError(28, "No space left on device")

    for name in ("write_bytes", "fsync_folder"):
        with monkeypatch.context() as patch:
            patch.setattr(store, name, full)
            with pytest.raises(OSError, match="No space"):
                made.add([path], memory_mb=256, threads=1)
        assert everything(made.folder) == before
        assert made.days == DAYS[:2]
    assert made.add([path], memory_mb=256, threads=1).queries == 3


def test_what_a_killed_writer_left_is_removed(history, tmp_path):
    made = history(log())
    (made.folder / "events" / "day=2026-01-01" / "00000099.parquet").write_bytes(b"half")
    (made.folder / ".work-abc").mkdir()
    (made.folder / ".work-abc" / "work.duckdb").write_bytes(b"ann")
    assert ClickStore.open(made.folder).rows("events") == 9
    made.add([tmp_path / "log.jsonl"], memory_mb=256, threads=1)
    assert not list(made.folder.glob(".work-*"))
    assert not list(made.folder.rglob("00000099*"))


def test_one_writer(history, tmp_path):
    made = history(log())
    with made._writing(), pytest.raises(IndexLockedError, match="another process is writing"):
        ClickStore.open(made.folder).add([tmp_path / "log.jsonl"], memory_mb=256)


def test_an_erased_user_leaves_no_trace(history, tmp_path):
    rows = log()
    # What does not name the user: a device and a session of the user's, and an event of one of the user's searches.
    rows += [
        query("anonymous", "2026-01-02T12:00:00Z", "secret of hers", ["a", "zebra"], "device-ann"),
        click("anonymous", "2026-01-02T12:00:05Z", "zebra", 2, None, session_id="s-ann"),
        click("ann-2026-01-01", "2026-01-01T10:00:20Z", "c", 3, None),
        click("nowhere", "2026-01-01T10:00:20Z", "quagga", 3, None, session_id="s-ann"),
        click("bob-2026-01-01", "2026-01-01T10:00:30Z", "c", 3, "device-bob", user_id="bob", session_id="s-bob"),
    ]
    made = history(rows)
    traces = (b"ann", b"secret of hers", b"zebra", b"quagga")
    assert all(trace in everything(made.folder) for trace in traces)
    gone = made.erase("ann", memory_mb=256, threads=1)
    assert (gone.queries, gone.events, gone.days) == (4, 6, 3)
    left = everything(made.folder)
    assert not any(trace in left for trace in traces)
    assert b"bob" in left
    assert (made.rows("queries"), made.rows("events")) == (6, 7)
    with observe(ClickStore.open(made.folder), memory_mb=256, threads=1) as found:
        write_pairs(found, tmp_path / "pairs.jsonl", PairRules(min_users=1, threshold=0.0))
        assert found.one("SELECT users FROM query_users") == (2,)
    assert not any(trace in (tmp_path / "pairs.jsonl").read_bytes() for trace in traces)
    assert made.erase("ann", memory_mb=256, threads=1).days == 0
    with pytest.raises(ParameterError, match="name the user"):
        made.erase("")


def test_a_device_of_several(history):
    """Who shares a device with the user keeps what is theirs; erasing the device takes all."""
    rows = [
        query("q1", "2026-01-01T10:00:00Z", "one", ["a"], "tablet") | {"user_id": "ann"},
        query("q2", "2026-01-01T11:00:00Z", "two", ["a"], "tablet") | {"user_id": "bob"},
        query("q3", "2026-01-01T12:00:00Z", "three", ["a"], "tablet"),
    ]
    made = history(rows)
    assert made.erase("ann", memory_mb=256, threads=1).queries == 2
    assert made.rows("queries") == 1
    assert made.erase("tablet", memory_mb=256, threads=1).queries == 1
    assert made.files == []


def test_odd_names_are_no_sql(history):
    name = "o'hara\" OR 1=1 --"
    made = history([query("q1", "2026-01-01", "x", ["a"], name), query("q2", "2026-01-01", "y", ["a"], "other")])
    assert made.erase(name, memory_mb=256, threads=1).queries == 1
    assert made.rows("queries") == 1


def test_retention(history, tmp_path):
    made = history(log(days=DAYS[:2]), retain_days=1)  # both days are older than a day now
    assert made.days == []
    made = ClickStore.create(tmp_path / "kept", ImportRules(retain_days=2))
    path = write_jsonl(tmp_path / "all.jsonl", log())
    report = made.add([path], memory_mb=256, threads=1, today=date(2026, 1, 4))
    assert (report.expired_days, made.days) == (1, DAYS[1:])
    assert b"2026-01-01" not in everything(made.folder)
    assert made.add([path], memory_mb=256, threads=1, retain_days=1, today=date(2026, 1, 4)).expired_days == 2
    assert ClickStore.open(made.folder).rules.retain_days == 1
    assert made.erase_before(date(2026, 1, 4)).days == 1
    assert made.days == []


def test_what_is_no_history(tmp_path):
    with pytest.raises(InputError, match="no history of clicks"):
        ClickStore.open(tmp_path)
    (tmp_path / "MANIFEST.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        ClickStore.open(tmp_path)
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="format 1"):
        ClickStore.open(tmp_path)
    with pytest.raises(ParameterError, match="not an empty folder"):
        ClickStore.create(tmp_path)
    with pytest.raises(ParameterError, match="redact_digits must be between"):
        ImportRules(redact_digits=-1)

"""The log that is being written: appended whole, by several at once, expired, and without those who are forgotten."""

import json
import multiprocessing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from germane.clicks.log import LONGEST, ClickLog
from germane.errors import ParameterError


def lines(log: ClickLog) -> list[dict]:
    return [json.loads(line) for line in log.read()]


def append(path: Path, who: int) -> None:
    for n in range(50):
        ClickLog(path).add([{"query_id": f"{who}-{n}", "client_id": str(who)}])


def test_several_processes_append_while_a_user_is_erased(tmp_path):
    path = tmp_path / "clicks.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=append, args=(path, who)) for who in range(2)]
    for worker in workers:
        worker.start()
    log = ClickLog(path)
    log.add([{"query_id": "x", "client_id": "gone"}])
    while any(worker.is_alive() for worker in workers):
        log.add([{"query_id": "x", "client_id": "gone"}])
        assert log.erase_user("gone") >= 1
    found = [line["query_id"] for line in lines(log)]
    assert sorted(found) == sorted(f"{who}-{n}" for who in range(2) for n in range(50))
    assert [worker.exitcode for worker in workers] == [0, 0]


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path):
    log = ClickLog(tmp_path / "clicks.jsonl")
    log.add([{"query_id": "1"}])
    with log.path.open("ab") as file:
        file.write(b'{"query_id": "2", "ti')
    assert [line["query_id"] for line in lines(log)] == ["1"]
    log.add([{"query_id": "3"}])
    assert [json.loads(line)["query_id"] for line in log.read() if line[-3:-1] == b'"}'] == ["1", "3"]
    assert log.erase_before(datetime(2000, 1, 1, tzinfo=UTC)) == 1  # what cannot be dated goes
    assert [line["query_id"] for line in lines(log)] == ["1", "3"]


def test_old_lines_go(tmp_path):
    log = ClickLog(tmp_path / "clicks.jsonl")
    times = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00+02:00", 1767312000, 1767312000000.0, "2026-01-03T10:00:00"]
    log.add([{"query_id": str(n), "timestamp": time} for n, time in enumerate(times)])
    assert log.erase_before(datetime(2026, 1, 2, tzinfo=UTC)) == 2
    assert [line["query_id"] for line in lines(log)] == ["2", "3", "4"]
    assert log.erase_before(datetime(2026, 1, 2, tzinfo=UTC)) == 0
    assert (log.erase(), log.erase()) == (3, 0)


def test_a_user_is_forgotten_with_searches_and_sessions(tmp_path):
    log = ClickLog(tmp_path / "clicks.jsonl")
    log.add(
        [
            {"query_id": "q1", "client_id": "anna", "session_id": "s1"},
            {"query_id": "q1", "action_name": "click"},
            {"query_id": "q2", "user_id": "anna"},
            {"query_id": "q3", "session_id": "s1"},
            {"query_id": "q4", "client_id": "bert", "session_id": "s1"},
            {"query_id": "q5"},
        ]
    )
    assert log.erase_user("anna") == 4
    assert [line["query_id"] for line in lines(log)] == ["q4", "q5"]
    assert log.erase_user("nobody") == 0
    with pytest.raises(ParameterError, match="nobody's"):
        log.erase_user("")


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"no": "query"}, "query_id"),
        ({"query_id": "1", "timestamp": "yesterday"}, "ISO 8601"),
        ({"query_id": "1", "timestamp": True}, "ISO 8601"),
        ({"query_id": "1", "timestamp": 1e300}, "ISO 8601"),
        ({"query_id": "x" * LONGEST}, "bytes"),
    ],
)
def test_what_is_no_event_is_refused_with_all_that_came_along(tmp_path, event, word):
    log = ClickLog(tmp_path / "clicks.jsonl")
    with pytest.raises(ParameterError, match=word):
        log.add([{"query_id": "fine"}, event])
    assert lines(log) == []

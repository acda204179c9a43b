"""germane clicks: simulate, import, stats, pairs, erase."""

import importlib.util
import json
import os
from datetime import UTC, datetime

import pytest

from germane.clicks import read_pairs

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("duckdb") is None and not os.environ.get("CI"),
    reason="the extra `clicks` is not installed",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from germane.cli.samples import write_sample_files

    folder = tmp_path_factory.mktemp("sample")
    write_sample_files(folder)
    return folder


@pytest.fixture(scope="module")
def log(files):
    from typer.testing import CliRunner

    from germane.cli import program

    words = ("clicks", "simulate", files / "docs.jsonl", "--topics", files / "queries.tsv",
             "--qrels", files / "qrels.txt", "--into", files / "log",
             "--searches", 1500, "--users", 80, "--robots", 0.05, "--json")  # fmt: skip
    result = CliRunner().invoke(program(), [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return files / "log", json.loads(result.stdout)


@pytest.fixture
def store(run, log, tmp_path):
    folder, _ = log
    result = run("clicks", "import", tmp_path / "history", folder / "ubi_queries.jsonl", folder / "ubi_events.jsonl",
                 "--memory", 512, "--threads", 1, "--json")  # fmt: skip
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["queries"], report["dropped"], report["unreadable"]) == (1580, {}, [])
    return tmp_path / "history"


def test_stats(run, store, log, tmp_path):
    pytest.importorskip("matplotlib")
    truth = log[1]
    answer = run("clicks", "stats", store, "--threads", 1, "--plot", tmp_path / "curve.svg", "--json")
    found = json.loads(answer.stdout)
    assert (found["searches"], found["robots"], found["clicks"]) == (1580, 4, truth["clicks"])
    assert found["dropped"]["clicks"] == {"a robot": 800, "clicked again": truth["repeated_clicks"]}
    assert [point["position"] for point in found["curve"]] == list(range(1, 11))
    assert (tmp_path / "curve.svg").read_text(encoding="utf-8").startswith("<?xml")
    shown = run("clicks", "stats", store, "--threads", 1, "--robot-clicks", 10000, "--robot-share", 1, "--progress")
    assert "Position curve" in shown.stdout
    assert "█" in shown.stdout
    assert "clicked again" in shown.stdout


def test_shares_of_few_are_counts(run, log, tmp_path):
    few = tmp_path / "few.jsonl"
    few.write_text("".join((log[0] / "ubi_queries.jsonl").read_text().splitlines(keepends=True)[:2]))
    run("clicks", "import", tmp_path / "history", few)
    shown = run("clicks", "stats", tmp_path / "history").stdout
    assert shown.count("0 of 2") == 3
    assert "%" not in shown


def test_pairs(run, fails, store, files, tmp_path):
    told = run("clicks", "pairs", store, "--into", tmp_path / "p.tsv", "--titles", files / "docs.jsonl", "--threads", 1)
    assert told.exit_code == 0, told.output
    assert "left out: 80 searches: a robot" in told.stderr
    assert "written to" in told.stderr
    titles = {json.loads(line)["title"] for line in (files / "docs.jsonl").read_text(encoding="utf-8").splitlines()}
    pairs = list(read_pairs(tmp_path / "p.tsv"))
    assert {pair.title for pair in pairs} <= titles
    assert {pair.query for pair in pairs} == {line.split("\t")[1].lower() for line in
                                              (files / "queries.tsv").read_text().splitlines()}  # fmt: skip
    answer = run(
        "clicks", "pairs", store, "--into", tmp_path / "q.jsonl", "--min-users", 1000, "--threads", 1, "--json"
    )
    none = json.loads(answer.stdout)
    assert (none["pairs"], list(none["dropped"])) == (0, ["a query of fewer than 1000 users"])
    assert "end in .parquet" in fails("clicks", "pairs", store, "--into", tmp_path / "p.xls")


def test_erase(run, fails, store):
    gone = json.loads(run("clicks", "erase", store, "--user", "client-000007", "--threads", 1, "--json").stdout)
    assert gone["queries"] > 0
    again = run("clicks", "erase", store, "--user", "client-000007").stderr
    assert "0 query rows and 0 events" in again
    assert "anew" not in again
    assert "choose one of --user and --older-than" in fails("clicks", "erase", store)
    assert json.loads(run("clicks", "erase", store, "--older-than", 0, "--json").stdout)["days"] == 7
    assert json.loads(run("clicks", "stats", store, "--json").stdout)["searches"] == 0


def test_erase_from_the_log_of_a_server(run, tmp_path):
    log = tmp_path / "clicks.jsonl"
    log.write_text(
        '{"query_id": "1", "client_id": "anna", "timestamp": "2026-01-01T00:00:00Z"}\n'
        '{"query_id": "2", "client_id": "bert", "timestamp": "2020-01-01T00:00:00Z"}\n'
    )
    assert json.loads(run("clicks", "erase", log, "--user", "anna", "--json").stdout) == {"lines": 1}
    assert run("clicks", "erase", log, "--user", "anna").stderr.endswith(f"0 lines erased from {log}\n")
    assert "1 line erased" in run("clicks", "erase", log, "--older-than", 1).stderr
    assert log.read_text() == ""


def test_import_again_and_otherwise(run, fails, store, log, tmp_path):
    folder, _ = log
    again = run("clicks", "import", store, folder / "ubi_queries.jsonl", "--threads", 1)
    assert "left out: 1,580 rows: there already" in again.stderr
    (tmp_path / "half.jsonl").write_bytes(b'{"timestamp": "2026-01-01T00:00:00Z", "que')
    bad = run("clicks", "import", store, tmp_path / "half.jsonl", "--threads", 1)
    assert (bad.exit_code, "1 row: not a JSON object, or half of one" in bad.stderr) == (1, True)
    (tmp_path / "timeless.csv").write_text("when,query,object\n2026-02-01,copper,d\n")
    bad = run("clicks", "import", store, tmp_path / "timeless.csv", "--threads", 1)
    told = (
        "no column 'timestamp' or 'time': name that of the times in a mapping (--map time=COLUMN); found: when, query"
    )
    assert (bad.exit_code, told in bad.stderr) == (1, True)
    (tmp_path / "timeless.jsonl").write_text('{"when": "2026-02-01", "query_id": "1", "user_query": "copper"}\n')
    bad = run("clicks", "import", store, tmp_path / "timeless.jsonl", "--threads", 1)
    assert (bad.exit_code, "--map time=COLUMN names another" in bad.stderr) == (1, True)
    (tmp_path / "empty.jsonl").write_text("")
    bad = run("clicks", "import", store, tmp_path / "empty.jsonl", "--threads", 1)
    assert (bad.exit_code, "there is no row" in bad.stderr) == (1, True)
    assert "made with first position 1" in fails(
        "clicks", "import", store, tmp_path / "half.jsonl", "--first-position", 0
    )
    assert "no such file" in fails("clicks", "import", store, tmp_path / "nowhere.jsonl")
    assert "no history of clicks" in fails("clicks", "stats", tmp_path / "nowhere")
    assert "no such file" in fails("clicks", "import", tmp_path / "none", tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "none").exists()
    (tmp_path / "other.csv").write_text("one,two\n1,2\n")
    unread = run("clicks", "import", store, tmp_path / "other.csv", "--threads", 1)
    assert (unread.exit_code, "name their columns in a mapping" in unread.stderr) == (1, True)
    assert "no column of ours" in fails("clicks", "import", store, tmp_path / "half.jsonl", "--map", "x=y")
    (tmp_path / "flat.csv").write_text("when,who,query,object,position,clicked\n2026-02-01,u,copper,d,1,1\n")
    words = ("clicks", "import", tmp_path / "other", tmp_path / "flat.csv", "--map", "time=when", "--map", "user=who")
    told = run(*words, "--redact-digits", 3, "--keep-addresses", "--retain", 90000)
    assert "1 row read; 0 query rows and 1 event of 1 day added" in told.stderr


def test_a_simulated_log_begins_when_it_is_told_to(run, files, tmp_path):
    words = ("clicks", "simulate", files / "docs.jsonl", "--topics", files / "queries.tsv",
             "--qrels", files / "qrels.txt", "--searches", 50, "--users", 5, "--days", 2)  # fmt: skip

    def days(into, *more):
        run(*words, "--into", into, *more)
        rows = (json.loads(line) for line in (into / "ubi_queries.jsonl").read_text().splitlines())
        return {row["timestamp"][:10] for row in rows}

    assert days(tmp_path / "told", "--first-day", "2024-02-28") == {"2024-02-28", "2024-02-29"}
    assert max(days(tmp_path / "recent")) < datetime.now(UTC).date().isoformat()
    assert min(days(tmp_path / "recent")) > "2026-01-02"
    refused = run(*words, "--into", tmp_path / "none", "--first-day", "2026-13-01")
    assert (refused.exit_code, "2026-13-01" in refused.stderr) == (2, True)

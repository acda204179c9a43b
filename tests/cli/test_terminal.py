"""No document, file name or field name commands the terminal of who reads the output; JSON alone is as it is."""

import ast
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import germane.cli
from germane.cli import streams

TITLE, CLEAR, C1, BIDI, BELL = (
    "\x1b]0;owned\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m\x9d0;x\x9c",
    "\u202eevil\u2066",
    "\x07\b\x7f\r",
)
EVIL = TITLE + CLEAR + C1 + BIDI + BELL
IDS = [f"{i}{C1}{BIDI}" for i in range(6)]
"""An index takes no other control characters in ids."""
RESULT_IDS = [f"{i}{EVIL}" for i in range(6)]
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(tmp_path, monkeypatch, run):
    """Documents, a field and files that try it, and an index of them."""
    monkeypatch.chdir(tmp_path)
    fields = {"title": f"heart {EVIL} attack", "text": f"heart {EVIL} word", f"f{EVIL}": f"v{EVIL}"}
    rows = [{"id": doc_id, **fields} for doc_id in IDS]
    for name, ids in (("docs.jsonl", IDS), (f"docs{EVIL}.jsonl", IDS), ("list.jsonl", RESULT_IDS)):
        lines = [json.dumps({"id": doc_id, **fields}) + "\n" for doc_id in ids]
        Path(name).write_text("".join(lines), encoding="utf-8")
    Path("run").write_text(f"q{C1} Q0 d{C1} 1 2.0 t\nq{C1} Q0 e{BIDI} 2 1.0 t\n", encoding="utf-8")
    Path("qrels").write_text(f"q{C1} 0 d{C1} 1\n", encoding="utf-8")
    Path("topics").write_text(f"q{C1}\theart {EVIL.replace(chr(13), '')}\n", encoding="utf-8")
    labelled = [{"id": i, "text": f"word {'ab'[n % 2]}", "label": f"{n % 2}{C1}"} for n, i in enumerate(RESULT_IDS)]
    Path("labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labelled), encoding="utf-8")
    assert run("index", "docs.jsonl", "--into", "index").exit_code == 0
    return rows


def outputs(result):
    return result.stdout, result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["search", "index", "heart"],
        ["search", "index", "heart", "--tsv"],
        ["search", "index", "heart", "--feedback", "rm3", "--relevant", IDS[0], "--explain"],
        ["search", "index", f"x{EVIL}:3"],
        ["search", "index", f"heart{EVIL}z"],
        ["explain", "index", "heart", IDS[0]],
        ["explain", "index", "heart", EVIL],
        ["refine", "list.jsonl", "--relevant", RESULT_IDS[1]],
        ["refine", "list.jsonl", "--relevant", RESULT_IDS[1], "--explain", "--changes"],
        ["refine", "list.jsonl", "--relevant", RESULT_IDS[1], "--tsv"],
        ["refine", f"docs{EVIL}.jsonl", "--relevant", IDS[1], "--text", EVIL],
        ["screen", "list.jsonl"],
        ["screen", "list.jsonl", "--tsv"],
        ["screen", "list.jsonl", "--explain", RESULT_IDS[2]],
        ["screen", "list.jsonl", "--label", EVIL],
        ["stats", "index"],
        ["evaluate", "run", "qrels", "--by-query"],
        ["evaluate", "run", "qrels", "--by-query", "--tsv"],
        ["evaluate", "run", "qrels", "--by-query", "--trec"],
        ["compare", "qrels", "run", "run"],
        ["batch", "index", "topics"],
        ["classify", "train", "labelled.jsonl", "--label", "label", "--into", f"model{EVIL}"],
        ["classify", "train", "labelled.jsonl", "--label", EVIL, "--into", "model"],
        ["classify", "predict", f"model{EVIL}", "labelled.jsonl"],
        ["index", "docs.jsonl", "--into", "i3", "--progress"],
        ["data", "show", EVIL],
        ["check", f"no{EVIL}"],
        ["index", f"no{EVIL}.jsonl", "--into", "i2"],
        ["index", "docs.jsonl", "--into", f"i{EVIL}", "--fields", EVIL],
        ["add", "index", f"docs{EVIL}.jsonl"],
        ["delete", "index", EVIL],
        [f"x{EVIL}"],
        ["search", f"--x{EVIL}", "index", "heart"],
        ["search", "index", "heart", "-k", EVIL],
    ],
    ids=lambda words: " ".join(words).encode("ascii", "replace").decode()[:40],
)
def test_what_is_meant_for_people(evil, run, words):
    result = run(*words)
    for text in outputs(result):
        assert not COMMANDS.search(text)
    assert result.stdout or result.stderr


def test_a_classifier_of_others(evil, run):
    assert run("classify", "train", "labelled.jsonl", "--label", "label", "--into", "model").exit_code == 0
    for words in ([], ["--tsv"], ["--proba"], ["--explain"]):
        result = run("classify", "predict", "model", "labelled.jsonl", *words)
        assert "\\x9b31m" in result.stdout
        assert not COMMANDS.search(result.stdout + result.stderr)


def test_a_message_is_no_longer_than_a_screen(evil, run):
    result = run("search", "index", "heart", "--prior", "x" * 1_000_000)
    assert result.exit_code == 2
    assert len(result.stderr) < 5000


def test_it_is_shown_not_hidden(evil, run):
    assert "\\x1b]0;owned\\x07" in run("search", "index", "heart", "--tsv").stdout
    assert "\\x9b31m\\x9d0;x\\x9c\\u202e" in run("search", "index", "heart", "--tsv").stdout
    assert "\\u202e" in run("index", f"no{EVIL}.jsonl", "--into", "i2").stderr


def test_json_is_as_it_is(evil, run):
    found = json.loads(run("search", "index", "heart", "--json").stdout)
    assert {hit["id"] for hit in found["hits"]} == set(IDS)
    assert [json.loads(line) for line in run("export", "index").stdout.splitlines()] == evil


def test_a_cell_ends_where_its_column_does(tmp_path, run):
    path = tmp_path / "list.jsonl"
    row = {"id": "a\t1\nb", "title": "heart\n9\tfake\t1.0\tx"}
    path.write_text("".join(json.dumps(row | {"id": row["id"] * n}) + "\n" for n in (1, 2)), encoding="utf-8")
    lines = run("refine", path, "--relevant", "a\t1\nb", "--tsv").stdout.splitlines()
    assert sorted(line.split("\t")[2] for line in lines) == ["a\\t1\\nb", "a\\t1\\nba\\t1\\nb"]
    assert all(len(line.split("\t")) == 6 for line in lines)


def test_a_run_on_stdout(evil, run):
    result = run("search", "index", "heart", "--trec")
    assert not COMMANDS.search(result.stdout + result.stderr)


@pytest.mark.parametrize(
    "words", [["search", "index", "heart"], ["index", f"no{EVIL}", "--into", "x"], ["search", f"--x{EVIL}"]]
)
def test_on_a_terminal(evil, words):
    """There Rich writes colours of its own, and nothing else."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "germane.cli", *words]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    child = subprocess.Popen(command, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL, env=environment)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    child.wait()
    os.close(master)
    plain = re.sub("\x1b\\[[0-9;]*m", "", text.decode()).replace("\r\n", "\n")
    assert plain
    assert not COMMANDS.search(plain)


def test_a_traceback(evil):
    command = [sys.executable, "-m", "germane.cli", "index", f"no{EVIL}", "--into", "x"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "GERMANE_DEBUG": "1"}, check=False)
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert not COMMANDS.search(done.stderr.decode())


def test_styles_pass_to_a_terminal_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, passes in ((Terminal(), True), (io.StringIO(), False)):
        written = streams.PeopleStream(stream)
        written.writelines(["\x1b[1mbold\x1b[0m", TITLE])
        assert ("\x1b[1m" in stream.getvalue()) is passes
        assert "\x1b]" not in stream.getvalue()


def test_nothing_goes_round_the_streams():
    """Commands print by `streams` alone: no print, no echo, no console or bytes of their own."""
    folder = Path(germane.cli.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name == "streams.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "Console", "rich.print", "sys.stdout.write", "sys.stderr.write"), path
                assert not called.startswith(("sys.stdout.buffer", "sys.stderr.buffer")), path
                assert called != "typer.echo" or path.name == "app.py", path

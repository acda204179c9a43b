"""germane evaluate, compare, tune, reproduce and data, as typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from germane.cli import app

RUN_A = "q1 Q0 d1 1 2.0 a\nq1 Q0 d9 2 1.0 a\nq2 Q0 d9 1 2.0 a\nq2 Q0 d1 2 1.0 a\n"
RUN_B = "q1\td9\t2\nq1\td1\t1\nq2\td1\t2\n"
QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n"


def invoke(*words: object):
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "120"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def files(write):
    return write("a.run", RUN_A), write("b.tsv", RUN_B), write("qrels.txt", QRELS)


def test_evaluate(files):
    a, _, qrels = files
    result = invoke("evaluate", a, qrels, "-m", "AP", "RR@10")
    assert result.exit_code == 0
    assert result.stdout.split() == ["query", "AP", "RR@10", "all", "0.5000", "0.5000"]
    assert "1 of 3 judged queries are not in the run" in result.stderr
    found = json.loads(invoke("evaluate", a, qrels, "-m", "AP,P@1", "--json", "--by-query").stdout)
    assert found["measures"] == {"AP": 0.5, "P@1": pytest.approx(1 / 3)}
    assert found["queries"]["q2"] == {"AP": 0.5, "P@1": 0.0}
    rows = invoke("evaluate", a, qrels, "-m", "AP", "--tsv", "--by-query").stdout.splitlines()
    assert rows == ["query_id\tAP", "q1\t1.0", "q2\t0.5", "q3\t0.0", "all\t0.5"]
    assert invoke("evaluate", a, qrels, "-m", "AP", "--trec").stdout.split() == ["AP", "all", "0.5000"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "Fancy"], "there is no measure 'Fancy'"),
        (["--json", "--tsv"], "choose one of --json, --tsv"),
        (["-m", "P@0"], "cutoff"),
    ],
)
def test_evaluate_refuses(files, words, message):
    result = invoke("evaluate", files[0], files[2], *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_bad_files(files, write):
    a, _, qrels = files
    result = invoke("evaluate", write("empty", ""), qrels)
    assert (result.exit_code, "holds no ranked documents" in result.stderr) == (2, True)
    result = invoke("evaluate", a, write("bad", "q1 0 d1 x\n"))
    assert "line 1, field 'grade'" in result.stderr
    result = invoke("evaluate", a, write("other", "z 0 d1 1\n"))
    assert "no query of the run is judged" in result.stderr


def test_compare(files, write, tmp_path):
    a, b, qrels = files
    topics = write("queries.tsv", "q1\twing flutter\nq2\theat\n")
    drawing = tmp_path / "d.png"
    result = invoke("compare", a, b, qrels, "-m", "AP", "P@1", "--topics", topics, "--plot", drawing)
    assert result.exit_code == 0
    assert drawing.exists()
    assert "heat" in result.stdout
    assert "p wilcoxon" in result.stdout
    found = json.loads(invoke("compare", a, b, qrels, "-m", "AP", "--json").stdout)
    assert (found[0]["wins"], found[0]["losses"], found[0]["ties"]) == (1, 1, 1)
    assert found[0]["worst"][0]["query_id"] == "q2"
    header, row = invoke("compare", a, b, qrels, "-m", "AP", "--tsv").stdout.splitlines()
    assert len(header.split("\t")) == len(row.split("\t"))
    assert "alternative is one of" in invoke("compare", a, b, qrels, "--alternative", "both").stderr


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    words = ["heart", "attack", "wing", "flutter"]
    texts = [" ".join(words[: i % 4 + 1] + words[:1] * i) for i in range(9)]
    lines = [json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts)]
    (folder / "docs.jsonl").write_text("".join(lines))
    (folder / "queries.tsv").write_text("q1\theart attack\nq2\twing\nq3\tflutter heart\nq4\tattack\n")
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 2\nq3 0 d3 1\nq4 0 d5 1\nq4 0 d1 0\n")
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GERMANE_CACHE", str(tmp_path / "cache"))
    return folder


def test_tune(tiny):
    words = ["tune", "tiny", "--model", "bm25", "--grid", "k1=0.5,2", "--grid", "b=0.2,0.75"]
    result = invoke(*words)
    assert result.exit_code == 0
    assert result.stderr.count(": ") == 4
    assert "all queries, each as a test query" in result.stdout
    found = json.loads(invoke(*words, "--json").stdout)
    assert len(found["folds"]) == 2
    assert invoke(*words, "--tsv").stdout.count("\n") == 3
    assert "--grid wants NAME=A,B,C" in invoke("tune", "tiny", "--grid", "k1=a").stderr
    assert "is not here: set GERMANE_DATA" in invoke("tune", "absent", "--grid", "k1=1").stderr


def test_data(tiny, tmp_path):
    assert invoke("data", "list").stdout == "tiny\n"
    assert json.loads(invoke("data", "list", "--json").stdout) == ["tiny"]
    facts = json.loads(invoke("data", "info", "tiny", "--json").stdout)
    assert (facts["documents"], facts["topics"], facts["judgements"]) == (9, 4, 5)
    assert "judged topics" in invoke("data", "info", "tiny").stdout
    result = invoke("data", "export", "tiny", "--into", tmp_path / "out", "--format", "json")
    assert result.exit_code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"docs.jsonl", "queries.jsonl", "qrels.json"}
    assert "wants the name" in invoke("data", "info").stderr
    assert "wants a folder" in invoke("data", "export", "tiny").stderr


def test_reproduce(tiny, tmp_path):
    folder = tmp_path / "experiments"
    folder.mkdir()
    text = 'title = "T"\ndatasets = ["tiny"]\nmeasures = ["AP"]\n[[system]]\nname = "ql"\nmodel = "dirichlet"\n'
    (folder / "one.toml").write_text(text)
    out = tmp_path / "out"
    assert invoke("reproduce", "list", "--from", folder).stdout == "one\tT\n"
    expected = invoke("reproduce", "one", "--from", folder, "--into", out, "--expected").stdout
    (folder / "one.toml").write_text(text + expected)
    result = invoke("reproduce", "all", "--from", folder, "--into", out)
    assert result.exit_code == 0
    assert "1 of 1 expected figures are within" in result.stdout
    (folder / "one.toml").write_text(text + "[expected.tiny]\nql = { AP = 9.0 }\n")
    result = invoke("reproduce", "one", "--from", folder, "--into", out, "--no-plots")
    assert result.exit_code == 1
    assert "left their tolerance in: one" in result.stderr
    assert {path.name for path in Path(out).iterdir()} == {"one.md", "one.json"}
    assert "there is no experiment 'two'; there are: one" in invoke("reproduce", "two", "--from", folder).stderr

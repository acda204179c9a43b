"""germane evaluate and compare, as typed."""

import json

import pytest
from typer.testing import CliRunner

from germane.cli import program

RUN_A = "q1 Q0 d1 1 2.0 a\nq1 Q0 d9 2 1.0 a\nq2 Q0 d9 1 2.0 a\nq2 Q0 d1 2 1.0 a\n"
RUN_B = "q1\td9\t2\nq1\td1\t1\nq2\td1\t2\n"
QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n"


def invoke(*words: object):
    result = CliRunner().invoke(program(), [str(word) for word in words], env={"COLUMNS": "120"})
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
    assert all(float(cell) is not None for cell in row.split("\t")[1:])  # plain numbers
    assert "alternative is one of" in invoke("compare", a, b, qrels, "--alternative", "both").stderr

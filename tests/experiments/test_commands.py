"""germane tune, data and reproduce, as typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from germane.cli import program
from germane.evaluate.tuning import folds_by_query
from germane.experiments import published_experiments
from germane.experiments.collections import Collection
from germane.feedback import RM3


def invoke(*words: object):
    result = CliRunner().invoke(program(), [str(word) for word in words], env={"COLUMNS": "120"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


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


def test_tune_takes_feedback_methods(tiny):
    """Each fold's choice and its two figures, from searches with the method itself and AP counted by hand."""
    shares = (0.0, 0.5, 1.0)
    words = ["tune", "tiny", "--feedback", "rm3", "--grid", "query_weight=0,0.5,1", "--set", "n_docs=4", "--json"]
    found = json.loads(invoke(*words).stdout)
    collection = Collection.open("tiny")
    values = {}
    for share in shares:
        for topic in collection.topics:
            if topic.id not in collection.qrels:
                continue
            result = collection.engine.search(
                topic.text, 1000, feedback=RM3(n_docs=4, query_weight=share), syntax=False
            )
            scores = zip(result.scores.tolist(), result.ids, strict=True)  # equals as trec_eval has them
            ranked = [doc_id for _, doc_id in sorted(scores, reverse=True)]
            hits = [rank for rank, doc_id in enumerate(ranked, 1) if doc_id in collection.qrels[topic.id]]
            precisions = [i / rank for i, rank in enumerate(hits, 1)]
            values[share, topic.id] = sum(precisions) / len(collection.qrels[topic.id])
    assert len({values[share, "q0"] for share in shares}) > 1  # the share matters, so that choosing means something
    queries = list(collection.qrels)
    for row, test in zip(found["folds"], folds_by_query(queries), strict=True):
        train = [query for query in queries if query not in test]
        means = {share: sum(values[share, query] for query in train) / len(train) for share in shares}
        best = max(shares, key=lambda share: round(means[share], 12))
        assert row["query_weight"] == best
        assert row["AP train"] == pytest.approx(means[best])
        assert row["AP test"] == pytest.approx(sum(values[best, query] for query in test) / len(test))
    assert "has no parameter k1" in invoke("tune", "tiny", "--feedback", "rm3", "--grid", "k1=1,2").stderr


def test_tune_shows_how_far_it_is_and_draws(tiny, tmp_path):
    words = ["tune", "tiny", "--grid", "k1=0.5,2", "--grid", "b=0.2,0.75"]
    drawing = tmp_path / "trials.png"
    result = invoke(*words, "-m", "recip_rank", "--progress", "--plot", drawing)
    assert result.exit_code == 0, result.stderr
    assert drawing.read_bytes().startswith(b"\x89PNG")
    assert "4/4" in result.stderr
    assert "recip_rank" in result.stdout
    climbed = invoke(*words, "--method", "coordinate", "--progress", "--no-cache")
    assert "tuning (k1=" in climbed.stderr
    latex = invoke(*words, "--format", "latex").stdout
    assert latex.startswith("\\begin{tabular}{lrrrrr}")
    assert "\nall &  &  &  & 0." in latex
    assert invoke(*words, "--format", "markdown").stdout.count("\n") == 5


def test_data(tiny, tmp_path):
    assert invoke("data", "list").stdout == "tiny\n"
    assert json.loads(invoke("data", "list", "--json").stdout) == ["tiny"]
    facts = json.loads(invoke("data", "info", "tiny", "--json").stdout)
    assert (facts["documents"], facts["topics"], facts["judgements"]) == (40, 8, 28)
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
    assert "bars are missed" not in result.stderr
    assert {path.name for path in Path(out).iterdir()} == {"one.md", "one.json"}
    assert invoke("reproduce", folder / "one.toml", "--into", out, "--no-plots").exit_code == 1
    assert "is a file already" in invoke("reproduce", "one.toml", "--from", folder).stderr
    assert "cannot be read" in invoke("reproduce", folder / "two.toml").stderr
    assert "there is no experiment 'two'; there are: one" in invoke("reproduce", "two", "--from", folder).stderr


def test_a_missed_bar_is_told_apart_from_a_figure_that_left(tiny, tmp_path):
    """A bar that is missed fails too, and every expected figure holds: nothing but the bar is told."""
    file = tmp_path / "one.toml"
    text = 'title = "T"\ndatasets = ["tiny"]\nmeasures = ["AP"]\n[[system]]\nname = "ql"\nmodel = "dirichlet"\n'
    ratio = '[[mean_ratio]]\nsystem = "ql"\nagainst = "ql"\nmeasure = "AP"\nworst = 1.01\n'
    file.write_text(text)
    expected = invoke("reproduce", file, "--into", tmp_path / "out", "--expected", "--no-plots").stdout
    file.write_text(text + ratio + expected)
    result = invoke("reproduce", file, "--into", tmp_path / "out", "--no-plots")
    assert result.exit_code == 1
    assert "1 of 1 expected figures are within" in result.stdout
    assert "MISSED: least ratio of ql to the best ql, AP: 1.0000 >= 1.01" in result.stdout
    assert "bars are missed in: one" in result.stderr
    assert "left their tolerance" not in result.stderr


def test_the_experiments_of_the_papers_come_with_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = [line.split("\t")[0] for line in invoke("reproduce", "list").stdout.splitlines()]
    assert sorted(listed) == sorted(path.stem for path in published_experiments().glob("*.toml"))
    assert {"defaults", "feedback", "refine", "figures", "small"} <= {*listed}

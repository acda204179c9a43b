"""Experiment files, their runner and reports; the small experiment runs where `GERMANE_DATA` names the collections."""

import gzip
import json
import os
from pathlib import Path

import pytest

from germane.errors import InputError, ParameterError
from germane.evaluate.experiments import (
    as_markdown,
    expected_toml,
    experiment_files,
    read_experiment,
    run_experiment,
    write_report,
)
from germane.evaluate.experiments.collections import Collection, cache_folder, locate
from germane.evaluate.experiments.datasets import describe, export
from germane.evaluate.experiments.literal import LiteralBM25
from germane.evaluate.experiments.trials import tune_collection
from germane.rank.registry import model_named
from germane.text import Analyzer
from germane.types import Document, Topic

REPRODUCE = Path(__file__).parents[2] / "reproduce"
REAL = os.environ.get("GERMANE_DATA", "")
EXPERIMENT = """
title = "Tiny"
datasets = ["tiny"]
measures = ["AP", "RR"]
tolerance = 0.01
plots = ["precision-recall"]
[[system]]
name = "ql"
model = "dirichlet"
sweep = { mu = [10, 1000] }
[[system]]
name = "tuned"
model = "bm25"
tune = { k1 = [0.5, 2.0] }
[[system]]
name = "learnt"
model = "jm"
learn = "lam"
[[system]]
name = "literal"
model = "literal-bm25"
parameters = { k1 = 2.0 }
[[system]]
name = "bm25"
model = "bm25"
[[at_least]]
system = "bm25"
other = "literal"
measure = "AP"
datasets = ["tiny"]
slack = 1e-9
[reference]
source = "a book"
tiny.bm25 = { AP = 0.5 }
"""


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(EXPERIMENT)
    return read_experiment(path)


def test_runs_and_reports(tiny, experiment, tmp_path):
    steps = []
    result = run_experiment(experiment, on_step=lambda dataset, system: steps.append((dataset, system)))
    assert steps == [("tiny", name) for name in ("ql", "tuned", "learnt", "literal", "bm25")]
    systems = ["ql mu=10", "ql mu=1000", "tuned", "learnt", "literal", "bm25"]
    assert list(dict.fromkeys(figure.system for figure in result.figures)) == systems
    assert result.ok
    assert result.value("tiny", "bm25", "AP") == pytest.approx(result.value("tiny", "literal", "AP"))
    assert "lam=" in result.parameters["tiny"]["learnt"]
    assert " / " in result.parameters["tiny"]["tuned"]
    assert "6 judged queries" in result.conventions["tiny"]
    written = write_report(result, tmp_path / "out")
    assert [path.name for path in written] == [
        "tiny.md", "tiny.json", "tiny-ql-mu-AP.png", "tiny-ql-mu-RR.png", "tiny-tiny-precision-recall.png",
    ]  # fmt: skip
    markdown = written[0].read_text()
    assert "(0.5)" in markdown
    assert "In parentheses: a book." in markdown
    assert json.loads(written[1].read_text())["ok"] is True


def test_expected_figures_are_held(tiny, tmp_path):
    first = run_experiment(read_experiment(_written(tmp_path, EXPERIMENT)))
    held = _written(tmp_path, EXPERIMENT + expected_toml(first))
    result = run_experiment(read_experiment(held))
    assert result.ok
    assert all(figure.expected is not None for figure in result.figures)
    spoilt = expected_toml(first).replace("RR = 0.", "RR = 1.", 1)
    result = run_experiment(read_experiment(_written(tmp_path, EXPERIMENT + spoilt)))
    assert not result.ok
    assert sum(not figure.ok for figure in result.figures) == 1
    assert "- OUT: tiny, ql mu=10, RR" in as_markdown(result)


def test_bars(tiny, tmp_path):
    bar = '[[at_least]]\nsystem = "bm25"\nvalue = 2.0\nmeasure = "AP"\ndatasets = ["tiny"]\n'
    missed = EXPERIMENT.replace("[reference]", bar + "[reference]")
    result = run_experiment(read_experiment(_written(tmp_path, missed)))
    assert not result.ok
    assert "MISSED" in as_markdown(result)


def _written(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title =", "title ="), None),
        (('title = "Tiny"', ""), "title"),
        (('model = "jm"', ""), "model"),
        (("tolerance", "tolerence"), "tolerence"),
        (('name = "learnt"', 'name = "ql"'), "two systems have one name"),
        (('learn = "lam"', 'learn = "lam"\nsweep = { lam = [0.1] }'), "one of sweep, tune and learn"),
        (('measure = "AP"\ndatasets', 'measure = "P@5"\ndatasets'), "names a measure or data set that is not run"),
        (("precision-recall", "pie"), "no plot 'pie'"),
        (("[[system]]", "[[system"), "not valid TOML"),
        (("tune = { k1", "tune = { k2"), "system 'tuned': model 'bm25' has no parameter k2"),
        (('other = "literal"', 'other = "litteral"'), "a system that is not run: 'litteral'"),
    ],
)
def test_bad_files(tmp_path, change, message):
    path = _written(tmp_path, EXPERIMENT.replace(*change))
    if message is None:
        read_experiment(path)
        return
    with pytest.raises(InputError, match=message) as caught:
        read_experiment(path)
    assert caught.value.source == str(path)


def test_missing_folders(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        experiment_files(tmp_path / "none")
    with pytest.raises(InputError, match="holds no experiment"):
        experiment_files(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_experiment(tmp_path / "none.toml")


@pytest.mark.parametrize("set_to", [None, "here", "nowhere"])
def test_a_missing_data_set_is_one_sentence(tmp_path, monkeypatch, set_to):
    monkeypatch.delenv("GERMANE_DATA", raising=False)
    if set_to:
        (tmp_path / "here").mkdir()
        monkeypatch.setenv("GERMANE_DATA", str(tmp_path / set_to))
    with pytest.raises(InputError, match="'surely-missing' is not here: set GERMANE_DATA to a folder") as caught:
        locate("surely-missing")
    assert "irds:NAME" in str(caught.value)


def test_the_index_is_built_once_and_again_after_a_change(tiny, tmp_path):
    indexes = cache_folder() / "indexes"
    first = Collection.open("tiny")
    assert len(first.topics) == 6
    (folder,) = indexes.iterdir()
    built = folder.stat().st_ino
    Collection.open("tiny")
    assert folder.stat().st_ino == built
    with gzip.open(tiny / "docs.jsonl.gz", "at") as file:
        file.write('{"id": "new", "title": "", "text": "heart"}\n')
    assert len(Collection.open("tiny").engine) == 41
    assert len(list(indexes.iterdir())) == 2
    for path in folder.iterdir():
        if path.is_file():
            path.write_bytes(b"damaged")
    os.rename(folder, tmp_path / "spare")
    (newest,) = indexes.iterdir()
    for path in newest.iterdir():
        if path.is_file():
            path.write_bytes(b"damaged")
    assert len(Collection.open("tiny").engine) == 41  # rebuilt


def test_literal_bm25_is_the_engine_s(tiny):
    collection = Collection.open("tiny")
    literal = collection.literal.run(collection.topics, 1000, 1.7, 0.4)
    ours = collection.run(model_named("bm25", k1=1.7, b=0.4), 1000)
    assert {query: pytest.approx(scores) for query, scores in literal.items()} == ours


def test_literal_bm25_by_hand():
    documents = [Document("1", {"text": "wing wing plate"}), Document("2", {"text": "plate"})]
    run = LiteralBM25(documents, ["text"], Analyzer()).run([Topic("q", "wing")], 10, k1=1.0, b=0.5)
    # N=2, df=1, idf=log(1+1.5/1.5); avgdl=2, |D|=3; 2*2/(2 + 1*(.5+.5*1.5))
    assert run == {"q": {"1": pytest.approx(0.6931471805599453 * 4 / 3.25)}}


def test_tuning_resumes(tiny, tmp_path):
    trials = tmp_path / "trials"
    grid = {"k1": [0.5, 2.0], "b": [0.3, 0.75]}
    first = tune_collection("tiny", "bm25", grid, trials=trials)
    stored = sorted(trials.iterdir())
    assert len(stored) == 4
    times = [path.stat().st_mtime_ns for path in stored]
    stored[0].unlink()  # as if interrupted
    again = tune_collection("tiny", "bm25", grid, trials=trials)
    assert again == first
    assert [path.stat().st_mtime_ns for path in stored[1:]] == times[1:]
    assert stored[0].exists()
    with pytest.raises(ParameterError, match="no parameter mu"):
        tune_collection("tiny", "bm25", {"mu": [1.0]})


def test_describe_and_export(tiny, tmp_path):
    facts = describe("tiny")
    assert (facts["documents"], facts["topics"], facts["judged_topics"]) == (40, 8, 6)
    assert facts["grades"] == f"1: {facts['judgements']}"
    for format, name in (("trec", "qrels.txt"), ("tsv", "qrels.tsv"), ("json", "qrels.json")):
        written = export("tiny", tmp_path / format, format)
        assert written[-1].name == name
    from germane.evaluate import load_qrels

    assert (
        load_qrels(tmp_path / "trec" / "qrels.txt")
        == load_qrels(tmp_path / "tsv" / "qrels.tsv")
        == load_qrels(tmp_path / "json" / "qrels.json")
        == load_qrels("tiny")
    )
    with pytest.raises(ParameterError, match="trec, tsv, json"):
        export("tiny", tmp_path, "xml")


@pytest.mark.parametrize("name", sorted(experiment_files(REPRODUCE)))
def test_every_experiment_can_be_read_and_is_fully_expected(name):
    experiment = read_experiment(REPRODUCE / f"{name}.toml")
    for dataset in experiment.datasets:
        for system in experiment.systems:
            known = [key for key in experiment.expected[dataset] if key == system.name or key.startswith(system.name)]
            assert known, (dataset, system.name)


@pytest.mark.skipif(not REAL, reason="set GERMANE_DATA to the folder of the public collections")
@pytest.mark.parametrize("name", ["small", "small-feedback", "small-classification", "small-refine"])
def test_small_experiments(name, tmp_path):
    experiment = read_experiment(REPRODUCE / f"{name}.toml")
    for needed in experiment.inputs:
        if not os.path.exists(os.path.join(REAL, needed)):
            pytest.skip(f"no {needed} in GERMANE_DATA")
    result = run_experiment(experiment, cache=tmp_path)
    assert result.ok, as_markdown(result)

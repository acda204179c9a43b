"""Retrieval experiments: their files, runs, bars and reports."""

import json

import pytest

from germane.errors import InputError
from germane.experiments import as_markdown, expected_toml, read_experiment, run_experiment, write_report

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

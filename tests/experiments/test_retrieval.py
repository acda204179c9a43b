"""Retrieval experiments: their files, runs, bars and reports."""

import gzip
import json
from collections import Counter

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
DESCRIBED = """describe = true
[[system]]"""


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(EXPERIMENT)
    return read_experiment(path)


def test_runs_and_reports(tiny, experiment, tmp_path):
    steps = []
    result = run_experiment(experiment, on_progress=lambda dataset, system: steps.append((dataset, system)))
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


def test_collections_as_in_table_5_2(tiny, tmp_path):
    """Counted in the files; none of their words is a stop word, or shares its stem with another."""
    result = run_experiment(read_experiment(_written(tmp_path, EXPERIMENT.replace("[[system]]", DESCRIBED, 1))))
    with gzip.open(tiny / "docs.jsonl.gz", "rt") as file:
        texts = [f"{document['title']} {document['text']}".split() for document in map(json.loads, file)]
    words = Counter(word for text in texts for word in text)
    relevant = Counter(line.split()[0] for line in (tiny / "qrels.txt").read_text().splitlines())
    told = dict(zip(*result.tables["Collections"], strict=True))
    assert told == {
        "": "tiny", "documents": "40", "mean length": f"{words.total() / 40:.1f}", "vocabulary": f"{len(words)}",
        "judged queries": f"{len(relevant)}", "mean length of a query": "2.0",
        "relevant to a query": f"{relevant.total() / len(relevant):.1f}",
    }  # fmt: skip
    assert "## Collections" in as_markdown(result)


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
        (('learn = "lam"', 'learn = "lam"\nsweep = { lam = [0.1] }'), "one of sweep, tune, learn and choose"),
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


LEFT_OUT = """
title = "Two"
datasets = ["tiny", "other"]
measures = ["AP", "nDCG@10"]
[tuning]
measure = "nDCG@10"
[queries]
other = ["train"]
[documents.other]
path = "elsewhere/docs.tsv"
map = { id = "doc", text = "abstract" }
[[system]]
name = "swept"
model = "bm25f"
sweep = { "weights.title" = [0, 1, 9] }
[[system]]
name = "left out"
model = "bm25f"
choose = { "weights.title" = [0, 1, 9] }
"""


@pytest.fixture
def two(tiny, tmp_path):
    """A second data set, whose documents lie elsewhere, with two sets of queries over the same ids."""
    root = tiny.parent
    (root / "other").mkdir()
    (root / "elsewhere").mkdir()
    rows = [f"d{i}\t{'heart' if i % 3 else 'lung'}\t{'attack ' * (i % 5)}heart wing" for i in range(20)]
    (root / "elsewhere" / "docs.tsv").write_text("doc\ttitle\tabstract\n" + "\n".join(rows) + "\n")
    for part, word in (("", "heart attack"), ("_train", "lung attack")):
        (root / "other" / f"queries{part}.tsv").write_text(f"q1\t{word}\nq2\tnothing here\n")
        (root / "other" / f"qrels{part}.txt").write_text("".join(f"q1 0 d{i} 1\n" for i in range(0, 20, 4)))
    path = tmp_path / "two.toml"
    path.write_text(LEFT_OUT)
    return read_experiment(path)


def test_a_setting_is_chosen_on_the_other_data_sets(two):
    """What is reported is the row of the sweep that is best on the other data set."""
    result = run_experiment(two)
    for dataset, other in (("tiny", "other"), ("other", "tiny")):
        rows = {
            f"weights.title={value}": result.value(other, f"swept weights.title={value}", "nDCG@10")
            for value in (0, 1, 9)
        }
        chosen = max(rows, key=rows.__getitem__)
        assert result.parameters[dataset]["left out"] == chosen
        for measure in two.measures:
            own = result.value(dataset, f"swept {chosen}", measure)
            assert result.value(dataset, "left out", measure) == own
    assert len({result.value("tiny", f"swept weights.title={value}", "nDCG@10") for value in (0, 1, 9)}) > 1


def test_queries_of_all_parts_and_documents_from_elsewhere(two):
    result = run_experiment(two)
    assert sorted(result.evaluations["other"]["left out"].query_ids) == ["q1", "train_q1"]
    assert result.conventions["other"].startswith("20 documents; 2 judged queries")


def test_one_way_to_get_a_setting(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(LEFT_OUT.replace("choose =", "sweep = { k1 = [1] }\nchoose ="))
    with pytest.raises(InputError, match="one of sweep, tune, learn and choose"):
        read_experiment(path)

"""Feedback systems, comparisons and ratios in experiment files."""

import json
import re

import numpy as np
import pytest
from scipy import stats

from germane.errors import InputError, ParameterError
from germane.evaluate import evaluate
from germane.evaluate.tuning import folds_by_query
from germane.experiments import as_markdown, as_text, read_experiment, run_experiment, write_report
from germane.experiments.collections import Collection
from germane.experiments.feedback import flat_names, ranking_of
from germane.feedback import FEEDBACK_NAMES, RM1, RM3, SD, Consensus, Rocchio, feedback_named
from germane.lm import Dirichlet, JelinekMercer
from germane.rank.models.bm25 import BM25

EXPERIMENT = """
title = "Tiny feedback"
datasets = ["tiny", "twin"]
measures = ["AP", "RR"]
plots = ["precision-recall"]
[[system]]
name = "ql"
model = "dirichlet"
sweep = { mu = [10, 1000] }
[[system]]
name = "rm3"
feedback = "rm3"
parameters = { mu = 50, n_docs = 3 }
[[system]]
name = "tuned"
feedback = "sd"
parameters = { n_docs = 3, n_terms = 0 }
tune = { query_weight = [0.2, 0.8], lam_first = [0.3, 0.6] }
[[system]]
name = "bm25+rm3"
model = "bm25"
feedback = "rm3"
parameters = { k1 = 1.2, n_docs = 3 }
[[compare]]
a = "tuned"
b = "ql mu=10"
measure = "AP"
[[mean_ratio]]
system = "rm3"
against = "ql"
measure = "AP"
at_least = 0.1
worst = 5.0
"""


@pytest.fixture
def pair(tiny):
    """The tiny data set, and a second one of the same documents with fewer judged queries."""
    twin = tiny.parent / "twin"
    twin.mkdir()
    for name in ("docs.jsonl.gz", "queries.tsv"):
        (twin / name).write_bytes((tiny / name).read_bytes())
    lines = (tiny / "qrels.txt").read_text().splitlines(keepends=True)
    (twin / "qrels.txt").write_text("".join(line for line in lines if not line.startswith("q0")))
    return tiny, twin


def _read(folder, text=EXPERIMENT):
    path = folder / "case.toml"
    path.write_text(text)
    return read_experiment(path)


def test_flat_numbers_make_a_method():
    lam = JelinekMercer
    assert ranking_of("", "rm3", {}) == (None, RM3())
    assert ranking_of("", "rm1", {"lam_first": 0.7, "lam_estimate": 0.6, "lam_final": 0.1, "n_docs": 100}).feedback == (
        RM1(n_docs=100, first=lam(0.7), weighting=lam(0.7), smoothing=lam(0.6), final=lam(0.1))
    )
    found = ranking_of("", "sd", {"mu": 300, "lam_final": 0.8, "precision": 0.8, "keep_background": True, "n_terms": 0})
    assert found.feedback == SD(
        first=Dirichlet(300), weighting=Dirichlet(300), final=lam(0.8), precision=0.8, keep_background=True,
        n_terms=None,
    )  # fmt: skip
    assert ranking_of("", "consensus", {"mu": 9}).feedback == Consensus(first=Dirichlet(9))  # BM25 stays
    assert ranking_of("", "rocchio", {"query_weight": 0.4}).feedback == Rocchio(query_weight=0.4)


def test_a_number_goes_to_model_and_method():
    model, method = ranking_of("bm25", "rm3", {"k1": 1.2, "query_weight": 0.6})
    assert isinstance(model, BM25)
    assert model.k1 == 1.2
    assert method == RM3(query_weight=0.6)
    model, method = ranking_of("dirichlet", "rm3", {"mu": 77})
    assert str(model) == str(ranking_of("dirichlet", "", {"mu": 77}).model)
    assert method == RM3(first=Dirichlet(77), weighting=Dirichlet(77), final=Dirichlet(77))


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_flat_names_are_accepted(name):
    for flat in flat_names(name):
        default = getattr(feedback_named(name), flat, 0.5)
        method = ranking_of("", name, {flat: 0 if default is None else default}).feedback
        assert type(method) is type(feedback_named(name))


@pytest.mark.parametrize(
    ("feedback", "parameters", "message"),
    [
        ("rocchio", {"noise": 0.1}, "feedback 'rocchio' has no parameter noise; it takes .*query_weight"),
        ("rm3", {"precision": 1.0}, "feedback 'rm3' has no parameter precision; it takes .*lam_first"),
        ("rm3", {"first": 1.0}, "has no parameter first"),
        ("rm4", {}, "no feedback method 'rm4'"),
        ("rm3", {"query_weight": 2.0}, "query_weight must lie between 0 and 1"),
    ],
)
def test_wrong_numbers(feedback, parameters, message):
    with pytest.raises(ParameterError, match=message):
        ranking_of("", feedback, parameters)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('feedback = "sd"', 'feedback = "ds"', "system 'tuned': there is no feedback method 'ds'; choose one of"),
        ("lam_first", "lam_frist", "system 'tuned': feedback 'sd' has no parameter lam_frist; it takes .*lam_first"),
        ("k1 = 1.2", "k2 = 1.2", "feedback 'rm3' with model 'bm25' has no parameter k2"),
        ('model = "bm25"', 'model = "literal-bm25"', "literal-bm25 takes no feedback"),
        ('model = "dirichlet"', "", "system 'ql' needs a model or feedback"),
        ("[0.3, 0.6]", "[]", "system 'tuned' has no value for 'lam_first'"),
        ('a = "tuned"', 'a = "tuend"', "the comparison of 'tuend' and 'ql mu=10' names a system that is not run"),
        ('b = "ql mu=10"', 'b = "ql"', "not run: 'ql'; there are 'ql mu=10', 'ql mu=1000', 'rm3'"),
        ('against = "ql"', 'against = "lq"', "the ratio of 'rm3' names a system that is not run: 'lq'"),
        ("worst =", 'datasets = ["other"]\nworst =', "the ratio of 'rm3' names a measure or data set"),
        ("worst =", "datasets = []\nworst =", "the ratio of 'rm3' names no data set"),
        ("worst = 5.0", "wurst = 5.0", "wurst"),
        ('b = "ql mu=10"', "", "missing .* 'b'"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    assert old in EXPERIMENT
    with pytest.raises(InputError, match=message):
        _read(tmp_path, EXPERIMENT.replace(old, new))


def test_feedback_systems_rank_as_the_engine_does(pair, tmp_path):
    result = run_experiment(_read(tmp_path))
    collection = Collection.open("tiny")
    method = RM3(n_docs=3, first=Dirichlet(50), weighting=Dirichlet(50), final=Dirichlet(50))
    own = collection.run(None, 1000, feedback=method)
    assert result.value("tiny", "rm3", "AP") == evaluate(own, collection.qrels, ["AP"])["AP"]
    over_bm25 = collection.run(BM25(k1=1.2, b=0.75), 1000, feedback=RM3(n_docs=3))
    assert result.value("tiny", "bm25+rm3", "AP") == evaluate(over_bm25, collection.qrels, ["AP"])["AP"]
    assert over_bm25 != own


def test_tuned_runs_are_those_held_out(pair, tmp_path):
    result = run_experiment(_read(tmp_path))
    collection = Collection.open("tiny")
    run = result.runs["tiny"]["tuned"]
    chosen = result.parameters["tiny"]["tuned"].split(" / ")
    for test, setting in zip(folds_by_query(tuple(collection.qrels)), chosen, strict=True):
        numbers = {name: float(value) for name, value in (part.split("=") for part in setting.split())}
        _, method = ranking_of("", "sd", {"n_docs": 3, "n_terms": 0, **numbers})
        expected = collection.run(None, 1000, feedback=method)
        assert {query: run[query] for query in test} == {query: expected[query] for query in test}
    assert result.value("tiny", "tuned", "AP") == evaluate(run, collection.qrels, ["AP"])["AP"]


def test_comparisons_by_data_set_and_pooled(pair, tmp_path):
    result = run_experiment(_read(tmp_path))
    (compared,) = result.comparisons
    assert list(compared.rows) == ["tiny", "twin", "all queries"]
    a, b = (
        np.concatenate([result.evaluations[dataset][system].values["AP"] for dataset in ("tiny", "twin")])
        for system in ("tuned", "ql mu=10")
    )
    assert len(a) == 11
    pooled = compared.rows["all queries"]
    assert {*pooled.tests} == {"t", "wilcoxon", "sign"}
    assert pooled.tests["t"].p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert pooled.effect.mean == pytest.approx((a - b).mean())
    assert pooled.mean_a == pytest.approx(a.mean())
    written = write_report(result, tmp_path / "out")
    assert "case-tiny-precision-recall.png" in [path.name for path in written]
    assert "### tuned - ql mu=10, AP" in written[0].read_text()
    assert "| all queries |" in as_text(result)
    rows = json.loads(written[1].read_text())["comparisons"]
    assert [row["queries"] for row in rows] == ["tiny", "twin", "all queries"]
    assert rows[2]["p"]["sign"] == pooled.tests["sign"].p_value


def test_one_data_set_is_not_pooled(tiny, tmp_path):
    text = EXPERIMENT.replace('["tiny", "twin"]', '["tiny"]')
    (compared,) = run_experiment(_read(tmp_path, text)).comparisons
    assert list(compared.rows) == ["tiny"]


def test_ratios_to_the_best_of_a_sweep(pair, tmp_path):
    result = run_experiment(_read(tmp_path))
    (ratios,) = result.ratios
    for dataset in ("tiny", "twin"):
        best = max(result.value(dataset, f"ql mu={mu}", "AP") for mu in (10, 1000))
        assert ratios.values[dataset] == pytest.approx(result.value(dataset, "rm3", "AP") / best)
        assert ratios.best[dataset][1] == best
    assert [*ratios.values] == ["tiny", "twin"]  # all of the experiment: the file names none for the ratio
    assert ratios.mean == pytest.approx(sum(ratios.values.values()) / 2)
    assert ratios.worst == min(ratios.values.values())
    assert [bar.reached for bar in result.bars] == [True, False]
    assert not result.ok
    markdown = as_markdown(result)
    assert f"reached: mean ratio of rm3 to the best ql, AP: {ratios.mean:.4f} >= 0.1" in markdown
    assert f"MISSED: least ratio of rm3 to the best ql, AP: {ratios.worst:.4f} >= 5" in markdown
    assert re.search(rf"\| {ratios.values['twin']:.4f} +\|", markdown)

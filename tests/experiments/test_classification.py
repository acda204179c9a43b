"""Classification experiments: splits, subscripts, tuning, tables, and what a file should not say."""

import gzip
import json

import numpy as np
import pytest
from scipy import stats

from germane.errors import InputError, ParameterError
from germane.evaluate.measures import Evaluation
from germane.experiments import as_json, as_markdown, expected_toml, read_experiment, run_experiment
from germane.experiments.classification import Split, measured, random_splits
from germane.experiments.classifiers import classifier_named
from germane.experiments.labelled_sets import load_labelled
from germane.experiments.verdicts import on_shared, significantly_better, subscript

EXPERIMENT = """
kind = "classification"
title = "Fruit"
datasets = ["fruit:given", "fruit"]
measures = ["accuracy"]
splits = 8
seed = 3
[[system]]
name = "Multi-L"
model = "multinomial-laplace"
parameters = { delta = 0.1 }
[[system]]
name = "weak"
model = "multinomial-laplace"
parameters = { delta = 1e17 }
splits = 6
[[system]]
name = "tuned"
model = "multinomial-laplace"
tune = { delta = [1e17, 1.0] }
[[at_least]]
system = "Multi-L"
other = "weak"
measure = "accuracy"
datasets = ["fruit"]
significant = true
[[compare]]
a = "Multi-L"
b = "weak"
measure = "accuracy"
[reference]
source = "a garden"
fruit.Multi-L = { accuracy = 0.5 }
"""
WORDS = {
    "apple": ["core", "crisp", "orchard", "cider"],
    "banana": ["peel", "yellow", "bunch", "tropical"],
    "cherry": ["stone", "stem", "orchard", "red"],
}


@pytest.fixture
def fruit(tmp_path, monkeypatch):
    """Ninety short documents of three classes, unevenly long; a fifth of the words are noise."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(90):
        label = [*WORDS][i % 3]
        n = int(rng.integers(2, 5)) * (4 if label == "apple" else 1)
        words = [str(rng.choice(WORDS[label if rng.random() < 0.7 else [*WORDS][rng.integers(3)]])) for _ in range(n)]
        split = "test" if i % 5 == 4 else "train"
        rows.append({"id": f"d{i}", "title": "", "text": " ".join(words), "label": label, "split": split})
    _write(tmp_path / "data" / "fruit", rows)
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def baskets(fruit):
    """The same with several labels a document, or none."""
    rows = []
    for i in range(80):
        topics = [name for j, name in enumerate(WORDS) if (i >> j) & 1]
        words = [WORDS[topic][(i + j) % 4] for topic in topics for j in range(3)]
        text = " ".join([*words, "market", "price"])
        rows.append(
            {"id": f"b{i}", "title": "", "text": text, "topics": topics, "split": ["train", "test"][i % 4 == 3]}
        )
    _write(fruit / "data" / "baskets", rows)
    return fruit


def _write(folder, rows):
    folder.mkdir(parents=True)
    with gzip.open(folder / "docs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def _read(folder, text=EXPERIMENT):
    path = folder / "case.toml"
    path.write_text(text)
    return read_experiment(path)


# The notation of SD tables 4.1 and 4.2.


@pytest.mark.parametrize(
    ("own", "better_than", "n", "text"),
    [
        (1, {2, 4, 7}, 7, "2,4,7"),  # table 4.2, Multi-L
        (2, set(), 7, ""),
        (3, {7, 1, 2}, 7, "1,2,7"),
        (5, {1, 2, 3, 4, 7}, 7, "A-6"),
        (6, {1, 2, 3, 4, 5, 7}, 7, "A"),
        (4, {1, 2, 3, 6}, 6, "A-5"),  # table 4.1, Dir
        (1, {6}, 6, "6"),
        (1, {2}, 2, "A"),
        (1, {2}, 3, "2"),  # not A-3
        (1, set(), 1, ""),
    ],
)
def test_subscripts(own, better_than, n, text):
    assert subscript(own, better_than, n) == text


def _evaluation(values, first=1):
    column = np.array(values, float)
    names = tuple(f"split {i}" for i in range(first, first + len(values)))
    return Evaluation(("accuracy",), names, {"accuracy": column}, {"accuracy": float(column.mean())})


def test_both_tests_must_agree():
    b = np.linspace(0.5, 0.6, 10)
    better = b + 0.01 + 0.001 * np.arange(10)
    assert significantly_better(_evaluation(better), _evaluation(b), "accuracy")
    assert not significantly_better(_evaluation(b), _evaluation(better), "accuracy")
    five = better[:5], b[:5]
    assert stats.ttest_rel(*five).pvalue < 0.05
    assert not significantly_better(*map(_evaluation, five), "accuracy")  # five wins of five: p = 1/16
    assert not significantly_better(_evaluation([0.9]), _evaluation([0.1]), "accuracy")


def test_systems_are_compared_on_the_splits_both_have():
    a, b = on_shared(_evaluation([1, 2, 3, 4]), _evaluation([5, 6], first=2))
    assert a.query_ids == b.query_ids == ("split 2", "split 3")
    assert a.per_query("accuracy") == {"split 2": 2.0, "split 3": 3.0}
    assert (a["accuracy"], b["accuracy"]) == (2.5, 5.5)


# Splits.


def test_splits_are_stratified_and_seeded():
    y = np.repeat([0, 1, 2, 3], [50, 20, 2, 1])
    splits = random_splits(y, 4, 0.2, random_state=1)
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(len(y)))
        assert np.bincount(y[split.test], minlength=4).tolist() == [10, 4, 1, 0]
    assert len({tuple(split.test) for split in splits}) == 4
    again = random_splits(y, 2, 0.2, random_state=1)  # fewer splits are the first ones
    assert all(np.array_equal(a.test, b.test) for a, b in zip(again, splits, strict=False))
    assert not np.array_equal(random_splits(y, 1, random_state=2)[0].test, splits[0].test)


def test_splits_of_multi_label_documents():
    y = np.random.default_rng(0).random((50, 3)) < 0.4
    (split,) = random_splits(y, 1, 0.3)
    assert len(split.test) == 15
    assert len({*split.train.tolist(), *split.test.tolist()}) == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(9), 0), "number of splits must be 1 or more"),
        ((np.zeros(9), 1, 1.0), "strictly between 0 and 1"),
        ((np.zeros(1), 1), "two or more can"),
    ],
)
def test_impossible_splits(arguments, message):
    with pytest.raises(ParameterError, match=message):
        random_splits(*arguments)


# Running.


def test_an_experiment(fruit):
    experiment = _read(fruit)
    steps = []
    result = run_experiment(experiment, on_progress=lambda dataset, system: steps.append((dataset, system)))
    assert steps == [(d, s) for d in ("fruit:given", "fruit") for s in ("Multi-L", "weak", "tuned")]
    found = result.evaluations["fruit"]
    assert [len(found[name].query_ids) for name in ("Multi-L", "weak", "tuned")] == [8, 6, 8]
    assert result.parameters["fruit"]["tuned"] == result.parameters["fruit:given"]["tuned"] == "delta=1"
    assert result.ok
    data = load_labelled("fruit")
    split = random_splits(data.y, 8, 0.2, random_state=3)[5]
    by_hand = classifier_named("multinomial-laplace", {"delta": 0.1}).fit(data.X[split.train], data.y[split.train])
    accuracy = (by_hand.predict(data.X[split.test]) == data.y[split.test]).mean()
    assert found["Multi-L"].per_query("accuracy")["split 6"] == pytest.approx(accuracy)
    published = classifier_named("multinomial-laplace", {"delta": 0.1}).fit(data.X[data.train], data.y[data.train])
    assert result.value("fruit:given", "Multi-L", "accuracy") == pytest.approx(
        (published.predict(data.X[data.test]) == data.y[data.test]).mean()
    )
    figure = next(f for f in result.figures if (f.dataset, f.system) == ("fruit", "Multi-L"))
    assert figure.deviation == pytest.approx(found["Multi-L"].values["accuracy"].std(ddof=1))
    assert figure.better_than == "2"
    given = next(f for f in result.figures if f.dataset == "fruit:given")
    assert (given.deviation, given.better_than) == (None, None)


def test_the_report(fruit):
    result = run_experiment(_read(fruit))
    markdown = as_markdown(result)
    value, spread = result.figures[3].value, result.figures[3].deviation
    assert f"{value:.4f} ± {spread:.4f} _2 (0.5)" in markdown
    assert "| 2 weak" in markdown
    assert "two-tailed paired t-test and the sign test at 95%" in markdown
    assert "Paired, two-sided tests over splits" in markdown
    assert "## Data sets" in markdown
    assert "8 random splits, seed 3, class by class; fewer splits: weak 6" in markdown
    assert "72 train and 18 test, as published" in markdown
    assert ", significantly" in markdown
    assert json.loads(as_json(result))["figures"][3]["better_than"] == "2"
    held = run_experiment(_read(fruit, EXPERIMENT + expected_toml(result)))
    assert held.ok
    assert all(figure.expected is not None for figure in held.figures)


def test_a_significant_bar_can_be_missed(fruit):
    twins = EXPERIMENT.replace('other = "weak"\nmeasure', 'other = "tuned"\nmeasure')
    result = run_experiment(_read(fruit, twins.replace("delta = [1e17, 1.0]", "delta = [0.1]")))
    assert [bar.reached for bar in result.bars] == [False]


def test_tuning_sees_the_first_training_set_only(fruit):
    """The validation part is cut from it; what is chosen depends on nothing else."""
    experiment = _read(fruit, EXPERIMENT.replace('["fruit:given", "fruit"]', '["fruit"]'))
    data = load_labelled("fruit")
    split = random_splits(data.y, 1, 0.2, random_state=3)[0]
    (inner,) = random_splits(data.y[split.train], 1, 0.2, random_state=3)
    within = Split(split.train[inner.train], split.train[inner.test])
    values = {d: measured(data, within, "multinomial-laplace", {"delta": d}, ["accuracy"]) for d in (1e17, 1.0)}
    best = max(values, key=lambda d: values[d]["accuracy"])
    assert run_experiment(experiment).parameters["fruit"]["tuned"] == f"delta={best:g}"


@pytest.mark.parametrize("model", ["multinomial-jm", "bernoulli", "dcm", "dirichlet", "sd", "sd-ce"])
def test_ranking_multi_label_documents(baskets, model):
    data = load_labelled("baskets")
    split = Split(np.flatnonzero(data.train), np.flatnonzero(data.test))
    found = measured(data, split, model, {}, ["macroBEP", "microBEP"])
    assert 0.7 <= found["macroBEP"] <= 1.0


@pytest.mark.parametrize("model", ["tfidf-svm", "raw-tfidf-svm", "smoothed-svm"])
def test_linear_svms(baskets, model):
    for name, measure in (("baskets", "microBEP"), ("fruit", "macroF1")):
        data = load_labelled(name)
        split = Split(np.flatnonzero(data.train), np.flatnonzero(data.test))
        assert measured(data, split, model, {"C": 1.0}, [measure])[measure] > 0.5


def test_measures_that_do_not_suit(baskets):
    swapped = EXPERIMENT.replace('["fruit:given", "fruit"]', '["baskets"]').replace('["fruit"]', '["baskets"]')
    with pytest.raises(ParameterError, match="accuracy cannot be measured on 'baskets'; there are: macroBEP"):
        run_experiment(_read(baskets, swapped))
    with pytest.raises(ParameterError, match="complement-nb ranks no documents"):
        classifier_named("complement-nb", {}, ranking=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "classification"', 'kind = "guessing"'), "no kind 'guessing' of experiments; there are: retrieval"),
        (('model = "multinomial-laplace"', 'model = "oracle"'), "no classifier 'oracle'; there are: multinomial"),
        (("{ delta = 0.1 }", "{ mu = 0.1 }"), "system 'Multi-L': classifier 'multinomial-laplace' has no parameter mu"),
        (("delta = [1e17, 1.0]", "delta = []"), "system 'tuned' has no value for 'delta'"),
        (("tune = {", "parameters = { delta = 1 }\ntune = {"), "system 'tuned' both fixes and tunes 'delta'"),
        (("splits = 6", "splits = 9"), "system 'weak' can be measured on 1 to 8 splits"),
        (("splits = 8", "splits = 0"), "1 to 0 splits"),
        (('measures = ["accuracy"]', 'measures = ["AP"]'), "no measure 'AP' of classifiers"),
        (('measures = ["accuracy"]', "measures = []"), "names no measure"),
        (("seed = 3", "seed = 3\ntest_share = 1.5"), "test_share must lie strictly between 0 and 1"),
        (("seed = 3", "seed = 3\nk = 10"), "'k'"),
        (("seed = 3", 'seed = 3\ntuning = { method = "magic" }'), "no way to tune called 'magic'"),
        (('other = "weak"', "value = 0.5"), "significant against no other system"),
        (('name = "weak"', 'name = "Multi-L"'), "two systems have one name"),
    ],
)
def test_bad_files(tmp_path, change, message):
    with pytest.raises(InputError, match=message) as caught:
        _read(tmp_path, EXPERIMENT.replace(*change))
    assert caught.value.source.endswith("case.toml")

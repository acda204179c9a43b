"""Refinement experiments: lists, marks, measures, figures by collection and over lists, and bad files."""

import gzip
import json

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from germane.errors import InputError
from germane.experiments import (
    as_json,
    as_markdown,
    expected_toml,
    read_experiment,
    run_experiment,
    write_report,
)
from germane.experiments.initialisations import Initialisations, control_table, initialised_f1
from germane.experiments.marked_lists import (
    ListRules,
    ListSource,
    average_precision,
    judged_queries,
    marked_lists,
    marks_from_the_top,
    set_f1,
    set_measures,
    source_documents,
    word_counts,
)
from germane.experiments.refinement import ALL, MEANS
from germane.refine.multi_mixture import MultiMixtureAIB, MultiMixtureRandom
from germane.refine.registry import method_named
from germane.text import Analyzer, Synonyms

EXPERIMENT = """
kind = "refine"
title = "Gardens"
measures = ["F1", "AP", "precision", "recall"]
[lists]
top = 50
min_length = 10
[timing]
against = "NB"
[initialisations]
components = [1, 3]
runs = 2
lists = 1
seed = 5
[[system]]
name = "original"
method = "original"
[[system]]
name = "NB"
method = "nb"
[[system]]
name = "auto"
method = "auto"
decision = "expected-f1"
[[at_least]]
system = "auto"
other = "original"
measure = "AP"
datasets = ["all lists"]
significant = true
[[compare]]
a = "auto"
b = "NB"
measure = "AP"
[[collection]]
name = "fruit"
documents = "garden/fruit.jsonl.gz"
relevant = { included = 1 }
queries = ["garden plant", "garden soil", "plant soil water"]
[[collection]]
name = "kinds"
documents = "garden/fruit.jsonl.gz"
text = ["abstract"]
where = { half = "b" }
queries = [
    { text = "garden plant", relevant = { kind = "vegetable" } },
    { text = "water soil", relevant = { kind = "vegetable" } },
    { text = "soil plant", relevant = { kind = "flower" } },
]
[[collection]]
name = "judged"
documents = "garden/fruit.jsonl.gz"
topics = "garden/queries.tsv"
judgements = "garden/qrels.txt"
above = 1
min_relevant = 5
"""
WORDS = {
    "fruit": ["apple", "cherry", "orchard", "cider", "juice"],
    "vegetable": ["carrot", "leek", "soup", "root", "cabbage"],
    "flower": ["rose", "tulip", "petal", "vase", "scent"],
}
SHARED = ["garden", "plant", "soil", "water"]


@pytest.fixture
def garden(tmp_path, monkeypatch):
    """120 short texts of three kinds: all match the queries, and a word in five is of another kind."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(120):
        kind = [*WORDS][int(rng.integers(3))]
        own = [str(rng.choice(WORDS[kind if rng.random() < 0.8 else [*WORDS][rng.integers(3)]])) for _ in range(8)]
        words = [*own, *map(str, rng.choice(SHARED, 4)), "1987", "x"]
        rows.append({
            "id": f"d{i}", "title": "", "abstract": " ".join(words), "kind": kind, "half": "ab"[i % 2],
            "included": int(kind == "fruit"),
        })  # fmt: skip
    folder = tmp_path / "data" / "garden"
    folder.mkdir(parents=True)
    with gzip.open(folder / "fruit.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (folder / "queries.tsv").write_text("q1\tgarden\nq2\twater\nq3\tsoil\nq4\tplant\n")
    grades = {"q1": "flower", "q2": "fruit", "q4": "vegetable"}
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {row['id']} {2 if row['kind'] == kind else 1}\n" for q, kind in grades.items() for row in rows)
        + "q3 0 d0 2\n"
    )
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    return tmp_path


def _read(folder, text=EXPERIMENT):
    path = folder / "case.toml"
    path.write_text(text)
    return read_experiment(path)


# Marks, as Refine §VI sets them.


def _marks(flags, n, **rules):
    relevant = np.array([flag == "+" for flag in flags])
    labels = marks_from_the_top(relevant, n, ListRules(min_length=1, min_left=1, **rules))
    return None if labels is None else "".join("?-+"[label + 1] for label in labels)


def test_the_first_relevant_and_what_stands_above_the_last_of_them():
    assert _marks("--+--+-+-", 2) == "--+--+???"


def test_more_are_marked_where_too_few_are_rejected():
    assert _marks("+-+--+--+", 2) is None  # four rejected only above the last one, and then nothing is left
    assert _marks("+-+--+-+-+", 2) == "+-+--+-+??"
    assert _marks("++++++----+-+", 2) is None  # five relevant marks at most


def test_unusable_lists():
    assert _marks("--+--+", 2) is None  # nothing left to find
    assert _marks("--+--+-+", 2, max_depth=5) is None  # marked too far down
    assert _marks("++++++++", 2) is None  # nobody was rejected
    assert marks_from_the_top(np.array([False] * 4 + [True] * 9), 2, ListRules()) is None  # too short


def test_counts_hold_no_numbers_and_single_letters():
    assert word_counts(["apple 1987 x apple b12", "y 3"]).toarray().tolist() == [[2.0], [0.0]]


def test_a_vocabulary_changes_what_is_refined_and_not_the_lists(garden):
    experiment = _read(garden)
    analyzer = Analyzer(synonyms=Synonyms(dict.fromkeys(WORDS["fruit"], "fruit")))
    plain, read = (
        list(marked_lists(experiment.collections, experiment.rules, analyzer=each)) for each in (None, analyzer)
    )
    assert [each.query for each in plain] == [each.query for each in read]
    for one, other in zip(plain, read, strict=True):
        assert (one.labels == other.labels).all()
        assert (one.relevant == other.relevant).all()
        assert other.results.counts.shape[1] == one.results.counts.shape[1] - len(WORDS["fruit"]) + 1
        assert other.results.counts.sum() == one.results.counts.sum()


# Sources.


def test_relevance_by_fields_and_by_judgements(garden):
    fruit, kinds, judged = _read(garden).collections
    documents = source_documents(fruit)
    assert len(documents) == 120
    queries = list(judged_queries(fruit, documents))
    assert [query.text for query in queries] == ["garden plant", "garden soil", "plant soil water"]
    assert queries[0].relevant.tolist() == [document.fields["included"] == 1 for document in documents]
    half = source_documents(kinds)
    assert {document.fields["half"] for document in half} == {"b"}
    found = [query.relevant.sum() for query in judged_queries(kinds, half)]
    assert found[0] == found[1] == sum(document.fields["kind"] == "vegetable" for document in half)
    topics = list(judged_queries(judged, documents))
    assert [query.text for query in topics] == ["garden", "water", "plant"]  # soil has too few relevant documents
    assert topics[0].relevant.tolist() == [document.fields["kind"] == "flower" for document in documents]


def test_lists_of_judged_documents_and_the_first_topics(garden):
    qrels = garden / "data" / "garden" / "qrels.txt"
    qrels.write_text("".join(line for line in qrels.read_text().splitlines(True) if int(line.split()[2][1:]) < 40))
    source = ListSource(
        "judged", "garden/fruit.jsonl.gz", topics="garden/queries.tsv", judgements="garden/qrels.txt", above=1, first=2,
        min_relevant=5, judged_only=True,
    )  # fmt: skip
    queries = list(judged_queries(source, source_documents(source)))
    assert [query.text for query in queries] == ["garden", "water"]
    assert queries[0].among.sum() == 40
    for each in marked_lists([source], ListRules(min_length=5, min_left=1)):
        assert len(each.labels) <= 40


def test_lists_are_what_the_search_finds(garden):
    experiment = _read(garden)
    lists = list(marked_lists(experiment.collections, experiment.rules))
    assert {each.collection for each in lists} == {"fruit", "kinds", "judged"}
    for each in lists:
        marked = ~each.rest
        assert len(each.results) == len(each.labels) <= 50
        assert (each.labels[marked] == each.relevant[marked]).all()
        assert not each.rest[: marked.sum()].any()
        assert 2 <= (each.labels == 1).sum() <= 5
        assert (each.labels == 0).sum() >= 4
        assert each.relevant[each.rest].sum() >= 5


# Measures.


def test_average_precision_by_hand():
    assert average_precision([0.1, 0.9, 0.5], [1, 0, 1]) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert average_precision([0.5, 0.5, 0.5], [0, 1, 0]) == 0.5  # ties stay in order
    assert average_precision([0.5], [0]) == 0.0


def test_f1_by_hand():
    assert set_f1([1, 1, 0, 0], [1, 0, 1, 0]) == pytest.approx(2 * 0.5 * 0.5 / (0.5 + 0.5))
    assert set_f1([0, 0], [1, 0]) == 0.0


def test_precision_and_recall_are_those_of_scikit_learn():
    rng = np.random.default_rng(7)
    for _ in range(20):
        truth, guess = rng.random((2, 30)) < 0.3
        expected = metrics.precision_recall_fscore_support(truth, guess, average="binary", zero_division=0)[:3]
        found = set_measures(guess, truth)
        assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


# Experiments.


def test_figures_by_collection_over_lists_and_over_collections(garden):
    steps = []
    result = run_experiment(_read(garden), on_progress=lambda dataset, system: steps.append((dataset, system)))
    assert steps[1:4] == [(ALL, "original"), (ALL, "NB"), (ALL, "auto")]
    found = result.evaluations
    assert [*found] == ["fruit", "kinds", "judged", ALL, MEANS]
    lists = list(marked_lists(result.experiment.collections, result.experiment.rules))
    auto = found[ALL]["auto"]
    assert auto.query_ids == tuple(f"{each.collection}: {each.query}" for each in lists)
    each = lists[0]
    log_odds = method_named("nb").refine(each.results, each.labels).log_odds[each.rest]
    truth = each.relevant[each.rest]
    values = found[ALL]["NB"].values
    assert values["F1"][0] == pytest.approx(set_f1(log_odds > 0, truth))
    assert values["AP"][0] == pytest.approx(average_precision(log_odds, truth))
    assert values["precision"][0] == pytest.approx(metrics.precision_score(truth, log_odds > 0))
    assert values["recall"][0] == pytest.approx(metrics.recall_score(truth, log_odds > 0))
    assert found[MEANS]["auto"].values["AP"][0] == pytest.approx(found["fruit"]["auto"]["AP"])
    assert found[MEANS]["auto"]["AP"] == pytest.approx(np.mean([found[name]["auto"]["AP"] for name in list(found)[:3]]))
    assert found[ALL]["original"].measures == ("AP",)
    assert auto["AP"] > found[ALL]["original"]["AP"]
    (compared,) = result.comparisons
    assert [*compared.rows] == [ALL, MEANS]
    expected = stats.wilcoxon(auto.values["AP"] - values["AP"]).pvalue
    assert compared.rows[ALL].tests["wilcoxon"].p_value == pytest.approx(expected)


def test_the_report(garden):
    result = run_experiment(_read(garden))
    markdown = as_markdown(result)
    for heading in ("CPU time of a refinement", "Reliability of P(relevant)", "Lists", "AP of each list (%)"):
        assert f"## {heading}" in markdown
    assert "## F1\n\n|                  | original | NB" in markdown
    assert "times faster than NB" in markdown
    assert "significantly" in markdown
    assert json.loads(as_json(result))["tables"]["Lists"][1][1] == "fruit"
    assert "ms" not in expected_toml(result)
    written = [path.name for path in write_report(result, garden / "out")]
    assert written == ["case.md", "case.json", "case-reliability.png", "case-random-initialisations.png"]
    held = run_experiment(_read(garden, EXPERIMENT + expected_toml(result)))
    assert held.ok == result.ok
    assert all(figure.expected is not None for figure in held.figures)


def test_random_initialisations_are_seeded_and_one_component_is_em(garden):
    experiment = _read(garden)
    each = next(marked_lists(experiment.collections, experiment.rules))
    asked = Initialisations(components=[1, 3], runs=4, seed=2)
    found = initialised_f1(each, asked)
    assert found.shape == (2, 4)
    assert (found == initialised_f1(each, asked)).all()
    em = method_named("em").refine(each.results, each.labels).log_odds[each.rest]
    assert found[0] == pytest.approx(set_f1(em > 0, each.relevant[each.rest]))


@pytest.mark.parametrize("weights", ["tfidf", "seen"])
def test_clusters_are_held_against_as_many_random_components(garden, weights):
    experiment = _read(garden)
    lists = list(marked_lists(experiment.collections, experiment.rules))
    method = MultiMixtureAIB(weights=weights)
    (_, row) = control_table({"AIB": method}, Initialisations(runs=2), lists)
    found = [method.refine(each.results, each.labels) for each in lists]
    assert row[1] == f"{np.mean([len(refined.components) for refined in found]):.1f}"
    f1 = [
        set_f1(refined.log_odds[each.rest] > 0, each.relevant[each.rest])
        for each, refined in zip(lists, found, strict=True)
    ]
    assert row[2] == f"{100 * np.mean(f1):.1f}"
    dealt = []
    for each, refined in zip(lists, found, strict=True):
        for seed in (0, 1):
            random = MultiMixtureRandom(components=len(refined.components), random_state=seed, weights=weights)
            log_odds = random.refine(each.results, each.labels).log_odds
            dealt.append(set_f1(log_odds[each.rest] > 0, each.relevant[each.rest]))
    assert row[3] == f"{100 * np.mean(dealt):.1f}"


def test_too_few_rejected_results_for_the_components(garden):
    with pytest.raises(InputError, match="no list has 40 rejected results"):
        run_experiment(_read(garden, EXPERIMENT.replace("components = [1, 3]", "components = [40]")))


def test_a_collection_without_a_usable_list(garden):
    with pytest.raises(InputError, match="no list of 'fruit' can be used"):
        run_experiment(_read(garden, EXPERIMENT.replace("top = 50", "top = 9")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('method = "nb"', 'method = "oracle"'), "system 'NB': there is no method 'oracle'"),
        (('method = "nb"', 'method = "nb"\nparameters = { T0 = 2 }'), "system 'NB': method 'nb' has no parameter T0"),
        (('method = "nb"', 'method = "nb"\ntune = { T0 = [2] }'), "system 'NB': methods of refinement are not tuned"),
        (('"expected-f1"', '"guess"'), "decides by one of log-odds, expected-f1, not 'guess'"),
        (('measures = ["F1", "AP"', 'measures = ["RR", "AP"'), "measures of a refinement are F1, AP, precision"),
        (('against = "NB"', 'against = "TSVM"'), "times are compared with a system that is not run: 'TSVM'"),
        (("runs = 2", "runs = 0"), "initialisations need"),
        (('name = "kinds"', 'name = "fruit"'), "collections need names of their own"),
        (('name = "kinds"', 'name = "all lists"'), "collections need names of their own"),
        (("relevant = { included = 1 }", ""), "does not say which documents are relevant"),
        (('judgements = "garden/qrels.txt"', ""), "needs either queries, or topics and judgements"),
        (('measure = "AP"\ndatasets', 'measure = "F1"\ndatasets'), "'original' predicts no set"),
        (('b = "NB"', 'b = "TSVM"'), "a system that is not run: 'TSVM'"),
        (("[lists]", "[lists]\nbottom = 3"), "bottom"),
    ],
)
def test_bad_files(tmp_path, change, message):
    with pytest.raises(InputError, match=message) as caught:
        _read(tmp_path, EXPERIMENT.replace(*change))
    assert caught.value.source.endswith("case.toml")

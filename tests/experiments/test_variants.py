"""Collections made of others, and an experiment that leaves each out with its family."""

import csv
import gzip
import json

import pytest

from germane.errors import InputError
from germane.experiments import as_json, as_markdown, read_experiment, run_experiment
from germane.experiments.collections import Collection
from germane.experiments.judged_lists import LISTS, read_list
from germane.experiments.left_out import leave_one_out, nested
from germane.experiments.variants import Variant

EXPERIMENT = """
title = "Left out"
datasets = ["tiny", "short", "other", "shop"]
measures = ["AP"]
[tuning]
yardstick = "ql"
[variants.short]
of = ["tiny"]
words = 3
[variants.shop]
of = ["homedepot"]
[variants.other]
of = ["homedepot", "tiny"]
family = "other"
queries = 5
[[system]]
name = "ql"
model = "dirichlet"
sweep = { mu = [10, 400] }
[[system]]
name = "bm25"
model = "bm25"
choose = { "k1, b" = [[0.5, 0.2], [2.0, 0.9]] }
[[system]]
name = "plain"
model = "bm25"
[[system]]
name = "adaptive"
model = "adaptive"
choose = { idf = [0.5, 3.0] }
[[system]]
name = "rm3"
feedback = "rm3"
[[nested]]
name = "best kind"
systems = ["bm25", "adaptive"]
[[mean_ratio]]
system = "rm3"
against = "ql"
measure = "AP"
datasets = ["tiny", "short", "other", "shop"]
before = "plain"
hurt = 0.0
"""


@pytest.fixture
def shop(tiny):
    """A list of products beside the small collection."""
    folder = tiny.parent / "homedepot"
    folder.mkdir()
    with gzip.open(folder / "labels.tsv.gz", "wt") as file:
        write = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        write.writerow(["query_id", "split", "query", "product_id", "title", "relevance"])
        for i in range(30):
            title = f"{'angle' if i % 2 else 'plate'} bracket {i % 7}"
            write.writerow([f"h{i % 3}", "train", ("angle", "plate", "bracket 3")[i % 3], f"p{i}", title, 1 + i % 3])
    return tiny


def test_words_fields_and_samples(shop) -> None:
    whole = Variant(["tiny"]).read()
    short = Variant(["tiny"], words=2, queries=3).read()
    titles = Variant(["tiny"], fields=["title"]).read()
    assert len(whole.documents) == len(short.documents) == 40
    assert all(len(document.fields["text"].split()) <= 2 for document in short.documents)
    assert [document.fields["text"] for document in titles.documents[:2]] == ["heart", "attack"]
    assert len(short.topics) == 3
    assert short.qrels.keys() == {topic.id for topic in short.topics}
    assert {topic.id for topic in whole.topics} == {f"q{i}" for i in range(6)}  # the judged ones
    few = Variant(["tiny"], documents=35).read()
    judged = {doc for grades in few.qrels.values() for doc in grades}
    kept = {document.id for document in few.documents}
    assert len(kept) == 35
    assert judged <= kept
    assert Variant(["tiny"], documents=35).read() == few


def test_merged_collections_keep_their_ids_apart(shop) -> None:
    both = Variant(["tiny", "homedepot"]).read()
    assert len(both.documents) == 70
    assert {document.id.split("/")[0] for document in both.documents} == {
        "tiny",
        "homedepot",
    }
    assert both.qrels["tiny/q0"] == {f"tiny/d{j}": 1 for j in range(0, 40, 9)}
    assert Variant(["tiny", "homedepot"]).left_out_with == "tiny + homedepot"
    with_words = Collection.of_variant("all words", Variant(["tiny"], stopwords="none", stemmer="none"))
    assert with_words.engine.analyzer.stemmer == "none"
    assert len(with_words.engine) == 40
    again = Collection.of_variant("all words", Variant(["tiny"], stopwords="none", stemmer="none", family="f"))
    assert again.engine.folder == with_words.engine.folder  # the family has no part in the index
    assert Collection.of_variant("all words", Variant(["tiny"], words=1)).engine.folder != with_words.engine.folder


def test_lists_are_collections(shop) -> None:
    found = read_list("homedepot")
    assert found.qrels["h2"]["p2"] == 1
    assert found.qrels["h0"]["p0"] == 0
    assert len(list(found.documents)) == 30
    assert len(found.topics) == 3
    assert {*LISTS} == {"homedepot", "chorus_electronics", "dbpedia_entity_v2", "nfcorpus_titles", "csfcube"}


@pytest.fixture
def result(shop, tmp_path):
    path = tmp_path / "left.toml"
    path.write_text(EXPERIMENT)
    return run_experiment(read_experiment(path))


def test_settings_are_chosen_by_the_other_families(result) -> None:
    """By the ratio to the best query likelihood; a variant has no say where its collection is left out."""
    assert result.experiment.families == {"short": "tiny", "shop": "homedepot", "other": "other"}
    chosen = {dataset: row["bm25"] for dataset, row in result.parameters.items()}
    assert chosen["tiny"] == chosen["short"]  # chosen by the same others
    assert {*chosen.values()} <= {"k1=0.5 b=0.2", "k1=2 b=0.9"}
    for dataset, row in result.parameters.items():
        kind, setting = row["best kind"].split(": ")
        assert row[kind] == setting
        assert result.value(dataset, "best kind", "AP") == result.value(dataset, kind, "AP")


def test_queries_hurt_are_told(result) -> None:
    (ratios,) = result.ratios
    for dataset, share in ratios.hurt.items():
        after = result.evaluations[dataset]["rm3"].values["AP"]
        before = result.evaluations[dataset]["plain"].values["AP"]
        assert share == pytest.approx(sum(a < 0.8 * b for a, b in zip(after, before, strict=True)) / len(after))
    families = [(ratios.hurt["tiny"] + ratios.hurt["short"]) / 2, ratios.hurt["other"], ratios.hurt["shop"]]
    assert ratios.mean_hurt == pytest.approx(sum(families) / 3)
    values = ratios.values
    assert ratios.mean == pytest.approx(((values["tiny"] + values["short"]) / 2 + values["other"] + values["shop"]) / 3)
    text = as_markdown(result)
    assert f"queries hurt by rm3 beside plain: {ratios.mean_hurt:.1%} <= 0.0%" in text
    assert "| queries hurt " in text
    assert "| 95% interval " in text
    assert json.loads(as_json(result))["ratios"][0]["mean_hurt"] == ratios.mean_hurt


def test_the_same_by_the_tables_alone() -> None:
    """What the experiment does with its rows, `left_out` does with any table, such as the accuracies of classifiers."""
    accuracies = {
        "news": {"svm": [0.9], "nb": [0.8]},
        "web": {"svm": [0.7], "nb": [0.9]},
        "mail": {"svm": [0.9], "nb": [0.7]},
    }
    assert leave_one_out(accuracies).chosen == {"news": "svm", "web": "svm", "mail": "nb"}
    assert nested({"models": accuracies}).figures == leave_one_out(accuracies).figures


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('of = ["tiny"]', "of = []", "made 'of' one data set"),
        ("words = 3", "words = -3", "words of a variant must not be negative"),
        ("words = 3", "letters = 3", "letters"),
        ('systems = ["bm25", "adaptive"]', 'systems = ["rm3"]', r"\['rm3'\] is not one"),
        ('yardstick = "ql"', 'yardstick = "rm3"', "'rm3' is not a swept system"),
        ('before = "plain"', 'before = "plan"', "'plan'"),
        ('before = "plain"\n', "", "no 'before'"),
    ],
)
def test_mistakes_are_told(tmp_path, old: str, new: str, says: str) -> None:
    assert old in EXPERIMENT
    path = tmp_path / "bad.toml"
    path.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(InputError, match=says):
        read_experiment(path)

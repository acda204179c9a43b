"""Feedback with true marks: what is marked, what is left, and what the systems are judged on, by hand."""

import numpy as np
import pytest
from scipy import stats

from germane.errors import InputError
from germane.experiments import read_experiment, run_experiment
from germane.experiments.collections import Collection
from germane.feedback import RM3

EXPERIMENT = """
kind = "marks"
title = "Tiny marks"
datasets = ["tiny:1", "tiny:2"]
measures = ["AP"]
first = "dirichlet"
depth = 30
rejected = true
[[system]]
name = "bm25"
model = "bm25"
[[system]]
name = "rm3"
feedback = "rm3"
parameters = { n_docs = 4, unmarked = 0.5 }
"""


def read(tmp_path, text):
    path = tmp_path / "marks.toml"
    path.write_text(text)
    return read_experiment(path)


@pytest.mark.parametrize("rejected", [True, False])
def test_systems_are_judged_on_what_is_left(tiny, tmp_path, rejected):
    text = EXPERIMENT if rejected else EXPERIMENT.replace("rejected = true", "rejected = false")
    result = run_experiment(read(tmp_path, text))
    collection = Collection.open("tiny")
    for n in (1, 2):
        expected = {"bm25": [], "rm3": []}
        for topic in collection.topics:
            grades = collection.qrels[topic.id]
            read_down = collection.engine.search(topic.text, 30, model="dirichlet", syntax=False).ids
            relevant = [doc_id for doc_id in read_down if doc_id in grades][:n]
            if len(relevant) < n or len(grades) == n:
                continue
            above = read_down[: read_down.index(relevant[-1]) + 1]
            marks = {doc_id: doc_id in relevant for doc_id in above if rejected or doc_id in relevant}
            method = RM3(n_docs=4, unmarked=0.5)
            for name, asked in (("bm25", {"model": "bm25"}), ("rm3", {"feedback": method, "marks": marks})):
                found = collection.engine.search(topic.text, 1000, syntax=False, **asked)
                scores = zip(found.scores.tolist(), found.ids, strict=True)  # equals as trec_eval has them
                rest = [doc_id for _, doc_id in sorted(scores, reverse=True) if doc_id not in marks]
                hits = [rank for rank, doc_id in enumerate(rest, 1) if doc_id in grades]
                left = len(grades.keys() - marks.keys())
                expected[name].append(sum(i / rank for i, rank in enumerate(hits, 1)) / left)
        for name, values in expected.items():
            assert values
            assert result.value(f"tiny:{n}", name, "AP") == pytest.approx(sum(values) / len(values))
        told = f"{n} marked of the first 30 by dirichlet; {len(values)} queries count"
        assert told in result.conventions[f"tiny:{n}"]


def test_means_over_families_of_data_sets(tiny, tmp_path):
    """Two data sets of one family count as one; the interval is Student's over families."""
    cut = '[variants."tiny, {n}"]\nof = ["tiny"]\nwords = {n}\n{family}'
    variants = "".join(cut.format(n=n, family="" if n < 4 else f'family = "{n}"\n') for n in (2, 3, 4, 5))
    names = ["tiny", *(f"tiny, {n}" for n in (2, 3, 4, 5))]
    datasets = ", ".join(f'"{name}:{n}"' for name in names for n in (1, 2))
    text = EXPERIMENT.replace('"tiny:1", "tiny:2"', datasets).replace("depth = 30", 'depth = 30\nagainst = "rm3"')
    text += 'against = "bm25"\n'
    result = run_experiment(read(tmp_path, text + variants))
    assert result.experiment.inputs == ["tiny"]
    head, families, plain, after = result.tables["AP over data sets"]
    assert head == ["", "difference from", "1 mark", "2 marks"]
    assert families == ["families of data sets", "", "3", "3"]
    assert (plain[:2], after[:2]) == (["bm25", "rm3"], ["rm3", "bm25"])
    for n, before, told in zip((1, 2), plain[2:], after[2:], strict=True):
        bm25, rm3 = (np.array([result.value(f"{name}:{n}", row, "AP") for name in names]) for row in ("bm25", "rm3"))
        families = [np.array([values[:3].mean(), *values[3:]]) for values in (bm25, rm3)]
        gain = families[1] - families[0]
        low, high = stats.t.interval(0.95, 2, gain.mean(), stats.sem(gain))
        assert before == f"{families[0].mean():.4f} ({-gain.mean():+.4f}; {-high:+.4f} to {-low:+.4f})"
        assert told == f"{families[1].mean():.4f} ({gain.mean():+.4f}; {low:+.4f} to {high:+.4f})"


def test_fewer_queries_at_even_distances(tiny, tmp_path):
    every = run_experiment(read(tmp_path, EXPERIMENT))
    some = run_experiment(read(tmp_path, EXPERIMENT.replace("depth = 30", "depth = 30\nqueries = 3")))
    for dataset in ("tiny:1", "tiny:2"):
        whole, part = (found.evaluations[dataset]["rm3"] for found in (every, some))
        n = len(whole.query_ids)
        kept = [0, n // 3, 2 * n // 3]
        assert n > 3
        assert list(part.query_ids) == [whole.query_ids[i] for i in kept]
        assert part.values["AP"] == pytest.approx(whole.values["AP"][kept])
        assert "3 queries count" in some.conventions[dataset]


def test_more_marks_than_any_query_has_relevant_documents(tiny, tmp_path):
    with pytest.raises(InputError, match="no query has 5 relevant documents among the first 30 and one more"):
        run_experiment(read(tmp_path, EXPERIMENT.replace('"tiny:1", "tiny:2"', '"tiny:5"')))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tiny:1", "tiny", "named with the number of marks, as in cranfield:3, not 'tiny'"),
        ("depth = 30", "depth = 30\nqueries = -1", "queries must not be negative"),
        ("tiny:1", "tiny:0", "not 'tiny:0'"),
        ('first = "dirichlet"', 'first = "oracle"', "there is no ranking model 'oracle'"),
        ("depth = 30", "depth = 0", "depth must be 1 or more"),
        ("depth = 30", 'depth = 30\nagainst = "oracle"', "differences are from a system that is not run: 'oracle'"),
        ('model = "bm25"', "", "system 'bm25': a model or feedback is needed"),
        ("n_docs = 4", "speed = 4", "system 'rm3': feedback 'rm3' has no parameter speed"),
        ("parameters = {", "tune = { n_docs = [1] }\nparameters = {", "nothing is tuned with marks"),
    ],
)
def test_what_a_file_must_not_say(tmp_path, old, new, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, EXPERIMENT.replace(old, new))

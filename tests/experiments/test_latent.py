"""Experiments with latent models on a small data set of the same form, and bad files."""

import gzip

import numpy as np
import pytest

from germane.errors import InputError
from germane.evaluate.tied import tied_ndcg
from germane.experiments import as_markdown, read_experiment, run_experiment
from germane.experiments.click_lists import ListRules, load_clicks
from germane.latent import UM, Pairs
from germane.text import Analyzer

EXPERIMENT = """
kind = "latent"
title = "Small"
datasets = ["homedepot"]
measures = ["nDCG@1", "nDCG@10"]
[lists]
added = 5
[analysis]
stemmer = "none"
stopwords = "none"
[[system]]
name = "UM"
model = "um"
parameters = { lambda1 = 0.3 }
[[system]]
name = "BLTM-PR"
model = "bltm-pr"
parameters = { n_topics = 3, n_iterations = 3 }
tune = { lambda1 = [0.1, 0.5], lambda2 = [0.0, 0.5] }
[[system]]
name = "LSA"
model = "lsa"
parameters = { n_dimensions = 3 }
tune = { literal_weight = [0.0, 0.5] }
[[system]]
name = "both"
model = "combination"
of = ["BLTM-PR", "LSA"]
[[compare]]
a = "both"
b = "UM"
measure = "nDCG@10"
"""
THINGS = ["drill", "saw", "lamp", "door", "pipe", "paint"]


@pytest.fixture
def homedepot(tmp_path, monkeypatch):
    """Queries of two words for products; the titles call a thing by another name."""
    folder = tmp_path / "data" / "homedepot"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    with gzip.open(folder / "labels.tsv.gz", "wt") as file:
        file.write("query_id\tsplit\tquery\tproduct_id\ttitle\trelevance\n")
        for number in range(120):
            thing, other = rng.choice(THINGS, 2, replace=False)
            split = "test" if number % 4 == 0 else "train"
            for place, (name, relevance) in enumerate(((thing, "3"), (other, "1.33"))):
                title = f"the{name} model{number}{place} {rng.choice(THINGS) if relevance == '3' else name}"
                file.write(f"q{number:03}\t{split}\tbig {thing}\t{number}{place}\t{title}\t{relevance}\n")
    monkeypatch.setenv("GERMANE_DATA", str(folder.parent))


def read(tmp_path, text):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return read_experiment(path)


def test_pairs_and_lists(homedepot):
    data = load_clicks("homedepot", ListRules(added=5))
    assert len(data.pairs) == 90
    assert len(data.lists) == 30
    for each in data.lists:
        assert len(set(each.titles.tolist())) == len(each.titles) == 7
        assert each.gains[:2] == pytest.approx([2**2 - 1, 2**0.33 - 1])
        assert not each.gains[2:].any()
    again = load_clicks("homedepot", ListRules(added=5))
    assert [each.titles.tolist() for each in again.lists] == [each.titles.tolist() for each in data.lists]


def test_an_experiment(homedepot, tmp_path):
    experiment = read(tmp_path, EXPERIMENT)
    result = run_experiment(experiment)
    data = load_clicks("homedepot", experiment.lists)
    model = UM(lambda1=0.3).fit(Pairs.build(data.pairs, Analyzer("none", "none")))
    documents = model.fold_in(data.titles)
    values = [tied_ndcg(model.score(each.query, documents.take(each.titles)), each.gains, 10) for each in data.lists]
    assert result.value("homedepot", "UM", "nDCG@10") == pytest.approx(np.mean(values))
    assert result.value("homedepot", "BLTM-PR", "nDCG@10") > result.value("homedepot", "UM", "nDCG@10")
    assert result.parameters["homedepot"]["LSA"].count(" / ") == 1
    text = as_markdown(result)
    assert "Steps of the projection" in text
    assert "both" in text
    pytest.importorskip("matplotlib")
    (axes,) = result.drawings["figure-2-homedepot"]().axes  # Clicks figure 2
    (line,) = axes.get_lines()
    steps = line.get_ydata()
    assert (list(line.get_xdata()), axes.get_xlabel()) == ([1, 2, 3], "EM iteration")
    assert all(0 < value <= 5 for value in steps)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('datasets = ["homedepot"]', 'datasets = ["cranfield"]', "has no pairs and lists"),
        ('"nDCG@1", ', '"AP", ', "nDCG@k, not 'AP'"),
        ('model = "lsa"', 'model = "lsi"', "there is no latent model 'lsi'"),
        ("{ literal_weight = [0.0, 0.5] }", "{ n_dimensions = [2, 3] }", "may tune lambda1"),
        ('of = ["BLTM-PR", "LSA"]', 'of = ["BLTM-PR", "OPCA"]', "combines two or more systems above it"),
        ("n_dimensions = 3", "dimensions = 3", "unexpected keyword argument|does not know"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    assert old in EXPERIMENT
    with pytest.raises(InputError, match=message):
        read(tmp_path, EXPERIMENT.replace(old, new))

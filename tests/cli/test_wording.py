"""What people read is made of words and short numbers: no stem that nobody writes, no score with sixteen digits."""

import importlib.util
import json
import re

import pytest

from germane import Engine
from germane.latent import Pairs, latent_named

PLACES = ("Chile", "Nepal", "Japan", "Turkey", "Mexico", "Haiti")
SHAKEN = [
    {"id": f"q{n}", "title": f"Earthquakes shake {place}",
     "text": f"The earthquakes of {place} damaged houses; families fled to neighbouring cities, and emergency "
             "agencies helped."}
    for n, place in enumerate(PLACES)
]  # fmt: skip
CALM = [
    {"id": f"c{n}", "title": f"Libraries of {place}",
     "text": f"The libraries of {place} lend stories, and universities study their categories and histories."}
    for n, place in enumerate(PLACES)
]  # fmt: skip
STEMS = re.compile(r"\b(earthquak|damag|hous|famili|neighbour|emerg|agenc|librari|stori|univers|categori|histori)\b")
LONG = re.compile(r"\d\.\d{7,}")
QUERY = "earthquakes agencies"


@pytest.fixture
def shaken(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in SHAKEN + CALM))
    (tmp_path / "seed.txt").write_text(SHAKEN[0]["text"])
    assert run("index", "docs.jsonl", "--into", "index").exit_code == 0
    (tmp_path / "hits.json").write_text(run("search", "index", "earthquakes libraries", "--json").stdout)
    return tmp_path


COMMANDS = {
    "search": ("search", "index", QUERY),
    "tsv": ("search", "index", QUERY, "--tsv"),
    "feedback": ("search", "index", QUERY, "--feedback", "rm3", "--explain"),
    "groups": ("search", "index", "earthquakes libraries", "--groups", "3"),
    "nothing": ("search", "index", "+earthquaks +volcanoes"),
    "explain": ("explain", "index", QUERY, "q1"),
    "probabilities": ("explain", "index", QUERY, "q1", "--model", "dirichlet", "--probabilities"),
    "phrases": ("explain", "index", '"emergency agencies"', "q1", "--model", "sdm"),
    "stats": ("stats", "index"),
    "refine": ("refine", "hits.json", "--relevant", "q1", "--not", "c1", "--explain"),
    "refine-tsv": ("refine", "hits.json", "--relevant", "q1", "--not", "c1", "--tsv"),
    "refine-topics": ("refine", "hits.json", "--relevant", "q1", "--not", "c1,c2", "--method", "mmem-aib", "--explain"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_stems_and_no_long_numbers(run, shaken, name):
    result = run(*COMMANDS[name])
    assert result.exit_code in (0, 1), result.stderr
    assert STEMS.findall(result.output) == []
    assert LONG.findall(result.output) == []


@pytest.mark.skipif(importlib.util.find_spec("sqlalchemy") is None, reason="the extra `workspace` is not installed")
def test_topics_are_told_in_words(run, shaken):
    assert run("track", "new", "quakes", "--seed", "seed.txt", "--background", "docs.jsonl").exit_code == 0
    found = run("track", "run", "docs.jsonl")
    shown = run("track", "show", "quakes")
    assert "earthquakes" in shown.stdout.split("words: ")[1].splitlines()[0]
    told = json.loads(run("track", "show", "quakes", "--json").stdout)["words"]
    for text in (found.output, shown.output, json.dumps(told)):
        assert STEMS.findall(text) == []
    assert LONG.findall(found.output + shown.output) == []


@pytest.mark.parametrize("name", ["wtm", "bltm", "opca", "combination"])
def test_learnt_models_are_explained_in_words(run, shaken, name):
    pairs = Pairs.build(
        [("quakes", each["title"], 1.0) for each in SHAKEN] + [("reading", each["title"], 1.0) for each in CALM]
    )
    sizes = {"n_topics": 2} if name == "bltm" else {"n_dimensions": 2} if name == "opca" else {}
    sizes = {"parts": "wtm,opca", "n_dimensions": 2} if name == "combination" else sizes
    model = latent_named(name, **sizes).fit(pairs)
    with Engine.open("index") as engine:
        why = engine.explain("quakes reading", "q1", rerank=model)
    told = [part.word for part in why.latent.parts] + [each.name for part in why.latent.parts for each in part.sources]
    assert any("earthquakes" in each.lower() for each in told)
    assert STEMS.findall(" ".join(told)) == []


def test_the_commonest_form_is_told_whatever_segment_has_it(tmp_path):
    with Engine.create(tmp_path / "index") as engine:
        engine.add([{"id": 1, "text": "earthquake"}])
        engine.add([{"id": n, "text": "earthquakes earthquakes"} for n in range(2, 300)])
        assert [part.word for part in engine.explain("earthquake", 2).parts] == ["earthquakes"]
        assert engine.explain("earthquake", 2, model="dirichlet").parts[0].word == "earthquakes"

"""Engines and results in other processes, and how they are shown."""

import copy
import math
import multiprocessing
import pickle
import sys
from dataclasses import asdict, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from germane import AsyncEngine, Document, Engine, Hit
from germane.engine.pipelines import experiment
from germane.errors import GermaneError, ParameterError
from germane.evaluate.compare import compare
from germane.evaluate.measures import evaluate
from germane.rank.snippets import Snippet

HOSTILE = '<script>alert("x")</script> & heart'


def carried(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def searched(engine: Engine, query: str) -> Any:
    """What a worker does: it runs in another process."""
    return engine.search(query, 3, feedback="rm3")


def test_an_engine_is_carried_as_its_path(engine: Engine) -> None:
    engine.max_expansions = 17
    other = carried(engine)
    assert (other.folder, len(other), other.max_expansions) == (engine.folder, 5, 17)
    assert other.search("heart").ids == engine.search("heart").ids
    engine.add([Document("6", {"title": "Heart"})])
    assert len(carried(engine)) == 6


def test_a_relative_path_is_carried_whole(engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(AsyncEngine(Engine.open("index"), threads=1))
    monkeypatch.chdir("/")
    assert pickle.loads(packed).engine.folder == tmp_path / "index"


def test_an_index_in_memory_stays() -> None:
    with Engine.create(":memory:") as engine, pytest.raises(ParameterError, match="make one in a folder"):
        pickle.dumps(engine)


def test_a_result_carries_its_values(engine: Engine) -> None:
    result = engine.search("heart surgery", 2, offset=1)
    for other in (carried(result), copy.deepcopy(result), carried(carried(result))):
        assert isinstance(other, type(result))
        assert list(other) == list(result)
        assert other.to_dict() == result.to_dict()
        assert (other.scores == result.scores).all()
        assert (other.total, other.total_is_exact, other.offset) == (result.total, True, 1)
        told = [each.name for each in fields(result) if not each.name.startswith("_")]
        assert [getattr(other, name) for name in told] == [getattr(result, name) for name in told]
        assert [hit.snippet for hit in other] == [hit.snippet for hit in result]
        assert other.snippet(0, 30) == result.snippet(0, 30)
        assert str(other) == str(result)
        assert other._repr_html_() == result._repr_html_()
        for ask in (lambda: other.facet("year"), lambda: other.groups(2), lambda: other.located):  # noqa: B023
            with pytest.raises(GermaneError, match="before it is carried"):
                ask()


def test_what_feedback_learnt_is_carried(engine: Engine) -> None:
    result = engine.search("heart", 3, feedback="rm3", marks={"1": True})
    report = result.feedback
    assert report is not None
    other = carried(result).feedback
    with pytest.raises(GermaneError, match="before it is carried"):
        other.moves  # noqa: B018
    moves = report.moves
    other = carried(carried(result)).feedback
    for name in ("method", "weights", "topic", "own_rankings", "drift", "words", "documents"):
        assert getattr(other, name) == getattr(report, name)
    assert other.moves == moves
    assert not hasattr(report, "unheard")


def test_a_pool_of_processes(engine: Engine) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(searched, (engine, "heart"))
    assert list(found) == list(searched(engine, "heart"))


def test_hits_have_a_title_and_a_snippet(library: Engine) -> None:
    first, *_ = library.search("heart attack")
    assert (first.title, first.snippet) == ("Heart attack", library.search("heart attack").snippet(0))
    assert [first.snippet.text[start:end] for start, end in first.snippet.marks][:2] == ["heart", "attack"]
    assert carried(first) == first
    assert carried(first).snippet == first.snippet
    assert repr(first) == f"Hit(rank=1, id='1', score={first.score:.5g}, title='Heart attack')"
    assert Hit(1, "x", 0.5, {"text": "No title, but a text."}).title == "No title, but a text."
    assert Hit(1, "x", 0.5, {}).snippet == Snippet("", [])
    assert asdict(first) == {"rank": 1, "id": "1", "score": first.score, "fields": first.fields}


def test_how_engines_and_results_are_shown(library: Engine) -> None:
    assert repr(library) == f"<Engine '{library.folder}': 5 documents, searched in title, text>"
    assert "<td>tags, year</td>" in library._repr_html_()
    result = library.search("heart", 2)
    lines = repr(result).splitlines()
    assert lines[0] == "<SearchResult: 1-2 of 3>"
    assert lines[1:] == str(result).splitlines()
    assert repr(library.search("nothing")) == "<SearchResult: no results>"
    assert "<mark>heart</mark>" in result._repr_html_()


def test_nothing_in_a_document_is_markup(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "index<b>") as engine:
        engine.add([{"id": HOSTILE, "title": HOSTILE, "text": HOSTILE, HOSTILE: 1}])
        shown = engine.search("heart")._repr_html_() + engine._repr_html_()
    assert "<script" not in shown
    assert "index<b>" not in shown
    assert shown.count("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; ") >= 3


QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RUN_A = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}}
RUN_B = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 1.0}, "q3": {"a": 1.0}}


def test_how_comparisons_are_shown(library: Engine) -> None:
    (found,) = compare(RUN_A, RUN_B, QRELS, ["AP"])
    assert repr(found).startswith("<Comparison AP: 1.0000 against 0.5000 (+0.5000), 2 won, 0 lost, 1 tied; t p = ")
    assert "<td>2</td>" in found._repr_html_()
    assert repr(evaluate(RUN_A, QRELS, ["AP", "P@1"])) == "<Evaluation of 3 queries: AP 1.0000, P@1 1.0000>"
    pipelines = {"<b>": library.pipeline("bm25"), "jm": library.pipeline("jm")}
    runs = experiment(pipelines, {"q1": "heart", "q2": "knee"}, {"q1": {"1": 1}, "q2": {"5": 1}}, ["AP"])
    assert repr(runs) == str(runs)
    assert "&lt;b&gt;" in runs._repr_html_()
    assert "<b>" not in runs._repr_html_().replace("<b>1.0000</b>", "").replace("<b>0.7500</b>", "")


def test_comparisons_as_frames(library: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows, columns: rows))
    pipelines = {name: library.pipeline(name) for name in ("bm25", "jm", "tfidf")}
    topics, qrels = {"q1": "heart", "q2": "knee"}, {"q1": {"2": 1}, "q2": {"5": 1}}
    runs = experiment(pipelines, topics, qrels, ["AP", "P@1"])
    assert runs.to_dataframe() == [
        {"run": name, "AP": runs.mean(name, "AP"), "P@1": runs.mean(name, "P@1")} for name in pipelines
    ]
    pairs = runs.to_dataframe(pairs=True)
    assert len(pairs) == 6
    assert [row["p_holm"] for row in pairs] == [pair.p_holm for own in runs.pairs.values() for pair in own]
    against = experiment(pipelines, topics, qrels, ["AP"], baseline="jm").to_dataframe()
    assert [list(row) for row in against] == [["run", "AP", "AP difference", "AP p"]] * 3
    assert math.isnan(against[1]["AP p"])
    hit = library.search("heart")[0]
    assert library.search("heart").to_dataframe()[0] == {"rank": 1, "id": hit.id, "score": hit.score, **hit.fields}

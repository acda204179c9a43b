"""Feedback through the command line: methods, marks, what is shown of them, and what is refused."""

import json
import re
import sys
from pathlib import Path

import pytest

from germane import Engine
from germane.cli import feedback_tables
from germane.cli.tables import arrow
from germane.data import read_run
from germane.engine.feedback_report import ExpansionWord
from germane.engine.resolving import ranked_by
from germane.feedback import FEEDBACK_NAMES, RM3, feedback_named
from germane.feedback.registry import DEFAULT_FEEDBACK
from germane.lm import Dirichlet, JelinekMercer
from germane.rank import QueryLikelihood
from germane.rank.registry import MODEL_NAMES, model_named

QUERY = "planet telescope"
DOCUMENTED = Path(__file__).parents[2] / "docs" / "feedback.md"


@pytest.fixture
def engine(built):
    return Engine.open(built)


@pytest.fixture
def answer(run, built):
    """The JSON of a search."""

    def asked(*words, query=QUERY, code=0):
        result = run("search", built, query, "--json", *words)
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout)

    return asked


def found(answer):
    return [(hit["id"], hit["score"]) for hit in answer["hits"]]


def expected(result):
    return list(zip(result.ids, result.scores.tolist(), strict=True))


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_every_method(answer, engine, name):
    given = answer("--feedback", name)
    assert list(given) == [*["query", "model", "k", "hits", "suggestion", "offset", "total", "total_is_exact"]]
    assert found(given) == expected(engine.search(QUERY, feedback=name))


def test_without_feedback_nothing_changes(answer, engine):
    given = answer()
    assert (given["model"], found(given)) == ("adaptive", expected(engine.search(QUERY)))
    assert "feedback" not in given


def test_parameters(answer, engine):
    given = answer("--feedback", "sd", "--feedback-docs", 2, "--feedback-terms", 5, "--query-weight", 0.8)
    method = feedback_named("sd", n_docs=2, n_terms=5, query_weight=0.8)
    assert found(given) == expected(engine.search(QUERY, feedback=method))
    assert found(given) != found(answer("--feedback", "sd"))


def test_marks_may_be_repeated_and_imply_the_default_method(answer, engine):
    marks = {"mars-rovers": True, "statins": True, "webb-telescope": False}
    given = answer("--relevant", "mars-rovers, statins", "--not", "webb-telescope")
    assert found(given) == expected(engine.search(QUERY, marks=marks))
    again = answer("--relevant", "mars-rovers", "--relevant", "statins,", "--not", "webb-telescope", "--explain")
    assert found(again) == found(given)
    assert again["feedback"]["method"] == DEFAULT_FEEDBACK
    other = answer("--relevant", "mars-rovers", "--feedback", "sd")
    assert found(other) == expected(engine.search(QUERY, feedback="sd", marks={"mars-rovers": True}))
    fewer = answer("--relevant", "mars-rovers", "--feedback-docs", 0)
    method = feedback_named(DEFAULT_FEEDBACK, n_docs=0)
    assert found(fewer) == expected(engine.search(QUERY, feedback=method, marks={"mars-rovers": True}))


def test_an_id_that_holds_a_comma(run, tmp_path):
    docs = tmp_path / "docs.jsonl"
    rows = [{"id": "a,b", "text": "red planet"}, {"id": "a", "text": "red star"}]
    docs.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run("index", docs, "--into", tmp_path / "index").exit_code == 0
    result = run("search", tmp_path / "index", "red", "--json", "--explain", "--relevant", "a,b")
    marked = [d["id"] for d in json.loads(result.stdout)["feedback"]["documents"] if d["mark"]]
    assert marked == ["a,b"]


def test_the_model(answer, engine):
    assert answer("--feedback", "rocchio")["model"] == "adaptive"
    assert answer("--feedback", "rm3", "--set", "final=dirichlet:1000")["model"] == "dirichlet"
    given = answer("--feedback", "rm3", "--model", "bm25", "--k1", 1.5)
    assert given["model"] == "bm25"
    assert found(given) == expected(engine.search(QUERY, feedback="rm3", model="bm25", k1=1.5))
    assert found(given) != found(answer("--feedback", "rm3"))
    learnt_mu = answer("--feedback", "rm3", "--model", "dirichlet", "--mu", "auto")
    assert found(learnt_mu) == expected(
        engine.search(QUERY, feedback="rm3", model="dirichlet", mu=engine.learn_mu().value)
    )


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_the_model_that_ranked_has_its_name(name):
    model = model_named(name)
    if isinstance(model, QueryLikelihood):
        assert ranked_by(RM3(final=model.smoothing)) == name
    assert ranked_by(RM3(final=JelinekMercer(0.9), first=Dirichlet(5.0))) == "jm"


def test_priors_filters_and_plain_text_hold_with_feedback(answer):
    given = answer("--feedback", "rm3", query="planet year:..1900")
    assert {hit["fields"]["year"] <= 1900 for hit in given["hits"]} == {True}
    assert found(answer("--feedback", "rm3", "--prior", "length")) != found(answer("--feedback", "rm3"))
    assert found(answer("--feedback", "rm3", "--plain", query="planet -mars"))[0][0] == "mars-rovers"


def test_json_explains(answer, engine):
    given = answer("-k", 4, "--feedback", "rm3", "--not", "mars-rovers", "--explain")["feedback"]
    report = engine.search(QUERY, 4, feedback="rm3", marks={"mars-rovers": False}).feedback
    assert list(given) == ["method", "parameters", "drift", "words", "documents", "moves", "fallen"]
    assert given["method"] == "rm3"
    assert given["parameters"]["n_docs"] == RM3().n_docs
    assert given["parameters"]["final"] == str(RM3().final)
    assert {word["term"]: word["weight"] for word in given["words"]} == report.weights
    first = given["words"][0]
    assert list(first) == ["term", "word", "weight", "query_weight", "sources"]
    assert (first["word"], first["query_weight"]) == (report.words[0].word, report.words[0].query_weight)
    assert [(source["id"], source["share"]) for source in first["sources"]] == list(report.words[0].sources)
    assert given["documents"][-1] == {"id": "mars-rovers", "weight": -1.0, "mark": False}
    assert [document["id"] for document in given["documents"]] == [document.id for document in report.documents]
    assert [(move["id"], move["rank"], move["before"]) for move in given["moves"]] == [
        (move.id, move.rank, move.before) for move in report.moves
    ]
    assert [tuple(word.values()) for word in given["moves"][0]["words"]] == list(report.moves[0].words)


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_rankings_that_a_named_model_replaced_are_not_told(answer, name):
    own = answer("--feedback", name, "--explain")["feedback"]["parameters"]
    given = answer("--feedback", name, "--model", "jm", "--explain")["feedback"]["parameters"]
    assert own.keys() - given.keys() == {"first", "second", "final"} & own.keys()


def test_the_table_explains(run, built, engine):
    marked = ("--relevant", "mars-rovers", "--not", "statins")
    result = run("search", built, QUERY, "-k", 3, "--feedback", "rm3", *marked, "--explain")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "A planet found by calculation" in result.stdout
    _, words, documents, moves = re.split(r"The query as rm3|Documents learnt from|What moved", result.stdout)
    report = engine.search(QUERY, 3, feedback="rm3", marks={"mars-rovers": True, "statins": False}).feedback
    shown = [line.split()[0] for line in words.splitlines() if "█" in line or "▒" in line or "░" in line][1:]
    assert shown == [word.word for word in report.words[: feedback_tables.SHOWN]]
    assert f"20 strongest of {len(report.words)} words" in words
    own = report.words[0].query_weight / report.words[0].weight
    assert re.search(rf"{report.words[0].word} +{report.words[0].weight:.4f}  █+▒+ +{own:.0%} ", words)
    assert "mars-rovers 100%" in words
    for document in report.documents:
        mark = {True: "relevant", False: "not relevant", None: ""}[document.mark]
        assert re.search(rf"{document.weight:.4f} +{mark} +{document.id}  ", documents)
    assert "mars-rovers  Robots on Mars" in documents
    assert len(report.moves) == 3
    for move in report.moves:
        before = move.before or "–"
        assert re.search(
            rf"{before} → {move.rank} +{arrow(move.before, move.rank)} +{move.id} +{move.words[0][0]}, ", moves
        )


def test_what_repels_is_told_apart(run, built):
    shown = run("search", built, QUERY, "--feedback", "sd", "--not", "webb-telescope", "--explain").stdout
    assert "░ learnt against" in shown
    assert re.search(r"mirror +-0\.\d+ +░+ +0% +−webb-telescope 100%", shown)
    assert "−" not in run("search", built, QUERY, "--feedback", "sd", "--explain").stdout


def test_bars_and_arrows():
    def word(weight, own=0.0):
        return ExpansionWord("w", "w", weight, own, ())

    assert feedback_tables.bar(word(0.5, 0.25), 0.5) == "█" * 12 + "▒" * 12
    assert feedback_tables.bar(word(0.001), 0.5) == "▒"
    assert feedback_tables.bar(word(0.25, 0.3), 0.5) == "█" * 12  # marks took some of what the query gave
    assert feedback_tables.bar(word(-0.5), 0.5) == "░" * 24
    assert [arrow(before, 3) for before in (6, 1, 3, None)] == ["▲3", "▼2", "=", "new"]


def test_a_plot(run, built, tmp_path):
    for name, start in (("words.png", b"\x89PNG"), ("words.svg", b"<?xml")):
        result = run("search", built, QUERY, "--feedback", "rm3", "--plot", tmp_path / name)
        assert result.exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    assert "What moved" not in result.stdout


def test_nothing_found(run, answer, built, tmp_path):
    result = run("search", built, "xyzzy", "--feedback", "rm3", "--explain", "--plot", tmp_path / "words.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no document holds 'xyzzy'" in result.stderr
    assert "is not written" in result.stderr
    assert not (tmp_path / "words.png").exists()
    given = answer("--feedback", "rm3", "--explain", query="xyzzy", code=1)
    assert (given["hits"], given["feedback"]["words"], given["feedback"]["moves"]) == ([], [], [])
    # What is marked can be found although no document holds the query.
    assert answer("--relevant", "statins", query="xyzzy")["hits"][0]["id"] == "statins"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--explain",), "choose a method with --feedback"),
        (("--plot", "words.png"), "--plot shows what feedback did"),
        (("--feedback", "magic"), f"'magic'; choose one of {', '.join(FEEDBACK_NAMES)}"),
        (("--relevant", "statins,nobody"), "'nobody'"),
        (("--not", "nobody"), "'nobody'"),
        (("--relevant", "statins", "--not", "planet,statins"), "at once: statins"),
        (("--relevant", ","), "--relevant wants ids"),
        (("--feedback-docs", "3"), "--feedback-docs belongs to feedback"),
        (("--query-weight", "0.3"), "--query-weight belongs to feedback"),
        (("--feedback", "rm3", "--feedback-docs", "-1"), "--feedback-docs must be a whole number"),
        (("--feedback", "rm3", "--feedback-terms", "0"), "--feedback-terms must be"),
        (("--feedback", "rm3", "--query-weight", "1.5"), "--query-weight must lie between 0 and 1"),
        (("--feedback", "rm3", "--mu", "5"), "--mu belongs to a ranking model"),
        (("--feedback", "rocchio", "--b", "0"), "name that with --model"),
        (("--feedback", "rm3", "--model", "jm", "--mu", "5"), "no parameter mu"),
        (("--feedback", "rm3", "--explain", "--tsv"), "--json"),
        (("--feedback", "rm3", "--explain", "--trec"), "--json"),
        (("--feedback", "rm3", "--plot", "words.nothing"), "words.nothing"),
        (("--feedback", "rm3", "--plot", "no/folder/words.png"), "cannot be written"),
    ],
)
def test_what_is_refused(fails, built, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in fails("search", built, QUERY, *words)
    assert list(tmp_path.iterdir()) == []


def test_a_plot_without_matplotlib(fails, built, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'germane[plots]'" in fails(
        "search", built, QUERY, "--feedback", "rm3", "--plot", tmp_path / "words.png"
    )


def test_batch(run, fails, built, engine, tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text(f"q1\t{QUERY}\nq2\theart disease\n", encoding="utf-8")
    target = tmp_path / "run.txt"

    def entries(*words):
        result = run("batch", built, queries, "-k", 5, "--run", target, *words)
        assert result.exit_code == 0, result.stderr
        return [(entry.doc_id, entry.score) for entry in read_run(target) if entry.query_id == "q1"]

    method = feedback_named("sd", n_docs=3, n_terms=9, query_weight=0.4)
    given = entries("--feedback", "sd", "--feedback-docs", 3, "--feedback-terms", 9, "--query-weight", 0.4)
    assert given == expected(engine.search(QUERY, 5, feedback=method, syntax=False))
    given = entries("--feedback", "rm3", "--model", "jm", "--lam", 0.4)
    assert given == expected(engine.search(QUERY, 5, feedback="rm3", model="jm", lam=0.4))
    assert entries() == expected(engine.search(QUERY, 5))
    target.unlink()
    for words, reason in (
        (("--feedback", "magic"), "choose one of"),
        (("--feedback-terms", "3"), "belongs to feedback"),
        (("--feedback", "rm3", "--k1", "1"), "--model"),
    ):
        assert reason in fails("batch", built, queries, "--run", target, *words)
    assert run("batch", built, queries, "--relevant", "statins").exit_code == 2
    assert not target.exists()


def test_the_documented_defaults_are_the_real_ones():
    header, *rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in DOCUMENTED.read_text(encoding="utf-8").splitlines()
        if line.startswith(("| default of", "| `"))
    ]
    said = {(row[0], name): value for row in rows if len(row) > 2 for name, value in zip(header, row, strict=True)}
    said |= {tuple(row[0].split(".")): row[1] for row in rows if len(row) == 2}
    real = {key: str(getattr(feedback_named(key[0]), key[1])) for key in said if key[1] != header[0]}
    assert real == {key: value for key, value in said.items() if key[1] != header[0]}
    assert len(real) > len(rows)

"""What --json prints: documented, and the same as the schema says. `conftest` compares whatever any test prints."""

import inspect
import json
import runpy
from pathlib import Path

import pytest

from germane.cli.app import COMMANDS, function_of

DOCS = Path(__file__).parents[2] / "docs"
SHAPES = runpy.run_path(str(DOCS / "shapes.py"))


def printed(result):
    assert result.exit_code in (0, 1), result.stderr
    return json.loads(result.stdout)


def test_every_command_that_prints_json_has_a_shape():
    known = {name: function_of(name) for name, *_ in COMMANDS}
    functions = {name: function for name, function in known.items() if callable(function)}
    for name, group in known.items():
        functions |= {f"{name} {sub.name}": sub.callback for sub in getattr(group, "registered_commands", ())}
    printing = {name for name, function in functions.items() if "json" in inspect.signature(function).parameters}
    assert printing == SHAPES["SHAPES"].keys()


def test_the_reference_holds_the_shapes():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert text.endswith("\n" + SHAPES["section"]()), "run python docs/shapes.py"


def test_search(run, built):
    assert list(printed(run("search", built, "planet", "--json"))) == [
        *["query", "model", "k", "hits", "suggestion", "offset", "total", "total_is_exact"]
    ]
    nothing = printed(run("search", built, "xyzzy", "--json"))
    assert nothing["reason"] == "nothing found: no document holds 'xyzzy'"
    auto = printed(run("search", built, "planet", "--model", "dirichlet", "--mu", "auto", "--json"))
    assert list(auto["learnt"]) == ["mu"]
    explained = printed(run("search", built, "planet", "--feedback", "rm3", "--guard", "--explain", "--json"))
    assert explained["feedback"]["drift"]["fell_back"] in (True, False)


def test_explain(run, built):
    found = printed(run("explain", built, "heart disease", "statins", "--model", "jm", "--lam", "auto", "--json"))
    assert (found["query"], found["model"], found["doc_id"]) == ("heart disease", "jm", "statins")
    assert [part["word"] for part in found["parts"]] != []
    assert 0.0 < found["learnt"]["lam"] < 1.0


def test_care(run, sample, tmp_path):
    folder = tmp_path / "index"
    made = printed(run("index", sample, "--into", folder, "--json"))
    assert made == {"added": 80, "replaced": 0, "skipped": 0, "unreadable": 0, "documents": 80, "no_number": {}}
    (tmp_path / "more.jsonl").write_text('{"id": "new", "text": "x"}\n{"id": "statins", "text": "y"}\nno\n')
    words = ("add", folder, tmp_path / "more.jsonl", "--on-duplicate", "replace", "--on-error", "skip", "--json")
    made = printed(run(*words))
    assert made == {"added": 2, "replaced": 1, "skipped": 0, "unreadable": 1, "documents": 81, "no_number": {}}
    assert printed(run("check", folder, "--json"))["ok"] is True
    segment = max(folder.glob("segment-*"), key=lambda path: path.stat().st_size)
    content = bytearray(segment.read_bytes())
    content[len(content) // 3] ^= 0xFF
    segment.write_bytes(content)
    damaged = run("check", folder, "--json")
    assert (damaged.exit_code, segment.name in printed(damaged)["problems"][0]) == (1, True)
    repaired = printed(run("repair", folder, "--json"))
    assert repaired["actions"] != []
    assert printed(run("stats", folder, "--json"))["documents"] == repaired["kept_documents"]


@pytest.fixture
def runs(tmp_path):
    texts = {
        "a.run": "q1 Q0 d1 1 2.0 a\nq1 Q0 d9 2 1.0 a\nq2 Q0 d9 1 2.0 a\nq2 Q0 d1 2 1.0 a\n",
        "b.tsv": "q1\td9\t2\nq1\td1\t1\nq2\td1\t2\n",
        "qrels.txt": "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / name for name in texts]


def test_evaluate_and_compare(run, runs):
    a, b, qrels = runs
    assert list(printed(run("evaluate", a, qrels, "--json", "--measure", "AP"))) == ["measures"]
    assert set(printed(run("evaluate", a, qrels, "--json", "--by-query", "-m", "AP"))["queries"]) == {"q1", "q2", "q3"}
    first, second = printed(run("compare", a, b, qrels, "--json", "-m", "AP", "P@1"))
    assert (first["measure"], second["measure"]) == ("AP", "P@1")
    assert first["difference"]["mean"] == pytest.approx(first["a"] - first["b"])
    same = printed(run("compare", a, a, qrels, "--json", "-m", "AP"))[0]
    assert (same["difference"]["mean"], same["worst"]) == (0.0, [])
    # Every query differs by as much: t and d_z are infinite, which JSON cannot say.
    whole = "".join(f"q{i} Q0 d1 1 1.0 a\n" for i in (1, 2, 3))
    none = "".join(f"q{i} Q0 d9 1 1.0 b\n" for i in (1, 2, 3))
    a.write_text(whole, encoding="utf-8")
    (a.parent / "c.run").write_text(none, encoding="utf-8")
    apart = printed(run("compare", a, a.parent / "c.run", qrels, "--json", "-m", "AP"))[0]
    assert (apart["difference"]["d_z"], apart["tests"]["t"]["statistic"]) == (None, None)


def test_tune_and_data(run, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    lines = [json.dumps({"id": f"d{i}", "text": "heart attack wing"[: 6 + i]}) + "\n" for i in range(6)]
    (folder / "docs.jsonl").write_text("".join(lines), encoding="utf-8")
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GERMANE_CACHE", str(tmp_path / "cache"))
    assert list(printed(run("data", "info", "tiny", "--json"))) == ["source", "documents", "fields"]
    (folder / "queries.tsv").write_text("q1\theart\nq2\twing\nq3\tattack\n", encoding="utf-8")
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d5 2\nq3 0 d3 1\n", encoding="utf-8")
    assert printed(run("data", "list", "--json")) == ["tiny"]
    assert printed(run("data", "info", "tiny", "--json"))["judgements"] == 3
    found = printed(run("tune", "tiny", "--grid", "k1=0.5,2", "--json"))
    assert list(found["folds"][0]) == ["fold", "k1", "AP train", "AP test", "queries"]

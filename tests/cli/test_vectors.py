"""germane vectors, and vectors that come with documents."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]


@pytest.fixture
def index(run: Run, tmp_path: Path) -> Path:
    records = [
        {"id": "1", "title": "heart attack", "year": 2001, "vectors": {"title": [1, 0, 0]}},
        {"id": "2", "title": "knee surgery", "year": 2005, "vectors": {"title": [0, 1, 0]}},
        {"id": "3", "title": "heart surgery", "year": 2009},
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    made = run("index", tmp_path / "docs.jsonl", "--into", tmp_path / "index", "--vectors", "title:3:int8")
    assert made.exit_code == 0, made.output
    (tmp_path / "query.json").write_text("[0.9, 0.1, 0]")
    return tmp_path / "index"


def test_from_records_to_results(run: Run, index: Path, tmp_path: Path) -> None:
    query = tmp_path / "query.json"
    assert run("vectors", "list", index).stdout.split("\t")[:5] == ["title", "3", "int8", "cosine", "2"]
    found = json.loads(run("vectors", "search", index, "title", query, "--json").stdout)
    assert [hit["id"] for hit in found["hits"]] == ["1", "2"]
    assert found["hits"][0]["score"] == pytest.approx(0.9 / np.hypot(0.9, 0.1), abs=1e-4)
    assert run("vectors", "search", index, "title", query, "--filter", "year:2005", "--tsv").stdout[:3] == "1\t2"[:3]
    table = run("vectors", "search", index, "title", query)
    assert "heart attack" in table.stdout
    nothing = run("vectors", "search", index, "title", query, "--filter", "year:1900")
    assert nothing.exit_code == 1
    hybrid = run("vectors", "search", index, "title", query, "--query", "surgery", "--mix", "0.2", "--trec").stdout
    assert {line.split()[2] for line in hybrid.splitlines()} == {"1", "2", "3"}
    assert "vectors" in json.loads(run("stats", index, "--json").stdout)
    assert "int8" in run("stats", index).stdout


def test_add_replace_and_drop(run: Run, index: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.eye(3, 2, dtype=np.float32) + 0.5)
    (tmp_path / "ids.txt").write_text("3\n1\n2\n")
    (tmp_path / "q.npy").parent.mkdir(exist_ok=True)
    np.save(tmp_path / "q.npy", np.float32([1, 0]))
    added = run(
        "vectors", "add", index, "own", tmp_path / "rows.npy", "--ids", tmp_path / "ids.txt", "--type", "float16"
    )
    assert added.exit_code == 0, added.output
    assert "3 documents given vectors 'own' (2 × float16, cosine)" in added.stderr
    first = json.loads(run("vectors", "search", index, "own", tmp_path / "q.npy", "--json").stdout)["hits"][0]["id"]
    assert first == "3"
    (tmp_path / "new.jsonl").write_text('{"id": "2", "vector": [5]}\n')
    assert (
        run("vectors", "add", index, "own", tmp_path / "new.jsonl", "--replace", "--similarity", "dot").exit_code == 0
    )
    listed = json.loads(run("vectors", "list", index, "--json").stdout)
    assert [(field["name"], field["dimension"], field["documents"]) for field in listed] == [
        ("own", 1, 1),
        ("title", 3, 2),
    ]
    assert run("vectors", "drop", index, "own").exit_code == 0
    assert run("check", index).exit_code == 0
    assert len(json.loads(run("vectors", "list", index, "--json").stdout)) == 1


def test_export_writes_vectors_or_says_that_it_does_not(run: Run, index: Path, tmp_path: Path) -> None:
    plain = run("export", index)
    assert "without the vectors of the documents (title): --vectors" in plain.stderr
    assert all("vectors" not in json.loads(line) for line in plain.stdout.splitlines())
    assert run("export", index, "--to", tmp_path / "all.jsonl", "--vectors").exit_code == 0
    assert run("export", index, "--vectors").stdout == (tmp_path / "all.jsonl").read_text()
    made = run("index", tmp_path / "all.jsonl", "--into", tmp_path / "again", "--vectors", "title:3:int8")
    assert made.exit_code == 0, made.output
    query = tmp_path / "query.json"
    found = [run("vectors", "search", each, "title", query, "--tsv").stdout for each in (index, tmp_path / "again")]
    assert found[0] == found[1]
    for words in (("--to", tmp_path / "all.csv", "--vectors"), ("--ciff", tmp_path / "a.ciff", "--vectors")):
        refused = run("export", index, *words)
        assert refused.exit_code == 2
        assert "--vectors goes with JSON Lines" in " ".join(refused.stderr.split())


def test_graphs_of_few_vectors(run: Run, index: Path, tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    told = run("vectors", "graph", index, "title").stderr
    assert "0 vectors in graphs; the others are searched exactly, as a segment of fewer than 100,000" in told
    exact, near = (
        run("vectors", "search", index, "title", tmp_path / "query.json", "--tsv", *more).stdout
        for more in ((), ("--approximate",))
    )
    assert exact == near


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "a.jsonl",
            '{"id": "1", "vector": [1, 2, 3]}\n{"id": "2", "vector": [1, 2]}\n',
            "line 2: the vector has 2 numbers",
        ),
        ("a.jsonl", '{"id": "1", "vector": [1, "x", 3]}\n', "line 1: a vector is a list of numbers"),
        ("a.jsonl", '{"id": "1"}\n', "line 1: a line needs an 'id' and a 'vector'"),
        ("a.jsonl", "\n", "there are no vectors in it"),
        ("a.jsonl", '{"id": "9", "vector": [1, 2, 3]}\n', "no document with id '9'"),
        ("a.npy", "no array", "not an array of numbers"),
    ],
)
def test_bad_files(run: Run, index: Path, tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "ids.txt").write_text("1\n")
    more = ["--ids", tmp_path / "ids.txt"] if name.endswith("npy") else []
    result = run("vectors", "add", index, "title", tmp_path / name, *more)
    assert result.exit_code not in (0, 1)
    assert sentence in " ".join(result.stderr.split())


def test_what_does_not_go_together(run: Run, index: Path, tmp_path: Path) -> None:
    query = tmp_path / "query.json"
    np.save(tmp_path / "rows.npy", np.ones((1, 3)))
    for words, sentence in (
        (("vectors", "add", index, "title", tmp_path / "rows.npy"), "with an id a line"),
        (("vectors", "search", index, "title"), "give the query's vector as a file"),
        (("vectors", "search", index, "title", query, "--text", "a"), "give the query's vector as a file"),
        (("vectors", "search", index, "title", "--text", "a"), "needs an encoder"),
        (("vectors", "fold", index), "no learnt model 'clicks'"),
        (("vectors", "search", index, "titel", query), "it has title"),
        (("index", tmp_path / "docs.jsonl", "--into", tmp_path / "other"), "no vector field"),
        (
            ("index", tmp_path / "docs.jsonl", "--into", tmp_path / "other", "--vectors", "a:1", "--vectors", "a:2"),
            "twice",
        ),
    ):
        result = run(*words)
        assert result.exit_code == 2, result.output
        assert sentence in " ".join(result.stderr.split())
    assert not (tmp_path / "other").exists()

"""germane methods, and --set of every command that takes it."""

import json

import pytest

from germane import Engine, Refiner, TextClassifier
from germane.feedback import SD
from germane.lm import JelinekMercer
from germane.refine.screening import Screening
from germane.refine.screening.ranking import RankerParameters
from germane.types import Document

QUERY = "planet telescope"


def test_listing(run):
    shown = run("methods")
    assert shown.exit_code == 0
    for word in ("dirichlet", "consensus", "mmem-aib", "multinomial-jm", "--feedback"):
        assert word in shown.stdout
    one = run("methods", "sd")
    assert one.stdout.index("--feedback") < one.stdout.index("refine: --method") < one.stdout.index("classify train")
    assert "dirichlet:300" in one.stdout
    assert "no parameters" in run("methods", "tfidf").stdout
    told = json.loads(run("methods", "saem", "--json").stdout)
    assert [method["kind"] for method in told] == ["refine"]
    assert {"name": "cooling", "default": "linear", "wants": "linear or geometric or logarithmic"} in told[0][
        "parameters"
    ]
    assert "there is no method 'x'" in run("methods", "x").stderr


def hits(result):
    assert result.exit_code == 0, result.stderr
    return [(hit["id"], hit["score"]) for hit in json.loads(result.stdout)["hits"]]


def test_search(run, built):
    engine = Engine.open(built)
    method = SD(precision=0.8, smoothing=JelinekMercer(0.01), n_terms=None, contrast=True, n_docs=5)
    words = ("--set", "precision=0.8", "--set", "smoothing=jm:0.01", "--set", "n_terms=none", "--set", "contrast=true")
    found = hits(run("search", built, QUERY, "--feedback", "sd", *words, "--feedback-docs", "5", "--json"))
    expected = engine.search(QUERY, feedback=method)
    assert found == list(zip(expected.ids, expected.scores.tolist(), strict=True))
    found = hits(run("search", built, QUERY, "--set", "k1=0.5", "--json"))
    expected = engine.search(QUERY, k1=0.5)
    assert found == list(zip(expected.ids, expected.scores.tolist(), strict=True))
    explained = json.loads(run("explain", built, QUERY, found[0][0], "--set", "k1=0.5", "--json").stdout)
    assert explained["score"] == pytest.approx(found[0][1])
    (queries := built.parent / "set.tsv").write_text(f"1\t{QUERY}\n")
    lines = run("batch", built, queries, "-k", "3", "--set", "k1=0.5").stdout.split("\n")
    assert [line.split()[2] for line in lines if line] == [doc_id for doc_id, _ in found[:3]]
    assert "--k1 is given twice" in run("search", built, QUERY, "--k1", "1", "--set", "k1=2").stderr
    assert "--set wants NAME=VALUE" in run("search", built, QUERY, "--set", "k1").stderr


def test_refine(run, tmp_path):
    texts = ["jaguar cars race", "the jaguar, a cat of the forest", "cats of the forest hunt", "cars and engines"]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts, 1)))
    words = ("--relevant", "2", "--not", "1", "--method", "em", "--set", "iterations=2", "--set", "weights=counts")
    told = json.loads(run("refine", path, *words, "--json").stdout)
    marks = {"2": True, "1": False}
    expected = Refiner("em", iterations=2, weights="counts", implicit_negatives=False).fit(texts, marks).rank()
    assert [(result["id"], result["probability"]) for result in told["results"]] == [
        (result.id, result.probability) for result in expected
    ]
    assert "weights wants tfidf or counts" in run("refine", path, *words[:-1], "weights=x").stderr


def test_classify(run, tmp_path):
    path = tmp_path / "texts.csv"
    rows = [("goals and a match", "sport"), ("the match was won", "sport"), ("a vote in parliament", "politics"),
            ("parliament and votes", "politics")] * 3  # fmt: skip
    path.write_text("text,label\n" + "".join(f"{text} {i},{label}\n" for i, (text, label) in enumerate(rows)))
    words = ("classify", "train", path, "--label", "label", "--model", "dirichlet", "--set", "S=70", "--set", "lam=0.2")
    told = json.loads(run(*words, "--json").stdout)
    assert (told["parameters"]["S"], told["parameters"]["lam"]) == (70.0, 0.2)
    assert {trial["parameters"]["beta"] for trial in told["trials"]} > {told["parameters"]["beta"]}
    assert {trial["parameters"]["S"] for trial in told["trials"]} == {70.0}
    by_hand = TextClassifier("dirichlet", parameters={"S": 70.0, "lam": 0.2})
    by_hand.fit([f"{text} {i}" for i, (text, _) in enumerate(rows)], [label for _, label in rows])
    assert by_hand.chosen_ == told["parameters"]
    assert "has no parameter C; it takes S, lam, beta" in run(*words, "--set", "C=1").stderr
    by_hand.save(tmp_path / "kept.germane")
    assert TextClassifier.load(tmp_path / "kept.germane").parameters == {"S": 70.0, "lam": 0.2}


def test_the_predicted_set_is_measured(run, tmp_path):
    texts = ["cat dog", "red car", "cat mouse", "blue car", "cat bird", "dog bird", "car engine", "mouse bird"]
    path, truth = tmp_path / "results.jsonl", tmp_path / "relevant.txt"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts, 1)))
    truth.write_text("1\n3\n5\n6\nelsewhere\n")
    words = ("refine", path, "--relevant", "1,3", "--not", "4", "--method", "nb", "--threshold", "odds")
    result = run(*words, "--truth", truth, "--json")
    told = json.loads(result.stdout)
    marks = {"1": True, "3": True, "4": False}
    found = Refiner("nb", threshold="odds", implicit_negatives=False).fit(texts, marks).rank()
    measured = found.measured({"1", "3", "5", "6"})
    assert told["decision"] == "odds"
    assert told["measured"] == {"precision": measured.precision, "recall": measured.recall, "f1": measured.f1}
    assert told["expected"]["recall"] == found.expected.recall
    assert f"precision {measured.precision:.4f}, recall {measured.recall:.4f}" in result.stderr
    assert "measured" not in json.loads(run(*words, "--json").stdout)
    truth.write_text("elsewhere\n")
    assert "no id of the file, one a line, is in the list" in run(*words, "--truth", truth).stderr


def test_screen(run, tmp_path):
    texts = ["copper liver", "red car", "copper diet", "blue car", "liver copper bird", "zinc liver", "car engine"]
    rows = [
        {"id": str(i), "title": text, "included": kept}
        for i, (text, kept) in enumerate(zip(texts, "1010   ", strict=True))
    ]
    (path := tmp_path / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("screen", path, "--label", "included", "--json")
    told = json.loads(run(*words, "--set", "C=0.2", "--set", "unread_weight=2").stdout)
    screening = Screening(
        [Document(row["id"], row) for row in rows],
        decisions={row["id"]: row["included"] == "1" for row in rows if row["included"] != " "},
        parameters=RankerParameters(C=0.2, unread_weight=2.0),
    )
    expected = {suggestion.id: suggestion.probability for suggestion in screening.next(10)}
    assert {each["id"]: each["probability"] for each in told["next"]} == expected
    assert {each["id"]: each["probability"] for each in json.loads(run(*words).stdout)["next"]} != expected
    assert "C must be a number above 0" in run(*words, "--set", "C=0").stderr
    assert "screening has no parameter lam; it takes C, unread_weight" in run(*words, "--set", "lam=1").stderr


def test_track(run, tmp_path):
    pytest.importorskip("sqlalchemy")
    from germane.workspace import Workspace

    (seed := tmp_path / "seed.txt").write_text("copper in the liver")
    (old := tmp_path / "old.jsonl").write_text(
        '{"id": "1", "text": "copper wires"}\n{"id": "2", "text": "the liver"}\n'
    )
    words = ("track", "new", "copper", "--seed", seed, "--background", old, "--workspace", tmp_path / "w")
    assert "has no parameter mu; it takes lam_m" in run(*words, "--method", "sd", "--set", "mu=3").stderr
    assert run(*words, "--method", "sd", "--set", "precision=8").exit_code == 0
    from germane.stream import Watch

    with Workspace.open(tmp_path / "w") as workspace:
        assert Watch.open(workspace, "main").topic("copper").settings["parameters"]["precision"] == 8.0

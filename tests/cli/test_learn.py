"""germane learn and germane models: from a simulated log to a model that serves and is taken back."""

import importlib.util
import json
import os
import shutil

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("duckdb") is None and not os.environ.get("CI"),
    reason="the extra `clicks` is not installed",
)
SMALL = ("--memory", 256, "--threads", 1)
TIME = ("--hold-out", "time", "--share", 0.4, *SMALL)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The sample, an index of it, and a history of clicks on it."""
    from typer.testing import CliRunner

    from germane.cli import program
    from germane.cli.samples import write_sample_files

    folder = tmp_path_factory.mktemp("learnt")
    write_sample_files(folder)
    log = folder / "log"
    for words in (
        ("index", folder / "docs.jsonl", "--into", folder / "index"),
        ("clicks", "simulate", folder / "docs.jsonl", "--topics", folder / "queries.tsv", "--qrels",
         folder / "qrels.txt", "--into", log, "--searches", 1500, "--users", 80, "--days", 3),
        ("clicks", "import", folder / "store", log / "ubi_queries.jsonl", log / "ubi_events.jsonl", *SMALL),
    ):  # fmt: skip
        result = CliRunner().invoke(program(), [str(word) for word in words])
        assert result.exit_code == 0, result.output
    return folder


def test_the_whole_path(run, fails, files):
    index, store = files / "index", files / "store"
    none = run("models", "list", index)
    assert "no learnt models" in none.stderr
    assert "no re-ranker 'clicks'" in fails("search", index, "planet", "--rerank", "clicks")

    # With significance beyond reach the candidate is kept and does not serve.
    strict = run("learn", index, "--from", store, *TIME, "--alpha", 1e-6)
    assert strict.exit_code == 1
    assert "did not pass" in strict.stderr
    assert "the plain ranking" in strict.stdout
    assert "serves: none of those that are there has passed" in fails("search", index, "planet", "--rerank", "clicks")
    assert "…" not in run("models", "list", index).stdout  # whole, also while the last column is empty

    judged = ("--topics", files / "queries.tsv", "--qrels", files / "qrels.txt")
    answer = run("learn", index, "--from", store, *TIME, *judged, "--allow-equal", "--json")
    report = json.loads(answer.stdout)
    assert (report["promoted"], report["forced"], report["candidate"]["version"]) == (True, False, 2)
    assert [each["name"] for each in report["gate"]["sets"]] == ["held-out clicks", "judged queries"]
    assert "distribution" not in report["candidate"]

    found = json.loads(run("search", index, "planet telescope", "--rerank", "clicks", "--depth", 50, "--json").stdout)
    assert found["model"].endswith(">> clicks")
    plain = json.loads(run("search", index, "planet telescope", "--rerank", "none", "--json").stdout)
    assert len(found["hits"]) > len(plain["hits"])  # some share no word with the query
    best = found["hits"][0]
    told = json.loads(run("explain", index, "planet telescope", best["id"], "--rerank", "clicks", "--json").stdout)
    second = told["second"]
    total = second["constant"] + sum(part["impact"] for part in second["parts"])
    assert told["score"] == pytest.approx(best["score"])
    assert total + second["first_weight"] * second["first_score"] == pytest.approx(told["score"])
    shown = run("explain", index, "planet telescope", best["id"], "--rerank", "clicks").stdout
    assert "clicks@2" in shown
    assert " -> " in shown

    forced = run("learn", index, "--from", store, *TIME, "--model", "um", "--set", "lambda1=0.7", "--force")
    assert forced.exit_code == 0
    assert "promoted all the same" in forced.stderr
    versions = json.loads(run("models", "list", index, "--json").stdout)
    assert [(each["version"], each["model"], each["serving"]) for each in versions] == [
        (1, "wtm", False), (2, "wtm", False), (3, "um", True)
    ]  # fmt: skip
    assert versions[2]["parameters"] == {"lambda1": 0.7}
    assert versions[2]["mixing"]["lambda1"] == 0.7
    listed = run("models", "list", index, "--from", store, *SMALL).stdout
    assert "clicks@3 (um), trained" in listed
    rows = [line.split() for line in listed.splitlines()[1:4]]
    ends = [("clicks@1", "failed"), ("clicks@2", "passed"), ("clicks@3", "serves")]
    assert [(row[0], row[-1]) for row in rows] == ends
    assert max(map(len, listed.splitlines()[:4])) <= 80
    assert "queries stable" in listed
    compared = json.loads(run("models", "compare", index, "clicks@2", "clicks@3", *judged, "--json").stdout)
    assert compared["against"] == "clicks@3"
    assert compared["sets"][0]["queries"] == 5
    assert "Score" not in run("models", "compare", index, "clicks@2", *judged).stderr

    assert json.loads(run("models", "rollback", index, "--json").stdout)[0]["version"] == 2
    used = run("search", index, "planet telescope", "--json")
    assert json.loads(used.stdout)["reranked_by"] == "clicks@2"
    assert used.stderr == "ranked by clicks@2, learnt from clicks and promoted; --rerank none leaves it out\n"
    assert "clicks@2" in run("explain", index, "planet telescope", best["id"]).stdout
    assert "ranked by clicks@2" in run("batch", index, files / "queries.tsv", "-k", 3).stderr
    for words in (("--rerank", "none"), ("--model", "bm25"), ("--feedback", "rm3"), ("--sort", "year")):
        assert "ranked by" not in run("search", index, "planet telescope", *words).stderr
    assert "ranked by" not in run("batch", index, files / "queries.tsv", "-k", 3, "--rerank", "none").stderr
    assert "fingerprint" in run("models", "show", index, "clicks", "--json").stdout
    assert "held out by time" in run("models", "show", index, "clicks@2").stdout
    assert "clicks@1 serves now" in run("models", "promote", index, "clicks@1").stderr
    assert "clicks@2 serves again" in run("models", "rollback", index).stderr
    assert "no version of 'clicks' serves now" in run("models", "rollback", index).stderr
    assert "ranked by" not in run("search", index, "planet telescope").stderr
    assert json.loads(run("check", index, "--json").stdout)["ok"]


def test_what_is_added_later_is_folded_in(run, files, tmp_path):
    """A new user's path: learn a projection, add a document, find it by a text that shares no word with it."""
    index, store = tmp_path / "index", files / "store"
    assert run("index", files / "docs.jsonl", "--into", index).exit_code == 0
    parameters = ("--model", "combination", "--set", "parts=opca,lsa", "--set", "n_dimensions=8")
    assert run("learn", index, "--from", store, *TIME, *parameters, "--force").exit_code == 0
    assert "opca" in json.loads(run("models", "show", index, "clicks", "--json").stdout)["mixing"]
    one = ("--model", "opca", "--set", "n_dimensions=8", "--force")
    assert run("learn", index, "--from", store, *TIME, *one).exit_code == 0
    name, dimension, *_, model = run("vectors", "list", index).stdout.split()
    assert (name, dimension, model) == ("clicks", "8", "clicks@2")
    (tmp_path / "more.jsonl").write_text('{"id": "late", "title": "A telescope for planets"}\n')
    assert run("add", index, tmp_path / "more.jsonl").exit_code == 0
    found = run("vectors", "search", index, "clicks", "--text", "planet telescope", "--tsv").stdout
    assert "late" in found
    assert "late" in run("vectors", "search", index, "clicks", "--query", "planet telescope", "--tsv").stdout
    (tmp_path / "own.jsonl").write_text('{"id": "late", "vector": [1, 0]}\n')
    taken = run("vectors", "add", index, "clicks", tmp_path / "own.jsonl").stderr
    assert "or take this one over with --replace" in " ".join(taken.split())
    assert run("vectors", "drop", index, "clicks").exit_code == 0
    assert "folded in by clicks@2 (opca)" in run("vectors", "fold", index).stderr
    assert run("vectors", "search", index, "clicks", "--text", "planet telescope", "--tsv").stdout == found
    assert run("check", index).exit_code == 0
    assert "clicks@1 serves again" in run("models", "remove", index, "clicks@2", "--force").stderr
    assert run("vectors", "list", index).stdout.split()[-1] == "clicks@1"
    model = index / "models" / "clicks" / "000001.model"
    content = model.read_bytes()
    model.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    damaged = run("check", index)
    assert (damaged.exit_code, str(model) in damaged.stdout) == (1, True)
    assert f"left as it is: {model}" in run("repair", index).stderr
    (tmp_path / "later.jsonl").write_text('{"id": "later", "title": "Planets"}\n')
    added = run("add", index, tmp_path / "later.jsonl")
    assert (added.exit_code, "documents are added without vectors 'clicks'" in added.stderr) == (0, True)
    model.write_bytes(content)
    history = tmp_path / "store"
    shutil.copytree(store, history)
    run("clicks", "erase", history, "--user", "client-000007", *SMALL, "--index", index, "--models", "--force")
    assert run("vectors", "list", index).stdout == ""
    assert run("check", index).exit_code == 0


def test_erasing_a_user_from_models_too(run, fails, files, tmp_path):
    index, store = tmp_path / "index", tmp_path / "store"
    shutil.copytree(files / "index", index)
    shutil.copytree(files / "store", store)
    user = ("--user", "client-000007", *SMALL)
    for _ in range(2):
        run("learn", index, "--from", store, *TIME, "--name", "other", "--force")
    assert "--models needs the --index" in fails("clicks", "erase", store, *user, "--models")
    assert "--force belongs to --models" in fails("clicks", "erase", store, *user, "--force")
    assert "nowhere" in fails("clicks", "erase", store, *user, "--index", tmp_path / "nowhere")
    gone = json.loads(run("clicks", "erase", store, *user, "--index", index, "--models", "--json").stdout)
    assert gone["queries"] > 0
    other = [each for each in gone["models"] if each["version"].startswith("other")]
    assert other == [
        {"index": str(index), "version": "other@1", "serving": False, "removed": True, "by_days": False},
        {"index": str(index), "version": "other@2", "serving": True, "removed": False, "by_days": False},
    ]
    told = run("clicks", "erase", store, "--user", "client-000008", *SMALL, "--index", index).stderr
    assert f"other@2 of {index} has seen it, and serves: learn a new version" in told
    assert "--index tells which" in run("clicks", "erase", store, "--user", "client-000009", *SMALL).stderr
    assert "other@2 serves: promote another" in fails("models", "remove", index, "other@2")
    assert "no version '9'" in fails("models", "remove", index, "other@9")
    removed = run("models", "remove", index, "other@2", "--force").stderr
    assert "removed: other@2" in removed
    assert "no version of 'other' serves now" in removed
    assert not list((index / "models" / "other").glob("0*"))


def test_bad_input(fails, files, tmp_path):
    index, store = files / "index", files / "store"
    assert "belong together" in fails("learn", index, "--from", store, "--topics", files / "queries.tsv")
    assert "--set wants" in fails("learn", index, "--from", store, "--set", "n_topics")
    assert "no latent model" in fails("learn", index, "--from", store, "--model", "bm25")
    assert "n_topics" in fails("learn", index, "--from", store, "--set", "n_topics=3")
    assert "'wtm' does not know 'foo'; its parameters are: n_iterations" in fails(
        "learn", index, "--from", store, "--set", "foo=1"
    )
    few = fails("learn", index, "--from", store, "--share", 0.001, *SMALL)
    assert "as --share 0.4, or the last days, --hold-out time" in few
    assert str(store) not in few
    assert "nowhere" in fails("learn", index, "--from", tmp_path / "nowhere")
    assert "nothing to take back" in fails("models", "rollback", index, "--name", "other")
    assert "has small letters" in fails("models", "show", index, "Bad Name")

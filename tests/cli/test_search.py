"""search, explain, batch: results on stdout, everything else on stderr."""

import io
import json
import zlib

import pytest

from germane import Engine
from germane.data import read_run
from germane.engine import RERANKER_NAMES
from germane.rank.registry import MODEL_NAMES


def hits(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["hits"]


def test_the_table(run, built):
    result = run("search", built, "vaccines for children", "-k", "2")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "A vaccine against malaria for children" in result.stdout
    assert "malaria-vaccine · year 2021 · topic medicine" in result.stdout
    assert "recommended for children in" in result.stdout


def test_json(run, built):
    result = run("search", built, "heart", "disease", "-k", "2", "--json")
    answer = json.loads(result.stdout)
    assert list(answer) == [*["query", "model", "k", "hits", "suggestion", "offset", "total", "total_is_exact"]]
    assert (answer["query"], answer["model"], answer["k"], answer["suggestion"]) == (
        "heart disease",
        "adaptive",
        2,
        None,
    )
    first = answer["hits"][0]
    assert list(first) == ["rank", "id", "score", "title", "fields"]
    assert (first["rank"], first["id"], first["fields"]["year"]) == (1, "statins", 1994)
    assert first["score"] == Engine.open(built).search("heart disease").scores[0]


def test_groups(run, fails, built):
    words = ("search", built, "planet telescope", "-k", "3", "--groups", "2")
    groups = json.loads(run(*words, "--json").stdout)["groups"]
    ids = Engine.open(built).search("planet telescope", 200).ids
    assert sorted(name for group in groups for name in group["ids"]) == sorted(ids)
    shown = " ".join(run(*words).stdout.split("groups")[1].split())
    for group in groups:
        assert f"{len(group['ids'])} {' · '.join(group['words'])} ranks {group['ranks'][0]}" in shown
    assert "--groups goes with the table or with --json" in fails(*words, "--tsv")


def test_tsv_and_trec(run, built, tmp_path):
    rows = [line.split("\t") for line in run("search", built, "planet", "--tsv").stdout.splitlines()]
    assert rows[0][:2] == ["1", "exoplanet-51-pegasi"]
    assert rows[0][3] == "A planet that should not be there"
    path = tmp_path / "run.txt"
    path.write_text(run("search", built, "planet", "--trec", "--tag", "me").stdout, encoding="utf-8")
    entries = list(read_run(path))
    assert [entry.doc_id for entry in entries] == [row[1] for row in rows]
    assert {entry.tag for entry in entries} == {"me"}


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_every_model(run, built, model):
    assert hits(run("search", built, "planet telescope", "--model", model, "--json"))


def test_a_second_stage(run, fails, built, tmp_path):
    assert MODEL_NAMES == RERANKER_NAMES
    first, second = (
        hits(run("search", built, "planet star", "--model", m, "--json")) for m in ("adaptive", "dirichlet")
    )
    both = json.loads(run("search", built, "planet star", "--rerank", "dirichlet", "--json").stdout)
    assert (both["model"], both["hits"]) == ("adaptive >> dirichlet", second)
    shallow = hits(run("search", built, "planet star", "--rerank", "dirichlet", "--depth", "1", "--json"))
    assert [hit["id"] for hit in shallow] == [hit["id"] for hit in first]
    assert "name a re-ranker too" in fails("search", built, "planet", "--depth", "5")
    assert "no re-ranker 'bert'" in fails("search", built, "planet", "--rerank", "bert")
    queries = tmp_path / "queries.tsv"
    queries.write_text("q\tplanet star\n", encoding="utf-8")
    assert run("batch", built, queries, "--rerank", "dirichlet", "--run", tmp_path / "run").exit_code == 0
    assert [entry.doc_id for entry in read_run(tmp_path / "run")] == [hit["id"] for hit in second]


def test_parameters_change_scores(run, built):
    def score(*more):
        return hits(run("search", built, "planet", "--json", *more))[0]["score"]

    assert score("--k1", "0.5") != score()
    assert score("--model", "bm25", "--k1", "1", "--b", "0") != score("--model", "bm25")
    assert score("--model", "absolute", "--delta", "0.2") != score("--model", "absolute")
    assert score("--prior", "length^0.3", "--prior", "fresh:year:3650") != score()
    assert score("--prior", "field:year") != score()


def test_learnt_parameters(run, built):
    result = run("search", built, "planet", "--json", "--model", "dirichlet", "--mu", "auto")
    assert (
        hits(result)[0]["score"]
        == Engine.open(built).search("planet", model="dirichlet", mu=Engine.open(built).learn_mu().value).scores[0]
    )
    assert "mu = " in result.stderr
    assert "lam = " in run("search", built, "planet", "--model", "jm", "--lam", "auto").stderr


def test_the_query_language(run, built):
    found = hits(run("search", built, "planet -mars year:..1900", "--json"))
    assert {hit["id"] for hit in found} == {"neptune-found", "telescope-galileo"}
    # Plain, the same text is words alone.
    assert "mars-rovers" in {hit["id"] for hit in hits(run("search", built, "planet -mars", "--plain", "--json"))}


def test_did_you_mean_keeps_signs_and_filters(run, built):
    result = run("search", built, "+Antibiotc resistance year:1900..", "--json")
    assert json.loads(result.stdout)["suggestion"] == "+antibiotic resistance year:1900.."
    assert "did you mean: +antibiotic resistance" in result.stderr


def test_nothing_found(run, built):
    result = run("search", built, "xyzzy")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no document holds 'xyzzy'" in result.stderr
    result = run("search", built, "telescpoe", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["hits"] == []
    assert json.loads(result.stdout)["suggestion"] == "telescope"
    assert "conditions" in run("search", built, "planet year:1..2").stderr


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("the of and", "only stop words ('the', 'of', 'and')"),
        ("?!", "no word"),
        (
            "heart AND",
            "the word itself is written in small letters, and (character 7, at 'AND')",
        ),
        ("+-", "no word"),
        ("yaer:2000 heart", "yaer"),
        ("heart^x", "weight"),
        ("heart year:abc", "number"),
    ],
)
def test_bad_queries(fails, built, query, reason):
    assert reason in fails("search", built, "--", query)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--model", "magic"), "dirichlet, jm"),
        (("--mu", "2"), "no parameter mu; it takes k1, b, idf, burst (mu: model dirichlet or"),
        (("--mu", "many"), "--mu"),
        (("--model", "dirichlet", "--mu", "-1"), "mu"),
        (("--lam", "auto", "--model", "twostage"), "jm"),
        (("--mu", "auto", "--model", "bm25"), "--mu auto"),
        (("-k", "0"), "k must"),
        (("--prior", "magic"), "--prior"),
        (("--prior", "length^x"), "weight"),
        (("--prior", "field:topic"), "numeric"),
        (("--prior", "field:nope"), "nope"),
        (("--prior", "fresh:year:soon"), "days"),
        (("--json", "--tsv"), "one of"),
    ],
)
def test_bad_options(fails, built, words, reason):
    assert reason in fails("search", built, "heart", *words)


@pytest.mark.slow
def test_a_query_of_100_000_words(run, built):
    found = hits(run("search", built, "-", "--json", "-k", "3", stdin="heart planet " * 50_000))
    assert len(found) == 3
    result = run("search", built, "-", stdin=" ".join(f"w{i}q" for i in range(100_000)))
    assert result.exit_code == 1
    assert "no document holds" in result.stderr


@pytest.mark.parametrize(
    "command", ["search", "explain", "batch", "stats", "merge", "export", "check", "repair", "delete", "add"]
)
def test_what_is_no_index(fails, tmp_path, sample, command):
    queries = tmp_path / "q.tsv"
    queries.write_text("1\theart\n", encoding="utf-8")
    rest = {"search": ("x",), "explain": ("x", "y"), "batch": (queries,), "delete": ("x",), "add": (sample,)}
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "none", tmp_path / "folder", queries):
        before = sorted(tmp_path.rglob("*"))
        assert str(place) in fails(command, place, *rest.get(command, ()))
        assert sorted(tmp_path.rglob("*")) == before


def test_damaged_and_newer_indexes(fails, copy):
    manifest = copy / "MANIFEST"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-9])
    assert "damaged" in fails("search", copy, "heart")
    body = whole.partition(b"\n")[2].replace(b'"format": 5', b'"format": 99')
    manifest.write_bytes(b"%08x\n" % zlib.crc32(body) + body)
    assert "upgrade" in fails("search", copy, "heart")
    manifest.write_bytes(whole)
    segment = next(copy.glob("segment-*"))
    segment.write_bytes(segment.read_bytes()[:-50])
    assert segment.name in fails("search", copy, "heart")


def test_explain_adds_up(run, fails, built):
    result = run("explain", built, "heart disease", "statins", "--json")
    found = json.loads(result.stdout)
    assert found["score"] == hits(run("search", built, "heart disease", "--json"))[0]["score"]
    total = sum(part["impact"] for part in found["parts"]) * found["norm"]
    assert total + found["constant"] + found["document"] + found["prior"] == pytest.approx(found["score"], rel=1e-12)
    assert "part of score" in run("explain", built, "heart", "statins", "--model", "tfidf", "--prior", "length").stdout
    assert "'nobody'" in fails("explain", built, "heart", "nobody")
    assert "no word" in fails("explain", built, "xyzzy", "statins")


def test_batch(run, built, tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text("q1\tplanet telescope\nq2\tthe\nq3\theart: disease?\n", encoding="utf-8")
    result = run(
        "batch", built, queries, "-k", "5", "--run", tmp_path / "run.txt", "--tag", "t", "--threads", "2", "--progress"
    )
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "1 of 3 queries found nothing: q2" in result.stderr
    entries = list(read_run(tmp_path / "run.txt"))
    expected = Engine.open(built).search("planet telescope", 5)
    assert [(entry.doc_id, entry.score) for entry in entries if entry.query_id == "q1"] == list(
        zip(expected.ids, expected.scores.tolist(), strict=True)
    )
    assert [entry.rank for entry in entries if entry.query_id == "q3"] == [1, 2, 3, 4]
    assert {entry.tag for entry in entries} == {"t"}
    to_stdout = run("batch", built, queries, "-k", "5", "--tag", "t")
    assert to_stdout.stdout == (tmp_path / "run.txt").read_text(encoding="utf-8")


def test_batch_errors_leave_no_run(fails, built, tmp_path):
    queries, target = tmp_path / "queries.tsv", tmp_path / "run.txt"
    for content, reason in ((b"", "no queries"), (b"only\n", "columns"), (b"1\ta\n1\tb\n", "already")):
        queries.write_bytes(content)
        assert reason in fails("batch", built, queries, "--run", target)
    queries.write_bytes(b"1\tx^y heart\n")
    assert "weight" in fails("batch", built, queries, "--run", target, "--syntax")
    queries.write_bytes(b"1\theart\n")
    assert "tag" in fails("batch", built, queries, "--run", target, "--tag", "two words")
    assert "cannot be written" in fails("batch", built, queries, "--run", tmp_path / "no" / "run.txt")
    assert not target.exists()


def test_a_stdin_that_is_not_utf8(run, built):
    result = run("search", built, "-", "--json", stdin=io.BytesIO(b"heart \xff\xfe").getvalue())
    assert hits(result)


def test_probabilities_of_an_explanation(run, fails, built):
    words = ("explain", built, "vaccines for children", "malaria-vaccine", "--probabilities")
    shown = run(*words, "--model", "dirichlet").stdout
    assert "P(w|d)" in shown
    assert "0.055556" in shown  # 2 of 36 words
    told = json.loads(run(*words, "--model", "dirichlet", "--json").stdout)
    assert [one["p_d"] for one in told["probabilities"]] == [2 / 36, 2 / 36]
    assert "choose one of the language models: dirichlet, jm" in fails(*words)


def test_a_filter_as_a_value(run, built, fails):
    wanted = '{"topic": ["astronomy", "none"], "year": {">=": 1990}}'
    found = json.loads(run("search", built, "planet", "--filter", wanted, "--json").stdout)["hits"]
    assert found
    assert all(hit["fields"]["topic"] == "astronomy" and hit["fields"]["year"] >= 1990 for hit in found)
    by_query = run("search", built, "planet", "--filter", "topic:astronomy AND year:1990..", "--json")
    assert json.loads(by_query.stdout)["hits"] == found
    hostile = json.dumps({"topic": 'x" OR topic:astronomy'})
    assert run("search", built, "planet", "--filter", hostile, "--json").exit_code == 1
    assert "is not JSON" in fails("search", built, "planet", "--filter", "{topic")
    assert "compared by" in fails("search", built, "planet", "--filter", '{"year": {"=": 1}}')
    assert "is in no document" in fails("search", built, "planet", "--filter", '{"yaer": 1}')


def test_facts_as_people_say_them(run, tmp_path):
    """Inverted names are turned round, what is true is 'yes', and numbers without a number have a row of their own."""
    records = tmp_path / "r.jsonl"
    record = {"id": "1", "title": "Copper", "author": ["Müller, Jürgen", "Smith, Anna B."], "draft": True, "year": 1}
    rows = (record, {"id": "2", "title": "Iron", "year": 2}, {"id": "3", "title": "Tin", "year": "in press"})
    records.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run("index", records, "--into", tmp_path / "i")
    told = run("search", tmp_path / "i", "copper").stdout
    assert "author Jürgen Müller, Anna B. Smith · draft yes" in told
    assert "unreadable numbers  year 1" in run("stats", tmp_path / "i").stdout

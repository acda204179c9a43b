"""germane refine: every form of a list, marks by id and by place, what is printed, and what is refused."""

import json
import re

import pytest

from germane import Analyzer, Refiner
from germane.tables import figure
from germane.text import Synonyms

TEXTS = (
    ("a", "Red planet", "A red planet turns around a star."),
    ("b", "Green grass", "Grass of the fields is green."),
    ("c", "The star", "A red star, and a planet near the star."),
    ("d", "Green leaves", "Leaves fall, and the grass is green again."),
    ("e", "Planets", "Every planet and every star of the sky."),
    ("f", "A cow", "A cow eats the grass of the field."),
)


@pytest.fixture
def documents(sample):
    return [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def answer(run, sample):
    """The JSON of a refinement of the sample."""

    def asked(*words):
        result = run("refine", sample, "--json", *(() if "--no-implicit" in words else ("--ranked",)), *words)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return asked


@pytest.fixture
def lists(tmp_path):
    """The same list in every format."""
    rows = [{"id": i, "title": title, "abstract": text} for i, title, text in TEXTS]
    ris = "".join(f"TY  - JOUR\nID  - {i}\nTI  - {title}\nAB  - {text}\nER  - \n\n" for i, title, text in TEXTS)
    nbib = "".join(f"PMID- {n}\nTI  - {t}\nAB  - {x}\n\n" for n, (_, t, x) in enumerate(TEXTS, start=101))
    bib = "".join(f"@article{{{i},\n title = {{{title}}},\n abstract = {{{text}}}\n}}\n" for i, title, text in TEXTS)
    hits = [{"rank": n, "id": r["id"], "score": 1.0, "fields": r} for n, r in enumerate(rows, start=1)]
    table = [("id", "title", "abstract"), *TEXTS]
    files = {
        "list.jsonl": "\n".join(map(json.dumps, rows)),
        "list.csv": "\n".join(",".join(f'"{cell}"' for cell in row) for row in table),
        "list.tsv": "\n".join("\t".join(row) for row in table),
        "list.ris": ris,
        "list.nbib": nbib,
        "list.bib": bib,
        "list.json": json.dumps({"query": "q", "hits": hits}),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return [tmp_path / name for name in files]


def ids(answer):
    return [row["id"] for row in answer["results"]]


def test_json_is_the_refiner(answer, documents):
    marks = {documents[2]["id"]: True, documents[6]["id"]: True, documents[0]["id"]: False}
    found = Refiner().fit(documents, marks).rank()
    given = answer("--relevant", "3,7", "--not", "1")
    assert list(given) == ["method", "reason", "threshold", "results", "components", "decision", "expected"]
    assert (given["method"], given["reason"], given["threshold"]) == (found.method, found.reason, found.threshold)
    assert list(given["results"][0]) == [
        "rank", "before", "id", "probability", "predicted", "mark", "passed_over", "title",
    ]  # fmt: skip
    for row, result in zip(given["results"], found, strict=True):
        assert (row["rank"], row["before"], row["id"]) == (result.rank, result.before, result.id)
        assert (row["probability"], row["predicted"]) == (result.probability, result.predicted)
        assert (row["mark"], row["passed_over"]) == (result.mark, result.passed_over)
    assert len(answer("--relevant", "3", "-k", 4)["results"]) == 4


def test_marks_by_id_by_place_and_repeated(answer, documents):
    third, seventh = documents[2]["id"], documents[6]["id"]
    given = answer("--relevant", "3, 7")
    assert answer("--relevant", f"{third},{seventh}") == given
    assert answer("--relevant", "3", "--relevant", seventh) == given
    assert ids(given)[:2] == [third, seventh]


def test_an_id_comes_before_a_place(run, tmp_path):
    path = tmp_path / "numbers.jsonl"
    rows = [{"id": i, "text": f"{word} planet"} for i, word in (("2", "red"), ("1", "green"), ("a,b", "blue"))]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first = [json.loads(run("refine", path, "--json", "--relevant", mark).stdout) for mark in ("1", "3", "a,b")]
    assert [ids(one)[0] for one in first] == ["1", "a,b", "a,b"]


def test_every_format(run, lists):
    orders = []
    for path in lists:
        result = run("refine", path, "--relevant", "1", "--json")
        assert result.exit_code == 0, result.stderr
        orders.append([row["before"] for row in json.loads(result.stdout)["results"]])
    assert orders[0][:3] in ([1, 3, 5], [1, 5, 3])
    assert all(order == orders[0] for order in orders)
    piped = run("refine", "-", "--relevant", "a", "--json", stdin=lists[-1].read_bytes())
    assert [row["before"] for row in json.loads(piped.stdout)["results"]] == orders[0]


def test_an_export_is_no_ranking(run, lists, tmp_path):
    """A mark at the end of an unranked list says nothing of those above it."""
    for path in lists[:-1]:
        result = run("refine", path, "--relevant", "5", "--json")
        assert "no ranking" in result.stderr
        assert not any(row["passed_over"] for row in json.loads(result.stdout)["results"])
        told = run("refine", path, "--relevant", "5", "--ranked", "--json")
        assert "no ranking" not in told.stderr
        assert sum(row["passed_over"] for row in json.loads(told.stdout)["results"]) == 4
    rows = [{"id": i, "text": text, "Score": n} for n, (i, _, text) in enumerate(TEXTS)]
    (tmp_path / "scored.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for path in (lists[-1], tmp_path / "scored.jsonl"):
        told = run("refine", path, "--relevant", "5", "--json")
        assert "no ranking" not in told.stderr
        assert sum(row["passed_over"] for row in json.loads(told.stdout)["results"]) == 4
        told = run("refine", path, "--relevant", "5", "--no-implicit", "--json")
        assert not any(row["passed_over"] for row in json.loads(told.stdout)["results"])


def test_what_search_prints_can_be_refined(run, built):
    found = run("search", built, "planet telescope", "--json", "-k", 20)
    hits = [hit["id"] for hit in json.loads(found.stdout)["hits"]]
    result = run("refine", "-", "--relevant", hits[2], "--json", stdin=found.stdout)
    given = json.loads(result.stdout)
    assert sorted(ids(given)) == sorted(hits)
    assert ids(given)[0] == hits[2]
    assert [row["id"] for row in given["results"] if row["passed_over"]] != []


def test_options(answer, documents):
    marks = {documents[2]["id"]: True, documents[11]["id"]: True}

    def order(**options):
        return Refiner(**options).fit(documents, marks).rank().ids

    typed = ("--relevant", "3,12")
    assert ids(answer(*typed, "--method", "mmem-kl")) == order(method="mmem-kl")
    assert ids(answer(*typed, "--no-implicit")) == order(implicit_negatives=False)
    assert ids(answer(*typed, "--lemmas")) == order(analyzer=Analyzer("lemma"))
    assert ids(answer(*typed, "--stemmer", "none", "--stopwords", "none")) == order(analyzer=Analyzer("none", "none"))
    assert answer(*typed, "--threshold", "0.4")["threshold"] == 0.4
    assert answer(*typed, "--threshold", "f1") == answer(*typed)
    titles = Refiner().fit([(d["id"], d["title"]) for d in documents], marks).rank()
    assert ids(answer(*typed, "--text", "title")) == titles.ids


def test_synonyms(answer, documents, tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("telescope\tplanet\nblack hole\tstar\n", encoding="utf-8")
    vocabulary = Analyzer(synonyms=Synonyms({"telescope": "planet", "black hole": "star"}))
    found = Refiner(analyzer=vocabulary).fit(documents, {documents[1]["id"]: True}).rank()
    given = answer("--relevant", "2", "--synonyms", path)
    assert [row["probability"] for row in given["results"]] == [result.probability for result in found]
    assert given != answer("--relevant", "2")


def test_json_explains_and_tells_changes(answer, documents):
    found = Refiner().fit(documents, {documents[2]["id"]: True}).rank()
    given = answer("--relevant", "3", "--explain", "--changes")
    told = found.explain(found.ids[1])
    assert given["results"][1]["words"]["for"] == [{"word": r.word, "amount": r.amount} for r in told.in_favour]
    assert given["results"][1]["words"]["against"] == [{"word": r.word, "amount": r.amount} for r in told.against]
    assert len(given["changes"]) == len(found.changes())
    for row, move in zip(given["changes"], found.changes(), strict=True):
        assert (row["id"], row["before"], row["rank"], row["moved"]) == (move.id, move.before, move.rank, move.moved)
        assert row["cause"] == move.cause
        assert [word["present"] for word in row["words"]] == [reason.present for reason in move.words]
    parts = answer("--relevant", "3,20", "--method", "mmem-aib")["components"]
    assert len(parts) > 1
    assert {"words", "ids"} == set(parts[0])


def test_the_table(run, sample, documents):
    found = Refiner("mmem-kl").fit(documents, {documents[2]["id"]: True, documents[19]["id"]: True}).rank()
    result = run(
        "refine", sample, "--ranked", "--relevant", "3,20", "--method", "mmem-kl", "--explain", "--changes", "-k", 6
    )
    assert result.exit_code == 0
    assert result.stderr == f"mmem-kl: {found.reason}\n"
    order, topics, moves = re.split(r"Topics among|What moved", result.stdout)
    assert "80 results by mmem-kl, the first 6" in order
    for row in found.results[:6]:
        assert re.search(rf"{row.before} → {row.rank} +\S+ +{row.probability:.2f} ", order)
        assert row.id in order
    assert found.components[0].words[0].word in topics
    assert f"6 of {len(found.changes())}" in moves
    assert "marked relevant" in moves
    plain = run("refine", sample, "--ranked", "--relevant", "3").stdout
    assert "the first 20" in plain
    assert "What moved" not in plain


def test_tsv(run, sample, documents):
    found = Refiner().fit(documents, {documents[2]["id"]: True}).rank()
    lines = run("refine", sample, "--ranked", "--relevant", "3", "--tsv").stdout.splitlines()
    titles = {document["id"]: document["title"] for document in documents}
    assert [line.split("\t") for line in lines] == [
        [str(r.rank), str(r.before), r.id, figure(r.probability), str(int(r.predicted)), titles[r.id]] for r in found
    ]


def test_without_a_relevant_mark(run, sample, documents):
    result = run("refine", sample, "--tsv")
    assert (result.exit_code, result.stderr) == (0, "original order: nothing is marked, so the order is kept\n")
    assert [line.split("\t")[2] for line in result.stdout.splitlines()] == [d["id"] for d in documents]
    assert result.stdout.splitlines()[0].split("\t")[3] == ""
    result = run("refine", sample, "--not", "1", "-k", "80")
    assert result.stderr.startswith("demotion: 1 result marked not relevant and none relevant")
    assert " – " in result.stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--relevant", "1" * 5000), "is neither an id nor a place among 80 results"),
        (("--relevant", "nobody"), "'nobody' is neither an id nor a place among 80 results"),
        (("--relevant", "81"), "neither"),
        (("--not", "0"), "--not '0'"),
        (("--relevant", ","), "--relevant wants"),
        (("--relevant", "3", "--not", "3"), "at once: expanding-universe"),
        (("--method", "magic"), "choose one of auto"),
        (("--relevant", "1", "--method", "nb", "--no-implicit"), "needs at least one result marked as not relevant"),
        (("--threshold", "best"), "--threshold wants f1"),
        (("--threshold", "2"), "threshold"),
        (("--json", "--tsv"), "choose one"),
        (("--ranked", "--no-implicit"), "choose one of --ranked and --no-implicit"),
        (("--tsv", "--explain"), "--json"),
        (("--lemmas", "--stemmer", "german"), "choose one"),
        (("--stemmer", "klingon"), "unknown stemmer"),
        (("--text", "colour"), "no column 'colour'"),
        (("--synonyms", "nothing.tsv"), "nothing.tsv"),
    ],
)
def test_what_is_refused(fails, sample, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in fails("refine", sample, *words)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("list.jsonl", "", "no results"),
        ("list.jsonl", '{"id": "a", "colour": "red"}\n', "no column 'title', 'abstract' or 'text'; name"),
        ("list.jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', "two results have the id 'a'"),
        ("list.json", '{"hits": []}', "no results"),
        ("list.json", '{"hits": [{"rank": 1}]}', "hit 1 has no id"),
        ("list.json", "{", "list.json"),
        ("list.weird", "hello", "format"),
    ],
)
def test_bad_files(fails, tmp_path, name, content, reason):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert reason in fails("refine", tmp_path / name)


def test_bad_input_streams(fails, tmp_path):
    assert "no such file" in fails("refine", tmp_path / "nothing.jsonl").lower()
    assert "germane search --json" in fails("refine", "-", stdin="hello")

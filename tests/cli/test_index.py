"""index, add, delete, merge: what comes in, what goes out, and that a failure leaves nothing behind."""

import json
from pathlib import Path

import pytest

from germane import Engine


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_index_says_what_it_did_on_stderr(run, sample, tmp_path):
    result = run("index", sample, "--into", tmp_path / "a" / "b")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "80 documents indexed" in result.stderr
    assert len(Engine.open(tmp_path / "a" / "b")) == 80


def test_fields_stemmer_stopwords_map(run, tmp_path):
    source = tmp_path / "papers.csv"
    source.write_text("key,abstract,when\nA,the running dogs,1999\nB,cats,2001\n", encoding="utf-8")
    words = tmp_path / "stop.txt"
    words.write_text("dogs\n", encoding="utf-8")
    result = run(
        "index", source, "--into", tmp_path / "i", "--map", "id=key", "--map", "body=abstract", "--fields", "body",
        "--stemmer", "none", "--stopwords", words, "--memory", 64, "--threads", 1,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    engine = Engine.open(tmp_path / "i")
    assert engine.text_fields == ("body",)
    assert engine.search("running").ids == ["A"]
    assert engine.search("run").ids == []
    assert engine.search("dogs").ids == []
    assert "when" in engine.filterable()


def test_bad_records_are_skipped_and_reported(run, tmp_path):
    source = tmp_path / "docs.jsonl"
    source.write_text('{"id": "1", "text": "good"}\nnot json\n{"text": "no id"}\n', encoding="utf-8")
    result = run("index", source, "--into", tmp_path / "i", "--on-error", "skip")
    assert result.exit_code == 0
    assert "docs.jsonl, line 2: not valid JSON" in result.stderr
    assert "2 records skipped" in result.stderr
    assert len(Engine.open(tmp_path / "i")) == 1


def test_ids_from_numbers(run, tmp_path):
    source = write_lines(tmp_path / "docs.jsonl", {"text": "one"}, {"text": "two"})
    assert run("index", source, "--into", tmp_path / "i", "--id-from-number").exit_code == 0
    assert "docs.jsonl:2" in Engine.open(tmp_path / "i")


@pytest.mark.parametrize(("choice", "text"), [("replace", "new"), ("skip", "old")])
def test_duplicates(run, tmp_path, choice, text):
    source = write_lines(tmp_path / "d.jsonl", {"id": "1", "text": "old"}, {"id": "1", "text": "new"})
    assert run("index", source, "--into", tmp_path / "i", "--on-duplicate", choice).exit_code == 0
    assert Engine.open(tmp_path / "i").document("1").fields["text"] == text


def test_progress_goes_to_stderr(run, sample, tmp_path):
    result = run("index", sample, "--into", tmp_path / "i", "--progress")
    assert result.stdout == ""
    assert "indexing" in result.stderr


BAD_SOURCES = {
    "empty": (b"", "no documents"),
    "no-id": (b'{"text": "x"}\n', "no id"),
    "duplicate": (b'{"id": "1", "text": "x"}\n{"id": "1", "text": "y"}\n', "--on-duplicate"),
    "late": (b'{"id": "1", "text": "x"}\nbroken\n', "line 2"),
    "encoding": (b'{"id": "1", "text": "caf\xe9"}\n', "UTF-8"),
    "no-text": (b'{"id": "1", "body": "x"}\n', "fields found: body"),
    "control": (b'{"id": "a\\u0000b", "text": "x"}\n', "control"),
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_failure_leaves_no_folder(fails, tmp_path, name):
    content, reason = BAD_SOURCES[name]
    source = tmp_path / "docs.jsonl"
    source.write_bytes(content)
    assert reason.lower() in fails("index", source, "--into", tmp_path / "new" / "deep").lower()
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    fails("index", source, "--into", tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_binary_file(fails, tmp_path):
    source = tmp_path / "docs.jsonl"
    source.write_bytes(bytes(range(256)) * 50)
    assert "docs.jsonl" in fails("index", source, "--into", tmp_path / "i")
    assert not (tmp_path / "i").exists()


def test_an_interrupt_leaves_no_folder(run, sample, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "add", interrupt)
    result = run("index", sample, "--into", tmp_path / "i")
    assert result.exit_code == 130
    assert not (tmp_path / "i").exists()


def test_a_folder_that_holds_something_is_not_touched(fails, sample, tmp_path, copy):
    before = sorted(copy.iterdir())
    assert f"already holds an index: 'germane add {copy} SRC' adds to it" in fails("index", sample, "--into", copy)
    assert sorted(copy.iterdir()) == before
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear", encoding="utf-8")
    assert "not empty" in fails("index", sample, "--into", tmp_path / "full")
    assert (tmp_path / "full" / "letter.txt").read_text(encoding="utf-8") == "dear"
    assert "this is a file" in fails("index", sample, "--into", tmp_path / "full" / "letter.txt")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--fields", "titel,text"), "titel"),
        (("--fields", "text,,"), "--fields"),
        (("--stemmer", "klingon"), "klingon"),
        (("--stopwords", "klingon"), "klingon"),
        (("--format", "docx"), "docx"),
        (("--map", "text"), "our=their"),
        (("--map", "text=a", "--map", "text=b"), "twice"),
        (("--map", "text=abstract"), "abstract"),
        (("--memory", "1"), "memory"),
        (("--threads", "0"), "threads"),
        (("--encoding", "klingon"), "klingon"),
    ],
)
def test_bad_options(fails, sample, tmp_path, options, reason):
    assert reason in fails("index", sample, "--into", tmp_path / "i", *options)
    assert not (tmp_path / "i").exists()


def test_a_source_that_is_not_there(fails, tmp_path):
    assert "no such file" in fails("index", tmp_path / "none.jsonl", "--into", tmp_path / "i")
    assert "import-ciff" in fails("index", "x.ciff", "--into", tmp_path / "i")


def test_add_delete_merge(run, fails, copy, tmp_path):
    more = write_lines(tmp_path / "more.jsonl", {"id": "n1", "text": "zeppelin"}, {"id": "n2", "text": "zeppelin"})
    assert "the index holds 82" in run("add", copy, more).stderr
    assert "nothing was added" in fails("add", copy, more)
    assert "replaced" in run("add", copy, more, "--on-duplicate", "replace").stderr
    assert "skipped" in run("add", copy, more, "--on-duplicate", "skip").stderr
    assert "the index holds 81" in run("delete", copy, "n1").stderr
    assert "'n1'" in fails("delete", copy, "n2", "n1")
    assert "n2" in Engine.open(copy)
    assert "1 document deleted" in run("delete", copy, "n2", "n1", "--ignore-missing").stderr
    merged = run("merge", copy)
    assert merged.exit_code == 0
    assert merged.stdout == ""
    assert Engine.open(copy).stats().segments == 1


def test_adding_nothing_is_an_error(fails, copy, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    assert "no documents" in fails("add", copy, empty)
    assert "fields found: body" in fails("add", copy, write_lines(tmp_path / "d.jsonl", {"id": "1", "body": "x"}))
    assert len(Engine.open(copy)) == 80


def test_a_second_writer_is_refused(fails, copy):
    with Engine.open(copy) as engine:
        engine.delete(["penicillin"])
        told = fails("delete", copy, "insulin")
        assert "another process is writing" in told
        assert "try again when it has finished" in told


def test_several_sources_and_folders(run, fails, tmp_path):
    """Files and folders of any formats, each by its own; ids that come twice as within one file."""
    more = tmp_path / "more"
    more.mkdir()
    (tmp_path / "a.ris").write_text("TY  - JOUR\nTI  - Copper\nKW  - Wilson disease\nID  - r1\nER  - \n")
    (tmp_path / "b.nbib").write_text("PMID- 7\nTI  - Zinc\nMH  - *Hepatolenticular Degeneration/genetics\n")
    (more / "c.bib").write_text("@article{r1, title = {Copper once more}}\n@article{r2, title = {Iron}}\n")
    (more / "d.txt").write_text("A text about copper.\n")
    words = ("index", tmp_path / "a.ris", tmp_path / "b.nbib", more, "--into", tmp_path / "index")
    assert "'r1'" in fails(*words)
    assert not (tmp_path / "index").exists()
    result = run(*words, "--on-duplicate", "skip")
    assert result.exit_code == 0, result.stderr
    assert "4 documents indexed, 1 skipped" in result.stderr
    with Engine.open(tmp_path / "index") as engine:
        assert engine.search("wilson").ids == ["r1"]
        assert engine.search("hepatolenticular").ids == ["7"]
        assert set(engine.search("copper").ids) == {"r1", "d.txt"}
        assert engine.text_fields == ("title", "text", "keywords")
    missing = fails("index", tmp_path / "a.ris", tmp_path / "none.ris", "--into", tmp_path / "other")
    assert "none.ris: no such file" in missing
    assert not (tmp_path / "other").exists()
    (tmp_path / "empty.ris").write_text("\n")
    empty = fails("index", tmp_path / "a.ris", tmp_path / "empty.ris", "--into", tmp_path / "other")
    assert "empty.ris: there are no documents" in empty
    (tmp_path / "e.nbib").write_text("PMID- 9\nTI  - Nine\n")
    (tmp_path / "f.csv").write_text("id,title\nten,Ten\n")
    assert run("add", tmp_path / "index", tmp_path / "e.nbib", tmp_path / "f.csv").exit_code == 0
    assert len(Engine.open(tmp_path / "index")) == 6


def test_a_column_of_abstracts_is_searched(run, tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("id,title,Abstract\n1,Copper,liver disease\n2,Iron,bone\n")
    told = run("index", table, "--into", tmp_path / "i")
    assert "the column 'Abstract' is searched too" in told.stderr
    assert "Copper" in run("search", tmp_path / "i", "liver").stdout
    told = run("index", table, "--into", tmp_path / "mapped", "--map", "text=Abstract")
    assert "searched too" not in told.stderr
    assert "Copper" in run("search", tmp_path / "mapped", "liver").stdout
    told = run("index", table, "--into", tmp_path / "titles", "--fields", "title")
    assert "searched too" not in told.stderr
    assert run("search", tmp_path / "titles", "liver").exit_code == 1


def test_an_order_by_a_field_has_no_scores(run, fails, tmp_path):
    lines = [json.dumps({"id": str(n), "title": "copper", "year": 2000 + n, "share": (n + 1) / 4}) for n in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    run("index", tmp_path / "a.jsonl", "--into", tmp_path / "i")
    words = ("search", tmp_path / "i", "copper", "--sort", "-year")
    assert "0.0000" not in run(*words).stdout
    assert [line.split("\t")[:3] for line in run(*words, "--tsv").stdout.splitlines()] == [
        ["1", "2", ""], ["2", "1", ""], ["3", "0", ""],
    ]  # fmt: skip
    printed = run(*words, "--json", "--facet", "year", "--facet", "share").stdout
    found = json.loads(printed)
    assert all("score" not in hit for hit in found["hits"])
    years, shares = ([value["value"] for value in facet["values"]] for facet in found["facets"])
    assert (years, shares) == ([2000, 2001, 2002], [0.25, 0.5, 0.75])
    assert '"value":2000,' in printed
    assert "--sort orders by a field" in fails(*words, "--trec")


def test_index_with_synonyms(run, tmp_path):
    (tmp_path / "docs.jsonl").write_text(
        '{"id": "1", "title": "Heart attacks"}\n{"id": "2", "title": "Myocardial infarct"}\n'
    )
    (tmp_path / "desc.bin").write_text("*NEWRECORD\nMH = Myocardial Infarction\nENTRY = Heart Attack|T047\n")
    (tmp_path / "terms.tsv").write_text("heart attack\tmyocardial infarction\n")
    for vocabulary in ("desc.bin", "terms.tsv"):
        made = run(
            "index", tmp_path / "docs.jsonl", "--into", tmp_path / vocabulary[:3], "--synonyms", tmp_path / vocabulary
        )
        assert made.exit_code == 0, made.stderr
        assert "synonyms 2" in run("stats", tmp_path / "des").stdout
        for query in ("heart attack", "myocardial infarction"):
            found = json.loads(run("search", tmp_path / vocabulary[:3], query, "--json").stdout)
            assert [hit["id"] for hit in found["hits"]] == ["1", "2"]
    (tmp_path / "more.jsonl").write_text('{"id": "3", "title": "A heart attack"}\n')
    run("add", tmp_path / "des", tmp_path / "more.jsonl")
    found = json.loads(run("search", tmp_path / "des", "infarction", "--json").stdout)
    assert "3" in [hit["id"] for hit in found["hits"]]
    assert (
        "no such file"
        in run("index", tmp_path / "docs.jsonl", "--into", tmp_path / "x", "--synonyms", "none.xml").stderr
    )

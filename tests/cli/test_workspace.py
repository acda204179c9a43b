"""convert; the commands of a workspace; screening in one; whole records of what is listed."""

import csv
import importlib.util
import json
import os

import pytest

from germane.data import read_documents

needs_workspace = pytest.mark.skipif(
    importlib.util.find_spec("sqlalchemy") is None and not os.environ.get("CI"),
    reason="the extra `workspace` is not installed",
)
RIS = "".join(
    f"TY  - JOUR\r\nID  - {n}\r\nTI  - Copper {n}\r\n in the liver\r\nZZ  - odd\r\nER  -\r\n\r\n" for n in range(1, 7)
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ris").write_bytes(RIS.encode())
    return tmp_path


def test_convert(run, fails, files):
    assert "6 records written to b.ris (ris)" in run("convert", "a.ris", "b.ris").stderr
    assert (files / "b.ris").read_bytes() == RIS.encode()
    answer = json.loads(run("convert", "a.ris", "b.nbib", "--json").stdout)
    assert (answer["records"], answer["format"]) == (6, "medline")
    assert {"field": "key", "what": "becomes a note", "records": 6, "first": "1"} in answer["losses"]
    shown = run("convert", "a.ris", "b.nbib").stdout.split()
    assert shown[:2] == ["field", "in"]
    for name in ("b.bib", "b.xml", "b.csv", "b.jsonl"):
        assert run("convert", "a.ris", name).exit_code == 0
        assert [document.id for document in read_documents(name)] == ["1", "2", "3", "4", "5", "6"]
    assert run("convert", "b.jsonl", "c.ris").exit_code == 0
    assert (files / "c.ris").read_bytes() == RIS.encode()
    assert "does not say" in fails("convert", "a.ris", "b.txt")
    assert "cannot be written as 'pubmed'" in fails("convert", "a.ris", "b.txt", "--to", "pubmed")
    (files / "empty.ris").write_text("")
    assert "there are no documents in it" in fails("convert", "empty.ris", "b.bib")


def test_convert_keeps_the_encoding(run, fails, files):
    text = "TY  - JOUR\nID  - 1\nTI  - Café\nER  - \n\n"
    (files / "l.ris").write_bytes(text.encode("latin-1"))
    (files / "m.ris").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert run("convert", "l.ris", "k.ris", "--encoding", "latin-1").exit_code == 0
    assert (files / "k.ris").read_bytes() == text.encode("latin-1")
    assert run("convert", "l.ris", "k.ris", "--encoding", "latin-1", "--to-encoding", "utf-8").exit_code == 0
    assert (files / "k.ris").read_bytes() == text.encode()
    assert run("convert", "m.ris", "k.ris").exit_code == 0
    assert (files / "k.ris").read_bytes() == (files / "m.ris").read_bytes()
    assert "ascii has no 'é'" in fails("convert", "m.ris", "k.ris", "--to-encoding", "ascii")


def test_bad_records_are_reported_and_the_rest_is_converted(run, fails, files):
    good = b"TY  - JOUR\nID  - %d\nER  - \n"
    (files / "bad.ris").write_bytes(good % 1 + b"TY  - JOUR\nTI  - \xff\nER  - \n" + good % 3)
    assert "not valid UTF-8" in fails("convert", "bad.ris", "b.ris")
    assert not (files / "b.ris").exists()
    result = run("convert", "bad.ris", "b.ris", "--on-error", "skip")
    assert "1 record skipped" in result.stderr
    assert [document.id for document in read_documents("b.ris")] == ["1", "3"]


def test_records_of_what_is_found(run, fails, files):
    run("index", "a.ris", "--into", "index")
    printed = run("search", "index", "copper liver", "-k", "2", "--format", "ris").stdout
    assert printed.count("TY  - JOUR") == 2
    assert "ZZ  - odd" in printed
    assert "choose one of --json, --format" in fails("search", "index", "copper", "--json", "--format", "ris")
    assert "cannot be written as 'x'" in fails("search", "index", "copper", "--format", "x")
    assert run("refine", "a.ris", "--relevant", "4", "--export", "r.ris").exit_code == 0
    found = (files / "r.ris").read_bytes().decode()
    assert found.startswith("TY  - JOUR\r\nID  - 4\r\nTI  - Copper 4\r\n in the liver\r\n")
    assert found.count("ER  -") == 6


@needs_workspace
def test_records_and_marks(run, fails, files):
    assert "there is no such workspace" in fails("workspace", "list", "w")
    assert "w is ready" in run("workspace", "init", "w").stderr
    assert "6 records added to 'reading'" in run("workspace", "import", "w", "a.ris", "--collection", "reading").stderr
    told = run("workspace", "import", "w", "a.ris", "--collection", "reading").stderr
    assert "0 records added to 'reading', 6 were there already" in told
    (files / "other.csv").write_text("id,title\n1,Gold\n7,\n")
    told = run("workspace", "import", "w", "other.csv", "--collection", "reading").stderr
    assert "left out: '1' is the id of another record" in told
    assert "1 record added to 'reading', 1 left out for their ids" in told
    assert run("workspace", "mark", "w", "--collection", "reading", "--relevant", "1", "--not", "2").exit_code == 0
    rows = run("workspace", "show", "w", "--collection", "reading", "--tsv").stdout.splitlines()
    assert rows[1:3] == ["1\trelevant\t\tCopper 1 in the liver", "2\tnot relevant\t\tCopper 2 in the liver"]
    assert "the mark on 2 is taken back" in run("workspace", "undo", "w", "--collection", "reading").stderr
    printed = run("workspace", "show", "w", "--collection", "reading", "--json").stdout
    kept = [json.loads(line) for line in printed.splitlines()]
    assert [row.get("said") for row in kept] == ["relevant"] + [None] * 6
    assert run("workspace", "show", "w", "--collection", "reading", "--format", "bibtex").stdout.count("@") == 7
    assert "no 'x' in this list" in fails("workspace", "mark", "w", "--collection", "reading", "--relevant", "x")
    assert "name records to mark" in fails("workspace", "mark", "w", "--collection", "reading")
    assert "choose one of --collection, --search" in fails("workspace", "mark", "w", "--relevant", "x")
    assert "there is no search 3" in fails("workspace", "undo", "w", "--search", "3")
    assert run("workspace", "export", "w", "all.ris", "--collection", "reading").exit_code == 0
    assert (files / "all.ris").read_bytes().startswith(RIS.encode())
    listed = json.loads(run("workspace", "list", "w", "--json").stdout)
    assert listed["parts"] == [{"kind": "collection", "name": "reading", "size": 7}]


@needs_workspace
def test_an_archive(run, fails, files):
    run("workspace", "init", "w")
    run("workspace", "import", "w", "a.ris", "--collection", "reading")
    run("workspace", "export", "w", "one.jsonl")
    run("workspace", "init", "v")
    assert "7 rows read" in run("workspace", "import", "v", "one.jsonl").stderr
    run("workspace", "export", "v", "two.jsonl")
    assert (files / "one.jsonl").read_bytes() == (files / "two.jsonl").read_bytes()
    assert "only an empty workspace" in fails("workspace", "import", "v", "one.jsonl")
    run("workspace", "init", "u")
    (files / "no.jsonl").write_text("{}\n")
    assert "not an archive of a workspace" in fails("workspace", "import", "u", "no.jsonl")


@needs_workspace
def test_screening_by_two(run, fails, files):
    desk = ("--workspace", "w", "--project", "review", "--reviewer")
    told = run("screen", "a.ris", *desk, "ann", "--include", "1,3", "--exclude", "2", "--estimate")
    assert "a new project, 'review', of 6 records" in told.stderr
    assert "read: 3 of 6" in told.stdout
    assert "read: 3 of 6" in run("screen", *desk, "bob", "--include", "1", "--exclude", "2,3", "--estimate").stdout
    assert "read: 2 of 6" in run("screen", *desk, "bob", "--undecide", "2", "--estimate").stdout
    run("workspace", "undo", "w", "--project", "review", "--reviewer", "bob")
    for words in (("show", "w"), ("export", "w", "all.csv")):
        assert "is blind" in fails("workspace", *words, "--project", "review")
    (pair,) = json.loads(run("workspace", "kappa", "w", "review", "--json").stdout)["pairs"]
    # By hand: of 1, 2, 3 both excluded 2 and included 1; p_o = 2/3, p_e = 2/3*1/3 + 1/3*2/3 = 4/9; kappa = 2/5.
    assert (pair["both"], pair["agreed"], pair["kappa"]) == (3, 2, pytest.approx(0.4))
    assert "reveal it" in fails("workspace", "conflicts", "w", "review")
    assert "3" in run("workspace", "conflicts", "w", "review", "--reveal").stdout
    assert "--by" in fails("workspace", "conflicts", "w", "review", "--exclude", "3")
    settled = run("workspace", "conflicts", "w", "review", "--exclude", "3", "--by", "cat", "--json").stdout
    assert json.loads(settled)["conflicts"] == [
        {"document": "3", "included_by": ["ann"], "excluded_by": ["bob"], "resolved": False, "by": "cat", "reason": ""}
    ]
    # The file of decisions goes out, and comes in again, as another reviewer's.
    run("workspace", "export", "w", "ann.csv", "--project", "review", "--reviewer", "ann")
    rows = list(csv.DictReader((files / "ann.csv").read_text().splitlines()))
    assert [(row["id"], row["included"], row["decided_by"]) for row in rows] == [
        ("1", "1", "ann"), ("3", "1", "ann"), ("2", "0", "ann"),
    ]  # fmt: skip
    assert (
        "3 decisions read, 3 new"
        in run("workspace", "import", "w", "ann.csv", "--project", "review", "--reviewer", "eve").stderr
    )
    assert "read: 3 of 6" in run("screen", "a.ris", "--decisions", "ann.csv", "--estimate").stdout
    assert "read: 3 of 6" in run("screen", *desk, "eve", "--estimate").stdout
    (files / "ann.csv").write_text("id,included\n1,0\n")
    assert "decided the other way already" in fails(
        "workspace", "import", "w", "ann.csv", "--project", "review", "--reviewer", "eve"
    )
    rows = run("workspace", "show", "w", "--project", "review", "--tsv").stdout.splitlines()[1:]
    assert [row.split("\t")[:2] for row in rows] == [["1", "included"], ["3", "excluded"], ["2", "excluded"]]
    assert "choose one" in fails("screen", "a.ris", *desk, "ann", "--decisions", "x.csv")
    assert "name the references" in fails("screen")
    assert "no project 'x'" in fails("screen", "--workspace", "w", "--project", "x", "--reviewer", "ann")


@needs_workspace
def test_screening_keeps_decisions_in_a_workspace(run, fails, files, monkeypatch):
    """In the usual place, unless a file or another workspace is named; merely looking keeps nothing."""
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    run("screen", "a.ris", "--estimate")
    assert not (files / "germane.workspace").exists()
    told = run("screen", "a.ris", "--include", "1", "--exclude", "2", "--estimate")
    assert "a new project, 'a', of 6 records" in told.stderr
    assert "decisions of 'ann' in the project 'a' of germane.workspace" in told.stderr
    for words in (("a.ris",), (), ("--project", "a"), ("--workspace", "germane.workspace", "--reviewer", "ann")):
        assert "read: 2 of 6" in run("screen", *words, "--estimate").stdout
    (files / "b.ris").write_text("TY  - JOUR\nID  - 1\nTI  - Another\nER  - \n\nTY  - JOUR\nID  - 9\nER  - \n")
    before = run("workspace", "list", "germane.workspace", "--tsv").stdout
    assert "read: 0 of 2" in run("screen", "b.ris", "--estimate").stdout  # no project of that name: nothing is made
    assert run("workspace", "list", "germane.workspace", "--tsv").stdout == before
    assert "'1' is another record in the project 'a'" in fails("screen", "b.ris", "--project", "a", "--include", "9")
    (files / "b.ris").write_text("TY  - JOUR\nID  - 9\nER  - \n")
    assert "'9' is not in the project 'a'" in fails("screen", "b.ris", "--project", "a", "--reviewer", "bob")
    # A file of decisions is what it was.
    assert "read: 1 of 6" in run("screen", "a.ris", "--decisions", "d.csv", "--include", "4", "--estimate").stdout
    assert (files / "d.csv").read_text() == "id,included\n4,1\n"
    run("screen", "b.ris", "--include", "9", "--next", "0")
    assert "name the --project to screen; there are: 'a', 'b'" in fails("screen", "--estimate")
    assert "would be overwritten" in fails("screen", "a.ris", "--export", "germane.workspace")


@needs_workspace
def test_what_waits_reasons_and_notes_go_out_and_come_in(run, fails, files):
    desk = ("--workspace", "w", "--project", "a", "--reviewer")
    run("screen", "a.ris", *desk, "ann", "--interactive", "--reason", "mice", "--reason", "old", stdin="m2ca note\nynq")
    run("workspace", "export", "w", "d.csv", "--project", "a", "--reviewer", "ann")
    text = (files / "d.csv").read_text()
    assert text.splitlines()[0] == "id,included,exclusion_reason,screening_note,decided_by,decided_at"
    assert [line.split(",")[1:4] for line in text.splitlines()[1:]] == [
        ["0", "old", ""], ["1", "", "a note"], ["0", "", ""], ["maybe", "", ""],
    ]  # fmt: skip
    assert (
        "3 decisions read, 1 waiting, 4 new"
        in run("workspace", "import", "w", "d.csv", "--project", "a", "--reviewer", "bob").stderr
    )
    assert "0 new" in run("workspace", "import", "w", "d.csv", "--project", "a", "--reviewer", "bob").stderr
    run("workspace", "export", "w", "e.csv", "--project", "a", "--reviewer", "bob")
    assert (files / "e.csv").read_text() == text.replace(",ann,", ",bob,")
    rows = run("workspace", "show", "w", "--project", "a", "--reviewer", "bob", "--tsv").stdout.splitlines()[1:]
    assert [row.split("\t")[1:3] for row in rows] == [
        ["excluded", "old"], ["included", "note: a note"], ["excluded", ""], ["maybe", ""],
    ]  # fmt: skip
    run("workspace", "conflicts", "w", "a", "--reveal")
    run("workspace", "export", "w", "all.csv", "--project", "a")
    assert ",0,old\n" in (files / "all.csv").read_text()
    (files / "x.csv").write_text("id,included\nzz,1\n")
    assert "document 'zz' is not in the project 'a'" in fails(
        "workspace", "import", "w", "x.csv", "--project", "a", "--reviewer", "bob"
    )


@needs_workspace
def test_what_is_read_is_not_written_over(run, fails, files):
    run("workspace", "init", "w")
    run("workspace", "import", "w", "a.ris", "--collection", "reading")
    before = (files / "w").read_bytes()
    (files / "link.jsonl").symlink_to("w")
    for name in ("w", "link.jsonl"):
        assert "would be overwritten" in fails("workspace", "export", "w", name)
    assert (files / "w").read_bytes() == before
    run("index", "a.ris", "--into", "index")
    kept = (files / "index" / "MANIFEST").read_bytes()
    for option in ("--to", "--ciff"):
        assert "would be overwritten" in fails("export", "index", option, "index/MANIFEST")
    assert (files / "index" / "MANIFEST").read_bytes() == kept
    (files / "folder").mkdir()
    (files / "folder" / "a.ris").write_bytes(RIS.encode())
    assert "would be overwritten" in fails("dedupe", "folder", "--to", "folder/a.ris")


@needs_workspace
def test_marks_by_lists_and_off_again(run, fails, files):
    run("workspace", "init", "w")
    (files / "c.ris").write_text("TY  - JOUR\nID  - x,y\nER  - \n\nTY  - JOUR\nID  - z\nER  - \n")
    run("workspace", "import", "w", "c.ris", "--collection", "c")
    run("workspace", "mark", "w", "--collection", "c", "--relevant", "x,y", "--not", "z")
    run("workspace", "import", "w", "a.ris", "--collection", "c")
    run("workspace", "mark", "w", "--collection", "c", "--relevant", "1, 2", "--unmark", "z")
    rows = run("workspace", "show", "w", "--collection", "c", "--tsv").stdout.splitlines()[1:]
    assert {row.split("\t")[0] for row in rows if row.split("\t")[1] == "relevant"} == {"x,y", "1", "2"}
    assert "there is no '9' in this list" in fails("workspace", "mark", "w", "--collection", "c", "--relevant", "1,9")
    assert "'1' is named twice" in fails("workspace", "mark", "w", "--collection", "c", "--relevant", "1", "--not", "1")
    assert "references go into a --collection" in fails("workspace", "import", "w", "a.ris")


@needs_workspace
def test_a_search_is_kept_and_taken_up_again(run, fails, files):
    (files / "b.ris").write_text(
        "TY  - JOUR\nID  - x\nTI  - Copper wires\nER  - \n\nTY  - JOUR\nID  - 1\nTI  - Copper 1 in the liver\nER  - \n"
    )
    told = run("find", "copper", "-s", "a.ris,b.ris", "--workspace", "w", "--relevant", "2", "--json")
    assert "kept as search 1 of w" in told.stderr
    first = json.loads(told.stdout)
    again = json.loads(run("find", "--workspace", "w", "--again", "1", "--json").stdout)
    assert again["hits"] == first["hits"]
    assert again["refinement"] == first["refinement"]
    assert (again["query"], again["records"], again["duplicates"]) == ("copper", 8, first["duplicates"])
    more = json.loads(
        run("find", "--workspace", "w", "--again", "1", "--not", first["hits"][-1]["id"], "--json").stdout
    )
    marks = [one["mark"] for one in more["refinement"]["results"] if one.get("mark") is not None]
    assert sorted(marks) == [False, True]
    rows = run("workspace", "show", "w", "--search", "1", "--tsv").stdout.splitlines()[1:]
    assert sorted(row.split("\t")[1] for row in rows)[-2:] == ["not relevant", "relevant"]
    assert "search\t1: copper\t" in run("workspace", "list", "w", "--tsv").stdout
    run("workspace", "undo", "w", "--search", "1")
    assert (
        json.loads(run("find", "--workspace", "w", "--again", "1", "--json").stdout)["refinement"]
        == first["refinement"]
    )
    assert "there is no search 9" in fails("find", "--workspace", "w", "--again", "9")
    assert "name it with --workspace" in fails("find", "--again", "1")
    assert "choose one of --source and --again" in fails("find", "-s", "a.ris", "--workspace", "w", "--again", "1")
    assert "say WORDS" in fails("find", "-s", "a.ris")
    assert "would be overwritten" in fails(
        "find", "copper", "-s", "a.ris", "--workspace", "w", "--to", "w", "--format", "ris"
    )
    assert "no such workspace" in fails("find", "--workspace", "nothing", "--again", "1")


@needs_workspace
def test_notes(run, fails, files):
    run("workspace", "init", "w")
    assert "no note" in run("workspace", "note", "w", "1").stderr
    run("workspace", "note", "w", "1", "ask for the data", "--by", "ann")
    run("workspace", "note", "w", "1", "they answered")
    (one, other) = json.loads(run("workspace", "note", "w", "1", "--json").stdout)["notes"]
    assert (one["text"], one["by"], other["text"]) == ("ask for the data", "ann", "they answered")
    assert "a note needs a text" in fails("workspace", "note", "w", "1", " ")

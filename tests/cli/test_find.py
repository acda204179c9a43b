"""germane find: many sources on the command line. What is asked over the network is tested in tests/metasearch."""

import json
import sys
from pathlib import Path

import pytest

from germane.metasearch import SOURCES
from metasearch.library import Library

RIS = """TY  - JOUR
TI  - {title}
AU  - {author}
PY  - {year}
AB  - {abstract}
ER  - 

"""  # noqa: W291


def ris(*records):
    names = ("title", "author", "year", "abstract")
    return "".join(RIS.format(**dict(zip(names, record, strict=True))) for record in records)


ZINC = (
    "Zinc in the treatment of Wilson disease",
    "Hoffmann, Ann",
    "2001",
    "Zinc was given to patients with Wilson disease.",
)
COPPER = (
    "Copper in the liver of patients with Wilson disease",
    "Brewer, G",
    "2003",
    "Copper was high in the liver of all.",
)
CARS = (
    "Wilson and the history of car disease models",
    "Ford, H",
    "1999",
    "Cars are modelled as if they had a disease.",
)
TRIAL = (
    "Zinc against copper: a trial in Wilson disease",
    "Walshe, J",
    "2004",
    "Zinc was better in this trial of patients.",
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.ris").write_text(ris(CARS, ZINC, COPPER))
    Path("b.ris").write_text(ris(("ZINC in the treatment of Wilson disease.", "Hoffmann A", "2001", ""), TRIAL))
    return tmp_path


@pytest.fixture
def library():
    made = Library()
    yield made
    made.close()


def test_one_list(run, files):
    result = run("find", "wilson disease", "-s", "a.ris,b.ris", "--json")
    answer = json.loads(result.stdout)
    assert [(one["source"], one["records"]) for one in answer["sources"]] == [("a.ris", 3), ("b.ris", 2)]
    assert (answer["records"], answer["duplicates"], len(answer["hits"])) == (5, 1, 4)
    both = next(hit for hit in answer["hits"] if len(hit["provenance"]) == 2)
    assert both["title"] == ZINC[0]
    assert {one["source"] for one in both["provenance"]} == {"a.ris", "b.ris"}
    assert "4 results, 1 duplicate joined" in result.stderr


def test_tables_and_rows(run, files):
    shown = run("find", "wilson disease", "-s", "a.ris", "-s", "b.ris", "-k", "2").stdout
    assert "a.ris 2" in shown or "a.ris 1" in shown
    rows = [
        line.split("\t") for line in run("find", "wilson disease", "-s", "a.ris,b.ris", "--tsv").stdout.splitlines()
    ]
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert all(len(row) == 6 for row in rows)


def test_marks_refine_and_explain(run, files):
    first = json.loads(run("find", "wilson disease", "-s", "a.ris,b.ris", "--json").stdout)["hits"]
    cars = next(hit["rank"] for hit in first if hit["title"] == CARS[0])
    zinc = next(hit["rank"] for hit in first if hit["title"] == ZINC[0])
    words = ["find", "wilson disease", "-s", "a.ris,b.ris", "--relevant", zinc, "--not", cars]
    result = run(*words, "--explain", "--changes", "--json")
    answer = json.loads(result.stdout)
    assert [hit["title"] for hit in answer["hits"]][0] == ZINC[0]  # noqa: RUF015
    assert [hit["title"] for hit in answer["hits"]][-1] == CARS[0]
    assert [hit["id"] for hit in answer["hits"]] == [one["id"] for one in answer["refinement"]["results"]]
    assert answer["refinement"]["method"] == "carried evidence"
    assert answer["refinement"]["results"][1]["words"]["for"]
    assert "changes" in answer["refinement"]
    assert "knn: paper takes knn" in run(*words, "--method", "paper").stderr
    assert ZINC[0] in run(*words).stdout


def test_export(run, files):
    run("find", "wilson disease", "-s", "a.ris,b.ris", "--to", "found.ris")
    again = run("find", "wilson disease", "-s", "found.ris", "--json")
    assert len(json.loads(again.stdout)["hits"]) == 4
    printed = run("find", "wilson disease", "-s", "a.ris,b.ris", "--format", "ris", "-k", "1").stdout
    assert printed.count("TY  - ") == 1
    assert "found_by: " in printed


def test_what_joined_records_say_as_a_note_and_as_a_field_is_written_once(run, files):
    Path("c.ris").write_text(
        "TY  - JOUR\nTI  - Stars and planets of the sky\nPY  - 2001\nN1  - topic: astronomy\nER  - \n"
    )
    Path("d.jsonl").write_text('{"title": "Stars and planets of the sky", "year": 2001, "topic": "astronomy"}\n')
    printed = run("find", "stars", "-s", "c.ris,d.jsonl", "--format", "ris").stdout
    assert printed.count("N1  - topic: astronomy") == 1
    assert printed.count("TY  - ") == 1


def test_recording_and_replay(run, files):
    words = ("find", "wilson disease", "-s", "a.ris,b.ris", "--ranking", "lm")
    first = run(*words, "--record", "answers.json", "--json").stdout
    Path("a.ris").unlink()
    assert run("find", "-", "--replay", "answers.json", "--json").stdout == first


def test_settings_cache_and_failures(run, files, library, monkeypatch):
    Path("sources.toml").write_text(
        f"[sources.lib]\nkind = 'crossref'\nurl = '{library.url}/crossref'\nkey_env = 'LIB_KEY'\n"
        f"[sources.down]\nkind = 'feed'\nurl = '{library.url}/nothing'\n"
    )
    monkeypatch.setenv("LIB_KEY", "s3cr3t")
    words = ("find", "wilson copper", "-s", "lib,down,a.ris", "--settings", "sources.toml", "--cache", "c.db", "--json")
    result = run(*words)
    answer = json.loads(result.stdout)
    assert "down: refused: HTTP 404: Not here" in result.stderr
    assert [one.get("failure") for one in answer["sources"]] == [None, "refused", None]
    assert "s3cr3t" not in result.output
    library.faults["crossref"] = "server"
    assert run(*words, "--offline").stdout == result.stdout.replace(
        "HTTP 404: Not here", "this request was not recorded, and nothing is fetched offline"
    ).replace('"refused"', '"offline"')


def test_what_cannot_be_asked(fails, run, files):
    assert "name the sources" in fails("find", "x")
    assert "no source 'pubmedd'" in fails("find", "x", "-s", "pubmedd")
    assert "nothing to search for" in fails("find", " ", "-s", "a.ris")
    assert "--offline answers from a cache" in fails("find", "x", "-s", "a.ris", "--offline")
    assert "choose one of --json and --format" in fails("find", "x", "-s", "a.ris", "--json", "--format", "ris")
    assert "choose one of --source and --replay" in fails("find", "x", "-s", "a.ris", "--replay", "b.json")
    assert "no ranking 'best'" in fails("find", "x", "-s", "a.ris", "--ranking", "best")
    assert "there is no method 'best'" in fails("find", "x", "-s", "a.ris", "--method", "best")
    assert "neither an id nor a place" in fails("find", "wilson", "-s", "a.ris", "--relevant", "77")
    assert "no source has answered" in fails("find", "(x", "-s", "a.ris")


@pytest.mark.parametrize(
    "words",
    [
        ("-s", "a.ris", "--to", "a.ris"),
        ("-s", "a.ris,b.ris", "--record", "./b.ris"),
        ("-s", ".", "--to", "a.ris"),
        ("-s", "mine", "--settings", "sources.toml", "--to", "b.ris"),
        ("-s", "mine", "--settings", "sources.toml", "--record", "sources.toml"),
        ("-s", "a.ris", "--record", "new.jsonl", "--to", "new.jsonl"),
        ("-s", "a.ris", "--cache", "new.jsonl", "--to", "new.jsonl"),
        ("--replay", "answers.json", "--record", "answers.json"),
    ],
)
def test_what_is_read_is_not_replaced(words, run, fails, files):
    Path("sources.toml").write_text("[sources.mine]\nkind = 'folder'\npath = 'b.ris'\n")
    run("find", "wilson", "-s", "a.ris", "--record", "answers.json")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    assert "would be overwritten" in fails("find", "wilson", *words)
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_nothing_found(run, files):
    result = run("find", "xylophone", "-s", "a.ris")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no source that answered has found anything" in result.stderr
    result = run("find", "wilson", "-s", "a.ris", "--page", "9", "--json")
    assert (result.exit_code, json.loads(result.stdout)["hits"]) == (1, [])
    assert "nothing stands on page 9" in result.stderr


def test_without_the_extra(run, files, monkeypatch):
    """Files and indexes need nothing more; what asks over the network says what to install."""
    assert all(SOURCES.values())  # loaded: those of other tests come back afterwards, none made here stays
    for name in [name for name in sys.modules if name.startswith(("germane.metasearch", "httpx", "httpcore"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.setitem(sys.modules, "httpcore", None)
    assert run("find", "wilson", "-s", "a.ris", "--json").exit_code == 0
    result = run("find", "wilson", "-s", "pubmed")
    assert result.exit_code == 2
    assert "pip install 'germane[metasearch]'" in result.stderr

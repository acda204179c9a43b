"""show and dedupe."""

import json

import pytest

from germane.data import read_documents

RIS = """TY  - JOUR
TI  - Copper in the liver
AU  - Smith, Ann
AU  - Jones, Bo
DO  - 10.1000/x
ZZ  - unknown
ER  - 

"""  # noqa: W291
NBIB = """PMID- 7
TI  - Copper in the liver.
AB  - An abstract.
LID - 10.1000/x [doi]

PMID- 8
TI  - Something else entirely.

"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ris").write_text(RIS, encoding="utf-8")
    (tmp_path / "b.nbib").write_text(NBIB, encoding="utf-8")
    return tmp_path


def test_show(run, fails, files):
    assert run("index", "a.ris", "b.nbib", "--into", "index").exit_code == 0
    (document,) = read_documents("a.ris")
    shown = run("show", "index", "10.1000/x", "8")
    assert shown.stdout.startswith("id: 10.1000/x\ntitle: Copper in the liver\nauthor: Smith, Ann\nauthor: Jones, Bo\n")
    assert "zz: unknown\n" in shown.stdout
    assert "\n\nid: 8\ntitle: Something else entirely.\n" in shown.stdout
    lines = run("show", "index", "10.1000/x", "8", "--json").stdout.splitlines()
    assert json.loads(lines[0]) == {"id": document.id, "fields": document.fields}
    assert len(lines) == 2
    assert "'nobody'" in fails("show", "index", "8", "nobody")


def test_dedupe(run, fails, files):
    result = run("dedupe", "a.ris", "b.nbib", "--to", "unique.nbib", "--duplicates", "left.ris", "--json")
    answer = json.loads(result.stdout)
    assert (answer["records"], answer["unique"]) == (3, 2)
    (one,) = answer["duplicates"]
    assert (one["id"], one["place"], one["kept"], one["kept_place"], one["reason"]) == ("10.1000/x", 1, "7", 2, "doi")
    assert (files / "unique.nbib").read_text(encoding="utf-8") == NBIB
    assert (files / "left.ris").read_text(encoding="utf-8") == RIS
    assert "3 records, 1 duplicate" in run("dedupe", "a.ris", "b.nbib").stderr
    assert run("dedupe", "a.ris", "b.nbib", "--tsv").stdout.splitlines()[1].startswith("10.1000/x\t1\t7\t2\tdoi\t1.0")
    assert "does not say" in fails("dedupe", "a.ris", "--to", "x.txt")
    assert "similarity" in fails("dedupe", "a.ris", "--similarity", "2")

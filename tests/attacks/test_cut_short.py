"""Files that end too early: what is whole is read, the rest is told with its line, and taken where somebody says so."""

import json

import pytest

from germane.data import SkipReport, read_documents
from germane.errors import CutShortError, InputError

RIS = "TY  - JOUR\nID  - a\nTI  - Copper\nER  - \n\nTY  - JOUR\nID  - b\nTI  - Half a ti"
TREC = "<DOC><DOCNO>a</DOCNO><TEXT>Copper</TEXT></DOC>\n<DOC><DOCNO>b</DOCNO><TEXT>Half"
PUBMED = (
    "<PubmedArticleSet>\n<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>Copper</ArticleTitle>"
    "</Article></MedlineCitation></PubmedArticle>\n<PubmedArticle><MedlineCitation><PMID>2</PMID><Article><Art"
)
ENDNOTE = "<xml><records><record><titles><title>Copper</title></titles></record>\n<record><titles><title>Half"
FILES = {"a.ris": (RIS, 6, True), "a.trec": (TREC, 2, True), "p.xml": (PUBMED, 3, False), "e.xml": (ENDNOTE, 2, False)}
"""Each with the line that is told, and whether the last record can be used as far as it goes."""


@pytest.mark.parametrize("name", FILES)
def test_what_is_whole_is_read(tmp_path, name):
    text, line, usable = FILES[name]
    (tmp_path / name).write_text(text)
    report = SkipReport()
    assert len(list(read_documents(tmp_path / name, on_error="skip", report=report))) == 1
    assert (report.count, report.first[0].line, report.cut_short) == (1, line, line)
    taken = SkipReport(take_cut=True)
    assert len(list(read_documents(tmp_path / name, on_error="skip", report=taken))) == 1 + usable
    read = read_documents(tmp_path / name)
    next(read)
    with pytest.raises(CutShortError, match=f"line {line}"):
        next(read)


def test_a_file_without_one_whole_record_is_no_such_file(tmp_path):
    (tmp_path / "p.xml").write_text("<PubmedArticleSet><PubmedArticle>")
    with pytest.raises(InputError, match="not well-formed"):
        list(read_documents(tmp_path / "p.xml", on_error="skip"))


@pytest.mark.parametrize(("incomplete", "count"), [(False, 1), (True, 2)])
def test_the_server_asks(server, incomplete, count):
    """The preview tells the line, and what is taken in is what was asked for."""
    name = "taken" if incomplete else "left"
    text = RIS.replace("ID  - ", f"ID  - {name}-")
    _, _, answer = server.ask("POST", "/api/v1/imports?name=a.ris", text.encode())
    seen = json.loads(answer)
    assert (seen["records"], seen["skipped"], seen["cut_short"]) == (1, 1, 6)
    assert "line 6" in seen["odd"][0]
    status, done = server.api("POST", f"/imports/{seen['key']}", {"incomplete": incomplete})
    assert (status, done["report"]["added"]) == (200, count)


def test_one_record_alone_can_be_taken(server):
    _, _, answer = server.ask("POST", "/api/v1/imports?name=a.ris", b"TY  - JOUR\nID  - alone\nTI  - Copper\n")
    seen = json.loads(answer)
    assert (seen["records"], seen["cut_short"]) == (0, 1)
    _, done = server.api("POST", f"/imports/{seen['key']}", {"incomplete": True})
    assert done["report"]["added"] == 1

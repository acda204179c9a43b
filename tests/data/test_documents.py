import bz2
import gzip
import lzma

import pytest
import zstandard

from germane.data import SkipReport, dataset_names, dataset_path, read_documents
from germane.data.documents import text_fields_of
from germane.data.formats import detect_format
from germane.errors import InputError, ParameterError

SAMPLES = {
    "jsonl": '{"id": "1", "text": "x"}\n',
    "csv": "id,text\n1,x\n",
    "tsv": "id\ttext\n1\tx\n",
    "trec": "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>x</TEXT></DOC>\n",
    "medline": "PMID- 1\nAB  - x\n",
    "pubmed": "<?xml version='1.0'?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Abstract>"
    "<AbstractText>x</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "ris": "TY  - JOUR\nID  - 1\nAB  - x\nER  - \n",
    "bibtex": "% made by hand\n@misc{1, abstract = {x}}\n",
}
ENDINGS = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "tsv": ".tsv",
    "trec": ".sgml",
    "medline": ".nbib",
    "pubmed": ".xml",
    "ris": ".ris",
    "bibtex": ".bib",
}


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch):
    monkeypatch.delenv("GERMANE_DATA", raising=False)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize("named", [True, False], ids=["by name", "by content"])
def test_formats(write, name, ending, named):
    packers = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    pack = packers[ending]
    path = write(f"d{ENDINGS[name] if named else '.unknown'}{ending}", pack(SAMPLES[name].encode()))
    assert detect_format(path) == name
    for documents in (read_documents(path), read_documents(str(path), format=name)):
        (document,) = documents
        assert (document.id, document.fields["text"]) == ("1", "x")


def test_beginnings_with_marks_and_blank_lines(write):
    assert detect_format(write("d", "\ufeff\n\n" + SAMPLES["ris"])) == "ris"
    assert detect_format(write("e", "<!-- hello -->\n" + SAMPLES["trec"])) == "trec"


def test_unknown_content(write):
    with pytest.raises(InputError, match="the format is not recognised; name it: jsonl, csv"):
        read_documents(write("d.dat", "hello world"))
    with pytest.raises(InputError, match="one object per line"):
        read_documents(write("d.json", '[{"id": 1}]'))
    assert list(read_documents(write("empty", ""))) == []


def test_wrong_arguments(write):
    path = write("d.jsonl", "")
    with pytest.raises(ParameterError, match="no format is called 'xls'; there are: jsonl"):
        read_documents(path, format="xls")
    with pytest.raises(ParameterError, match="'stop' or 'skip'"):
        read_documents(path, on_error="ignore")
    with pytest.raises(InputError, match="needs a folder"):
        read_documents(path, format="folder")
    with pytest.raises(ParameterError, match="empty name"):
        list(read_documents(path, mapping={"text": ""}))


@pytest.mark.parametrize("name", ["medline", "ris", "bibtex", "pubmed", "trec"])
def test_mapping_applies_to_every_format(write, name):
    path = write("d", SAMPLES[name])
    (document,) = read_documents(path, mapping={"body": "text"})
    assert document.fields["body"] == "x"
    assert "text" not in document.fields
    with pytest.raises(InputError, match="no column 'nothing' for the field 'body'; found: "):
        list(read_documents(path, mapping={"body": "nothing"}))


def test_mapping_of_the_id(write):
    path = write("d.bib", "@misc{one, doi={10.1000/x}}\n@misc{two}\n")
    assert [document.id for document in read_documents(path)] == ["10.1000/x", "two"]
    assert [document.id for document in read_documents(path, mapping={"id": "key"})] == ["one", "two"]
    with pytest.raises(InputError, match="field 'doi': document 'two' has no such field"):
        list(read_documents(path, mapping={"id": "doi"}))


def test_skip(write):
    path = write("d.jsonl", '{"id":"a"}\nnonsense\n{}\n{"id":"b"}\n')
    report = SkipReport(keep=1)
    assert [document.id for document in read_documents(path, on_error="skip", report=report)] == ["a", "b"]
    assert report.count == 2
    assert report.first == [(str(path), 2, None, report.first[0].reason)]
    assert report.first[0].reason.startswith("not valid JSON")
    assert [document.id for document in read_documents(path, on_error="skip")] == ["a", "b"]


def test_skip_does_not_hide_an_unreadable_file(write):
    path = write("d.jsonl.gz", gzip.compress(b'{"id":"a"}\n' * 1000)[:-9])
    with pytest.raises(InputError, match="damaged or truncated gzip file"):
        list(read_documents(path, on_error="skip"))


def test_numbering(write):
    (document,) = read_documents(write("d.csv", "text\nx\n"), number=True)
    assert document.id == "d.csv:1"


def test_folders(write, tmp_path):
    write("texts/a/1.txt", "x")
    write("parts/1.xml.gz", gzip.compress(SAMPLES["pubmed"].encode()))
    write("parts/2.xml", SAMPLES["pubmed"])
    write("set/docs.jsonl.gz", gzip.compress(SAMPLES["jsonl"].encode()))
    (document,) = read_documents(tmp_path / "texts")
    assert (document.id, dict(document.fields)) == ("a/1.txt", {"text": "x"})
    (document,) = read_documents(tmp_path / "texts", mapping={"label": "folder"})
    assert document.fields["label"] == "a"
    with pytest.raises(InputError, match="can be mapped"):
        read_documents(tmp_path / "texts", mapping={"title": "name"})
    assert [document.id for document in read_documents(tmp_path / "parts", format="pubmed")] == ["1", "1"]
    assert [document.id for document in read_documents(tmp_path / "set")] == ["1"]


def test_each_file_of_a_folder_has_its_own_format(write, tmp_path):
    """One .ris, one .nbib and the like are records, a text between them is a text."""
    write("mixed/a.ris", "TY  - JOUR\nTI  - One\nDO  - 10.1000/x\nER  - \nTY  - BOOK\nTI  - Two\nER  - \n")
    write("mixed/b.nbib", "PMID- 7\nTI  - Three\n\nPMID- 8\nTI  - Four\n")
    write("mixed/c.txt", "PMID- 9\nTI  - Five\n")
    write("mixed/d.bib.gz", gzip.compress(b"@misc{six, title = {Six}}"))
    write("mixed/e.jsonl", '{"id": "seven", "title": "Seven"}\n')
    write("mixed/f.csv", "id,title\n8a,Eight\n")
    write("mixed/notes.txt", "Only a text {with braces}.\n")
    write("mixed/p.xml", SAMPLES["pubmed"])
    write("mixed/sub/a.ris", "TY  - JOUR\nTI  - Nine\nER  - \n")
    write("mixed/t", SAMPLES["trec"])
    found = {document.id: document.fields for document in read_documents(tmp_path / "mixed")}
    assert list(found) == [
        "10.1000/x", "a.ris:2", "7", "8", "9", "six", "seven", "8a", "notes.txt", "1", "sub/a.ris:1",
    ]  # fmt: skip
    assert found["notes.txt"] == {"text": "Only a text {with braces}.\n"}
    texts = list(read_documents(tmp_path / "mixed", format="folder"))
    assert len(texts) == 10
    assert text_fields_of(tmp_path / "mixed") == ("title", "text", "keywords")
    assert text_fields_of(tmp_path / "mixed" / "e.jsonl") == ("title", "text")
    with pytest.raises(InputError, match="can be mapped"):
        read_documents(tmp_path / "mixed", mapping={"text": "title"})


def test_data_sets_by_name(write, tmp_path, monkeypatch):
    write("root/tiny/docs.jsonl", SAMPLES["jsonl"])
    write("root/other/notes.txt", "no documents here")
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "root"))
    assert dataset_names() == ["tiny"]
    assert dataset_path("tiny") == tmp_path / "root" / "tiny"
    assert [document.id for document in read_documents("tiny")] == ["1"]
    with pytest.raises(InputError, match=r"small: no such file or folder; as a data set: .*'small'; there are: tiny"):
        read_documents("small")


def test_data_sets_without_a_root(monkeypatch):
    with pytest.raises(InputError, match=r"tiny: no such file or folder; as a data set: .*GERMANE_DATA.* is not set"):
        read_documents("tiny")
    monkeypatch.setenv("GERMANE_DATA", "/nowhere/at/all")
    with pytest.raises(InputError, match="GERMANE_DATA must name a folder"):
        read_documents("tiny")


@pytest.mark.parametrize("source", ["nowhere/docs.jsonl", "docs.jsonl", "nowhere/", "a\0b", "x" * 5000])
def test_missing_file(source):
    with pytest.raises(InputError, match="no such file or folder"):
        read_documents(source)

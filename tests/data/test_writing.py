"""What was read can be written and read again, the same: every tag with every value."""

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.test_bibtex import BIB
from data.test_medline import NBIB
from data.test_ris import RIS
from germane.data import read_documents
from germane.data.bibtex import read_bibtex
from germane.data.latex import latex_to_text, text_to_latex
from germane.data.medline import read_medline
from germane.data.ris import read_ris
from germane.data.writing import format_for, write_documents
from germane.errors import ParameterError
from germane.types import Document

FULL_RIS = """TY  - JOUR
AU  - Smith, Ann
AD  - Department of One
AU  - Smith, Ann
TI  - A title
TI  - A second title
T1  - The title once more
AB  - The first paragraph.
AB  - The second paragraph.
N2  - A short abstract
PY  - 2001/03/04/
PY  - 2002
Y1  - 2003
DA  - 2004/05/06
DO  - 10.1000/one
DO  - https://doi.org/10.1000/two
JF  - Journal of Tests
JO  - J Tests
T2  - Tests
KW  - liver
KW  - copper
KW  - liver
ID  - ref 1
ID  - ref 2
UR  - http://a.b/c
UR  - http://d.e/f
ZZ  - nobody knows this tag
ZZ  - nor its second value
N1  - a note
ER  -

"""
FULL_NBIB = """PMID- 11111111
OWN - NLM
DP  - 1998 Mar-Apr
TI  - A title.
TI  - A second title.
LID - 10.1000/abc.1 [doi]
FAU - Porter, Martin F
AU  - Porter MF
AD  - Cambridge.
AD  - London.
FAU - Jones, Karen
AU  - Jones K
AD  - Sheffield.
CN  - The Group
LA  - eng
TA  - J Test
JT  - Journal of Tests
MH  - *Asthma/drug therapy
MH  - Asthma/genetics
MH  - Humans
OT  - *stemming
OT  - Humans
ID  - R01 CA123
DOI - an unknown tag with the name of a field

"""
FULL_BIB = r"""@inproceedings{k1,
  author = {Smith, Ann and {Barnes and Noble}},
  title = {First \& second},
  title = {Another title},
  booktitle = {Proceedings},
  journal = {A journal too},
  year = {c. 1968},
  type = {a type of its own},
  text = {some text},
  abstract = {The abstract},
  keywords = {a, b},
  tag_title = {a name like ours}
}

"""


def tags(text, width):
    return [(line[:width].strip(), line.split("-", 1)[1].strip()) for line in text.splitlines() if line[:2].strip()]


def again(documents, tmp_path, name):
    """The documents as written and read once more."""
    path = tmp_path / "again" / name
    path.parent.mkdir(exist_ok=True)
    assert write_documents(path, documents) == len(documents)
    return list(read_documents(path))


@pytest.mark.parametrize(("name", "content"), [("d.ris", FULL_RIS), ("d.nbib", FULL_NBIB)])
def test_every_tag_is_written_in_its_place(write, tmp_path, name, content):
    documents = list(read_documents(write(name, content)))
    assert again(documents, tmp_path, name) == documents
    written = (tmp_path / "again" / name).read_text(encoding="utf-8")
    # One value is the same DOI without its address; else the record is that which was read, line by line.
    assert tags(written, 4) == tags(content.replace("https://doi.org/", ""), 4)


def test_what_the_fields_of_a_full_record_are(write):
    (document,) = read_ris(write("d.ris", FULL_RIS))
    assert document.fields["title"] == "A title"
    assert document.fields["ti"] == ["A title", "A second title"]
    assert document.fields["t1"] == "The title once more"
    assert document.fields["text"] == "The first paragraph.\nThe second paragraph."
    assert document.fields["author"] == ["Smith, Ann", "Smith, Ann"]
    assert document.fields["py"] == ["2001/03/04/", "2002"]
    assert (document.fields["year"], document.fields["y1"]) == (2001, "2003")
    assert (document.fields["journal"], document.fields["jf"], document.fields["t2"]) == (
        "J Tests", "Journal of Tests", "Tests",
    )  # fmt: skip
    assert document.fields["do"] == ["10.1000/one", "10.1000/two"]
    assert document.fields["zz"] == ["nobody knows this tag", "nor its second value"]
    assert (document.fields["key"], document.fields["tag_id"]) == ("ref 1", ["ref 1", "ref 2"])
    (document,) = read_medline(write("d.nbib", FULL_NBIB))
    assert document.fields["keywords"] == ["stemming", "Humans", "Asthma"]
    assert document.fields["mesh"] == ["Asthma", "Humans"]
    assert document.fields["mh"] == ["*Asthma/drug therapy", "Asthma/genetics", "Humans"]
    assert document.fields["author"] == ["Porter, Martin F", "Jones, Karen", "The Group"]
    assert (document.fields["au"], document.fields["ta"]) == (["Porter MF", "Jones K"], "J Test")
    assert (document.fields["doi"], document.fields["tag_doi"][:10]) == ("10.1000/abc.1", "an unknown")
    assert document.fields["tag_id"] == "R01 CA123"
    (document,) = read_bibtex(write("d.bib", FULL_BIB))
    assert document.fields["title"] == "First & second"
    assert document.fields["tag_title"] == ["First & second", "Another title"]
    assert document.fields["tag_tag_title"] == "a name like ours"
    assert (document.fields["journal"], document.fields["booktitle"]) == ("A journal too", "Proceedings")
    assert (document.fields["year"], document.fields["tag_year"]) == (1968, "c. 1968")
    assert (document.fields["type"], document.fields["tag_type"]) == ("inproceedings", "a type of its own")
    assert (document.fields["text"], document.fields["tag_text"]) == ("The abstract", "some text")


@pytest.mark.parametrize(
    ("name", "content"),
    [("d.ris", RIS), ("d.nbib", NBIB), ("d.bib", BIB), ("d.ris", FULL_RIS), ("d.nbib", FULL_NBIB), ("d.bib", FULL_BIB)],
)
def test_fixtures_come_back(write, tmp_path, name, content):
    documents = list(read_documents(write(name, content)))
    assert again(documents, tmp_path, name) == documents
    assert again(documents[::-1], tmp_path, f"other-{name}") == documents[::-1]


values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\ufeff"), max_size=12)
likely = st.sampled_from(
    ["10.1000/x", "doi:10.1000/y.", "1998", "1998/01/02", "a  b", "*Asthma/x", "PubMed", "123", "A"]
)
ris_tags = st.sampled_from(
    [
        "TI",
        "T1",
        "CT",
        "AB",
        "N2",
        "AU",
        "A1",
        "A2",
        "PY",
        "Y1",
        "DA",
        "JO",
        "JF",
        "T2",
        "DO",
        "KW",
        "ID",
        "AN",
        "DB",
        "PM",
        "UR",
        "N1",
        "ZZ",
        "SP",
    ]
)
nbib_tags = st.sampled_from(
    [
        "TI",
        "BTI",
        "AB",
        "FAU",
        "AU",
        "CN",
        "DP",
        "LID",
        "AID",
        "JT",
        "TA",
        "MH",
        "OT",
        "PT",
        "LA",
        "PMC",
        "GN",
        "ID",
        "DOI",
        "OWN",
        "MESH",
        "TAGS",
    ]
)
common = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(**common)
@given(st.lists(st.lists(st.tuples(ris_tags, values | likely), max_size=12), min_size=1, max_size=4))
def test_any_ris_comes_back(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("ris")
    lines = [["TY  - JOUR", *(f"{tag}  - {value}" for tag, value in record), "ER  - "] for record in records]
    (folder / "d.ris").write_bytes("\n".join(line for record in lines for line in record).encode())
    documents = list(read_ris(folder / "d.ris"))
    assert len(documents) == len(records)
    for document, record in zip(documents, records, strict=True):
        assert document.fields["record_tags"].split()[1:] == [tag for tag, value in record if value.strip()]
    assert again(documents, folder, "d.ris") == documents


@settings(**common)
@given(st.lists(st.lists(st.tuples(nbib_tags, values | likely), max_size=12), min_size=1, max_size=4))
def test_any_nbib_comes_back(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("nbib")
    lines = [["PMID- 7", *(f"{tag:<4}- {value}" for tag, value in record), ""] for record in records]
    (folder / "d.nbib").write_bytes("\n".join(line for record in lines for line in record).encode())
    documents = list(read_medline(folder / "d.nbib"))
    assert len(documents) == len(records)
    for document, record in zip(documents, records, strict=True):
        assert document.fields["record_tags"].split()[1:] == [tag for tag, value in record if value.strip()]
    assert again(documents, folder, "d.nbib") == documents


names = st.sampled_from(
    [
        "title",
        "abstract",
        "text",
        "author",
        "editor",
        "year",
        "date",
        "journal",
        "booktitle",
        "doi",
        "keywords",
        "keyword",
        "url",
        "type",
        "key",
        "note",
        "month",
        "id",
        "pmid",
        "record_tags",
        "tag_note",
        "x-y",
    ]
)


@settings(**common)
@given(
    st.sampled_from(["", "k", "k:1"]),
    st.lists(st.tuples(names, (values | likely).map(text_to_latex)), max_size=10),
)
def test_any_bibtex_comes_back(tmp_path_factory, key, fields):
    folder = tmp_path_factory.mktemp("bib")
    content = ",\n".join([key, *(f" {name} = {{{value}}}" for name, value in fields)])
    (folder / "d.bib").write_bytes(f"@misc{{{content}\n}}\n".encode())
    documents = list(read_bibtex(folder / "d.bib"))
    assert len(documents) == 1
    assert again(documents, folder, "d.bib") == documents


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\{}$~^-_&%#")))
def test_latex_of_any_text(text):
    written = text_to_latex(text)
    assert latex_to_text(written) == " ".join(text.split())
    depth = [written[: i + 1].count("{") - written[: i + 1].count("}") for i in range(len(written))]
    assert min(depth, default=0) >= 0
    assert (depth or [0])[-1] == 0


@pytest.mark.parametrize("source", ["d.ris", "d.nbib", "d.bib"])
@pytest.mark.parametrize("target", ["e.ris", "e.nbib", "e.bib"])
def test_between_formats_nothing_is_lost(write, tmp_path, source, target):
    content = {"d.ris": FULL_RIS, "d.nbib": FULL_NBIB, "d.bib": FULL_BIB}[source]
    (document,) = read_documents(write(source, content))
    (other,) = again([document], tmp_path, target)
    assert other.id == document.id
    for name in ("title", "text", "author", "year", "journal", "doi", "pmid"):
        found = other.fields.get(name)
        assert found == document.fields.get(name) or found == " ".join(str(document.fields.get(name)).split()), name
    written = " ".join(str(other.fields).replace("\\n", " ").split())
    for name, value in document.fields.items():
        for item in value if isinstance(value, list) else [value]:
            if not name.startswith("record_") and name != "type":  # JOUR is article elsewhere
                assert any(part in written for part in (str(item), " ".join(str(item).split()))), name


def test_volume_issue_and_pages_have_their_tags(write, tmp_path):
    (document,) = read_ris(write("d.ris", "TY  - JOUR\nID  - a\nVL  - 3\nIS  - 4\nSP  - 10\nEP  - 19\nER  - \n"))
    (nbib,) = again([document], tmp_path, "e.nbib")
    assert [nbib.fields[name] for name in ("vi", "ip", "pg")] == ["3", "4", "10-19"]
    (bib,) = again([nbib], tmp_path, "e.bib")
    assert [bib.fields[name] for name in ("volume", "number", "pages")] == ["3", "4", "10-19"]
    (ris,) = again([bib], tmp_path, "f.ris")
    assert [ris.fields[name] for name in ("vl", "is", "sp", "ep")] == ["3", "4", "10", "19"]
    assert [each.id for each in (nbib, bib, ris)] == ["a"] * 3


@pytest.mark.parametrize("ending", ["ris", "nbib", "bib", "csv", "tsv", "jsonl"])
def test_any_documents_can_be_written(tmp_path, ending):
    documents = [
        Document("a {1}", {"title": "One\ttab", "text": "two\nlines", "year": 1999, "my field": ["x", "y"], "n": None}),
        Document("b", {"abstract": "words", "doi": "10.1000/z"}),
    ]
    found = again(documents, tmp_path, f"d.{ending}")
    assert [document.id for document in found] == ["a {1}", "b"]
    assert [" ".join(str(found[0].fields[name]).split()) for name in ("title", "text", "year")] == [
        "One tab", "two lines", "1999",
    ]  # fmt: skip


def test_tables(tmp_path):
    target = io.StringIO()
    assert write_documents(target, [Document("1", {"a": ["x", "y"]}), Document("2", {"b": 'q"'})], "csv") == 2
    assert list(csv.reader(target.getvalue().splitlines())) == [["id", "a", "b"], ["1", "x; y", ""], ["2", "", 'q"']]


def test_formats_by_name():
    assert [format_for(name) for name in ("a.RIS", "a.nbib", "a.bib", "a.tab")] == ["ris", "medline", "bibtex", "tsv"]
    assert format_for(None) == "jsonl"
    with pytest.raises(ParameterError, match=r"'kept.txt' does not say .*\.ris"):
        format_for("kept.txt")
    with pytest.raises(ParameterError, match="cannot be written as 'pubmed'; the formats are jsonl, csv"):
        format_for("a.ris", "pubmed")


def test_a_key_that_bibtex_could_not_read(tmp_path):
    """The key of another format's record may be anything; the id stays."""
    for key in ("=cmd|'x'!A1", "a,b", "{x", "a b", '"'):
        document = Document(key, {"title": "Copper", "key": key, "type": "JOUR", "record_format": "ris"})
        write_documents(tmp_path / "a.bib", [document])
        assert [each.id for each in read_documents(tmp_path / "a.bib")] == [key]

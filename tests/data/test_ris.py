import pytest

from germane.data.bad_records import SkipReport
from germane.data.ris import read_ris
from germane.errors import InputError

RIS = """1.
TY  - JOUR
AU  - Ponte, Jay M.
AU  - Croft, W. Bruce
TI  - A language modeling approach
      to information retrieval
PY  - 1998/08/24
JF  - SIGIR
DO  - https://doi.org/10.1145/290941.291008
KW  - language models
KW  - retrieval
AB  - Models of document indexing.
Second line of the abstract.
SP  - 275
EP  - 281
ER  -

TY  - JOUR
T1  - From PubMed
AN  - 12345678
DB  - PubMed
ER  -
TY  - BOOK
T1  - By accession
AN  - ACC-9
ER  -
TY  - GEN
T1  - No id at all
Y1  - n.d.
ER  -
"""


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_ris(*arguments, **options)]


@pytest.mark.parametrize("content", [RIS, RIS.replace("\n", "\r\n"), "\ufeff" + RIS])
def test_count_first_last(write, content):
    documents = pairs(write("d.ris", content))
    assert [key for key, _ in documents] == ["10.1145/290941.291008", "12345678", "ACC-9", "d.ris:4"]
    assert documents[0][1] == {
        "title": "A language modeling approach to information retrieval",
        "text": "Models of document indexing. Second line of the abstract.",
        "author": ["Ponte, Jay M.", "Croft, W. Bruce"],
        "year": 1998,
        "journal": "SIGIR",
        "doi": "10.1145/290941.291008",
        "keywords": ["language models", "retrieval"],
        "date": "1998/08/24",
        "type": "JOUR",
        "sp": "275",
        "ep": "281",
        "record_format": "ris",
        "record_tags": "TY AU AU TI PY JF DO KW KW AB SP EP",
    }
    assert documents[1][1]["pmid"] == "12345678"
    assert documents[3][1] == {
        "title": "No id at all",
        "year": "n.d.",
        "type": "GEN",
        "record_format": "ris",
        "record_tags": "TY T1 Y1",
    }


def test_empty(write):
    assert pairs(write("d.ris", "\n\n")) == []


def test_broken(write):
    with pytest.raises(InputError, match=r"d\.ris, line 1: not an RIS file: a record must start with 'TY  - '"):
        pairs(write("d.ris", "hello\n"))
    with pytest.raises(InputError, match=r"d\.ris, line 3: the last record is not closed by 'ER  - '"):
        pairs(write("d.ris", "TY  - A\nER  -\nTY  - B\nTI  - x\n"))
    path = write("d.ris", b"TY  - A\nER  -\nTI  - stray\nAU  - stray\nTY  - B\nTI  - \xe9\nER  -\nTY  - C\nER  - \n")
    with pytest.raises(InputError, match=r"d\.ris, line 3: a record must start"):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["d.ris:1", "d.ris:3"]
    assert [skipped.line for skipped in report.first] == [3, 6]


def test_a_record_cut_short_by_the_next_still_counts(write):
    path = write("d.ris", "TY  - A\nTI  - One\nTY  - B\nTI  - Two\nER  -\n")
    assert [fields["title"] for _, fields in pairs(path)] == ["One", "Two"]

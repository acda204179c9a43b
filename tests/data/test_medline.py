import pytest

from germane.data.bad_records import SkipReport
from germane.data.medline import read_medline
from germane.errors import InputError

NBIB = """
PMID- 11111111
OWN - NLM
DP  - 1998 Mar-Apr
TI  - A long title that goes
      on over two lines.
LID - 10.1000/abc.1 [doi]
AID - S0000 [pii]
AB  - BACKGROUND: Something.
      RESULTS: More - with a dash.
FAU - Porter, Martin F
AU  - Porter MF
FAU - Jones, Karen
AU  - Jones K
LA  - eng
PT  - Journal Article
TA  - J Test
JT  - Journal of Tests
MH  - *Asthma/drug therapy
MH  - Asthma/genetics
MH  - Humans
OT  - *stemming
OT  - retrieval

PMID- 22222222
TI  - Second.
PMID- 33333333
TI  - Third, without a blank line before it.
CN  - The Test Group
DP  - undated
"""


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_medline(*arguments, **options)]


@pytest.mark.parametrize("content", [NBIB, NBIB.replace("\n", "\r\n"), "\ufeff" + NBIB.lstrip()])
def test_count_first_last(write, content):
    documents = pairs(write("d.nbib", content))
    assert len(documents) == 3
    assert documents[0] == (
        "11111111",
        {
            "title": "A long title that goes on over two lines.",
            "text": "BACKGROUND: Something. RESULTS: More - with a dash.",
            "author": ["Porter, Martin F", "Jones, Karen"],
            "year": 1998,
            "journal": "Journal of Tests",
            "doi": "10.1000/abc.1",
            "pmid": "11111111",
            "keywords": ["stemming", "retrieval", "Asthma", "Humans"],
            "mesh": ["Asthma", "Humans"],
            "date": "1998 Mar-Apr",
            "publication_type": ["Journal Article"],
            "language": ["eng"],
            "own": "NLM",
            "lid": "10.1000/abc.1 [doi]",
            "aid": "S0000 [pii]",
            "au": ["Porter MF", "Jones K"],
            "ta": "J Test",
            "mh": ["*Asthma/drug therapy", "Asthma/genetics", "Humans"],
            "ot": ["*stemming", "retrieval"],
            "record_format": "medline",
            "record_tags": "PMID OWN DP TI LID AID AB FAU AU FAU AU LA PT TA JT MH MH MH OT OT",
        },
    )
    assert documents[1] == (
        "22222222",
        {"title": "Second.", "pmid": "22222222", "record_format": "medline", "record_tags": "PMID TI"},
    )
    assert documents[2][0] == "33333333"
    assert documents[2][1]["author"] == ["The Test Group"]
    assert documents[2][1]["year"] == "undated"


def test_empty(write):
    assert pairs(write("d.nbib", "\n\n")) == []


def test_without_a_pmid_the_doi_or_a_number(write):
    path = write("d.nbib", "TI  - One\nAID - 10.1000/x [doi]\n\nTI  - Two\n")
    assert [key for key, _ in pairs(path)] == ["10.1000/x", "d.nbib:2"]


def test_broken(write):
    with pytest.raises(InputError, match=r"d\.nbib, line 2: not a MEDLINE file: a record must start with a tag"):
        pairs(write("d.nbib", "\nhello\nworld\n"))
    path = write("d.nbib", b"PMID- 1\nTI  - One\n\nstray\nlines\n\nPMID- 2\nTI  - caf\xe9\n\nPMID- 3\n")
    with pytest.raises(InputError, match=r"d\.nbib, line 4: a record must start with a tag"):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["1", "3"]
    assert [skipped.line for skipped in report.first] == [4, 8]

import pytest

from germane.data import lines
from germane.data.bad_records import SkipReport
from germane.data.trec import read_trec
from germane.errors import InputError

TREC = """<!-- a comment before -->
<DOC>
<DOCNO> AP880212-0001 </DOCNO>
<FILEID>AP-NR-02-12-88</FILEID>
<HEAD>Reports of
 Rain</HEAD>
<DATELINE>SEATTLE (AP) </DATELINE>
<TEXT>
   AT&amp;T said &lt;b> &unknown; R&D&hyph;work <!-- unseen --> <P> rose.
</TEXT>
<TEXT>More.</TEXT>
</DOC>
<doc><docno>FT-2</docno><P>loose <b>text</b></doc><DOC><DOCNO>3</DOCNO></DOC>
<DOC id="AFP_1994.0001" type="story">
<HEADLINE>Gigaword</HEADLINE>
<TEXT><P>Its id is an attribute.</P></TEXT>
</DOC>
"""


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_trec(*arguments, **options)]


@pytest.mark.parametrize("content", [TREC, TREC.replace("\n", "\r\n"), "\ufeff" + TREC])
def test_count_first_last(write, content):
    documents = pairs(write("d.trec", content))
    assert len(documents) == 4
    assert documents[0] == (
        "AP880212-0001",
        {
            "title": "Reports of Rain",
            "text": "AT&T said <b> &unknown; R&D-work     rose.\nMore.",
            "fileid": "AP-NR-02-12-88",
            "dateline": "SEATTLE (AP)",
        },
    )
    assert documents[1] == ("FT-2", {"title": "", "text": "loose", "b": "text"})
    assert documents[2] == ("3", {"title": "", "text": ""})
    assert documents[3] == ("AFP_1994.0001", {"title": "Gigaword", "text": "Its id is an attribute."})


def test_empty(write):
    assert pairs(write("d.trec", "\n \n")) == []


@pytest.mark.parametrize(
    ("broken", "message", "line"),
    [
        (b"<DOC>\n<TEXT>x</TEXT>\n</DOC>\n", "line 2, field 'DOCNO': <DOC> without a <DOCNO>", 2),
        (b"<DOC>\n<DOCNO>b</DOCNO>\n", "line 2: <DOC> is not closed by </DOC>", 2),
        (b"<DOC>\n<DOCNO>b</DOCNO>\ncaf\xe9</DOC>\n", "line 4: byte 4 of the line .0xe9. is not valid UTF-8", 4),
    ],
)
def test_broken(write, broken, message, line):
    path = write("d.trec", b"<DOC><DOCNO>a</DOCNO></DOC>\n" + broken + b"<DOC><DOCNO>c</DOCNO></DOC>\n")
    with pytest.raises(InputError, match=rf"d\.trec, {message}"):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["a", "c"]
    assert (report.count, report.first[0].line) == (1, line)


def test_truncated_and_foreign(write):
    with pytest.raises(InputError, match="line 1: <DOC> is not closed"):
        pairs(write("d.trec", "<DOC>\n<DOCNO>a</DOCNO>\n"))
    with pytest.raises(InputError, match="line 2: no <DOC> in the file"):
        pairs(write("d.trec", "\nhello\n"))


def test_a_document_without_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(lines, "MAX_RECORD_BYTES", 100)
    with pytest.raises(InputError, match="line 1: longer than 100 bytes"):
        pairs(write("d.trec", "<DOC>\n" + "x\n" * 100))


@pytest.mark.parametrize("piece", ["<a", "<!--", "<a>", "<a><b></a>", "<a>x</a>", "&amp", "<DOCNO>"])
def test_hostile_markup_takes_linear_time(write, piece):
    path = write("d.trec", f"<DOC><DOCNO>1</DOCNO>{piece * 200_000}</DOC>")
    assert [key for key, _ in pairs(path)] == ["1"]

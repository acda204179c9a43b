import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data import delimited
from germane.data.bad_records import SkipReport
from germane.data.delimited import read_delimited
from germane.errors import InputError

CSV = 'id,Title,text,year\n1,One,"first, with\na ""line"" break",1999\n2,Two,second,in press\n3,,last,\n'


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_delimited(*arguments, **options)]


def test_count_first_last(write):
    documents = pairs(write("d.csv", CSV))
    assert len(documents) == 3
    assert documents[0] == ("1", {"title": "One", "text": 'first, with\na "line" break', "year": 1999})
    assert documents[1] == ("2", {"title": "Two", "text": "second", "year": "in press"})
    assert documents[2] == ("3", {"title": "", "text": "last", "year": ""})


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n").replace("with\r\n", "with\n"),
        "\n\n" + CSV.replace('break",1999\n', 'break",1999\n\n'),
        CSV.rstrip("\n"),
    ],
    ids=["byte order mark", "windows line ends", "blank lines", "no last line end"],
)
def test_harmless_variants(write, content):
    assert pairs(write("d.csv", content)) == pairs(write("plain.csv", CSV))


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_other_separators(write, separator):
    path = write("d.csv", f'id{separator}text\n1{separator}"a, b"\n')
    assert pairs(path) == [("1", {"text": "a, b"})]


def test_tsv_does_not_quote(write):
    path = write("d.tsv", 'docno\ttitle\ttext\n1\t"Yes," she said\tA 5" disk\n2\t"\tz\n')
    assert pairs(path, tabs=True) == [
        ("1", {"title": '"Yes," she said', "text": 'A 5" disk'}),
        ("2", {"title": '"', "text": "z"}),
    ]


def test_mapping(write):
    path = write("d.csv", "PMID,Headline,Abstract,text\n1,H,A,T\n")
    mapping = {"id": "PMID", "title": "Headline", "text": "Abstract"}
    assert pairs(path, mapping=mapping) == [("1", {"title": "H", "text": "A"})]


def test_numbering(write):
    path = write("d.csv", "text,year\na,1999\nb,2000\n")
    assert [key for key, _ in pairs(path, number=True)] == ["d.csv:1", "d.csv:2"]


def test_unnamed_and_long_columns(write):
    path = write("d.csv", "id,,text\n1,x," + "y" * 200_000 + "\n")
    ((_, fields),) = pairs(path)
    assert fields["column2"] == "x"
    assert len(fields["text"]) == 200_000


@pytest.mark.parametrize("content", ["", "\n\n", "id,text\n"])
def test_empty(write, content):
    assert pairs(write("d.csv", content)) == []


def test_missing_columns_are_named(write):
    path = write("d.csv", "number,text\n1,x\n")
    with pytest.raises(InputError, match=r"d\.csv, line 1: no column 'id' for the field 'id'; found: 'number', 'text'"):
        pairs(path)
    with pytest.raises(InputError, match=r"no column 'body' for the field 'text'; found: 'number', 'text'"):
        pairs(path, mapping={"id": "number", "text": "body"})
    with pytest.raises(InputError, match=r"line 1: the header has the column 'id' twice"):
        pairs(write("e.csv", "id,id\n"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"2,x\n", r"d\.csv, line 4: 2 columns, where the header has 3"),
        (b'2,"x,3,4\n\n5\n', r"d\.csv, line 4: not valid CSV"),
        (b'2,"x"y,3\n', r"d\.csv, line 4: not valid CSV"),
        (b" ,x,y\n", r"d\.csv, line 4, field 'id': the document has no id"),
        (b"2,caf\xe9,y\n", r"d\.csv, line 4: byte 6 of the line \(0xe9\) is not valid UTF-8"),
    ],
)
def test_broken_rows(write, row, message):
    good = b'id,title,text\n1,"a\nb",c\n'
    path = write("d.csv", good + row)
    with pytest.raises(InputError, match=message):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["1"]
    assert (report.count, report.first[0].line) == (1, 4)


def test_reading_goes_on_after_a_skipped_row(write):
    path = write("d.csv", b"id,text\n1,a\n2\n3,\xff\n4,d\n")
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["1", "4"]
    assert [skipped.line for skipped in report.first] == [3, 4]


def test_a_quote_without_end_does_not_fill_the_memory(write, monkeypatch):
    before = csv.field_size_limit(1000)
    monkeypatch.setattr(delimited, "MAX_FIELD_CHARACTERS", 1000)
    try:
        path = write("d.csv", 'id,text\n1,"' + "x\n" * 1000)
        with pytest.raises(InputError, match="line 2: not valid CSV: field larger than field limit"):
            pairs(path)
    finally:
        csv.field_size_limit(before)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))


@settings(deadline=None)
@given(st.lists(st.tuples(cells.filter(str.strip), cells)))
def test_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "d.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    assert pairs(path) == [(key, {"text": text}) for key, text in rows]

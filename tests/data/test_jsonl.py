import gzip
import tracemalloc

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data import lines
from germane.data.bad_records import SkipReport
from germane.data.jsonl import read_jsonl
from germane.errors import InputError

DOCS = '{"id":"a","title":"One","text":"first"}\n{"id":7,"text":"second","year":1999}\n{"id":"c","text":""}\n'


def test_count_first_last(write):
    documents = list(read_jsonl(write("d.jsonl", DOCS)))
    assert len(documents) == 3
    assert (documents[0].id, dict(documents[0].fields)) == ("a", {"title": "One", "text": "first"})
    assert (documents[1].id, dict(documents[1].fields)) == ("7", {"text": "second", "year": 1999})
    assert (documents[2].id, dict(documents[2].fields)) == ("c", {"text": ""})


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + DOCS.encode(),
        DOCS.replace("\n", "\r\n").encode(),
        DOCS.replace("\n", "\n \n\n").encode(),
        DOCS.rstrip("\n").encode(),
        gzip.compress(DOCS.encode()),
    ],
    ids=["byte order mark", "windows line ends", "blank lines", "no last line end", "gzip"],
)
def test_harmless_variants(write, content):
    assert [document.id for document in read_jsonl(write("d.jsonl", content))] == ["a", "7", "c"]


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", " \r\n\r\n"])
def test_empty(write, content):
    assert list(read_jsonl(write("d.jsonl", content))) == []


@pytest.mark.parametrize("name", ["id", "_id", "docno", "doc_id", "docid"])
def test_usual_names_of_the_id(write, name):
    (document,) = read_jsonl(write("d.jsonl", f'{{"{name}": "x", "text": "y"}}'))
    assert document.id == "x"
    assert dict(document.fields) == {"text": "y"}


def test_mapping(write):
    path = write("d.jsonl", '{"key":"a","headline":"T","body":"B","text":"raw","n":1}\n{"key":"b","body":"C"}\n')
    first, second = read_jsonl(path, mapping={"id": "key", "title": "headline", "text": "body"})
    assert (first.id, dict(first.fields)) == ("a", {"title": "T", "text": "B", "n": 1})
    assert (second.id, dict(second.fields)) == ("b", {"text": "C"})


def test_mapping_to_a_field_that_no_record_has(write):
    path = write("d.jsonl", DOCS)
    with pytest.raises(InputError, match=r"no column 'body' for the field 'text'; found: 'id', 'title', 'text'"):
        list(read_jsonl(path, mapping={"text": "body"}))


def test_numbering(write):
    path = write("d.jsonl", '{"text":"x"}\n\n{"id":"own","text":"y"}\n{"text":"z"}\n')
    assert [document.id for document in read_jsonl(path, number=True)] == ["d.jsonl:1", "own", "d.jsonl:3"]


def test_nested_values_become_json_text(write):
    path = write("d.jsonl", '{"id":"a","tags":["x",1,null],"who":{"name":"Ada"},"mixed":[1,{"b":[2]}]}')
    (document,) = read_jsonl(path)
    assert dict(document.fields) == {"tags": ["x", 1, None], "who": '{"name":"Ada"}', "mixed": [1, '{"b":[2]}']}


GOOD = b'{"id":"a"}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":"b"', r"d\.jsonl, line 2: not valid JSON \("),
        (b"[1]", r"d\.jsonl, line 2: a JSON object is needed, and this line is an array"),
        (b'{"text":"x"}', r"d\.jsonl, line 2, field 'id': the document has no id; fields found: 'text'"),
        (b'{"id":null}', r"line 2, field 'id': the document has no id"),
        (b'{"_id":1.5}', r"line 2, field '_id': an id must be .* this one is the number 1.5"),
        (b'{"id":" "}', r"line 2, field 'id': .* an empty string"),
        (b'{"id":true}', r"line 2, field 'id': .* true or false"),
        (b'{"id":"b","text":"caf\xe9"}', r"line 2: byte 22 of the line \(0xe9\) is not valid UTF-8"),
        (b'{"id":"b","x":' + b"[" * 400 + b"]" * 400 + b"}", r"line 2: cannot be stored: Recursion"),
        (b'{"id":"b","x":' + b"[" * 4000 + b"]" * 4000 + b"}", r"line 2: not valid JSON"),
        (b'{"id":"b","x":"\\ud800"}', r"line 2: not valid JSON"),
        (b'{"id":"b","x":NaN}', r"line 2: not valid JSON"),
    ],
)
def test_broken_lines(write, line, message):
    path = write("d.jsonl", GOOD + line + b"\n" + b'{"id":"c"}\n')
    with pytest.raises(InputError, match=message):
        list(read_jsonl(path))
    report = SkipReport()
    assert [document.id for document in read_jsonl(path, on_bad=report.note)] == ["a", "c"]
    assert report.count == 1
    assert report.by_source == {str(path): 1}
    assert (report.first[0].source, report.first[0].line) == (str(path), 2)


def test_latin1_when_told_so(write):
    (document,) = read_jsonl(write("d.jsonl", b'{"id":"b","text":"caf\xe9"}'), encoding="latin-1")
    assert document.fields["text"] == "café"


def test_a_whole_document_over_many_lines_is_explained(write):
    with pytest.raises(InputError, match=r"line 1: .*each line must hold one whole JSON object"):
        list(read_jsonl(write("d.jsonl", '{\n  "id": "a"\n}\n')))


def test_a_line_without_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(lines, "MAX_RECORD_BYTES", 100)
    path = write("d.jsonl", GOOD + b'{"id":"' + b"b" * 100 + b'"}\n')
    with pytest.raises(InputError, match="line 2: longer than 100 bytes"):
        list(read_jsonl(path))


def test_memory_does_not_grow_with_the_file(write):
    path = write("d.jsonl", b"".join(b'{"id":"%d","text":"%s"}\n' % (n, b"word " * 200) for n in range(5000)))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_jsonl(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 5000
    assert peak < 1.5e6 < path.stat().st_size


scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = scalars | texts | st.lists(scalars | texts)
names = texts.filter(lambda name: name != "id")


@settings(deadline=None)
@given(st.lists(st.tuples(texts.filter(str.strip), st.dictionaries(names, values))))
def test_round_trip(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("jsonl") / "d.jsonl"
    path.write_bytes(b"".join(orjson.dumps({"id": key, **fields}) + b"\n" for key, fields in records))
    assert [(document.id, dict(document.fields)) for document in read_jsonl(path)] == records

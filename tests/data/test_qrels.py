import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data import read_qrels, write_qrels
from germane.errors import InputError
from germane.types import Judgement


@pytest.mark.parametrize(
    "content",
    [
        "1 0 a 2\n1 0 b 0\n2 0 a -1\n",
        "\ufeff1\t0\ta\t2\r\n1 \t 0 b\t0\r\n\r\n2 0 a -1",
        "1\ta\t2\n1\tb\t0\n2\ta\t-1\n",
        "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n2\ta\t-1\n",
    ],
)
def test_count_first_last(write, content):
    assert list(read_qrels(write("q", content))) == [("1", "a", 2), ("1", "b", 0), ("2", "a", -1)]


def test_empty(write):
    assert list(read_qrels(write("q", "\n"))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 a\n", "line 1: 2 columns, where 4 .* or 3"),
        ("1 0 a 1\n1 b 1\n", "line 2: 3 columns, where 4 are needed"),
        (
            "1 0 a 1\n1 0 b high\n",
            "line 2, field 'grade': a grade must be a whole number of at most 64 bits, not 'high'",
        ),
        ("1 0 a 1.0\n", "line 1, field 'grade': a grade must be a whole number of at most 64 bits, not '1.0'"),
        ("1 0 a 1_0\n", "line 1, field 'grade'"),
        ("qid a 1\nqid b x\n", "line 2, field 'grade'"),
        ("1 0 a 1\n2 0 a 1\n1 0 a 0\n", "line 3: query '1' and document 'a' are on line 1 already"),
        (b"1 0 a 1\n1 0 \xe9 1\n", "line 2: byte 5 of the line"),
        ("1 0 a " + "9" * 5000, "line 1, field 'grade'"),
    ],
)
def test_broken(write, content, message):
    path = write("q.txt", content)
    with pytest.raises(InputError, match=message) as caught:
        list(read_qrels(path))
    assert caught.value.source == str(path)


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\0\ufeff"), min_size=1)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(names, names), st.integers(-3, 10)))
def test_round_trip(tmp_path_factory, grades):
    path = tmp_path_factory.mktemp("qrels") / "qrels.txt"
    judgements = [Judgement(query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items()]
    write_qrels(path, judgements)
    assert list(read_qrels(path)) == judgements


def test_to_an_open_file():
    file = io.StringIO()
    write_qrels(file, [Judgement("1", "a", 2)])
    assert file.getvalue() == "1 0 a 2\n"

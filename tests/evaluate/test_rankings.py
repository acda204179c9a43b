"""TREC, TSV and JSON give the same run; what cannot be used is refused with its place."""

import pytest

from germane.errors import InputError
from germane.evaluate import load_qrels, load_run
from germane.evaluate.rankings import judgements, run_entries

RUN = {"1": {"a": 2.5, "b": -1.0}, "2": {"a": 1.0}}
QRELS = {"1": {"a": 1, "b": -1}, "2": {"a": 0}}


@pytest.mark.parametrize(
    "content",
    [
        "1 Q0 a 1 2.5 t\n1\tQ0\tb   2 -1 t\n2 Q0 a 1 1 t\n",  # mixed separators
        "1\ta\t2.5\n1\tb\t-1\n2\ta\t1\n",
        "\ufeffscore\tqid\tdocid\n2.5\t1\ta\n-1\t1\tb\n1\t2\ta\n",
        '{"1": {"a": 2.5, "b": -1}, "2": {"a": 1}}',
        '{"query_id": "1", "doc_id": "a", "score": 2.5}\n{"qid": 1, "docid": "b", "score": -1}\n\n'
        '{"query_id": "2", "doc_id": "a", "score": 1}',
    ],
)
def test_run_formats(write, content):
    assert load_run(write("run", content)) == RUN


@pytest.mark.parametrize(
    "content",
    [
        "1 0 a 1\n1 0 b -1\n2 0 a 0\n",
        "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t-1\n2\ta\t0\n",
        '{"1": {"a": 1, "b": -1}, "2": {"a": 0}}',
        '{"query_id": "1", "doc_id": "a", "relevance": 1}\n{"query_id": "1", "doc_id": "b", "grade": -1}\n'
        '{"query_id": "2", "doc_id": "a", "rel": 0}\n',
    ],
)
def test_qrels_formats(write, content):
    assert load_qrels(write("qrels", content)) == QRELS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no ranked documents"),
        ("\n\n", "holds no ranked documents"),
        ("{}", "holds no ranked documents"),
        ("1 Q0 a 1 high t\n", "line 1, field 'score': a score must be a number, not 'high'"),
        ("1 Q0 a 1 nan t\n", "line 1, field 'score'"),
        ("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", "line 2: query '1' and document 'a' are on line 1 already"),
        ("1\ta\t2\n1\ta\t1\n", "line 2: query '1' and document 'a' are on line 1 already"),
        ("1\ta\t2\n1\ta\n", "line 2: 2 columns, where 3"),
        ("1\ta\thigh\n", "line 1, field 'score': a score must be a number, not 'high'"),
        ("1\ta\tnan\n", "line 1, field 'score'"),
        ("qid\tdocid\trank\n1\ta\t1\n", "line 1: the header must name a query, a document and a score"),
        ("1 a\n", "2 columns"),
        ('{"1": {"a": 1, "a": 2}}', "query '1' has document 'a' twice"),
        ('{"1": {"a": "x"}}', "query '1', document 'a': a score must be a number, not 'x'"),
        ('{"1": {"a": NaN}}', "a score must be a number"),
        ('{"1": {"a": 1}', "line 1: not valid JSON"),
        ('{"query_id": 1, "doc_id": 2}', "line 1: the record has no score"),
        ('{"qid": 1, "docid": 2, "score": 1}\n{"qid": 1, "docid": 2, "score": 1}', "line 2: query '1'"),
        ('{"qid": 1, "docid": 2, "score": 1}\n[]', "line 2: a JSON object is needed"),
        (b"1 Q0 \xff 1 1 t\n", "line 1: byte 6"),
        ('{"q": ' * 100_000, "line 1: not valid JSON"),
        ('{"q": {"d": 1%s}}' % ("0" * 400), "a score must be a number, not 1000"),
        ('{"q": {"\\ud800": 1}}', "surrogates not allowed"),
        (
            '{"qid": 100000000000000000001, "docid": 2, "score": 1}',
            "an id must be a text or a whole number of at most 64",
        ),
    ],
)
def test_bad_runs(write, content, message):
    path = write("run.txt", content)
    with pytest.raises(InputError) as caught:
        load_run(path)
    assert message in str(caught.value)
    assert caught.value.source == str(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no judgements"),
        ("1 0 a x\n", "line 1, field 'grade'"),
        ("1 0 a 1\n1 0 a 0\n", "line 2: query '1' and document 'a' are on line 1 already"),
        ("1 0 a 9223372036854775808\n", "at most 64 bits, not '9223372036854775808'"),
        ('{"1": {"a": 9223372036854775808}}', "at most 64 bits, not 9223372036854775808"),
        ('{"1": {"a": 1.5}}', "a grade must be a whole number of at most 64 bits, not 1.5"),
    ],
)
def test_bad_qrels(write, content, message):
    with pytest.raises(InputError) as caught:
        load_qrels(write("qrels.txt", content))
    assert message in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_run(tmp_path / "nowhere")


def test_entries():
    assert [tuple(entry) for entry in run_entries({"1": {"b": 1.0, "a": 1.0, "c": 2.0}}, "t")] == [
        ("1", "c", 1, 2.0, "t"),
        ("1", "a", 2, 1.0, "t"),
        ("1", "b", 3, 1.0, "t"),
    ]
    assert [tuple(line) for line in judgements(QRELS)] == [("1", "a", 1), ("1", "b", -1), ("2", "a", 0)]

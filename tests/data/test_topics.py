import pytest

from germane.data import read_topics
from germane.errors import InputError

TREC = """
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations (on the topic: see above) that participate in international
criminal activity.

<narr> Narrative:
A relevant document must, as a minimum, identify the organization.
</top>
<top><num> 302 </num><title>Topic: Poliomyelitis &amp; Post-Polio</title><desc>Is it
under control?</desc></top>
"""


@pytest.mark.parametrize("content", [TREC, TREC.replace("\n", "\r\n"), "\ufeff" + TREC])
def test_trec(write, content):
    path = write("t", content)
    assert list(read_topics(path)) == [
        ("301", "International Organized Crime"),
        ("302", "Poliomyelitis & Post-Polio"),
    ]
    assert list(read_topics(path, part="title+desc"))[1].text == "Poliomyelitis & Post-Polio Is it under control?"
    assert list(read_topics(write("first", content[: content.index("</top>") + 6]), part="desc")) == [
        ("301", "Identify organizations (on the topic: see above) that participate in international criminal activity.")
    ]
    with pytest.raises(InputError, match="line 14, field 'narr': topic '302' has no <narr>"):
        list(read_topics(path, part="narr"))


@pytest.mark.parametrize(
    "content",
    [
        "q1\tfirst query\nq2\tsecond  one\n",
        "\ufeffq1\tfirst query\r\n\r\nq2\tsecond one",
        "query_id\tquery\nq1\tfirst query\nq2\tsecond one\n",
        "split\tquery\tqid\ndev\tfirst query\tq1\ndev\tsecond one\tq2\n",
        '{"id": "q1", "text": "first query"}\n\n{"id": "q2", "text": "second one"}\n',
        '{"_id": "q1", "text": "first query", "metadata": {}}\n{"_id": "q2", "text": "second one"}\n',
        '{"query_id": "q1", "query": "first query"}\n{"query_id": "q2", "query": "second one"}\n',
    ],
)
def test_tsv_and_jsonl(write, content):
    assert list(read_topics(write("t", content))) == [("q1", "first query"), ("q2", "second one")]


def test_empty(write):
    assert list(read_topics(write("t", ""))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\ta\n2\n", "line 2: 1 columns, where 2 are needed"),
        ("1\ta\tb\n", "line 1: 3 columns, where 2 are needed"),
        ("1\ta\n\tb\n", "line 2, field 'id': the topic has no id"),
        ("1\ta\n2\t \n", "line 2, field 'text': topic '2' has no text"),
        ("1\ta\n2\tb\n1\tc\n", "line 3: topic '1' is on line 1 already"),
        (b"1\ta\n2\t\xe9\n", "line 2: byte 3 of the line"),
        ('{"id":"1","text":"a"}\nx\n', "line 2: not valid JSON"),
        ('{"id":"1","text":"a"}\n[]\n', "line 2: a JSON object is needed"),
        ('{"id":"1","text":5}\n', "line 1, field 'text': the topic has no text"),
        ('{"text":"a"}\n', "line 1, field 'id': the topic has no id"),
        ("<top>\n<title> x\n</top>", "line 1, field 'num': <top> without a <num>"),
        ("<top></top>", "line 1, field 'num': <top> without a <num>"),
        ("<top>\n<num> 1\n</top>", "line 1, field 'title': topic '1' has no <title>"),
        ("<top>\n<num> 1\n<title> x\n", "line 1: <top> is not closed"),
        ("<top><num>1<title>x</top>\n<top>\n<top>", "line 2: <top> is not closed"),
        ("<html>", "no <top> in the file"),
    ],
)
def test_broken(write, content, message):
    path = write("t.txt", content)
    with pytest.raises(InputError, match=message) as caught:
        list(read_topics(path))
    assert caught.value.source == str(path)


def test_of_a_data_set(write, tmp_path, monkeypatch):
    write("tiny/queries.tsv", "1\tx\n")
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path))
    assert list(read_topics("tiny")) == [("1", "x")]
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match=r"the folder has no queries\.tsv"):
        read_topics("bare")

"""Queries of an index with synonyms: either term finds what says the other."""

import pytest

from germane import Analyzer, Engine
from germane.rank.query.resolve import parse, searchable_in
from germane.rank.snippets import snippet
from germane.text import Synonyms

MESH = Synonyms(
    {"heart attack": "myocardial infarction", "mi": "myocardial infarction", "aspirin": "acetylsalicylic acid"}
)
DOCUMENTS = [
    {"id": "1", "title": "Heart attack in mice", "author": "heart"},
    {"id": "2", "title": "myocardial infarction and aspirin", "author": "attack"},
    {"id": "3", "title": "attack of the heart worms", "author": "mi"},
    {"id": "4", "title": "other things", "author": "heart"},
]


@pytest.fixture(scope="module")
def engine():
    engine = Engine.create(":memory:", fields=["title"], analyzer=Analyzer(synonyms=MESH))
    engine.add(DOCUMENTS)
    return engine


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("heart attack", "12"), ("Heart  attacks", "12"), ("mi", "12"), ('"heart attack"', "12"),
        ("myocardial infarction", "12"), ("title:(heart attack)", "12"), ("heart attack -worms", "12"),
        ("(heart attack) AND aspirin", "2"), ("+heart +attack", "3"), ("heart AND attack", "3"),
        ("heart^2 attack", "3"),
        ("heart attack author:mi", ""), ("author:(heart attack)", "124"), ("-mi", "34"), ("+mi", "12"),
        ("infarct* heart", "123"),
    ],
)  # fmt: skip
def test_what_is_found(engine, query, found):
    """The expected documents are written down from the rules of docs/queries.md."""
    assert sorted(engine.search(query).ids) == list(found)


def test_plain_words_are_read_as_a_text_is(engine):
    """The topic model of a query of plain words is that of a document of the same words."""
    text = "after heart attacks and mi, aspirin"
    analyzer = engine.analyzer
    counts = {term: float(analyzer.terms(text).count(term)) for term in analyzer.terms(text)}
    for query in (text, f"{text} -title:worms"):
        assert parse(query, analyzer, searchable_in(engine.retriever)).weights == counts


def test_the_words_that_were_read_as_others_are_marked(engine):
    result = engine.search("myocardial infarction")
    piece = snippet("Two heart attacks, one attack", result.query.weights, engine.analyzer)
    assert [piece.text[start:end] for start, end in piece.marks] == ["heart", "attacks"]

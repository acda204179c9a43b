"""Filters on fields, evaluated over an index."""

from typing import Any

import pytest

from germane import Document
from germane.errors import QueryError

ROWS: dict[str, dict[str, Any]] = {
    "a": {"year": 1999, "journal": "BMJ", "author": ["Smith J", "Doe A"], "date": "1987-02-26", "open": True},
    "b": {"year": 2005, "journal": "Lancet", "author": ["Smith K"], "date": "1987-03-01", "open": False},
    "c": {"year": 2005.5, "journal": "bmj", "author": [], "date": "1987-10-20T12:00:00", "open": True},
    "d": {"year": -3, "journal": None, "author": "Doe A", "date": "1986-12-31"},
    "e": {},
}


@pytest.fixture(scope="module", params=[1, 2, 5], ids=lambda n: f"{n} segments")
def engine(build, request):
    documents = [Document(name, {"text": "word", **fields}) for name, fields in ROWS.items()]
    return build(*(documents[i :: request.param] for i in range(request.param)))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("year:2005", "b"),
        ("year:2005.0", "b"),
        ("year:2000..2006", "bc"),
        ("year:2005..2005.5", "bc"),
        ("year:>2005", "c"),
        ("year:>=2005", "bc"),
        ("year:<2005", "ad"),
        ("year:<=2005", "abd"),
        ("year:..0", "d"),
        ("year:-3", "d"),
        ("year:2006..2000", ""),
        ("-year:2005", "acde"),
        ("-year:>=0", "de"),
        ("journal:bmj", "ac"),
        ("journal:BMJ", "ac"),
        ("-journal:bmj", "bde"),
        ("journal:nature", ""),
        ('author:"Smith J"', "a"),
        ('author:"doe a"', "ad"),
        ('-author:"Doe A"', "bce"),
        ("author:Smith", ""),
        ("author:S..T", "ab"),
        ("date:1987-02-26", "a"),
        ("date:>=1987", "abc"),
        ("date:1987-02-26..1987-03-01", "ab"),
        ("date:<1987-03-01", "ad"),
        ("date:>1987-03-01", "c"),
        ("open:true", "ac"),
        ("open:false", "b"),
        ("-open:true", "bde"),
        ("year:>=1999 journal:bmj", "ac"),
        ("year:>=1999 -journal:bmj open:false", "b"),
    ],
)
def test_who_passes(engine, query: str, expected: str) -> None:
    assert engine.search(f"word {query}").ids == list(expected)


def test_a_long_number_that_is_none_is_told_at_once(engine) -> None:
    """A pattern that tried every way to cut the digits would take minutes."""
    assert engine.search(f"word date:{'1' * 100_000}x").ids == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("year:2000..2006", "bc"),
        ("-year:2005", "acde"),
        ("journal:bmj OR year:-3", "acd"),
        ("journal:bmj journal:lancet", "abc"),
        ("+journal:bmj +journal:lancet", ""),
        ("journal:(bmj OR lancet) AND NOT open:true", "b"),
        ("journal:b*", "ac"),
        ("year:20*", "bc"),
        ("date:1987", "abc"),
        ("date:1987-02..1987-03", "ab"),
        ("date:1987/2", "a"),
        ("date:..1986", "d"),
        ("date:>1986", "abc"),
    ],
)
def test_a_filter_alone_finds_all_that_pass(engine, query: str, expected: str) -> None:
    """There is nothing to rank by: the order is that of the ids, and every score is 0."""
    result = engine.search(query)
    assert (result.ids, result.scores.tolist()) == (list(expected), [0.0] * len(expected))
    assert engine.search(query, 1).ids == list(expected[:1])


def test_text_never_passes_bounds_that_are_numbers(build) -> None:
    """'in press' is not after 2020, whether or not its segment has years beside it."""
    documents = [
        Document("early", {"text": "word", "year": 2019}),
        Document("late", {"text": "word", "year": "2021"}),
        Document("press", {"text": "word", "year": "in press"}),
    ]
    for engine in (build(documents), build(*([document] for document in documents))):
        assert engine.search("word year:2020..").ids == ["late"]
        assert engine.search("word year:<3000").ids == ["early", "late"]
        assert engine.search('word year:"In press"').ids == ["press"]
        assert engine.search("word -year:2020..").ids == ["early", "press"]


def test_a_number_is_asked_for(engine) -> None:
    with pytest.raises(QueryError, match="the field holds numbers, 'soon' is none"):
        engine.search("word year:soon")


def test_scores_do_not_change_by_filtering(engine) -> None:
    whole = engine.search("word")
    some = engine.search("word journal:bmj")
    scores = dict(zip(whole.ids, whole.scores.tolist(), strict=True))
    assert some.scores.tolist() == [scores[doc_id] for doc_id in some.ids]


def test_a_field_of_numbers_here_and_words_there(tmp_path) -> None:
    """Which documents pass does not depend on how the documents are cut into segments."""
    from germane import Document, Engine

    documents = [Document(str(i), {"text": "x", "size": size}) for i, size in enumerate([9, 10, 100, "large"])]
    apart, together = Engine.create(tmp_path / "apart"), Engine.create(tmp_path / "together")
    for document in documents:
        apart.add([document])
    together.add(documents)
    for test in ("size:9..10", "size:>9", "size:9.0", "-size:10"):
        assert apart.search(f"x {test}").ids == together.search(f"x {test}").ids
    assert together.search("x size:9..10").ids == ["0", "1"]
    apart.close()
    together.close()

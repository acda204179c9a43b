"""The query language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer
from germane.errors import QueryError
from germane.rank.filters import FieldFilter
from germane.rank.query import MAX_CONDITIONS, ParsedQuery, parse, plain

ANALYZER = Analyzer()
FIELDS = {"year", "journal", "author", "pub.date", "is-open"}


def read(text: str) -> ParsedQuery:
    return parse(text, ANALYZER, FIELDS)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("", {}),
        ("   \t\n", {}),
        ("heart attack", {"heart": 1, "attack": 1}),
        ("heart heart attacks", {"heart": 2, "attack": 1}),
        ("heart^2.5 attack", {"heart": 2.5, "attack": 1}),
        ("heart^2 heart^0.5", {"heart": 2.5}),
        ("heart^0", {"heart": 0}),
        ("heart^1e3 attack^.5", {"heart": 1000, "attack": 0.5}),
        ('"heart attack"', {"heart": 1, "attack": 1}),
        ('"heart attack"^3', {"heart": 3, "attack": 3}),
        ('"heart attack', {"heart": 1, "attack": 1}),
        ('heart" attack', {"heart": 1, "attack": 1}),
        ('"" heart', {"heart": 1}),
        ("the of and", {}),
        ("heart-attack", {"heart": 1, "attack": 1}),
        ("C++ -", {"c": 1}),
        ('+ - ^ : " ^^', {}),
        ("^2", {"2": 1}),
        ("see http://example.org/heart", {"see": 1, "http": 1, "exampl": 1, "org": 1, "heart": 1}),
        ("at 10:30", {"10": 1, "30": 1}),
        ("note: heart", {"note": 1, "heart": 1}),
        ("year: 2010", {"year": 1, "2010": 1}),
    ],
)
def test_words_and_weights(text: str, weights: dict[str, float]) -> None:
    parsed = read(text)
    assert parsed.weights == weights
    assert parsed.filters == ()


def test_required_and_excluded_words() -> None:
    parsed = read('+heart attacks -surgery -"open heart" +"left side"^2')
    assert parsed.required == ("heart", "left", "side")
    assert parsed.excluded == ("surgeri", "open", "heart")
    assert parsed.weights == {"heart": 1, "attack": 1, "left": 2, "side": 2}
    assert parsed.words == ("heart", "attacks", "left side")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year:2015", FieldFilter("year", "2015", "2015")),
        ("year:=2015", FieldFilter("year", "2015", "2015")),
        ("year:2010..2015", FieldFilter("year", "2010", "2015")),
        ("year:2010..", FieldFilter("year", "2010", None)),
        ("year:..2015", FieldFilter("year", None, "2015")),
        ("year:>=2010", FieldFilter("year", "2010", None)),
        ("year:>2010", FieldFilter("year", "2010", None, low_strict=True)),
        ("year:<=2010", FieldFilter("year", None, "2010")),
        ("year:<2010", FieldFilter("year", None, "2010", high_strict=True)),
        ("-journal:bmj", FieldFilter("journal", "bmj", "bmj", negated=True)),
        ("+journal:bmj", FieldFilter("journal", "bmj", "bmj")),
        ('author:"Smith J"', FieldFilter("author", "Smith J", "Smith J")),
        ('-author:"Smith J"', FieldFilter("author", "Smith J", "Smith J", negated=True)),
        ("pub.date:>=1987-02-26", FieldFilter("pub.date", "1987-02-26", None)),
        ("is-open:true", FieldFilter("is-open", "true", "true")),
    ],
)
def test_filters(text: str, expected: FieldFilter) -> None:
    for query in (text, f"heart {text} attack"):
        assert read(query).filters == (expected,)
    assert read(text).weights == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("heart^", "a weight is a number"),
        ("heart^x", "a weight is a number"),
        ("heart^-1", "a weight is a number"),
        ("heart^nan", "a weight is a number"),
        ("heart^inf", "a weight is a number"),
        ("heart^1e7", "from 0 to 1e\\+06"),
        ("-heart^x", "a weight is a number"),
        ("jornal:bmj", "no field 'jornal'.*author, is-open, journal"),
        ("title:heart", "no field 'title'"),
        ("year:..", "at least one end"),
        ("year:>=", "lacks a value"),
        ("year:<", "lacks a value"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read(text)


def test_no_field_at_all() -> None:
    with pytest.raises(QueryError, match="fields: none"):
        parse("a:b", ANALYZER)


def test_plain_text_has_no_syntax() -> None:
    parsed = plain('+heart -heart^2 year:2015 "quoted', ANALYZER)
    assert parsed == ParsedQuery({"heart": 2, "2": 1, "year": 1, "2015": 1, "quot": 1})


signs = st.sampled_from([*'+-^:"<>=. \t\0', "year:", "..", "heart", "2", "\u200f", "שלום", "🐸", "\ud800", "…"])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(signs, max_size=12).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    plain(text, ANALYZER)
    try:
        parsed = read(text)
    except QueryError:
        return
    assert all(weight >= 0 for weight in parsed.weights.values())


@pytest.mark.parametrize("item", ["+heart ", "-heart ", "year:1990 "])
def test_a_query_of_very_many_conditions(item: str) -> None:
    assert read(item * MAX_CONDITIONS)
    with pytest.raises(QueryError, match=r"10,001 conditions .* where 10,000 can be asked"):
        read(item * (MAX_CONDITIONS + 1))

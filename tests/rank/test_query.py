"""The query language: from a text to weights and a condition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer
from germane.errors import QueryError
from germane.rank.query import grammar
from germane.rank.query import resolve as query_module
from germane.rank.query.conditions import And, Condition, HoldsAny, Not, Or, Phrase, holds
from germane.rank.query.expansion import Expanded
from germane.rank.query.filters import FieldFilter, StartsWith, iso_date
from germane.rank.query.resolve import MAX_CONDITIONS, ParsedQuery, Searchable, parse, plain

ANALYZER = Analyzer()


class Words:
    """A small vocabulary; what it is asked is compared by eye."""

    terms = ("heart", "heartburn", "hearti", "knee")

    def starting_with(self, prefix: str, most: int, also: tuple[str, ...] = ()) -> Expanded:
        found = [term for term in self.terms if term.startswith(prefix) or term in also]
        return Expanded(tuple(found[:most]), (1,) * len(found[:most]), len(found))

    def within(self, term: str, edits: int, most: int) -> Expanded:
        return Expanded(("heart", f"edits{edits}"), (1, 1), 2)


FIELDS = Searchable(
    {"year", "journal", "author", "pub.date", "is-open", "publication year", "mesh"},
    ("title", "text"),
    {"year"},
    Words(),
)


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
        ("(heart attack)^3 (knee^2)^2", {"heart": 3, "attack": 3, "knee": 4}),
        ("the of and", {}),
        ("heart-attack", {"heart": 1, "attack": 1}),
        ("C++ -", {"c": 1}),
        ('12" pizza', {"12": 1, "pizza": 1}),
        ('(a 12" or 14") pizza', {"12": 1, "14": 1, "pizza": 1}),
        ("pizza :-) (knee :)", {"pizza": 1, "knee": 1}),
        ("+ - ^ : ^^", {}),
        ("^2", {"2": 1}),
        ("see http://example.org/heart?a=(b)*c:d[e]", "see http example org heart a b c d e"),
        ("at 10:30", {"10": 1, "30": 1}),
        ("note: heart", {"note": 1, "heart": 1}),
        ("year: 2010", {"year": 1, "2010": 1}),
        ("doi:10.1000/182 PMID:12345 GO:0008150 std::vector", "doi 10.1000 182 pmid 12345 go 0008150 std vector"),
        ("10.1002/(SICI)1097-4571(199009)41:6<391::AID>3.0.CO", "10.1002 sici 1097 4571 199009 41 6 391 aid 3.0 co"),
        ("f(x, y) of (-)-epicatechin, (+)-catechin and Ca(2+)", "f x y epicatechin catechin ca 2"),
        ("What's the role of p53 (TP53) in don't-know cases?", "role p53 tp53 know cases"),
        ("a ratio of 3*4, ~5 mg, 10~20, array[i] and [3H]thymidine", "ratio 3 4 5 mg 10 20 array i 3h thymidine"),
        ("develop[ed] well-being -- indeed", "develop ed well indeed"),
        ("(myocardial infarction (MI)) treatment", "myocardial infarction mi treatment"),
        ("cats and dogs or not", "cats dogs"),
    ],
)  # fmt: skip
def test_words_and_weights(text: str, weights: dict[str, float] | str) -> None:
    parsed = read(text)
    expected = plain(weights, ANALYZER).weights if isinstance(weights, str) else weights
    assert {term: w for term, w in parsed.weights.items() if term in expected or w != 1} == expected
    assert set(parsed.weights) - set(expected) <= {"dont", "be", "case"}
    assert (parsed.condition, parsed.wordless, parsed.notes) == (None, False, ())


year = FieldFilter("year", "2020", "2020")
heart, attack, mice = holds("heart"), holds("attack"), holds("mice")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("+heart attacks", heart),
        ("+heart +attacks", And((heart, attack))),
        ("heart -mice", Not(mice)),
        ("heart attack NOT mice", Not(mice)),
        ("+x-ray", And((holds("x"), holds("ray")))),
        ("heart -x-ray", Not(And((holds("x"), holds("ray"))))),
        ("+the heart", None),
        ("heart AND attack", And((heart, attack))),
        ("heart OR attack", None),
        ("heart AND the", None),
        ("heart AND NOT mice", Not(mice)),
        ("(heart OR attack) AND NOT (mice OR knee)", Not(HoldsAny(("mice", "knee")))),
        ("heart AND attack OR mice", Or((mice, And((heart, attack))))),
        ("heart AND(attack OR mice)", And((heart, HoldsAny(("attack", "mice"))))),
        ("NOT NOT heart", Not(Not(heart))),
        ("+(heart attack) mice", HoldsAny(("heart", "attack"))),
        ("+heart^0 attack", heart),
        ("heart^0 attack", None),
        ('"heart attack"', Phrase(("heart", "attack"))),
        ("“heart attack”", Phrase(("heart", "attack"))),
        ('"heart attack"~3^2', Phrase(("heart", "attack"), 3)),
        ('"the heart"', None),
        ('-"open heart" mice', Not(Phrase(("open", "heart")))),
        ('"heart attack" mice', Or((mice, Phrase(("heart", "attack"))))),
        ("heart*", None),
        ("+heart* mice", HoldsAny(("heart", "heartburn", "hearti"))),
        ("+hart~2 mice", HoldsAny(("heart", "edits2"))),
        ("title:heart", HoldsAny(("heart",), "title")),
        ("title:(heart attack)", HoldsAny(("heart", "attack"), "title")),
        ('title:"heart attack"~1', Phrase(("heart", "attack"), 1, "title")),
        ("title:heart*", HoldsAny(("heart", "heartburn", "hearti"), "title")),
        ("title:(heart AND attack)", And((HoldsAny(("heart",), "title"), HoldsAny(("attack",), "title")))),
        ("heart[ti]", HoldsAny(("heart",), "title")),
        ("heart [ti]", HoldsAny(("heart",), "title")),
        ("heart attack[Title]", Phrase(("heart", "attack"), 0, "title")),
        ("heart[tiab]", Or((HoldsAny(("heart",), "title"), HoldsAny(("heart",), "text")))),
        ("heart[tw]", None),
        ('heart "Heart Failure"[mh]', FieldFilter("mesh", "Heart Failure", "Heart Failure")),
        ("heart AND Smith J[au]", FieldFilter("author", "Smith J", "Smith J")),
        ("heart AND 2019:2021[dp]", FieldFilter("year", "2019", "2021")),
        ('heart AND ("2019"[dp] : "2021"[DP])', FieldFilter("year", "2019", "2021")),
        ("heart AND 2019/05/01:2021[dp]", FieldFilter("year", "2019", "2021")),
        ("heart year:(2019 OR 2020)", Or((FieldFilter("year", "2019", "2019"), year))),
        ("heart year:(2019 2020)", Or((FieldFilter("year", "2019", "2019"), year))),
        ("heart year:2019 year:2020", Or((FieldFilter("year", "2019", "2019"), year))),
        ("heart +year:2019 +year:2020", And((FieldFilter("year", "2019", "2019"), year))),
        ("heart year:>2018 year:<=20", And((FieldFilter("year", "2018", None, True), FieldFilter("year", None, "20")))),
        ('heart "publication year":2020', FieldFilter("publication year", "2020", "2020")),
        ("heart journal:card*", StartsWith("journal", "card")),
        ("heart (NOT mice)", Not(mice)),
    ],
)  # fmt: skip
def test_conditions(text: str, condition: Condition | None) -> None:
    """What a document must satisfy, beside holding one of the words that score."""
    parsed = read(text)
    assert parsed.condition == condition
    assert parsed.wordless is (text == "NOT NOT heart")


@pytest.mark.parametrize(
    ("text", "condition", "weights"),
    [
        ("year:2020", year, {}),
        ("-heart", Not(heart), {}),
        ("NOT (heart OR mice)", Not(HoldsAny(("heart", "mice"))), {}),
        ("heart OR year:2020", Or((heart, year)), {"heart": 1}),
        ("heart OR NOT mice", Or((heart, Not(mice))), {"heart": 1}),
        ("+heart^0", heart, {"heart": 0}),
        ("the year:2020", year, {}),
    ],
)
def test_queries_that_documents_without_a_scoring_word_may_satisfy(
    text: str, condition: Condition, weights: dict[str, float]
) -> None:
    parsed = read(text)
    assert (parsed.condition, parsed.weights, parsed.wordless) == (condition, weights, True)


def test_typed_words() -> None:
    parsed = read('+heart attacks -surgery -"open heart" +"left side"^2 kne* title:knee year:2020')
    assert parsed.words == ("heart", "attacks", "left side", "knee")
    assert parsed.weights == {"heart": 1, "attack": 1, "left": 2, "side": 2, "knee": 2}


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
        ("-journal:bmj", Not(FieldFilter("journal", "bmj", "bmj"))),
        ("+journal:bmj", FieldFilter("journal", "bmj", "bmj")),
        ('author:"Smith J"', FieldFilter("author", "Smith J", "Smith J")),
        ('-author:"Smith J"', Not(FieldFilter("author", "Smith J", "Smith J"))),
        ("pub.date:>=1987-02-26", FieldFilter("pub.date", "1987-02-26", None)),
        ("is-open:true", FieldFilter("is-open", "true", "true")),
        ("year:-3", FieldFilter("year", "-3", "-3")),
    ],
)
def test_filters(text: str, expected: Condition) -> None:
    for query in (text, f"heart {text} attack"):
        assert read(query).condition == expected
    assert read(text).weights == {}


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("heart^", 5, "a weight is a number"),
        ("heart^x", 5, "a weight is a number"),
        ("heart^-1", 5, "a weight is a number"),
        ("heart^nan", 5, "a weight is a number"),
        ("heart^inf", 5, "a weight is a number"),
        ("heart^1e7", 5, "from 0 to 1e\\+06"),
        ("(heart^1e4)^1e4", 6, "weights multiply to 1e\\+08"),
        ("-heart^x", 6, "a weight is a number"),
        ("heart year:2010^2", 15, "a filter has no weight"),
        ("heart jornal:bmj", 6, "no field 'jornal'.*did you mean 'journal'.*author, is-open, journal"),
        ('heart "publication yaer":3', 6, "no field 'publication yaer'.*did you mean 'publication year'"),
        ("year:..", 5, "at least one end"),
        ("year:>=", 5, "lacks a value"),
        ("year:<", 5, "lacks a value"),
        ("heart year:soon", 11, "the field holds numbers, 'soon' is none"),
        ("year:[2010 TO 2015]", 5, "a range is written with two full stops"),
        ("(heart", 0, "the parenthesis is not closed"),
        ("heart (knee (attack)", 6, "the parenthesis is not closed"),
        ("heart) attack", 5, "the parenthesis was not opened"),
        ("heart ()", 6, "nothing between the parentheses"),
        ("heart ( )", 6, "nothing between the parentheses"),
        ('heart "attack', 6, "the quotation mark is not closed"),
        ('12"pizza', 2, "the quotation mark is not closed"),
        ('title:"12" pizza"', 16, "the quotation mark is not closed"),
        ("heart)", 5, "the parenthesis was not opened"),
        (": )", 2, "the parenthesis was not opened"),
        (":)x", 1, "the parenthesis was not opened"),
        ("Portland OR", 9, "nothing for OR to join; the word itself is written in small letters, or"),
        ('heart ""', 6, "between the quotation marks there is nothing"),
        ('heart "the of"', 6, "only stop words \\(the of\\)"),
        ("heart AND", 6, "nothing for AND to join"),
        ("OR heart", 0, "nothing for OR to join"),
        ("heart AND OR knee", 10, "nothing for OR to join"),
        ("heart (AND knee)", 7, "nothing for AND to join"),
        ("heart (knee NOT)", 12, "nothing for NOT to join"),
        ("heart AND -knee", 10, "beside AND write NOT"),
        ("heart -NOT knee", 7, "a sign stands before a word, not before NOT"),
        ("+heart OR knee", 0, "beside OR write AND, or parentheses"),
        ("heart NOT knee OR mice", 6, "parentheses must say what belongs together"),
        ("heart(knee OR mice)", 5, "a space is missing before the parenthesis"),
        ("heart *", 6, "a \\* needs the beginning of a word"),
        ("colo*r", 0, "a \\* stands at the end of a word only"),
        ("*ase", 0, "a \\* stands at the end of a word only"),
        ("heart-att*", 0, "a \\* follows one word, not 2"),
        ('"heart att*"', 0, "a phrase is of whole words"),
        ("heart~", 0, "the number of edits is from 1 to 2"),
        ("heart~3", 0, "the number of edits is from 1 to 2"),
        ("the~1", 0, "is a stop word"),
        ('"heart attack"~', 14, "a number of moves is missing"),
        ("2020[edat]", 4, "no field for the tag \\[edat\\]"),
        ("review[pt]", 6, "\\[pt\\] is the field type or publication_type, which the index lacks"),
        ("(" * 51 + "heart" + ")" * 51, 50, "more than 50 groups"),
    ],
)
def test_errors_point_at_the_place(text: str, at: int, message: str) -> None:
    with pytest.raises(QueryError, match=message) as told:
        read(text)
    assert told.value.at == at
    assert f"(character {at + 1}, at '{text[at : at + 3]}" in str(told.value)


def test_no_field_at_all() -> None:
    with pytest.raises(QueryError, match="fields: none"):
        parse("a:b", ANALYZER)


def test_a_prefix_needs_an_index() -> None:
    with pytest.raises(QueryError, match="the words of an index are needed"):
        parse("heart*", ANALYZER)


def test_a_prefix_of_too_many_words_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_module, "MAX_EXPANSION", 2)
    parsed = read("heart*")
    assert parsed.weights == {"heart": 1, "heartburn": 1}
    assert parsed.notes == ("3 words of the index begin with 'heart': the 2 in most documents are searched",)
    with pytest.raises(QueryError, match="3 words of the index begin with 'heart', where 2 can be excluded"):
        read("knee -heart*")


def test_and_in_a_list_is_told() -> None:
    assert "parentheses say what belongs together" in read("heart attack AND aspirin").notes[0]
    assert read("(heart attack) AND aspirin").notes == ()


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020", "2020"), ("2020-03", "2020-03"), ("2020/3/1", "2020-03-01"), ("2020 Mar", "2020-03"),
        ("2020 dec 24", "2020-12-24"), ("2020-03-01T10:00", "2020-03-01T10:00"), ("in press", None), ("20201", None),
        ("2020 Foo", None),
    ],
)  # fmt: skip
def test_dates(text: str, date: str | None) -> None:
    assert iso_date(text) == date


def test_plain_text_has_no_syntax() -> None:
    parsed = plain('+heart -heart^2 year:2015 "quoted', ANALYZER)
    run = ("heart", "heart", "2", "year", "2015", "quot")
    assert parsed == ParsedQuery({"heart": 2, "2": 1, "year": 1, "2015": 1, "quot": 1}, runs=(run,))


signs = st.sampled_from(
    [
        *'+-^:"<>=. \t\0()*~[]',
        " AND ",
        " OR ",
        " NOT ",
        "[ti]",
        "[dp]",
        "title:",
        "year:",
        "..",
        "heart",
        "2",
        "\u200f",
        "שלום",
        "🐸",
        "\ud800",
        "…",
    ]
)


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


def test_very_many_words_with_and_between_them() -> None:
    words = [f"w{i}" for i in range(MAX_CONDITIONS + 1)]
    assert len(read(" AND ".join(words[:-1])).weights) == MAX_CONDITIONS
    with pytest.raises(QueryError, match=r"10,001 conditions"):
        read(" AND ".join(words))


def test_equal_parts_are_looked_up_once() -> None:
    asked: list[tuple[str, ...]] = []

    class Counting(Words):
        def starting_with(self, prefix: str, most: int, also: tuple[str, ...] = ()) -> Expanded:
            asked.append(("prefix", prefix))
            return super().starting_with(prefix, most, also)

        def within(self, term: str, edits: int, most: int) -> Expanded:
            asked.append(("fuzzy", term, str(edits)))
            return super().within(term, edits, most)

    part = 'heart* knee~1 knee~2 "heart attack"~3 '
    counted = parse(part * 50, ANALYZER, FIELDS._replace(vocabulary=Counting()), max_expansions=34)
    assert asked == [("prefix", "heart"), ("fuzzy", "knee", "1"), ("fuzzy", "knee", "2")]
    once = read(part)
    assert counted.weights == {term: 50 * weight for term, weight in once.weights.items()}
    assert counted.condition == once.condition
    with pytest.raises(QueryError, match=r"more than 33 different prefixes .*: ask in parts \(character 22"):
        parse(part, ANALYZER, FIELDS, max_expansions=33)
    assert parse('"heart attack" "knee joint" heart*', ANALYZER, FIELDS, max_expansions=1)


WORDS = ["heart", "the", "Running", "x_y", "café", "東京", "3", "and", "x-ray", "don't", "C++", "a/b", "*", "~2"]


@given(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from([" ", "  ", "\n"]))
def test_words_without_signs_need_no_tokens(words: list[str], space: str) -> None:
    text = space.join(words)
    tests = (lambda *_: False), (lambda *_: False)
    assert grammar.parse_tree(text, *tests) == grammar._Parser(grammar._Lexer(text, *tests)).query()


@given(st.lists(st.sampled_from(WORDS[:-2]), min_size=1, max_size=6))
def test_plain_words_are_read_as_in_parentheses(words: list[str]) -> None:
    text = " ".join(words)
    assert parse(text, Analyzer()) == parse(f"({text})", Analyzer())

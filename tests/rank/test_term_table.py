"""Plans by a table of terms: those of rows, to the last bit."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.index.snapshot import Snapshot
from germane.lm import Dirichlet, JelinekMercer
from germane.rank import BM25, QueryLikelihood, term_table
from germane.rank.models import TermwiseModel
from germane.rank.plan import Collection, QueryTerm, Row
from germane.rank.searcher import Searcher
from germane.rank.term_table import Numbered, NumberedWeights, TermTable

MODELS: list[TermwiseModel] = [QueryLikelihood(Dirichlet(50.0)), QueryLikelihood(JelinekMercer(0.5)), BM25()]


WORDS = [f"w{i}" for i in range(150)]


@pytest.fixture(scope="module")
def searcher(build) -> Searcher:
    """A large and a small segment; many words are in as many documents as others."""
    random = np.random.default_rng(11)
    texts = [[WORDS[i] for i in (len(WORDS) * random.random(9) ** 2).astype(int)] for _ in range(2500)]
    parts = ({f"{i}": texts[i] for i in range(begin, end)} for begin, end in ((0, 2400), (2400, 2500)))
    return Searcher(Snapshot.open(build(*parts).folder))


def planned(searcher: Searcher, model: TermwiseModel, weights: Mapping[str, float], many: int) -> Numbered | None:
    table = TermTable(searcher.snapshot, model, searcher.collection)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_table, "MANY", many)
        patch.setattr(term_table, "compiler_is_loaded", lambda: True)
        table.plan(weights)
        return table.plan(weights)  # its terms are known by now


REPLACED: dict[str, Any] = {"terms": (), "weight": None, "scale": None}
"""What is compared otherwise."""


def same(one: Numbered, other: Numbered) -> bool:
    return (
        list(one.plan.terms) == list(other.plan.terms)
        and one.plan.weight.tobytes() == other.plan.weight.tobytes()
        and one.plan.scale.tobytes() == other.plan.scale.tobytes()
        and one.plan._replace(terms=(), weight=None, scale=None)
        == other.plan._replace(terms=(), weight=None, scale=None)
        and np.asarray(one.numbers).tolist() == np.asarray(other.numbers).tolist()
    )


@given(st.dictionaries(st.sampled_from(WORDS), st.floats(1e-6, 1e6), min_size=1, max_size=60), st.sampled_from(MODELS))
def test_many_terms_as_few(searcher: Searcher, weights: dict[str, float], model: TermwiseModel) -> None:
    few, many = (planned(searcher, model, weights, n) for n in (1000, 1))
    assert (few is None) == (many is None)
    if few is None or many is None:
        return
    assert same(few, many)
    direct = model.plan(searcher.known_terms(weights), searcher.collection)
    assert list(direct.terms) == list(few.plan.terms)
    assert direct.weight.tobytes() == few.plan.weight.tobytes()
    assert (direct.constant, direct.mass) == (few.plan.constant, few.plan.mass)
    names = [term.term for term in direct.terms]
    segments = [searcher.snapshot.segments[i].segment for i in searcher.snapshot.large]
    assert searcher.snapshot.recent is not None
    expected = [*(segment.numbers_of(names) for segment in segments), searcher.snapshot.recent.numbers(names)]
    assert np.asarray(few.numbers).tolist() == expected


@pytest.fixture(scope="module")
def alone(build) -> Searcher:
    """One segment, of which some documents are deleted."""
    random = np.random.default_rng(12)
    texts = {f"{i}": [WORDS[j] for j in (len(WORDS) * random.random(9) ** 2).astype(int)] for i in range(1500)}
    return Searcher(Snapshot.open(build(texts, delete=["3", "70"]).folder))


def by_numbers(searcher: Searcher, weights: Mapping[str, float]) -> NumberedWeights:
    segment, terms = searcher.snapshot.segments[0].segment, sorted(weights)
    numbers = np.array(segment.numbers_of(terms))
    return NumberedWeights(numbers, np.array([weights[term] for term in terms]), lambda: segment.terms(numbers))


@given(st.dictionaries(st.sampled_from(WORDS), st.floats(1e-6, 1e6), min_size=1, max_size=60), st.sampled_from(MODELS))
def test_numbers_as_terms(alone: Searcher, weights: dict[str, float], model: TermwiseModel) -> None:
    """Whether the table knows the terms by then or not; equal weights come in the order of the terms."""
    weights = {word: weight for word, weight in weights.items() if alone.snapshot.term_stats([word])[0].df}
    for own in (weights, dict.fromkeys(weights, 2.0)):
        table, numbered = TermTable(alone.snapshot, model, alone.collection), by_numbers(alone, own)
        expected = planned(alone, model, own, 1000)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(term_table, "MANY", 1)
            patch.setattr(term_table, "FIRST_ROOM", 8)
            found = [table.plan(numbered), table.plan(numbered)]
        assert (
            found == [None, None] if expected is None else all(one is not None and same(one, expected) for one in found)
        )
        assert numbered == own


def test_numbers_are_not_made_terms(alone: Searcher) -> None:
    table, weights = TermTable(alone.snapshot, BM25(), alone.collection), dict.fromkeys(WORDS[:30], 1.5)
    assert table.plan(weights) is not None
    numbered = by_numbers(alone, weights)
    numbered._terms = lambda: pytest.fail("nobody asked for them")
    assert table.plan(numbered) is not None


def test_terms_decide_where_places_do_not(build) -> None:
    searcher = Searcher(Snapshot.open(build({"1": ["b", "a", "d", "c"], "2": ["x"]}).folder))
    weights = dict.fromkeys("dbca", 2.0)
    many = planned(searcher, BM25(), weights, 1)
    assert many is not None
    assert [term.term for term in many.plan.terms] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("many", [1, 1000])
def test_what_weighs_nothing_and_what_is_not_held(searcher: Searcher, many: int) -> None:
    weights = {"w1": 1.0, "w2": 0.0, "nowhere": 3.0, "w3": 2.0}
    found = planned(searcher, BM25(), weights, many)
    assert found is not None
    assert {term.term: term.weight for term in found.plan.terms} == {"w1": 1.0, "w3": 2.0}
    assert planned(searcher, BM25(), {"nowhere": 1.0}, many) is None
    assert planned(searcher, BM25(), {"w1": 0.0}, many) is None
    assert planned(searcher, BM25(), {}, many) is None


@pytest.mark.parametrize("many", [1, 1000])
@pytest.mark.parametrize(
    "weight", [math.nan, -1.0, 1e13, math.inf, None, "2", np.array([0.3]), Decimal("0.5"), np.float32("nan")], ids=repr
)
def test_wrong_weights(searcher: Searcher, weight: object, many: int) -> None:
    table = TermTable(searcher.snapshot, BM25(), searcher.collection)
    assert table.plan({"w1": 1.0, "w2": 1.0}) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_table, "MANY", many)
        with pytest.raises(ParameterError, match="w2"):
            table.plan({"w1": 1.0, "w2": weight})  # type: ignore[dict-item]


def test_terms_are_sliced(searcher: Searcher) -> None:
    found = planned(searcher, BM25(), {word: 1.0 + i for i, word in enumerate(WORDS[:30])}, 1)
    assert found is not None
    terms = found.plan.terms
    assert list(terms[3:9:2]) == list(terms)[3:9:2]
    assert terms[-1] == list(terms)[-1]


def test_room_grows_and_ends(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_table, "FIRST_ROOM", 4)
    monkeypatch.setattr(term_table, "MOST_ROOM", 50)
    model = BM25()
    table = TermTable(searcher.snapshot, model, searcher.collection)
    for begin in range(0, 120, 7):
        weights = {word: 1.0 + i for i, word in enumerate(WORDS[begin : begin + 20])}
        found = table.plan(weights)
        assert found is not None
        assert list(found.plan.terms) == list(model.plan(searcher.known_terms(weights), searcher.collection).terms)
    many = dict.fromkeys(WORDS[:100], 1.0)  # more than there is room for
    found = table.plan(many)
    assert found is not None
    assert len(found.plan.terms) == len(searcher.known_terms(many))


@pytest.mark.parametrize("many", [1, 1000])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int32, bool, int])
def test_numbers_of_other_kinds(searcher: Searcher, kind: type, many: int) -> None:
    other = planned(searcher, BM25(), {"w1": kind(1), "w7": kind(1), "w9": 2.5}, many)  # type: ignore[call-arg]
    plain = planned(searcher, BM25(), {"w1": 1.0, "w7": 1.0, "w9": 2.5}, many)
    assert other is not None
    assert plain is not None
    assert same(other, plain)
    assert other.plan.weight.dtype == np.float64


def test_unknown_words_are_forgotten_too(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_table, "MOST_ROOM", 50)
    table = TermTable(searcher.snapshot, BM25(), searcher.collection)
    for i in range(300):
        assert table.plan({"w1": 1.0, f"unknown{i}": 1.0}) is not None
    assert len(table._remembered.rows) <= 50


def test_no_place_is_given_twice_after_an_interrupt(searcher: Searcher) -> None:
    class Interrupted(BM25):
        at: ClassVar[int] = 5

        def row(self, term: QueryTerm, collection: Collection) -> Row:
            Interrupted.at -= 1
            if Interrupted.at == 0:
                raise KeyboardInterrupt
            return super().row(term, collection)

    table, weights = TermTable(searcher.snapshot, Interrupted(), searcher.collection), dict.fromkeys(WORDS[:30], 1.5)
    with pytest.raises(KeyboardInterrupt):
        table.plan(weights)
    found = table.plan(weights), planned(searcher, BM25(), weights, 1)
    assert found[0] is not None
    assert found[1] is not None
    assert same(found[0], found[1])
    places = [place for place in table._remembered.places.values() if place >= 0]
    assert len(set(places)) == len(places)

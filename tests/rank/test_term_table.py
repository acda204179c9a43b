"""Plans by a table of terms: those of rows, to the last bit."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from germane.engine import Engine
from germane.errors import ParameterError
from germane.index.snapshot import RECENT_DOCS, Snapshot
from germane.lazy import load_compiler
from germane.lm import Dirichlet, JelinekMercer
from germane.rank import BM25, QueryLikelihood
from germane.rank.maxscore import term_table
from germane.rank.maxscore.term_table import NOWHERE, KnownTerms, Numbered, NumberedWeights, TermTable
from germane.rank.models.base import TermwiseModel
from germane.rank.models.bm25 import AdaptiveBM25
from germane.rank.models.term_formulas import BURSTS, RATIO, TermFormula, numbers_of
from germane.rank.scoring.searcher import Searcher
from germane.text import Analyzer

MODELS: list[TermwiseModel] = [
    QueryLikelihood(Dirichlet(50.0)),
    QueryLikelihood(JelinekMercer(0.5)),
    BM25(),
    AdaptiveBM25(),
]
compile_formula = cache(njit(nogil=True, error_model="numpy"))


WORDS = [f"w{i}" for i in range(150)]


@pytest.fixture(scope="module")
def searcher(build) -> Searcher:
    """A large and a small segment; many words are in as many documents as others."""
    random = np.random.default_rng(11)
    texts = [[WORDS[i] for i in (len(WORDS) * random.random(9) ** 2).astype(int)] for _ in range(2500)]
    parts = ({f"{i}": texts[i] for i in range(begin, end)} for begin, end in ((0, 2400), (2400, 2500)))
    return Searcher(Snapshot.open(build(*parts).folder))


def table_of(searcher: Searcher, model: TermwiseModel) -> TermTable:
    return TermTable(searcher.snapshot, KnownTerms(searcher.snapshot), model, searcher.collection)


def planned(searcher: Searcher, model: TermwiseModel, weights: Mapping[str, float]) -> Numbered | None:
    table = table_of(searcher, model)
    first, again = table.plan(weights), table.plan(weights)  # its terms are known by now
    assert again is first is None or (first is not None and again is not None and same(first, again))
    return again


def same(one: Numbered, other: Numbered) -> bool:
    return (
        list(one.plan.terms) == list(other.plan.terms)
        and one.plan.weight.tobytes() == other.plan.weight.tobytes()
        and one.plan.scale.tobytes() == other.plan.scale.tobytes()
        and one.plan._replace(terms=(), weight=None, scale=None)
        == other.plan._replace(terms=(), weight=None, scale=None)
        and np.asarray(one.numbers).tolist() == np.asarray(other.numbers).tolist()
    )


def directly(searcher: Searcher, model: TermwiseModel, weights: Mapping[str, float]) -> Numbered | None:
    """What rows of terms give, in Python, and the numbers of their terms."""
    terms, snapshot = searcher.known_terms(weights), searcher.snapshot
    if not terms:
        return None
    plan = model.plan(terms, searcher.collection)
    names = [term.term for term in plan.terms]
    numbers = [snapshot.segments[i].segment.numbers_of(names) for i in snapshot.large]
    among_recent = [NOWHERE] * len(names) if snapshot.recent is None else snapshot.recent.terms.of(names)
    return Numbered(plan, np.array([*numbers, among_recent]))


@given(st.dictionaries(st.sampled_from(WORDS), st.floats(1e-6, 1e6), min_size=1, max_size=60), st.sampled_from(MODELS))
def test_kernels_plan_as_python_does(searcher: Searcher, weights: dict[str, float], model: TermwiseModel) -> None:
    found, expected = planned(searcher, model, weights), directly(searcher, model, weights)
    assert found is expected is None or (found is not None and expected is not None and same(found, expected))


@given(st.integers(1, 2**31), st.integers(0, 2**40), st.integers(0, 2**33), st.floats(0, 10), st.floats(0, 10))
def test_formulas_are_the_same_compiled(df: int, more: int, others: int, p: float, g: float) -> None:
    """To the last bit: a shard may plan in Python what another one plans by a kernel."""
    compiled = compile_formula(numbers_of)
    cf, tokens = df + more, float(df + more + others)
    for formula in (
        TermFormula(BURSTS, float(df + others), p, g, 1.0 + p),
        TermFormula(RATIO, tokens, 1.0 + p, 1.0 + g, 1.0 + p),
    ):
        assert compiled(df, cf, formula) == numbers_of(df, cf, formula)


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
        numbered, expected = by_numbers(alone, own), directly(alone, model, own)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(term_table, "FIRST_ROOM", 8)
            table = table_of(alone, model)
            found = [table.plan(numbered), table.plan(numbered)]
        assert (
            found == [None, None] if expected is None else all(one is not None and same(one, expected) for one in found)
        )
        assert numbered == own


def test_numbers_are_not_made_terms(alone: Searcher) -> None:
    table, weights = table_of(alone, BM25()), dict.fromkeys(WORDS[:30], 1.5)
    assert table.plan(weights) is not None
    numbered = by_numbers(alone, weights)
    numbered._terms = lambda: pytest.fail("nobody asked for them")
    assert table.plan(numbered) is not None


def test_terms_decide_where_places_do_not(build) -> None:
    searcher = Searcher(Snapshot.open(build({"1": ["b", "a", "d", "c"], "2": ["x"]}).folder))
    weights = dict.fromkeys("dbca", 2.0)
    many = planned(searcher, BM25(), weights)
    assert many is not None
    assert [term.term for term in many.plan.terms] == ["a", "b", "c", "d"]


def test_what_weighs_nothing_and_what_is_not_held(searcher: Searcher) -> None:
    weights = {"w1": 1.0, "w2": 0.0, "nowhere": 3.0, "w3": 2.0}
    found = planned(searcher, BM25(), weights)
    assert found is not None
    assert {term.term: term.weight for term in found.plan.terms} == {"w1": 1.0, "w3": 2.0}
    assert planned(searcher, BM25(), {"nowhere": 1.0}) is None
    assert planned(searcher, BM25(), {"w1": 0.0}) is None
    assert planned(searcher, BM25(), {}) is None


@pytest.mark.parametrize(
    "weight", [math.nan, -1.0, 1e13, math.inf, None, "2", np.array([0.3]), Decimal("0.5"), np.float32("nan")], ids=repr
)
def test_wrong_weights(searcher: Searcher, weight: object) -> None:
    table = table_of(searcher, BM25())
    assert table.plan({"w1": 1.0, "w2": 1.0}) is not None
    with pytest.raises(ParameterError, match="w2"):
        table.plan({"w1": 1.0, "w2": weight})  # type: ignore[dict-item]


def test_terms_are_sliced(searcher: Searcher) -> None:
    found = planned(searcher, BM25(), {word: 1.0 + i for i, word in enumerate(WORDS[:30])})
    assert found is not None
    terms = found.plan.terms
    assert list(terms[3:9:2]) == list(terms)[3:9:2]
    assert terms[-1] == list(terms)[-1]


def test_room_grows_and_ends(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_table, "FIRST_ROOM", 4)
    monkeypatch.setattr(term_table, "MOST_ROOM", 50)
    model = BM25()
    table = table_of(searcher, model)
    for begin in range(0, 120, 7):
        weights = {word: 1.0 + i for i, word in enumerate(WORDS[begin : begin + 20])}
        found = table.plan(weights)
        assert found is not None
        assert list(found.plan.terms) == list(model.plan(searcher.known_terms(weights), searcher.collection).terms)
    many = dict.fromkeys(WORDS[:100], 1.0)  # more than there is room for
    found = table.plan(many)
    assert found is not None
    assert len(found.plan.terms) == len(searcher.known_terms(many))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int32, bool, int])
def test_numbers_of_other_kinds(searcher: Searcher, kind: type) -> None:
    other = planned(searcher, BM25(), {"w1": kind(1), "w7": kind(1), "w9": 2.5})  # type: ignore[call-arg]
    plain = planned(searcher, BM25(), {"w1": 1.0, "w7": 1.0, "w9": 2.5})
    assert other is not None
    assert plain is not None
    assert same(other, plain)
    assert other.plan.weight.dtype == np.float64


def test_words_that_nobody_holds_take_no_room(searcher: Searcher) -> None:
    known = KnownTerms(searcher.snapshot)
    table = TermTable(searcher.snapshot, known, BM25(), searcher.collection)
    for i in range(300):
        assert table.plan({"w1": 1.0, f"unknown{i}": 1.0}) is not None
    assert list(known.cells.places) == ["w1"]
    assert searcher.snapshot.recent is not None
    assert "unknown7" not in searcher.snapshot.recent.terms


@pytest.mark.parametrize("known_before", [0, 40])
def test_an_interrupt_changes_nothing(searcher: Searcher, monkeypatch: pytest.MonkeyPatch, known_before: int) -> None:
    """Neither among the first terms, nor where all are forgotten for want of room."""
    monkeypatch.setattr(term_table, "MOST_ROOM", 50)
    known, weights = KnownTerms(searcher.snapshot), dict.fromkeys(WORDS[60:90], 1.5)
    table = TermTable(searcher.snapshot, known, BM25(), searcher.collection)
    if known_before:
        table.plan(dict.fromkeys(WORDS[:known_before], 1.0))

    def interrupted(terms: list[str]) -> Iterator[tuple[int, ...]]:
        yield from islice(KnownTerms._rows(known, terms), 5)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(known, "_rows", interrupted)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                table.plan(weights)
    for asked in (weights, dict.fromkeys(WORDS[:20], 2.5), dict.fromkeys(WORDS[30:60], 1.0)):
        found, expected = table.plan(asked), directly(searcher, BM25(), asked)
        assert found is not None
        assert expected is not None
        assert same(found, expected)
        places = [*known.cells.places.values()]
        assert len(set(places)) == len(places)


def test_what_is_known_stays_while_documents_are_added(tmp_path: Path) -> None:
    """And is asked for anew when the large segments change, or documents are taken away from them."""
    random = np.random.default_rng(5)

    def documents(n: int, prefix: str) -> list[dict[str, str]]:
        drawn = ((len(WORDS) * random.random(9) ** 2).astype(int) for _ in range(n))
        return [{"id": f"{prefix}{i}", "text": " ".join(WORDS[j] for j in own)} for i, own in enumerate(drawn)]

    load_compiler()
    weights = {word: 1.0 + i for i, word in enumerate(WORDS[:40])}
    with Engine.create(tmp_path / "index", analyzer=Analyzer(stemmer="none", stopwords="none")) as engine:
        engine.add(documents(RECENT_DOCS + 10, "a"))
        known = []
        for step in range(6):
            if step == 4:
                engine.delete(["a7"])
            else:
                engine.add(documents(3, f"b{step}-"))
            searcher = engine.retriever._searcher
            found, expected = searcher.plan(weights, BM25()), directly(searcher, BM25(), weights)
            assert found is not None
            assert expected is not None
            assert list(found.terms) == list(expected.plan.terms)
            assert found.weight.tobytes() == expected.plan.weight.tobytes()
            known.append(searcher._words)
        assert known[0] is known[1] is known[2] is known[3]
        assert known[4] is not known[3]
        assert known[5] is known[4]

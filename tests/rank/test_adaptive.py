"""The ranking that is used when none is named: its formula by hand, what it takes from the collection, its limits."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.engine import Engine, ExplainRequest, RankingRequest
from germane.errors import ParameterError
from germane.lm import robertson_idf
from germane.rank.models.bm25 import BM25, AdaptiveBM25, saturation
from germane.rank.models.term_formulas import BURSTS, TermFormula, numbers_of
from germane.rank.plan import Collection, QueryTerm
from germane.rank.registry import DEFAULT_MODEL, model_named

TEXTS = {
    "a": "mars mars mars rover rover dust",
    "b": "mars rover wheel wheel",
    "c": "dust storm",
    "d": "storm storm storm wheel dust rover mars planet",
    "e": "planet",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Engine.create(tmp_path_factory.mktemp("adaptive") / "index") as made:
        made.add({"id": name, "text": text} for name, text in TEXTS.items())
        yield made


def by_hand(query: dict[str, float], k1: float, b: float, p: float, g: float) -> dict[str, float]:
    counts = {name: Counter(text.split()) for name, text in TEXTS.items()}
    lengths = {name: len(text.split()) for name, text in TEXTS.items()}
    average, n = sum(lengths.values()) / len(lengths), len(lengths)
    scores: dict[str, float] = {}
    for word, weight in query.items():
        held = {name: count[word] for name, count in counts.items() if count[word]}
        df, cf = len(held), sum(held.values())
        own = math.log(1 + (n - df + 0.5) / (df + 0.5)) ** p * ((cf + 4.5) / (df + 3)) ** g
        for name, c in held.items():
            impact = c * (k1 + 1) / (c + k1 * (1 - b + b * lengths[name] / average))
            scores[name] = scores.get(name, 0.0) + weight * own * impact
    return scores


def test_the_default_is_the_formula(engine) -> None:
    """Texts of five words or so: k1 is the least, ½."""
    expected = by_hand({"mars": 1.0, "rover": 2.0}, 0.5, 0.8, 1.4, 0.75)
    result = engine.search("mars rover rover")
    assert DEFAULT_MODEL == "adaptive"
    assert dict(zip(result.ids, result.scores.tolist(), strict=True)) == pytest.approx(expected)
    named = engine.search("mars rover rover", model="adaptive", k1=0.9, b=0.3, idf=2.0, burst=0.1)
    expected = by_hand({"mars": 1.0, "rover": 2.0}, 0.9, 0.3, 2.0, 0.1)
    assert dict(zip(named.ids, named.scores.tolist(), strict=True)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("average", "k1"), [(0.5, 0.5), (6.25, 0.5), (25.0, 1.0), (64.0, 1.6), (100.0, 2.0), (1e6, 2.0)]
)
def test_saturation_follows_the_length(average: float, k1: float) -> None:
    assert saturation(average) == pytest.approx(k1)
    model = AdaptiveBM25()
    collection = Collection(10**6, int(10**6 * average))
    assert model.chosen(collection) == pytest.approx({"k1": k1})
    assert AdaptiveBM25(k1=1.2).chosen(collection) == {}


def burstiness(df: int, cf: int) -> float:
    """burst(w) alone: idf(w)^0 · burst(w)^1."""
    return numbers_of(df, cf, TermFormula(BURSTS, 2e6, 0.0, 1.0, 1.0))[1]


def test_words_that_come_back_weigh_more() -> None:
    assert burstiness(0, 0) == 1.5
    assert burstiness(1, 1) < burstiness(1, 5) < burstiness(1000, 5000)
    assert burstiness(10**6, 3 * 10**6) == pytest.approx(3.0, rel=1e-5)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(0, 5000), st.floats(0.01, 50)), min_size=1, max_size=6),
    st.floats(0.01, 20),
    st.floats(0, 1),
)
def test_without_its_powers_it_is_bm25(terms, k1: float, b: float) -> None:
    """To the last bit: the same plan."""
    collection = Collection(1000, 50_000)
    asked = [QueryTerm(f"w{i}", weight, df, df + more) for i, (df, more, weight) in enumerate(terms)]
    ours, theirs = AdaptiveBM25(k1, b, 1.0, 0.0).plan(asked, collection), BM25(k1, b).plan(asked, collection)
    assert ours.terms == theirs.terms
    assert (ours.x0, ours.x1) == (theirs.x0, theirs.x1)
    np.testing.assert_array_equal(ours.weight, theirs.weight)


def test_explanations_and_numbers_tell_the_k1(engine) -> None:
    told = engine.answer(ExplainRequest("mars rover", "a"))
    assert told.learnt == {"k1": 0.5}
    assert told.model == "adaptive"
    assert told.score == pytest.approx(engine.search("mars rover").scores[0])
    assert engine.answer(ExplainRequest("mars", "a", RankingRequest(model="bm25"))).learnt is None
    assert engine.stats().ranking == {"model": "adaptive", "k1": 0.5, "b": 0.8, "idf": 1.4, "burst": 0.75}
    assert engine.chosen(model_named("bm25")) == {}


@pytest.mark.parametrize(
    "wrong",
    [{"k1": -1.0}, {"k1": math.inf}, {"k1": False}, {"b": 1.5}, {"idf": -0.1}, {"idf": 11.0}, {"burst": math.nan}],
)
def test_parameters_that_are_refused(wrong) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        AdaptiveBM25(**wrong)


def test_the_idf_of_one_word_is_that_of_many() -> None:
    n_docs, df = 1_000, np.array([1, 2, 17, 500, 999, 1_000])
    formula = TermFormula(BURSTS, float(n_docs), 1.0, 0.0, 1.0)
    found = [numbers_of(each, each, formula)[1] for each in df.tolist()]
    assert found == pytest.approx(robertson_idf(n_docs, df), rel=1e-14)

"""What every formula promises, for any statistics and extreme parameters (after Lucene's BaseSimilarityTestCase)."""

from math import isfinite

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from germane import Document
from germane.errors import ParameterError
from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, Laplace, TwoStage
from germane.rank import BM25, MODEL_NAMES, DCrossEntropy, QueryLikelihood, RankingModel, TfIdf, model_named
from germane.rank.models.base import Documents
from germane.rank.plan import Collection, QueryTerm
from germane.rank.registry import model_defaults
from germane.rank.scoring.exact import impacts

open_fraction = st.floats(1e-9, 1 - 1e-9)
positive = st.floats(1e-6, 1e9)
models = st.one_of(
    positive.map(lambda mu: QueryLikelihood(Dirichlet(mu))),
    open_fraction.map(lambda lam: QueryLikelihood(JelinekMercer(lam))),
    st.builds(lambda lam, mu: QueryLikelihood(TwoStage(lam, mu)), open_fraction, positive),
    open_fraction.map(lambda delta: QueryLikelihood(AbsoluteDiscounting(delta))),
    st.builds(BM25, positive, st.floats(0, 1)),
)
sums_models = st.one_of(st.builds(DCrossEntropy, positive, open_fraction), st.just(TfIdf()))


@st.composite
def statistics(draw: st.DrawFn) -> tuple[QueryTerm, Collection, int, int, int]:
    """A term, its collection, and a document: count, length, distinct words."""
    count = draw(st.integers(1, 100_000))
    length = count + draw(st.integers(1, 100_000))
    unique = draw(st.integers(2, 1 + length - count))
    n_docs = draw(st.integers(2, 10**9))
    df = draw(st.integers(1, n_docs))
    cf = df + count + draw(st.integers(0, 10**9))
    n_tokens = cf + length + draw(st.integers(0, 10**12))
    weight = draw(st.floats(1e-6, 1e6))
    return QueryTerm("t", weight, df, cf), Collection(n_docs, n_tokens, 7.0), count, length, unique


def impact(model: RankingModel, term: QueryTerm, collection: Collection, count: int, length: int, unique: int) -> float:
    plan = model.plan([term], collection)
    size = float(unique if plan.sized_by_unique else length)
    return float(impacts(plan, plan.weight, plan.scale, np.array([count]), np.array([size]))[0])


def score(model: RankingModel, term: QueryTerm, collection: Collection, count: int, length: int, unique: int) -> float:
    plan = model.plan([term], collection)
    documents = Documents(np.array([length], np.uint32), np.array([unique], np.uint32), np.empty(0))
    of_document = model.document_background(documents)
    rest = plan.constant + (plan.mass * float(of_document[0]) if len(of_document) else 0.0)
    return impact(model, term, collection, count, length, unique) + rest


def not_below(a: float, b: float, scale: float) -> bool:
    return a >= b - 1e-12 * scale


@settings(max_examples=200, deadline=None)
@given(models, statistics())
def test_scores_are_finite_and_impacts_positive(model, case) -> None:
    term, collection, count, length, unique = case
    assert isfinite(score(model, term, collection, count, length, unique))
    assert impact(model, term, collection, count, length, unique) > 0


@settings(max_examples=200, deadline=None)
@given(models, statistics())
def test_log_likelihoods_are_not_above_zero(model, case) -> None:
    term, collection, count, length, unique = case
    assume(isinstance(model, QueryLikelihood))
    scale = abs(score(model, term, collection, count, length, unique)) + term.weight
    assert score(model, term, collection, count, length, unique) <= 1e-9 * scale * 100


@settings(max_examples=200, deadline=None)
@given(models, statistics(), st.data())
def test_a_larger_count_never_hurts(model, case, data) -> None:
    term, collection, count, length, unique = case
    fewer = data.draw(st.integers(1, count))
    more_score = score(model, term, collection, count, length, unique)
    fewer_score = score(model, term, collection, fewer, length, unique)
    assert not_below(more_score, fewer_score, abs(more_score) + abs(fewer_score))


@settings(max_examples=200, deadline=None)
@given(models, statistics(), st.integers(1, 1_000_000))
def test_a_longer_document_never_gains(model, case, extra) -> None:
    """With the count (and the number of distinct words) fixed."""
    term, collection, count, length, unique = case
    if isinstance(model, QueryLikelihood) and isinstance(model.smoothing, AbsoluteDiscounting):
        return  # its impact does not fall with length: e/a = (c - δ)/(δ·|d|_u), while a does
    short = score(model, term, collection, count, length, unique)
    long = score(model, term, collection, count, length + extra, unique)
    assert not_below(short, long, abs(short) + abs(long) + 100 * term.weight)


@settings(max_examples=200, deadline=None)
@given(st.one_of(models, sums_models), statistics(), st.integers(1, 10**6))
def test_a_rarer_word_weighs_more(model, case, rarer) -> None:
    term, collection, count, length, unique = case
    rare = term._replace(df=max(1, term.df - rarer), cf=max(1, term.cf - rarer))
    common_impact = impact(model, term, collection, count, length, unique)
    rare_impact = impact(model, rare, collection, count, length, unique)
    assert not_below(rare_impact, common_impact, common_impact)


@settings(max_examples=100, deadline=None)
@given(models, statistics(), st.floats(1, 1000))
def test_weights_scale_scores(model, case, factor) -> None:
    term, collection, count, length, unique = case
    once = score(model, term, collection, count, length, unique)
    more = score(model, term._replace(weight=term.weight * factor), collection, count, length, unique)
    assert more == pytest.approx(factor * once, rel=1e-9, abs=1e-9 * term.weight * factor)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_more_of_the_word_in_the_same_length(build, model) -> None:
    """Through the index: the word's count grows, the length stays."""
    tokens = {f"{tf:02}": ["a"] * tf + ["z"] * (20 - tf) for tf in range(1, 20)}
    result = build(tokens).search("a", 20, model=model)
    assert result.ids == sorted(tokens, reverse=True)
    assert (np.diff(result.scores) < 0).all()


@pytest.mark.parametrize("model", [name for name in MODEL_NAMES if name != "dce"])
def test_the_rarer_of_two_words(build, model) -> None:
    """Two documents alike but for the word they hold: the one with the rarer word comes first.

    D-cross-entropy promises the contrary: its topic model is smoothed, so a common word is likelier under it.
    """
    tokens = {"common": ["c", "x"], "rare": ["r", "x"], **{f"f{i}": ["c", "y", "x"] for i in range(20)}}
    result = build(tokens).search("c r", 30, model=model)
    assert result.ids[0] == "rare"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: model_named("bm26"), "choose one of dirichlet, jm"),
        (lambda: model_named("jm", mu=3), "has no parameter mu; it takes lam"),
        (lambda: model_named("tfidf", b=1), "takes no parameter"),
        (lambda: model_named("dirichlet", mu=0), "mu"),
        (lambda: model_named("dirichlet", mu=float("nan")), "mu"),
        (lambda: model_named("jm", lam=0), "0 < lam < 1"),
        (lambda: model_named("jm", lam=1), "0 < lam < 1"),
        (lambda: model_named("absolute", delta=1), "delta"),
        (lambda: model_named("bm25", k1=0), "k1"),
        (lambda: model_named("bm25", b=1.1), "b must"),
        (lambda: model_named("dce", lam=1), "lam"),
        (lambda: model_named("dce", mu=-1), "mu"),
        (lambda: model_named("ratio", lam=1), "lam"),
        (lambda: QueryLikelihood(Laplace()), "Laplace cannot"),  # type: ignore[arg-type]
    ],
)
def test_parameters_out_of_range_raise(make, message) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_parameter_left_none_keeps_its_default() -> None:
    assert model_named("bm25", k1=None, b=0.5) == BM25(b=0.5)
    assert dict(model_defaults("twostage")) == {"lam": 0.9, "mu": 400.0}


@pytest.mark.parametrize("name", ["bm25", "dirichlet", "jm", "twostage", "absolute", "tfidf"])
def test_what_is_remembered_of_terms_changes_no_plan(name: str, build) -> None:
    """A second query takes numbers of the first; weights, unknown words and a larger collection are met on the way."""
    engine = build({"1": ["a", "b", "a"], "2": ["b", "c"], "3": ["c", "d", "e", "a"]})
    model = model_named(name)
    queries = [{"a": 1.0, "b": 1.0}, {"b": 1.0, "c": 2.0, "a": 1.0}, {"c": 1.0, "x": 1.0, "a": 0.5}, {"x": 1.0}]
    for turn in range(2):
        for weights in queries * 2:
            searcher = engine.retriever._searcher
            plan, terms = searcher.plan(weights, model), searcher.known_terms(weights)
            expected = model.plan(terms, searcher.collection) if terms else None
            assert (plan is None) == (expected is None)
            for own, other in zip(plan or (), expected or (), strict=True):
                assert np.array_equal(own, other)
        engine.add([Document(f"more-{turn}", {"text": "a x x b"})])
    engine.close()


def test_a_wrong_weight_is_refused_beside_remembered_words(build) -> None:
    engine = build({"1": ["a", "b"]})
    engine.search({"a": 1.0})
    for wrong in (-1.0, float("nan"), "1"):
        with pytest.raises(ParameterError, match="the weight of 'b'"):
            engine.search({"a": 1.0, "b": wrong})

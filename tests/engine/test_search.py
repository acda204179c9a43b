"""Searching by the engine: words, conditions, odd queries, results."""

import contextlib
import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Engine, Topic
from germane.engine.searching import MAX_QUERY_TERMS
from germane.errors import ParameterError, QueryError
from germane.lm import Dirichlet
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood


def test_hits(library: Engine) -> None:
    result = library.search("heart attack")
    assert result.ids == ["1", "3", "2"]
    assert len(result) == 3
    assert result.scores.tolist() == sorted(result.scores.tolist(), reverse=True)
    first = next(iter(result))
    assert (first.rank, first.id, first.score) == (1, "1", result.scores[0])
    assert first.fields["year"] == 2001
    assert [hit.rank for hit in result] == [1, 2, 3]
    assert result.fields(2)["tags"] == ["a", "b"]


def test_results_are_values(library: Engine) -> None:
    result = library.search("heart attack")
    later = dataclasses.replace(result, offset=2)
    assert (later.offset, later.ids, later.query) == (2, result.ids, result.query)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.offset = 1  # type: ignore[misc]


def test_words_are_stemmed_as_in_the_index(library: Engine) -> None:
    assert library.search("HEARTS attacking").scores.tolist() == library.search("heart attack").scores.tolist()


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("+surgery heart", {"2", "5"}),
        ("heart -surgery", {"1", "3"}),
        ("+heart +attack", {"1", "3"}),
        ("surgery -heart -knee", set()),
        ("+unknown heart", set()),
        ("-unknown surgery", {"2", "5"}),
        ("+the heart", {"1", "2", "3"}),
        ("surgery tags:b", {"2", "5"}),
        ("surgery tags:a", {"2"}),
        ("heart year:2002..", {"2", "3"}),
        ("surgery -year:2005", {"5"}),
        ('"knee surgery" year:..2005', set()),
        ("surgery knee year:..2005", {"2"}),
        ("heart NOT surgery", {"1", "3"}),
        ("heart AND (attack OR surgery)", {"1", "2", "3"}),
        ("surg* AND NOT heart", {"5"}),
        ("-heart", {"4", "5"}),
        ("tags:b", {"2", "5"}),
    ],
)
def test_conditions(library: Engine, query: str, ids: set[str]) -> None:
    for model in MODEL_NAMES:
        assert set(library.search(query, model=model).ids) == ids


def test_weights_change_the_order(library: Engine) -> None:
    assert library.search("diet^100 surgery").ids[0] == "3"
    assert library.search("diet surgery^100").ids[0] in {"2", "5"}
    assert library.search("diet^0 knee").ids == ["5"]
    assert len(library.search("diet^0")) == 0


@pytest.mark.parametrize(
    "query", ["", "   ", "the of and", "zebra", "zebra giraffe", "-", "+", "\0\x1b\x7f", "🐸", "…", {}]
)
def test_queries_that_find_nothing(library: Engine, query: str) -> None:
    for model in MODEL_NAMES:
        result = library.search(query, model=model)
        assert (result.ids, list(result), len(result)) == ([], [], 0)


@pytest.mark.parametrize(
    "query",
    ["heart^x", "heart^-1", "heart^1e99", "nofield:1", "heart year:soon", "year:>=", '"', '""', '"heart', "(heart"],
)
def test_queries_that_are_refused(library: Engine, query: str) -> None:
    with pytest.raises(QueryError):
        library.search(query)
    plainly = {"1", "2", "3"} if "heart" in query else set()
    assert set(library.search(query, syntax=False).ids) == plainly


@pytest.mark.parametrize("query", ["heart\0attack", "\u202eheart\u202c", "heart 🐸 שלום مرحبا", "ｈｅａｒｔ"])
def test_odd_characters_beside_words(library: Engine, query: str) -> None:
    assert set(library.search(query).ids) == {"1", "2", "3"}


@pytest.mark.slow
def test_a_very_long_query(library: Engine) -> None:
    """100,000 different words: the strongest are kept, and those are known ones."""
    query = "heart knee " + " ".join(f"word{i}" for i in range(100_000))
    for syntax in (True, False):
        result = library.search(query, syntax=syntax)
        assert set(result.ids) == {"1", "2", "3", "5"}
        assert set(result.query.weights) <= {"heart", "knee"}
    assert library.search(query).scores.tolist() == library.search("heart knee").scores.tolist()
    repeated = library.search("heart " * 100_000)
    assert repeated.query.weights == {"heart": 100_000.0}
    assert len(library.search(" ".join(f"+word{i}" for i in range(2 * MAX_QUERY_TERMS)))) == 0


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(library: Engine, query: str) -> None:
    library.search(query, syntax=False)
    library.suggest(query)
    with contextlib.suppress(QueryError):
        library.search(query)


def test_a_topic_model_as_query(library: Engine) -> None:
    topic = {"heart": 0.75, "surgeri": 0.25, "absent": 3.0}
    written = library.search("heart^0.75 surgery^0.25", model="dirichlet", mu=100)
    assert library.search(topic, model="dirichlet", mu=100).scores.tolist() == written.scores.tolist()


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_bad_weights_of_a_topic_model(library: Engine, weight: float) -> None:
    with pytest.raises(ParameterError, match="weight of 'heart'"):
        library.search({"heart": weight})


def test_models_by_name_and_by_value(library: Engine) -> None:
    named = library.search("heart attack", model="bm25", k1=1.2, b=0.3)
    assert named.scores.tolist() == library.search("heart attack", model=BM25(1.2, 0.3)).scores.tolist()
    with pytest.raises(ParameterError, match="carries its own"):
        library.search("heart", model=QueryLikelihood(Dirichlet(3)), mu=3)
    with pytest.raises(ParameterError, match="no ranking model 'bm52'"):
        library.search("heart", model="bm52")


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one(library: Engine, k: int) -> None:
    with pytest.raises(ParameterError, match="k must be at least 1"):
        library.search("heart", k)


def test_k_beyond_the_collection(library: Engine) -> None:
    assert library.search("heart", 10**6).ids == library.search("heart").ids


@pytest.mark.parametrize("threads", [0, -1])
def test_a_batch_needs_a_thread(library: Engine, threads: int) -> None:
    with pytest.raises(ParameterError, match="threads must be a whole number of at least 1"):
        list(library.batch([], threads=threads))


def test_batch_reads_topics_as_plain_text(library: Engine) -> None:
    topics = [Topic("q1", "heart -surgery"), Topic("q2", "zebra"), Topic("q3", "nofield:knee")]
    results = dict(library.batch(topics, threads=2))
    assert list(results) == topics
    assert set(results[topics[0]].ids) == {"1", "2", "3", "5"}
    assert results[topics[1]].ids == []
    assert results[topics[2]].ids == ["5"]


@pytest.mark.parametrize("k", [2.5, "5", None, True, 0])
def test_how_many_results_is_a_whole_number(engine: Engine, k: object) -> None:
    with pytest.raises(ParameterError, match="k must be"):
        engine.search("heart", k)


@pytest.mark.parametrize("query", [None, 5, ["heart"]])
def test_a_query_is_a_text_or_weights(engine: Engine, query: object) -> None:
    with pytest.raises(ParameterError, match="a query is a text"):
        engine.search(query)

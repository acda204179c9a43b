"""What was promoted is what searches use, at every door of the engine, until it is rolled back or cannot rank."""

import pytest

from germane import Analyzer, Engine
from germane.engine import SearchRequest
from germane.engine.requests import ExplainRequest, RankingRequest
from germane.errors import ParameterError
from germane.latent import Pairs, latent_named
from germane.types import Topic
from learning.test_model_store import record

QUERY = "filler query"


def learnt(world, analyzer=None):
    """A model by which queries of a theme find its titles, which share no word with them."""
    themes = {document.id.partition("-")[0][1:]: document for document in world.documents}
    pairs = [
        (topic.text, themes[topic.id[1:].partition("-")[0]].fields["title"], 1.0) for topic in world.topics
    ]  # fmt: skip
    built = Pairs.build(pairs) if analyzer is None else Pairs.build(pairs, analyzer)
    return latent_named("wtm", n_iterations=2).fit(built)


@pytest.fixture
def promoted(world, tmp_path):
    with world.index(tmp_path / "index") as engine:
        engine.models.add("clicks", learnt(world), record())
        engine.promote("clicks@1")
    return Engine.open(tmp_path / "index")


def told(result):
    return result.reranked_by, result.not_reranked


def test_plain_searches_use_what_was_promoted(promoted, world):
    query = world.topics[0].text
    named = promoted.search(query, 5, rerank="clicks")
    plain = promoted.search(query, 5, rerank=None)
    assert len(named) > len(plain) == 0
    found = promoted.search(query, 5)
    assert (found.ids, found.scores.tolist()) == (named.ids, named.scores.tolist())
    assert told(found) == ("clicks@1", None)
    assert told(named) == told(plain) == (None, None)
    assert promoted.search(query, 3, offset=2).ids == found.ids[2:]
    assert promoted.search(query, 5, syntax=False).ids == found.ids
    ((_, run),) = promoted.batch([Topic("1", query)], 5)
    assert (run.ids, told(run)) == (found.ids, told(found))
    assert promoted.explain(query, found.ids[0]).score == pytest.approx(found.scores[0])


@pytest.mark.parametrize(
    "named",
    [
        {"rerank": None}, {"model": "bm25"}, {"k1": 0.9}, {"feedback": "rm3"}, {"marks": {"d0-0": True}},
        {"sort": "year"}, {"rerank": "dirichlet"},
    ],
    ids=str,
)  # fmt: skip
def test_a_search_that_names_its_ranking_leaves_it(promoted, named):
    assert told(promoted.search(QUERY, **named)) == (None, None)
    assert told(promoted.search(QUERY)) == ("clicks@1", None)


def test_what_is_no_text_has_no_second_stage(promoted):
    assert told(promoted.search({"filler": 1.0})) == (None, None)
    assert told(promoted.search("year:2000..")) == (None, None)
    assert told((promoted.pipeline() % 5).search(QUERY)) == (None, None)


def test_answers_say_so(promoted, world):
    query = world.topics[0].text
    answer = promoted.answer(SearchRequest(query, 3)).to_dict()
    assert (answer["reranked_by"], answer["model"].endswith(" >> clicks@1")) == ("clicks@1", True)
    assert answer["hits"][0]["id"] == promoted.search(query, 3).ids[0]
    left = [SearchRequest(QUERY, rerank=None), SearchRequest(QUERY, ranking=RankingRequest("bm25"))]
    assert ["reranked_by" in promoted.answer(request).to_dict() for request in left] == [False, False]
    why = promoted.answer(ExplainRequest(query, answer["hits"][0]["id"]))
    assert (why.model, why.score) == ("clicks@1", pytest.approx(answer["hits"][0]["score"]))
    assert promoted.answer(ExplainRequest("filler", "d0-0", RankingRequest("bm25"))).second is None


def test_open_engines_see_promotions_and_roll_backs_of_others(promoted, world):
    other = Engine.open(promoted.folder)
    query = world.topics[0].text
    assert told(other.search(query)) == ("clicks@1", None)
    promoted.models.add("clicks", learnt(world), record())
    promoted.promote("clicks@2")
    assert told(other.search(query)) == ("clicks@2", None)
    promoted.rollback()
    assert told(other.search(query)) == ("clicks@1", None)
    promoted.rollback()
    assert told(other.search(query)) == (None, None)
    assert other.search(query).ids == other.search(query, rerank=None).ids


def test_of_several_models_the_one_promoted_last(promoted, world):
    for name in ("another", "zebra"):
        promoted.models.add(name, learnt(world), record())
    for name in ("zebra", "another"):
        promoted.promote(f"{name}@1")
    assert told(promoted.search(QUERY)) == ("another@1", None)
    promoted.rollback("another")
    assert told(promoted.search(QUERY)) == ("zebra@1", None)
    promoted.remove_models(["zebra@1"], force=True)
    assert told(promoted.search(QUERY)) == ("clicks@1", None)
    (promoted.folder / "models" / "PROMOTED").unlink()  # as an earlier release leaves it
    assert told(Engine.open(promoted.folder).search(QUERY)) == ("clicks@1", None)
    for name in ("promoted", "none"):
        with pytest.raises(ParameterError, match="has a meaning of its own"):
            promoted.models.add(name, learnt(world), record())


@pytest.mark.parametrize("file", ["clicks/000001.model", "clicks/000001.json", "clicks/SERVING", "PROMOTED"])
def test_a_model_that_cannot_be_read_breaks_no_search(promoted, world, file):
    expected = promoted.search(QUERY, rerank=None)
    (promoted.folder / "models" / file).write_bytes(b"damaged")
    found = Engine.open(promoted.folder).search(QUERY)
    assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())
    assert found.reranked_by is None
    assert "the plain ranking stands: " in found.not_reranked
    assert Engine.open(promoted.folder).answer(SearchRequest(QUERY)).not_reranked == found.not_reranked
    assert Engine.open(promoted.folder).explain(QUERY, found.ids[0]).score == pytest.approx(found.scores[0])


def test_a_model_of_other_words_breaks_no_search(promoted, world):
    other = learnt(world, Analyzer(stopwords=()))
    promoted.models.add("other", other, record())
    promoted.models.promote("other@1")
    found = promoted.search(QUERY)
    assert found.ids == promoted.search(QUERY, rerank=None).ids
    assert "was learnt with another analyzer" in found.not_reranked


def test_a_candidate_is_held_against_what_searches_use(promoted, world, store):
    """Also where that has another name, which it would replace."""
    pytest.importorskip("duckdb")
    from germane.clicks import ClickRules

    report = promoted.learn(store, name="new", rules=ClickRules(memory_mb=256, threads=1), n_iterations=2)
    assert report.gate.against == "clicks@1"

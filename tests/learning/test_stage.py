"""A latent model behind the first ranking: documents without a word of the query, exact scores, conditions, explain."""

import numpy as np
import pytest

from germane import Document, Engine
from germane.engine.models.stage import LatentStage
from germane.errors import ParameterError
from germane.latent import Pairs, latent_named, save
from germane.text import Analyzer
from germane.types import title_of

KINDS = {"wtm": {}, "bltm-pr": {"n_topics": 30}, "opca": {"n_dimensions": 10}, "s2net": {"n_dimensions": 10}}


@pytest.fixture(scope="module", params=[1, 3], ids=["one segment", "three segments"])
def engine(world, request, tmp_path_factory) -> Engine:
    return world.index(tmp_path_factory.mktemp("staged") / "index", request.param)


@pytest.fixture(scope="module")
def models(world):
    by_id = {document.id: document for document in world.documents}
    texts = {topic.id: topic.text for topic in world.topics}
    pairs = Pairs.build(
        [(texts[q], str(by_id[d].fields["title"]), 1.0) for q, d, _ in world.judgements if not q.endswith("-0")],
        Analyzer(),
    )
    return {name: latent_named(name, **parameters).fit(pairs) for name, parameters in KINDS.items()}


@pytest.mark.parametrize("name", KINDS)
def test_documents_that_share_no_word_are_found(engine, models, world, name):
    for topic in world.topics[::7]:
        assert len(engine.search(topic.text, syntax=False)) == 0
        result = engine.search(topic.text, 5, syntax=False, rerank=models[name])
        theme = topic.id[1 : topic.id.index("-")]
        assert [found.split("-")[0] for found in result.ids] == [f"d{theme}"] * 5
        assert not result.total_is_exact


@pytest.mark.parametrize("name", KINDS)
def test_scores_are_those_of_the_model_and_of_the_first_stage(engine, models, world, name):
    """Whatever the segments, a result's score is the model's for its title, and BM25's part for its text."""
    model, query = models[name], "querybx titlebv filler"
    stage = LatentStage(model, first_weight=0.7)
    result = engine.search(query, 200, rerank=stage)
    assert len(result) == len(world.documents)  # all hold "filler"
    titles = {document.id: title_of(document.fields) for document in world.documents}
    expected = model.score(query, model.fold_in([titles[found] for found in result.ids]))
    bm25 = dict(zip(*(lambda r: (r.ids, r.scores.tolist()))(engine.search(query, 200, model="bm25")), strict=True))
    expected = expected + 0.7 * np.array([bm25[found] for found in result.ids])
    assert result.scores == pytest.approx(expected, abs=1e-5)
    assert result.scores.tolist() == sorted(result.scores.tolist(), reverse=True)
    for hit in list(result)[:20:4]:
        found = engine.explain(query, hit.id, rerank=stage)
        assert found.score == pytest.approx(hit.score, abs=1e-5)
        assert found.latent.score + 0.7 * found.first_score == pytest.approx(found.score)


@pytest.mark.parametrize("name", ["wtm", "opca"])
def test_conditions_deletions_and_depth(engine, models, world, name, tmp_path):
    topic = world.topics[0]
    found = engine.search(f"{topic.text} year:2003..2004", 50, rerank=models[name])
    assert {hit.fields["year"] for hit in found} <= {2003, 2004}
    assert len(found) > 0
    with Engine.create(tmp_path / "index") as changing:
        changing.add(world.documents, threads=1)
        stage = LatentStage(models[name])
        best = changing.search(topic.text, 3, syntax=False, rerank=stage).ids
        changing.delete(best)
        assert not {*best} & {*changing.search(topic.text, 50, syntax=False, rerank=stage).ids}
        changing.add([Document("late", {"title": "titleav titleaw titleax"})])
        assert "late" in changing.search(topic.text, 20, syntax=False, rerank=stage).ids
    shallow = engine.search("filler " + topic.text, 30, syntax=False, rerank=models[name], depth=5)
    assert len({*shallow.ids}) == 30  # none twice: those brought by the model are not repeated below
    assert shallow.scores.tolist() == sorted(shallow.scores.tolist(), reverse=True)


def test_a_model_may_be_a_file_or_an_object(engine, models, tmp_path, world):
    query = world.topics[3].text
    save(models["wtm"], tmp_path / "wtm.model")
    one = engine.search(query, 5, syntax=False, rerank=str(tmp_path / "wtm.model"))
    other = engine.search(query, 5, syntax=False, rerank=models["wtm"])
    assert (one.ids, one.scores.tolist()) == (other.ids, other.scores.tolist())
    piped = (engine.pipeline() >> LatentStage(models["wtm"])).search(query, 5, syntax=False)
    assert piped.ids == one.ids


def test_bad_input(engine, models, tmp_path, world):
    with pytest.raises(ParameterError, match="no re-ranker 'nothing'"):
        engine.search("a", rerank="nothing")
    with pytest.raises(ParameterError, match="first_weight"):
        LatentStage(models["wtm"], first_weight=-1.0)
    with pytest.raises(ParameterError, match="rerank\\(query, candidates\\)"):
        engine.search("a", rerank=3)
    other = latent_named("wtm").fit(Pairs.build([("a b", "c d", 1.0)], Analyzer(stemmer="none")))
    with pytest.raises(ParameterError, match="another analyzer"):
        engine.search("filler", rerank=other)
    (tmp_path / "bad.model").write_bytes(b"nothing")
    with pytest.raises(Exception, match="not a saved latent model"):
        engine.search("a", rerank=str(tmp_path / "bad.model"))
    with Engine.create(":memory:") as empty:
        assert len(empty.search("queryav", rerank=models["opca"])) == 0
        assert len(empty.search("queryav", rerank=models["wtm"])) == 0
    assert len(engine.search("year:2001", 5, rerank=models["wtm"])) == 5  # no word at all


def test_an_explanation_names_translations(engine, models, world):
    query = world.topics[0].text
    best = engine.search(query, 1, syntax=False, rerank=models["wtm"])[0]
    found = engine.explain(query, best.id, syntax=False, rerank=models["wtm"])
    names = {source.name for part in found.latent.parts for source in part.sources}
    assert names
    assert names <= {*engine.analyzer.terms(str(best.fields["title"]))}

"""Shards on their own, scoring with merged statistics: the results of one index of all documents, through JSON."""

import json
from collections import Counter
from math import log

import numpy as np
import pytest

from germane import Document
from germane.errors import ParameterError
from germane.lm import JelinekMercer, TwoStage
from germane.rank import BM25, MODEL_NAMES, DCrossEntropy, QueryLikelihood, RankingModel, model_named
from germane.rank.conditions import And, HoldsAny, Not, Or, Phrase, condition_from_dict, condition_to_dict, holds
from germane.rank.evidence import EvidenceModel
from germane.rank.filters import FieldFilter, StartsWith
from germane.rank.plan import Plan
from germane.rank.registry import description_of
from germane.rank.shard import ShardAnswer, ShardRequest, join, score_shard
from germane.rank.statistics import CollectionStatistics, TermStatistics

NAMED = [model for model in map(model_named, MODEL_NAMES) if not isinstance(model, EvidenceModel)]  # refused elsewhere
MODELS: list[RankingModel] = [*NAMED, QueryLikelihood(TwoStage(0.3, 7.0)), BM25(0.9, 0.2)]
QUERIES = [
    {"w0": 1.0, "w3": 2.5, "w40": 0.1},
    {"only0": 1.0, "w1": 1.0},
    {"only2": 3.0},
    {"unheard": 1.0},
    {f"w{i}": 1.0 + i % 5 for i in range(0, 60, 2)},
]
CONDITIONS = [(), (FieldFilter("year", "3", None),), (holds("w2"), Not(holds("w5")))]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Zipf words, a word that stands in one shard alone, repeated documents (ties), an empty one."""
    rng = np.random.default_rng(8)
    made = []
    for i in range(300):
        words = [f"w{int(w)}" for w in rng.zipf(1.3, rng.integers(1, 40)) % 60]
        if i % 10 < 2:
            words = ["w1", "w2"]
        made.append(
            Document(f"d{rng.integers(10**6):06}-{i}", {"text": " ".join([*words, f"only{i % 3}"]), "year": i % 9})
        )
    return [*made, Document("empty", {"text": ""})]


@pytest.fixture(scope="module")
def gone(documents) -> list[str]:
    return [document.id for document in documents[4::7]]


@pytest.fixture(scope="module")
def whole(build, documents, gone):
    return build(documents, delete=gone)._searcher


@pytest.fixture(scope="module")
def shards(build, documents, gone):
    """Three indexes, one of them in two segments, each with its own deletions."""
    parts = [documents[i::3] for i in range(3)]
    pieces = [[parts[0]], [parts[1][:20], parts[1][20:]], [parts[2]]]
    ids = [{document.id for document in part} for part in parts]
    return [
        build(*segments, delete=[i for i in gone if i in own])._searcher
        for segments, own in zip(pieces, ids, strict=True)
    ]


def over_the_wire(value):
    """A value as another machine would read it."""
    return type(value).from_dict(json.loads(json.dumps(value.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("filters", CONDITIONS, ids=str)
def test_three_shards_are_one_index(whole, shards, model: RankingModel, filters) -> None:
    everything = CollectionStatistics.merged(over_the_wire(CollectionStatistics.of(s.snapshot)) for s in shards)
    for weights in QUERIES:
        accounts = (CollectionStatistics.of(s.snapshot, list(weights)) for s in shards)
        few = CollectionStatistics.merged(map(over_the_wire, accounts))
        for k, wordless in ((1, False), (7, True), (1000, False), (1000, True)):
            hits = whole.search(weights, model, k, filters=filters, wordless=wordless)
            expected = ShardAnswer(tuple(whole.ids(hits)), tuple(hits.scores.tolist()))
            for statistics in (everything, few) if model.word_sums() is None else (everything,):
                request = over_the_wire(ShardRequest.of(weights, model, k, statistics, filters, wordless))
                answers = [over_the_wire(score_shard(shard, request)) for shard in shards]
                assert join(answers, k) == expected, (weights, k)
            one = shards[0].search(weights, model, k, filters=filters, statistics=everything, wordless=wordless)
            assert list(zip(shards[0].ids(one), one.scores.tolist(), strict=True)) == list(
                zip(answers[0].ids, answers[0].scores, strict=True)
            )


def test_own_statistics_would_rank_otherwise(whole, shards) -> None:
    """The test above can fail: a shard that knows itself alone gives other scores."""
    weights, model = {"only0": 1.0, "w1": 1.0}, BM25()
    alone = shards[0].search(weights, model, 5)
    hits = whole.search(weights, model, 5)
    assert alone.scores.tolist() != hits.scores.tolist()


def test_merged_statistics_are_counts(documents, gone, shards) -> None:
    live = [str(document.fields["text"]).split() for document in documents if document.id not in gone]
    cf, df = Counter(w for words in live for w in words), Counter(w for words in live for w in set(words))
    merged = CollectionStatistics.merged(CollectionStatistics.of(shard.snapshot) for shard in shards)
    assert dict(merged.terms) == {w: TermStatistics(df[w], cf[w]) for w in cf}
    assert (merged.n_docs, merged.n_tokens, merged.complete) == (len(live), cf.total(), True)
    assert merged.entropy == pytest.approx(-sum(n / cf.total() * log(n / cf.total()) for n in cf.values()), rel=1e-12)
    again = over_the_wire(merged)
    assert (dict(again.terms), again.entropy, again.digest) == (dict(merged.terms), merged.entropy, merged.digest)
    assert CollectionStatistics.of(shards[0].snapshot).digest != merged.digest


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_plan_through_json(whole, model: RankingModel) -> None:
    plan = whole.plan(QUERIES[0], model)
    again = over_the_wire(plan)
    for name, value in plan._asdict().items():
        assert np.array_equal(getattr(again, name), value), name
    assert isinstance(again, Plan)
    assert whole.search_plan(again, model, 50).scores.tolist() == whole.search(QUERIES[0], model, 50).scores.tolist()


@pytest.mark.parametrize(
    "condition",
    [c for group in CONDITIONS for c in group]
    + [
        FieldFilter("x", None, "é", high_strict=True),
        StartsWith("x", "é"),
        And((Or((HoldsAny(("a", "b"), "title"), Phrase(("a", "b"), 3))), Not(Phrase(("c", "d"), 0, "text")), And(()))),
    ],
)
def test_filters_through_json(condition) -> None:
    assert condition_from_dict(json.loads(json.dumps(condition_to_dict(condition)))) == condition


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_models_have_descriptions(model: RankingModel) -> None:
    name, parameters = description_of(model)
    assert model_named(name, **json.loads(json.dumps(parameters))) == model


def test_what_cannot_be_sent_or_scored(shards) -> None:
    class Own(DCrossEntropy):
        """A model of somebody's own."""

    with pytest.raises(ParameterError, match="none of the models that have a name"):
        description_of(Own())
    few = CollectionStatistics.of(shards[0].snapshot, ["w0"])
    with pytest.raises(ParameterError, match="do not tell of 'w1'"):
        few.plan({"w1": 1.0}, QueryLikelihood(JelinekMercer(0.5)))
    for name in ("tfidf", "dce"):
        with pytest.raises(ParameterError, match="whole vocabulary"):
            score_shard(shards[0], ShardRequest.of({"w0": 1.0}, model_named(name), 3, few))
    with pytest.raises(ParameterError, match="weight of 'w0'"):
        few.plan({"w0": -1.0}, BM25())

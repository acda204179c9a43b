"""Parts of a collection that rank by the statistics of all: the scores of one index of all documents, bit for bit."""

import datetime
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log

import pytest

from germane import Document
from germane.errors import ParameterError
from germane.lm import TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, RankingModel, model_named
from germane.rank.models.fields import BM25F
from germane.rank.query.conditions import Not, Phrase, holds
from germane.rank.query.filters import FieldFilter
from germane.rank.scoring.explain import explain
from germane.rank.scoring.hits import Hits
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior, Prior
from germane.rank.scoring.probabilities import word_probabilities
from germane.rank.scoring.score_all import background_everywhere, scores_everywhere
from germane.rank.scoring.searcher import Searcher
from germane.rank.scoring.statistics import CollectionStatistics, Need, Vocabulary

MODELS: list[RankingModel] = [*map(model_named, MODEL_NAMES), QueryLikelihood(TwoStage(0.3, 7.0)), BM25F({"text": 2})]
RUNS = (("w0", "w3", "w1"), ("only0", "w1"), ("w2", "w2"))
QUERIES = [
    {"w0": 1.0, "w3": 2.5, "w1": 0.1},
    {"only0": 1.0, "w1": 1.0},
    {"only2": 3.0},
    {"unheard": 1.0},
    {f"w{i}": 1.0 + i % 5 for i in range(0, 60, 2)},
]
FILTERS: list[tuple] = [(), (FieldFilter("year", "3", None), Not(holds("w5"))), (Phrase(("w1", "w2")),)]
PRIORS: list[tuple[Prior, ...]] = [
    (),
    (LengthPrior(0.5), FieldPrior("stars")),
    (FreshnessPrior("year", 200.0, datetime.date(2020, 1, 1)),),
]


def some_documents(rng: random.Random, n: int) -> list[Document]:
    """Zipf words in two fields, a word that stands in one part alone, repeated documents (ties), an empty one."""
    made = [Document("empty", {"text": ""})]
    for i in range(n):
        words = [f"w{min(int(rng.paretovariate(0.7)) - 1, 59)}" for _ in range(rng.randrange(1, 30))]
        if i % 10 < 2:
            words = ["w1", "w2"]
        fields = {"text": " ".join([*words, f"only{i % 3}"]), "title": " ".join(words[:3]), "year": 2000 + i % 9}
        if i % 3 == 0:
            fields["stars"] = rng.choice([0, 1, 5, 7.5])
        made.append(Document(f"d{rng.randrange(10**6):06}-{i}", fields))
    return made


@pytest.fixture(scope="module", params=[1, 2, 4])
def case(request, build) -> tuple[Searcher, list[Searcher]]:
    """One index of all documents, and the parts of a split, some in two segments, each with its own deletions."""
    rng = random.Random(request.param)
    documents = some_documents(rng, 150)
    gone = [document.id for document in documents[4::7]]
    home = [rng.randrange(request.param) for _ in documents]
    parts = [[d for d, own in zip(documents, home, strict=True) if own == i] for i in range(request.param)]
    pieces = [[part] if i % 2 == 0 else [part[:11], part[11:]] for i, part in enumerate(parts)]
    whole = build(documents, delete=gone).retriever._searcher
    searchers = []
    for part, segments in zip(parts, pieces, strict=True):
        own = {document.id for document in part}
        searchers.append(build(*segments, delete=[i for i in gone if i in own]).retriever._searcher)
    return whole, searchers


def merged(parts: Sequence[Searcher], need: Need) -> CollectionStatistics:
    return CollectionStatistics.merged(part.count(need) for part in parts)


def rows(searcher: Searcher, hits: Hits) -> list[tuple[float, str]]:
    return [(-score, doc_id) for score, doc_id in zip(hits.scores.tolist(), searcher.ids(hits), strict=True)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_parts_rank_as_one_index(case, model: RankingModel) -> None:
    whole, parts = case
    for q, weights in enumerate(QUERIES):
        asked, filters, priors = model.of_query(RUNS), FILTERS[q % 3], PRIORS[(q + 1) % 3]
        statistics = merged(parts, asked.need(weights).joined(Need(priors=priors, surfaces=tuple(weights))))
        views = [part.within(statistics) for part in parts]
        for k, wordless in ((1, False), (7, True), (1000, False), (1000, True)):
            hits = whole.search(weights, asked, k, filters=filters, priors=whole.log_priors(priors), wordless=wordless)
            found, best = [], -float("inf")
            for view in views:
                own = view.search(
                    weights,
                    asked,
                    k,
                    filters=filters,
                    priors=view.log_priors(priors),
                    wordless=wordless,
                    threshold=best,
                )
                found += rows(view, own)
                scores = sorted((-score for score, _ in found), reverse=True)
                best = scores[k - 1] if len(scores) >= k else best
            assert sorted(found)[:k] == rows(whole, hits), (weights, k, wordless)
        scored = dict(
            zip(whole.ids(hits), whole.scores_by(hits, weights, asked, whole.log_priors(priors)), strict=True)
        )
        for view in views:
            own = view.search(weights, asked, 1000, wordless=True)
            again = view.scores_by(own, weights, asked, view.log_priors(priors)).tolist()
            assert [(i, score) for i, score in zip(view.ids(own), again, strict=True) if i in scored] == [
                (i, scored[i]) for i in view.ids(own) if i in scored
            ]
            for doc_id in view.ids(own)[:3]:
                _same_explanation(whole, view, weights, asked, doc_id, priors)


def _same_explanation(whole, view, weights, model, doc_id, priors) -> None:
    told = []
    for searcher in (whole, view):
        place = searcher.snapshot.place_of(doc_id)
        found = explain(searcher, weights, model, doc_id, place, searcher.log_priors(priors))
        told.append(found)
        if found is not None and isinstance(model, QueryLikelihood):
            told.append(word_probabilities(searcher, model, place, found.parts))
    half = len(told) // 2
    assert told[:half] == told[half:]


@pytest.mark.parametrize("model", [model for model in MODELS if isinstance(model, QueryLikelihood)], ids=str)
def test_what_every_document_is_given(case, model: QueryLikelihood) -> None:
    """What words that repel and the background add to all documents."""
    whole, parts = case
    weights = QUERIES[0]
    statistics = merged(parts, model.need(weights).joined(Need(vocabulary=True)))
    expected = {}
    for searcher in (whole, *(part.within(statistics) for part in parts)):
        everywhere = zip(
            scores_everywhere(searcher, weights, model), background_everywhere(searcher, model), strict=True
        )
        for i, (scores, background) in enumerate(everywhere):
            ids = searcher.snapshot.segments[i].segment.all_ids()
            for doc_id, *own in zip(ids, scores.tolist(), background.tolist(), strict=True):
                if searcher is whole:
                    expected[doc_id] = own
                else:
                    assert own == expected[doc_id]


def test_a_part_alone_would_rank_otherwise(case) -> None:
    """The tests above can fail: a part that knows itself alone gives other scores."""
    whole, parts = case
    if len(parts) > 1:
        alone, all_of_them = (s.search(QUERIES[1], BM25(), 5).scores.tolist() for s in (parts[0], whole))
        assert alone != all_of_them


def test_merged_statistics_are_counts(case) -> None:
    whole, parts = case
    live = [
        [value.split() for name in ("title", "text") if (value := document.fields.get(name))]
        for document in whole.snapshot.documents()
    ]
    cf = Counter(w for values in live for value in values for w in value)
    df = Counter(w for values in live for w in {w for value in values for w in value})
    pairs = [(pair, i) for i, values in enumerate(live) for value in values for pair in pairwise(value)]
    asked = model_named("bigram").of_query(RUNS).need({"w0": 1.0, "w3": 1.0, "w1": 1.0, "unheard": 1.0})
    found = merged(parts, asked.joined(Need(vocabulary=True, fields=True)))
    assert (found.n_docs, found.n_tokens) == (len(live), cf.total())
    assert found.terms == {word: (df[word], cf[word]) for word in ("w0", "w3", "w1", "unheard")}
    for pair in (("w0", "w3"), ("w3", "w1")):
        own = [i for other, i in pairs if other == pair]
        assert found.pair_stats((*pair, 8)).ordered == (len(set(own)), len(own))
    assert found.field_tokens == tuple(
        sum(len(str(d.fields.get(name, "")).split()) for d in whole.snapshot.documents()) for name in whole.texts.names
    )
    assert found.entropy == pytest.approx(-sum(n / cf.total() * log(n / cf.total()) for n in cf.values()), rel=1e-12)
    assert found.vocabulary.digest == Vocabulary.of(whole.snapshot).digest
    assert len(found.vocabulary) == len(cf)
    own = parts[0].count(Need(vocabulary=True))
    assert (own.digest == found.digest) == (len(parts) == 1)


def test_what_was_not_counted_is_said(case) -> None:
    _, parts = case
    few = merged(parts, Need(("w0",)))
    view = parts[0].within(few)
    for model in (model_named("tfidf"), model_named("dce")):
        with pytest.raises(ParameterError, match="lack 'the whole vocabulary'"):
            view.search({"w0": 1.0}, model, 3)
    with pytest.raises(ParameterError, match="lack 'w1'"):
        view.search({"w1": 1.0}, BM25(), 3)
    with pytest.raises(ParameterError, match="lack 'the text fields'"):
        view.search({"w0": 1.0}, BM25F(), 3)
    with pytest.raises(ParameterError, match="lack 'w0 w0'"):
        view.search({"w0": 1.0}, model_named("sdm").of_query((("w0", "w0"),)), 3)
    with pytest.raises(ParameterError, match=r"lack 'LengthPrior\(weight=1.0\)'"):
        view.log_priors([LengthPrior()])
    with pytest.raises(ParameterError, match="weight of 'w0'"):
        view.search({"w0": -1.0}, BM25(), 3)

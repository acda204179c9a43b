"""Pruning changes nothing: ids, order and scores equal those of scoring every matching document, to the last bit."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer, Document, Engine
from germane.errors import ParameterError
from germane.index.snapshot import Snapshot
from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing, TwoStage
from germane.rank import BM25, MODEL_NAMES, DCrossEntropy, LikelihoodRatio, QueryLikelihood, RankingModel, model_named
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.maxscore import posting_cache as decoded
from germane.rank.maxscore import search
from germane.rank.maxscore.records import CHUNK, HISTOGRAM, RESULT, SEARCH
from germane.rank.maxscore.result_kernels import take
from germane.rank.query.conditions import HoldsAny
from germane.rank.query.resolve import ParsedQuery, parse, searchable_in
from germane.rank.retrievers.local import SnapshotRetriever
from germane.rank.scoring.arguments import TermArrays
from germane.rank.scoring.hits import Hits
from germane.rank.scoring.priors import FieldPrior, LengthPrior, Prior
from germane.rank.scoring.scorers import Scorers
from germane.rank.scoring.searcher import Searcher

EVERYTHING = 1_000_000
NEVER = 1 << 60
"""No segment has so many documents that its lists are kept: they are unpacked for each query."""
MODELS: list[RankingModel] = [
    *(model_named(name) for name in MODEL_NAMES),
    QueryLikelihood(Dirichlet(0.01)),
    QueryLikelihood(Dirichlet(1e8)),
    QueryLikelihood(JelinekMercer(0.999)),
    QueryLikelihood(TwoStage(0.01, 1.0)),
    QueryLikelihood(AbsoluteDiscounting(0.999)),
    BM25(0.001, 1.0),
    BM25(1000.0, 0.0),
    DCrossEntropy(1.0, 0.99),
    DCrossEntropy(1e5, 0.01),
    LikelihoodRatio(0.01),
    LikelihoodRatio(0.9999),
]
WORDS = [f"w{i}" for i in range(400)]


def read(query: str, searcher: Searcher) -> ParsedQuery:
    """The query as the searcher's index reads it."""
    return parse(query, searcher.snapshot.manifest.analyzer, searchable_in(SnapshotRetriever(searcher.snapshot)))


def searcher_of(engine: Engine) -> Searcher:
    return Searcher(Snapshot.open(engine.folder))


def always_prunes(scorers: Scorers, segment: object, terms: TermArrays) -> bool:
    """Whatever the size of the segment."""
    return 0 < len(terms.numbers) <= search.MOST_TERMS


def agree(
    searcher: Searcher,
    weights: Mapping[str, float],
    *,
    models: Sequence[RankingModel] = MODELS,
    query: str = "",
    priors: Sequence[Prior] = (),
    ks: Sequence[int] = (1, 10, 1000),
) -> None:
    """Compare with every document scored and sorted here."""
    filters = read(query, searcher).conditions
    log_priors = None
    if priors:
        log_priors = searcher.log_priors(priors)
    for model in models:
        whole = searcher.search(weights, model, EVERYTHING, filters=filters, priors=log_priors, prune=False)
        everything = sorted(zip((-whole.scores).tolist(), searcher.ids(whole), strict=True))
        assert np.isfinite(whole.scores).all()
        for k in ks:
            expected = [(-score, doc_id) for score, doc_id in everything[:k]]
            for prune, least in ((False, NEVER), (True, NEVER), (True, 0), (True, 0)):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(decoded, "LEAST_DOCS", least)
                    patch.setattr(Scorers, "_prunes", always_prunes)
                    hits = searcher.search(weights, model, k, filters=filters, priors=log_priors, prune=prune)
                found = list(zip(hits.scores.tolist(), searcher.ids(hits), strict=True))
                assert found == expected, (model, k, prune, least, weights)


def zipf_documents(n: int, *, seed: int, bursts: bool = True) -> list[Document]:
    """Short documents of Zipf words; w0 is in nearly all of them. Fields: year, popularity (some lack it)."""
    random = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, len(WORDS) + 1)
    share /= share.sum()
    documents = []
    lengths = random.integers(0, 14, n)
    years = random.integers(1990, 2020, n)
    ends = np.cumsum(lengths)
    stream = [WORDS[i] for i in random.choice(len(WORDS), ends[-1], p=share).tolist()]
    for i in range(n):
        tokens = stream[ends[i] - lengths[i] : ends[i]]
        if bursts and i % 97 == 0 and tokens:
            tokens += [tokens[0]] * int(random.integers(1, 60))
        fields: dict[str, object] = {"text": " ".join(tokens), "year": int(years[i])}
        if i % 3:
            fields["popularity"] = float(i % 11)
        documents.append(Document(f"d{random.integers(10**9):09}-{i}", fields))  # type: ignore[arg-type]
    return documents


def random_weights(seed: int) -> dict[str, float]:
    """A few words or, by every third seed, many; common ones more often; weights over twelve magnitudes, or all 1."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 13) if seed % 3 else random.integers(20, 80))
    chosen = np.unique((random.random(n) ** 3 * len(WORDS)).astype(int)).tolist()
    if seed % 2:
        return {WORDS[i]: 1.0 for i in chosen}
    return {WORDS[i]: float(10.0 ** random.uniform(-6, 6)) for i in chosen}


@pytest.fixture(scope="module")
def large(build) -> Searcher:
    """20,000 documents in one segment."""
    return searcher_of(build(zipf_documents(20_000, seed=1)))


@pytest.fixture(scope="module")
def pieces(build) -> Searcher:
    """The same in four segments of very different sizes, a fifth of the documents deleted."""
    documents = zipf_documents(15_000, seed=2)
    parts = documents[:1], documents[1:6000], documents[6000:6100], documents[6100:]
    return searcher_of(build(*parts, delete=[d.id for d in documents[5::5]]))


@pytest.mark.parametrize("seed", range(8))
def test_large(large: Searcher, seed: int) -> None:
    agree(large, random_weights(seed))


@pytest.mark.parametrize("seed", range(100, 106))
def test_segments_and_deletions(pieces: Searcher, seed: int) -> None:
    agree(pieces, random_weights(seed))


@pytest.mark.parametrize(
    ("query", "priors"),
    [
        ("year:2005", ()),
        ("year:>=1995 -year:2000..2010", ()),
        ("year:1800", ()),
        ("+w1 +w5", ()),
        ("w0 AND w399", ()),
        ("+w2 +w12 +w0 -w1 year:>2000", (LengthPrior(),)),
        ("", (LengthPrior(),)),
        ("", (LengthPrior(-3.0), FieldPrior("popularity", 2.0))),
        ("year:>2001", (FieldPrior("popularity", 50.0),)),
        ("", (FieldPrior("popularity", -1e4),)),
    ],
)
def test_filters_and_priors(large: Searcher, pieces: Searcher, query: str, priors: tuple[Prior, ...]) -> None:
    for seed in (201, 202):
        for searcher in (large, pieces):
            agree(searcher, random_weights(seed), query=query, priors=priors, ks=(10, 1000))


def test_a_word_of_every_document_and_a_rare_one(large: Searcher) -> None:
    agree(large, {"w0": 1.0, "w399": 1.0})
    agree(large, {"w0": 1e6, "w399": 1e-6})
    agree(large, {"w0": 1e-6, "w399": 1e6})


def test_against_sums_in_python(build) -> None:
    """Nothing of ours but the index: the formulas of Dirichlet and BM25 over the tokens, the order by `sorted`."""
    documents = zipf_documents(5000, seed=4)
    tokens = {document.id: str(document.fields["text"]).split() for document in documents}
    counts = {doc_id: Counter(words) for doc_id, words in tokens.items()}
    n_tokens = sum(map(len, tokens.values()))
    searcher = searcher_of(build(documents[:1000], documents[1000:]))
    for seed in range(301, 305):
        weights = random_weights(seed)
        cf = {word: sum(count[word] for count in counts.values()) for word in weights}
        df = {word: sum(word in count for count in counts.values()) for word in weights}
        by_hand: dict[RankingModel, dict[str, float]] = {QueryLikelihood(Dirichlet(20.0)): {}, BM25(1.2, 0.5): {}}
        likelihood, bm25 = by_hand.values()
        for doc_id, count in counts.items():
            if any(word in count for word in weights):
                length = len(tokens[doc_id])
                likelihood[doc_id] = sum(
                    weight * log((count[word] + 20 * cf[word] / n_tokens) / (length + 20))
                    for word, weight in weights.items()
                )
                bm25[doc_id] = sum(
                    weight * log(1 + (5000 - df[word] + 0.5) / (df[word] + 0.5)) * count[word] * 2.2
                    / (count[word] + 1.2 * (0.5 + 0.5 * length / (n_tokens / 5000)))
                    for word, weight in weights.items()
                )  # fmt: skip
        for model, scores in by_hand.items():
            expected = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
            hits = searcher.search(weights, model, 100)
            found = dict(zip(searcher.ids(hits), hits.scores.tolist(), strict=True))
            assert list(found.values()) == pytest.approx([score for _, score in expected[:100]], rel=1e-9)
            assert found == pytest.approx({doc_id: scores[doc_id] for doc_id in found}, rel=1e-9)
            whole = searcher.search(weights, model, EVERYTHING)
            assert set(searcher.ids(whole)) == scores.keys()


def test_a_long_query(large: Searcher) -> None:
    agree(large, {word: 1.0 + i % 7 for i, word in enumerate(WORDS)}, ks=(10, 1000))


def test_huge_counts(build) -> None:
    """Counts around the largest that has a code (256), in long and short lists."""
    counts = [1, 2, 253, 254, 255, 256, 257, 1024, 5000, 65536, 70000]
    tokens = {f"c{count}": ["common"] * count + ["x"] * (i % 3) for i, count in enumerate(counts)}
    tokens |= {f"r{count}": ["rare"] * count + ["common"] for count in counts}
    tokens |= {f"f{i:05}": ["common"] * (1 + i % 4) + ["x"] * (i % 5) for i in range(5000)}
    searcher = searcher_of(build(tokens))
    for weights in ({"common": 1.0}, {"rare": 1.0}, {"common": 1.0, "rare": 2.0, "x": 0.5}):
        agree(searcher, weights)


def test_ties_across_the_kth_place(build) -> None:
    """Thousands of equal documents: the ids decide, whatever their order in the index and however it is cut."""
    random = np.random.default_rng(3)
    names = [f"{i:05}" for i in random.permutation(6000)]
    kinds = [["a"], ["a", "b"], ["b", "a"], ["a", "a", "b", "b"], ["c"], []]
    tokens = {name: kinds[i % len(kinds)] for i, name in enumerate(names)}
    items = list(tokens.items())
    for engine in (build(tokens), build(dict(items[:2500]), dict(items[2500:2501]), dict(items[2501:]))):
        searcher = searcher_of(engine)
        for weights in ({"a": 1.0}, {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 3.0, "c": 1e-6}):
            agree(searcher, weights, ks=(1, 10, 999, 1000, 1001))


def test_one_document_segments(build) -> None:
    tokens = [{f"{i}": ["a"] * (i % 3 + 1) + ["b"] * (i % 2)} for i in range(12)]
    agree(searcher_of(build(*tokens, delete=["3", "7"])), {"a": 1.0, "b": 2.0}, ks=(1, 2, 5, 12))


@pytest.mark.parametrize("empty", [63, 64, 5000, CHUNK - 1, CHUNK])
def test_chunks_without_words(build, empty: int) -> None:
    """Documents without words are never found, even where they fill a whole chunk."""
    tokens: dict[str, list[str]] = {f"empty{i:05}": [] for i in range(empty)}
    tokens |= {"one": ["a", "b"], "two": ["a", "a", "c"]}
    searcher = searcher_of(build(tokens))
    for model in MODELS:
        assert set(searcher.ids(searcher.search({"a": 1.0}, model, 10))) == {"one", "two"}, model
    agree(searcher, {"a": 1.0, "c": 1.0})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 100, 2048, 2049, 4096, 4097, 8200]),
    st.integers(1, 6),
    st.integers(1, 3),
    st.lists(st.floats(1e-6, 1e6), min_size=6, max_size=6),
    st.booleans(),
)
def test_adversarial(build, seed, n, n_kinds, n_segments, weights, sorted_by_kind) -> None:
    """Few kinds of documents repeated many times, best ones first, last or mixed; lists long and short; deletions."""
    random = np.random.default_rng(seed)
    kinds = []
    for _ in range(n_kinds):
        counts = random.choice([0, 0, 1, 1, 2, 3, 40, 1100], 6)
        kinds.append([f"w{t}" for t, count in enumerate(counts) for _ in range(count)] + ["z"] * int(seed % 5))
    which = random.choice(n_kinds, n, p=random.dirichlet(np.full(n_kinds, 0.3)))
    which[random.random(n) < 0.9] = 0
    if sorted_by_kind:
        which.sort()
    names = [f"{i:05}" for i in random.permutation(n)]
    items = [(name, kinds[kind] if len(kinds[kind]) < 500 or i % 50 == 0 else ["w0"])
             for i, (name, kind) in enumerate(zip(names, which.tolist(), strict=True))]  # fmt: skip
    cut = [dict(items[i * n // n_segments : (i + 1) * n // n_segments]) for i in range(n_segments)]
    deleted = [name for name in names if random.random() < 0.1][: n - 1]
    searcher = searcher_of(build(*(piece for piece in cut if piece), delete=deleted))
    agree(searcher, {f"w{t}": weight for t, weight in enumerate(weights)})


EXTREMES: dict[str, Callable[[int], list[str]]] = {
    "one huge document": lambda i: ["a", "b"] * 30_000 if i == 700 else ["a"] + ["c"] * (i % 3),
    "all scores equal": lambda i: ["a", "b", "c"],
    "a word of every document": lambda i: ["a"] + ["b"] * (i % 40 == 0) + ["c"] * (i % 7),
    "counts above the table": lambda i: ["a"] * (300 if i % 50 == 0 else 1) + ["b"] * (i % 260) + ["c"],
}


@pytest.mark.parametrize("n_segments", [1, 2, 40])
@pytest.mark.parametrize("kind", EXTREMES)
def test_extremes(build, kind: str, n_segments: int) -> None:
    items = [(f"{i * 7919 % 2400:04}", EXTREMES[kind](i)) for i in range(2400)]
    searcher = searcher_of(build(*(dict(items[i::n_segments]) for i in range(n_segments)), delete=["0001", "0100"]))
    assert len(searcher.snapshot.segments) == n_segments
    for weights in ({"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 0.5}):
        agree(searcher, weights, models=[model_named(name) for name in MODEL_NAMES], ks=(1, 10, 1000))


def test_more_results_than_there_is_room_for(build) -> None:
    """All documents but one are equal, so that no threshold keeps them out: the best are selected on the way."""
    n = 4 * CHUNK + 20_000
    names = np.random.default_rng(6).permutation(n)
    searcher = searcher_of(build({f"{i:06}": ["a"] * (1 + (i == 4321)) + ["b"] for i in names.tolist()}))
    weights, model = {"a": 1.0, "b": 1.0}, model_named("bm25")
    searcher.search(weights, model, 1)  # the first search of a segment is made without kernels
    expected = searcher.search(weights, model, EVERYTHING, prune=False)
    for k in (1, 10, 1200):
        for filters in ((), [HoldsAny(("a",)), HoldsAny(("b",))]):
            found = searcher.search(weights, model, k, filters=filters)
            assert found.scores.tolist() == expected.scores[:k].tolist()
            assert searcher.ids(found) == searcher.ids(expected)[:k]
    impossible = [np.where(np.arange(n) == 99, np.inf, -np.inf)]  # all but one
    with np.errstate(invalid="ignore"):
        expected, found = (
            searcher.search(weights, model, 1200, priors=impossible, prune=prune) for prune in (False, True)
        )
    assert found.scores.tolist() == expected.scores.tolist()
    assert searcher.ids(found) == searcher.ids(expected)


def test_a_score_without_end_has_a_class() -> None:
    """As of a forged segment whose documents have words, and no length: an infinite ratio, where bounds are finite."""
    m = np.zeros(1, SEARCH).view(np.recarray)[0]
    work = SimpleNamespace(results=np.zeros(1, RESULT).view(np.recarray), histogram=np.zeros(HISTOGRAM + 1, np.int32))
    m.per_class = 1.0
    take.py_func(m, work, 7, np.inf)
    assert np.flatnonzero(work.histogram).tolist() == [HISTOGRAM - 1]


def test_more_words_than_sums_of_units_can_hold(large: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_TERMS", 20)
    agree(large, dict.fromkeys(WORDS[:40], 1.0), query="year:>=2000")


@pytest.mark.parametrize("prior", [-np.inf, 1e300, -1e300])
def test_priors_without_measure(large: Searcher, prior: float) -> None:
    """A prior of zero probability, and others beyond all scores."""
    priors = [np.where(np.arange(live.segment.n_docs) % 5 == 0, prior, 0.0) for live in large.snapshot.segments]
    for model in (model_named("bm25"), model_named("dirichlet")):
        for weights in ({"w1": 1.0, "w7": 2.0}, dict.fromkeys(WORDS[:30], 1.0)):
            every = large.search(weights, model, EVERYTHING, priors=priors, prune=False)
            found = large.search(weights, model, 10, priors=priors)
            assert found.scores.tolist() == every.scores[:10].tolist()
            assert large.ids(found) == large.ids(every)[:10]


@pytest.mark.parametrize("smoothing", [AbsoluteDiscounting(0.03), AbsoluteDiscounting(0.001), TwoStage(0.5, 1e-6)])
def test_ratios_beyond_the_last_class(build, smoothing: Smoothing) -> None:
    """Documents of a single word have the largest ratios there are."""
    parts = {f"{i:04}": ["x"] for i in range(1500)}, {f"{i:04}": ["x", "y"] for i in range(1500, 3000)}
    others = {f"{i:04}": ["z"] * (i % 30) + ["y"] for i in range(3000, 5000)}
    for engine in (build(*parts, others), build(parts[0] | parts[1] | others)):
        searcher, model = searcher_of(engine), QueryLikelihood(smoothing)
        agree(searcher, {"x": 1.0, "y": 0.2019}, models=[model])
        best = searcher.search({"x": 1.0, "y": 0.2019}, model, EVERYTHING, prune=False)
        found = searcher.search({"x": 1.0, "y": 0.2019}, model, 1, hint=best.part(0, 80))
        assert searcher.ids(found) == searcher.ids(best.part(0, 1))


def test_a_score_that_has_no_sum_is_none(build) -> None:
    """As of a forged segment whose documents have words, and no distinct ones: log 0 beside an infinite ratio."""
    searcher = searcher_of(build({f"{i:04}": ["a"] * (1 + i % 3) + ["b"] for i in range(3000)}))
    segment, model = searcher.snapshot.segments[0].segment, model_named("absolute")
    vars(segment)["n_unique"] = np.zeros(segment.n_docs, np.uint32)
    with np.errstate(divide="ignore", invalid="ignore"):
        for weights in ({"a": 1.0}, {"a": 1.0, "b": 2.0}):
            for _ in range(2):  # the first search of a segment is made without kernels
                found = searcher.search(weights, model, 300)
            assert not np.isnan(found.scores).any()


@pytest.mark.parametrize("n_segments", [1, 2])
def test_a_prior_without_end(build, n_segments: int) -> None:
    """Whoever has it comes first, in whatever segment; ids decide among them."""
    items = [(f"{(i * 7919) % 5000:04}", ["a"] * (1 + i % 3) + ["b"]) for i in range(5000)]
    searcher = searcher_of(build(*(dict(items[i::n_segments]) for i in range(n_segments))))
    priors = [np.where(np.arange(live.segment.n_docs) % 5 == 0, np.inf, 0.0) for live in searcher.snapshot.segments]
    for model in (model_named("bm25"), model_named("jm"), model_named("dirichlet")):
        searcher.search({"a": 1.0}, model, 1)
        every = searcher.search({"a": 1.0, "b": 1.0}, model, EVERYTHING, priors=priors, prune=False)
        for k in (1, 10, 100):
            found = searcher.search({"a": 1.0, "b": 1.0}, model, k, priors=priors)
            assert searcher.ids(found) == searcher.ids(every)[:k]


@pytest.mark.parametrize("offset", [0.0, 7.3e8, -7.3e8])
def test_parts_far_larger_than_the_score(build, offset: float) -> None:
    """Large weights and priors cancel: what sums in another order differ by is the rounding of the parts."""
    random = np.random.default_rng(8)
    kinds = [["a", "b", "c"], ["a", "a", "b", "z"], ["a", "c", "c", "z", "z"], ["b", "c"]]
    searcher = searcher_of(build({f"{i:04}": kinds[i % 4] for i in random.permutation(6000).tolist()}))
    priors = [np.full(live.segment.n_docs, offset) for live in searcher.snapshot.segments]
    for model in MODELS:
        for weights in ({"a": 1.1e8, "b": 0.9e8, "c": 1e8}, {"a": 0.7, "b": 1.3, "c": 1.0}):
            every = searcher.search(weights, model, EVERYTHING, priors=priors, prune=False)
            for k in (1, 10, 1600):
                found = searcher.search(weights, model, k, priors=priors)
                assert found.scores.tolist() == every.scores[:k].tolist(), (model, k)
                assert searcher.ids(found) == searcher.ids(every)[:k], (model, k)


def test_a_long_query_over_ties(build) -> None:
    """Thousands of documents of equal scores, and many words."""
    words = [f"t{i}" for i in range(20)]
    names = [f"{i:05}" for i in np.random.default_rng(5).permutation(17_000)]
    searcher = searcher_of(build({name: words[: 20 - i % 2] for i, name in enumerate(names)}))
    agree(searcher, dict.fromkeys(words, 1.0), models=[model_named("dirichlet"), model_named("tfidf")])


def test_the_best_documents_crowd_in_the_first_chunk(build) -> None:
    """What the first chunk says of the k-th score is far too much for the others."""
    random = np.random.default_rng(11)
    n = 140_000
    rare = random.random(n) < 0.004
    crowded = np.arange(n) < 30_000
    repeats = random.integers(1, 6, n)
    tokens = {
        f"{i:06}": ["a"] * int(repeats[i]) + ["b"] * int(crowded[i]) * int(repeats[-i]) + ["c"] * int(rare[i]) + ["z"]
        for i in range(n)
    }
    tokens |= {f"{i:06}": [*tokens[f"{i:06}"], *(f"t{j}" for j in range(i % 15))] for i in range(0, n, 3)}
    searcher = searcher_of(build(tokens))
    models = [model_named("dirichlet"), model_named("bm25"), model_named("tfidf")]
    long = {f"t{j}": 1.0 + j for j in range(15)} | {"b": 0.5}
    for weights in ({"a": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 1.0, "c": 3.0}, {"c": 1.0}, long):
        agree(searcher, weights, models=models, ks=(100, 1000))


@pytest.fixture(scope="module")
def chunks(tmp_path_factory) -> Searcher:
    """More documents than two chunks of decoded lists have, some deleted; `all` is worth the same in each of them."""
    random, words = np.random.default_rng(8), np.array(WORDS)
    chosen = words[(len(words) * random.random((140_000, 6)) ** 3).astype(np.int64)].tolist()
    with Engine.create(tmp_path_factory.mktemp("chunks") / "index") as engine:
        engine.add(
            Document(f"{i:06}", {"text": " ".join(["all", *own, *["w9"] * (300 if i == 70_000 else 0)])})
            for i, own in enumerate(chosen)
        )
        engine.delete([f"{i:06}" for i in range(60_000, 70_000, 3)])
    return searcher_of(engine)


@pytest.mark.parametrize(
    "weights",
    [
        {"all": 1.0},
        {"w300": 1.0, "w2": 0.5},
        {"w9": 1.0, "w399": 2.0, "all": 0.1},
        {word: 1.0 + i % 3 for i, word in enumerate(WORDS[5:60])},
        {"w0": 3.0, "w1": 0.7, "w2": 1.0, "w3": 1.0, "all": 0.2, "w9": 0.1, "w200": 1.0},
        {word: 1.0 + i % 3 for i, word in enumerate(WORDS[:60])},
    ],
    ids=[
        "one word of all",
        "rare and frequent",
        "a count above the codes",
        "many words",
        "words of a twelfth of the documents",
        "many words with these",
    ],
)
@pytest.mark.parametrize("name", ["bm25", "dirichlet", "tfidf", "jm", "absolute"])
def test_chunks_of_decoded_lists(chunks: Searcher, name: str, weights: dict[str, float]) -> None:
    model = model_named(name)
    chunks.search(weights, model, 1)  # the first search of a segment is made without kernels
    for k in (1, 10, 1000):
        expected, found = (chunks.search(weights, model, k, prune=prune) for prune in (False, True))
        assert found.scores.tolist() == expected.scores.tolist()
        assert found.docs.tolist() == expected.docs.tolist()


@pytest.fixture(scope="module")
def uneven(build) -> Searcher:
    """Four chunks of documents of many lengths, in which some words come in bursts."""
    return searcher_of(build(zipf_documents(100_000, seed=12)))


MANY_WORDS = {word: 1.0 + i % 3 for i, word in enumerate(WORDS[:60])}


@pytest.mark.parametrize("query", ["", "year>=2010"], ids=["all documents", "a filter"])
@pytest.mark.parametrize("name", ["bm25", "dirichlet", "tfidf", "jm"])
def test_long_queries_with_priors(uneven: Searcher, name: str, query: str) -> None:
    model = model_named(name)
    uneven.search(MANY_WORDS, model, 1)  # the first search of a segment is made without kernels
    filters = read(query, uneven).conditions
    priors = [np.linspace(0.0, 0.01, live.segment.n_docs) for live in uneven.snapshot.segments]
    for k in (1, 3, 10, 300):
        for prior in (None, priors):
            whole, found = (
                uneven.search(MANY_WORDS, model, k, filters=filters, priors=prior, prune=prune)
                for prune in (False, True)
            )
            assert found.scores.tolist() == whole.scores.tolist()
            assert found.docs.tolist() == whole.docs.tolist()


@pytest.mark.parametrize("name", ["adaptive", "bm25", "dirichlet", "tfidf", "twostage"])
@pytest.mark.parametrize("begin", [0, 5, 20_000], ids=["the best", "good ones", "documents that most are better than"])
def test_hints_over_decoded_lists(chunks: Searcher, name: str, begin: int) -> None:
    model, weights = model_named(name), {word: 1.0 + i % 3 for i, word in enumerate(WORDS[2:60])}
    best = chunks.search(weights, model, 30_000, prune=False)
    hint = Hits(*(column[begin : begin + 80] for column in best))
    for k in (1, 10, 64, 70):
        found = chunks.search(weights, model, k, hint=hint)
        assert found.scores.tolist() == best.scores[:k].tolist()
        assert found.docs.tolist() == best.docs[:k].tolist()


@pytest.mark.parametrize("without_end", [5, 20], ids=["fewer than asked for", "more"])
def test_hints_with_priors_that_have_no_end(chunks: Searcher, without_end: int) -> None:
    model, weights = model_named("adaptive"), {word: 1.0 + i % 3 for i, word in enumerate(WORDS[2:60])}
    hint = chunks.search(weights, model, 40)
    priors = [np.zeros(live.segment.n_docs) for live in chunks.snapshot.segments]
    for segment, doc in zip(hint.segments[:without_end], hint.docs[:without_end], strict=True):
        priors[segment][doc] = np.inf
    found = chunks.search(weights, model, 10, priors=priors, hint=hint)
    expected = chunks.search(weights, model, 10, priors=priors, prune=False)
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.docs.tolist() == expected.docs.tolist()


@pytest.mark.parametrize(
    "query",
    [
        "w0 AND w1",
        "w350 AND w1",
        "w2 AND all",
        "+w9 +all w3 w200",
        "w5 AND w6 AND w7 -w0",
        '"w1 w0"',
        '"w1 w0"~3 w2',
        '+"w1 w0" +"w0 w2"',
        "w399 AND nowhere",
    ],
)
@pytest.mark.parametrize("name", ["bm25", "dirichlet", "tfidf", "jm", "absolute"])
def test_conjunctions_and_phrases_over_decoded_lists(chunks: Searcher, name: str, query: str) -> None:
    model, parsed = (
        model_named(name),
        read(query, chunks),
    )
    chunks.search(parsed.weights, model, 1)
    for k in (1, 10, 2000):
        expected, found = (
            chunks.search(parsed.weights, model, k, filters=parsed.conditions, prune=prune) for prune in (False, True)
        )
        assert found.scores.tolist() == expected.scores.tolist()
        assert found.docs.tolist() == expected.docs.tolist()
        assert len(found.docs) == k or "nowhere" in query or k == 2000


def test_lists_are_forgotten_when_there_is_no_room(large: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_named("bm25")
    expected = [large.search({word: 1.0, "w0": 1.0}, model, 5, prune=False) for word in WORDS[1:30]]
    monkeypatch.setattr(decoded, "_room", 30_000)
    found = [large.search({word: 1.0, "w0": 1.0}, model, 5) for word in WORDS[1:30]]
    assert all(
        (ours.scores == theirs.scores).all() and (ours.docs == theirs.docs).all()
        for ours, theirs in zip(found, expected, strict=True)
    )


def test_the_lists_of_the_latest_codings_are_kept(large: Searcher) -> None:
    segment, models = large.snapshot.segments[0].segment, [BM25(1.0 + i, 0.5) for i in range(12)]
    kept = large._scorers.postings.kept
    kept.clear()
    expected = [large.search({"w1": 1.0, "w7": 2.0}, model, 5, prune=False).scores.tolist() for model in models]
    for _ in range(2):
        found = [large.search({"w1": 1.0, "w7": 2.0}, model, 5).scores.tolist() for model in models]
        assert found == expected
    assert [lists.coding.x0 for lists in kept[segment]] == [
        0.5 * (1.0 + i) for i in range(12 - decoded.MOST_CODINGS, 12)
    ]


def test_lists_that_were_left_half_unpacked_are_not_added_to(large: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    model, weights = BM25(1.7, 0.4), {"w0": 1.0, "w1": 1.0, "w50": 1.0}
    expected = large.search(weights, model, 5, prune=False)
    large.search({"w3": 1.0}, model, 5)  # the first search of a process is done without kernels
    large._scorers.postings.kept.clear()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(decoded.decoding_kernels, "decode", interrupted)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                large.search(weights, model, 5)
    for _ in range(2):
        found = large.search(weights, model, 5)
        assert found.scores.tolist() == expected.scores.tolist()
        assert found.docs.tolist() == expected.docs.tolist()


@pytest.mark.parametrize("query", ["", "w3 AND w2"])
def test_a_weight_that_is_nothing_beside_another_finds_all_the_same(large: Searcher, query: str) -> None:
    """Its part of a unit is rounded up, however small."""
    agree(large, {"w3": 1e-300, "w2": 1e-310, "w40": 1e6}, models=[model_named("bm25")], query=query, ks=(10, 20_000))


def test_the_room_for_lists_can_be_chosen(large: Searcher) -> None:
    model = model_named("bm25")
    expected = large.search({"w1": 1.0}, model, 5, prune=False)
    for megabytes in (0, 1, 256):
        decoded.keep_decoded(megabytes)
        for _ in range(3):
            assert large.search({"w1": 1.0}, model, 5).scores.tolist() == expected.scores.tolist()
    with pytest.raises(ParameterError, match="megabytes"):
        decoded.keep_decoded(-1)


def test_kept_saturations_serve_while_the_average_length_moves() -> None:
    """c/(c + x0 + x1·size) of one average length, times the factor, bounds that of the other from both sides."""
    ours, theirs = (decoded.Coding(SATURATION, 0.0, 0.3, 0.9 / length, 0, False) for length in (120.0, 121.5))
    factor = ours.inflation(theirs)
    assert 1.0 < factor < decoded.TOLERANCE
    assert factor == theirs.inflation(ours)
    count, size = np.arange(1.0, 50.0)[:, None], np.arange(1.0, 5000.0)[None, :]
    one, other = (count / (count + own.x0 + own.x1 * size) for own in (ours, theirs))
    assert (one <= other * factor * (1 + 1e-12)).all()
    assert (other <= one * factor * (1 + 1e-12)).all()
    for other in ({"by_unique": True}, {"x0": 0.0}, {"kind": LOG_SIZE_RATIO}):
        assert ours.inflation(ours._replace(**other)) == np.inf


@pytest.mark.parametrize("weight", [1e-280, 1e-300, 1e-308, 1e-313, 5e-324])
def test_weights_near_nothing_break_nothing(tmp_path: Path, weight: float) -> None:
    """Scores may differ by less than any class of them is wide."""
    rng = np.random.default_rng(5)
    with Engine.create(tmp_path / "index", analyzer=Analyzer(stemmer="none", stopwords="none")) as engine:
        texts = [" ".join(f"w{w}" for w in rng.zipf(1.4, 12) % 50) for _ in range(3000)]
        engine.add(Document(f"d{i}", {"text": text}) for i, text in enumerate(texts))
        for model in ("bm25", "adaptive", "dirichlet"):
            query = {f"w{w}": weight * (1 + w) for w in range(1, 6)}
            for k in (1, 10, 1000):
                found = engine.search(query, k, model=model)
                assert len(set(found.ids)) == len(found.ids) <= k
                assert all(one >= other for one, other in pairwise(found.scores))

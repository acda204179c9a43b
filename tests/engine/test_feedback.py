"""Searching in two passes: the final scores written out densely, how documents lie, what the report says, odd input."""

import copy
import itertools
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from germane import Analyzer, Document, Engine, Topic
from germane.engine.feedback import model_of
from germane.errors import DamagedIndexError, ParameterError, UnknownDocumentError
from germane.feedback import (
    FEEDBACK_NAMES,
    RM1,
    RM3,
    SD,
    Consensus,
    Evidence,
    Expansion,
    FeedbackMethod,
    Mixture,
    Rocchio,
)
from germane.feedback import feedback_named as named
from germane.feedback.registry import DEFAULT_FEEDBACK
from germane.index import container, segment
from germane.index.segment import Segment
from germane.lm import Dirichlet, JelinekMercer
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood
from germane.rank.scoring.priors import FieldPrior, LengthPrior
from germane.rank.scoring.searcher import Searcher
from germane.types import Marks

Texts = dict[str, list[str]]
Ranking = dict[str, float]
Build = Callable[..., Engine]
QUERIES = ["w1 w4", "w0^2 w7 w12 unheard", "w2 w2 w9"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """build(texts, ..., delete=ids): each positional argument is added (or replaces) in a segment of its own."""
    root, numbers = tmp_path_factory.mktemp("feedback"), itertools.count()

    def _build(*parts: Texts, delete: Sequence[str] = ()) -> Engine:
        engine = Engine.create(root / str(next(numbers)), analyzer=Analyzer(stemmer="none", stopwords="none"))
        with patch("germane.index.merge_scheduler.choose_merge", return_value=[]):
            for part in parts:
                engine.add([document(i, words) for i, words in part.items()], on_duplicate="replace", threads=1)
            if delete:
                engine.delete(delete)
            engine.close()
        return engine

    return _build


def document(doc_id: str, words: Sequence[str]) -> Document:
    """The fields follow from the words, so that a replaced document changes them too."""
    return Document(doc_id, {"text": " ".join(words), "size": len(words), "parity": len(words) % 2})


def some_texts(seed: int, n: int = 24) -> Texts:
    """Random texts; one is empty, and one is there twice."""
    rng = np.random.default_rng(seed)
    texts = {f"d{i:02}": [f"w{min(w, 30)}" for w in rng.geometric(0.1, rng.integers(1, 25)) - 1] for i in range(n)}
    return {f"d{j:02}": words for j, words in enumerate([*texts.values(), texts["d00"], []])}


@pytest.fixture(scope="module")
def worlds(build: Build) -> list[tuple[Texts, Engine, Engine]]:
    """Live texts, in one segment, and in several with documents replaced and deleted."""
    made = []
    for seed in range(3):
        texts = some_texts(seed)
        ids = list(texts)
        old = {doc_id: ["w1", "w4", "gone", *texts[doc_id][:3]] for doc_id in ids[::5]}
        extra = {f"x{i}": ["w0", "w1", "gone", "w30"] for i in range(4)}
        parts = [{i: texts[i] for i in ids[j::3] if i not in old} for j in range(3)]
        many = build(parts[0] | extra, old, parts[1], parts[2] | {i: texts[i] for i in old}, delete=list(extra))
        assert many.stats().segments > 2
        made.append((texts, build(texts), many))
    return made


# -- the same, dense -------------------------------------------------------------------------------------------------


class Dense:
    """A collection as a matrix over its whole vocabulary."""

    def __init__(self, texts: Texts) -> None:
        self.ids = list(texts)
        self.vocabulary = sorted({word for words in texts.values() for word in words})
        self.counts = np.array([[words.count(w) for w in self.vocabulary] for words in texts.values()], float)
        self.length = self.counts.sum(axis=1, keepdims=True)
        self.p_C = self.counts.sum(axis=0) / self.counts.sum()
        self.df = (self.counts > 0).sum(axis=0)

    def evidence(self, query: Mapping[str, float], marks: Mapping[str, bool], rankings: list[Ranking]) -> Evidence:
        unmarked = union(rankings)
        rows = np.array([self.ids.index(i) for i in [*marks, *unmarked]], int)
        held = self.counts[rows]
        place, words = np.nonzero(held)
        return Evidence(
            query={self.vocabulary.index(w): weight for w, weight in query.items() if w in self.vocabulary},
            starts=np.concatenate([[0], np.cumsum((held > 0).sum(axis=1))]),
            ids=words,
            counts=held[place, words],
            lengths=held.sum(axis=1),
            marks=np.array([1 if mark else 0 for mark in marks.values()] + [-1] * len(unmarked), np.int8),
            p_C=self.p_C,
            df=self.df,
            n_docs=len(self.ids),
            scores=np.array([[ranking.get(i, -np.inf) for i in [*marks, *unmarked]] for ranking in rankings]),
        )

    def impacts(self, model) -> np.ndarray:
        """What a weight of 1 on each word adds to the score of each document."""
        c, N = self.counts, len(self.ids)
        if isinstance(model, QueryLikelihood):
            match model.smoothing:
                case Dirichlet(mu):
                    return np.log((c + mu * self.p_C) / (self.length + mu))
                case JelinekMercer(lam):
                    return np.log(lam * c / np.maximum(self.length, 1) + (1 - lam) * self.p_C)
            raise AssertionError(model)
        if isinstance(model, BM25):
            idf = np.log(1 + (N - self.df + 0.5) / (self.df + 0.5))
            return (
                idf * c * (model.k1 + 1) / (c + model.k1 * (1 - model.b + model.b * self.length / self.length.mean()))
            )
        idf = np.log(1 + N / self.df)
        logs = np.where(c > 0, 1 + np.log(np.maximum(c, 1)), 0)
        norm = np.linalg.norm(logs * idf, axis=1, keepdims=True)
        return logs * idf**2 / np.where(norm > 0, norm, 1)

    def scores(self, expansion: Expansion, model) -> dict[str, float]:
        """-H(topic, θ_D) + w·H(against, θ_D) of the documents that hold a wanted word."""
        weights, background = np.zeros(len(self.p_C)), expansion.topic.background
        weights[expansion.topic.ids] = expansion.topic.excess
        if expansion.against is not None:
            weights[expansion.against.ids] -= expansion.against_weight * expansion.against.excess
            background -= expansion.against_weight * expansion.against.background
        found = (self.counts[:, weights > 0] > 0).any(axis=1)
        if isinstance(model, QueryLikelihood):
            weights = weights + background * self.p_C
        values = self.impacts(model) @ weights
        return {self.ids[i]: float(values[i]) for i in np.flatnonzero(found)}


def rankings_before(
    engine: Engine, query: str, method: FeedbackMethod, marks: Mapping[str, bool], **more
) -> list[Ranking]:
    """The best unmarked documents of each first ranking, with their scores."""
    rankings = []
    for choice in method.first_rankings:
        plain = engine.search(query, method.n_docs + len(marks), model=model_of(choice), **more)
        rows = [row for row in zip(plain.ids, plain.scores.tolist(), strict=True) if row[0] not in marks]
        rankings.append(dict(rows[: method.n_docs]))
    return rankings


def union(rankings: list[Ranking]) -> list[str]:
    """Every document once."""
    return list(dict.fromkeys(doc_id for ranking in rankings for doc_id in ranking))


@pytest.mark.parametrize("first", [Dirichlet(50.0), JelinekMercer(0.4)], ids=str)
def test_the_first_ranking_may_be_the_contrast(worlds, first) -> None:
    """SD (5.12) over the whole vocabulary, with α^R and α^N of (5.11) and (5.10): table 5.1 row 2."""
    method = SD(n_docs=5, n_terms=None, first=first, weighting=first, contrast=True)
    for (texts, _, engine), query in zip(worlds, QUERIES, strict=True):
        dense = Dense(texts)
        result = engine.search(query, 100, feedback=method)
        asked = np.array([result.query.weights.get(word, 0.0) for word in dense.vocabulary])
        S = method.precision * asked.sum()
        relevant = S * (method.lam_query * asked / asked.sum() + (1 - method.lam_query) * dense.p_C)
        contrast = dense.impacts(model_of(first)) @ (relevant - S * dense.p_C)
        held = (dense.counts[:, asked > 0] > 0).any(axis=1)
        order = sorted((-round(contrast[i], 9), dense.ids[i]) for i in np.flatnonzero(held))
        assert {document.id for document in result.feedback.documents} == {doc_id for _, doc_id in order[:5]}
        before = {move.id: move.before for move in result.feedback.moves if move.before is not None}
        assert [doc_id for _, doc_id in order if doc_id in before] == sorted(before, key=before.__getitem__)


def scores_of(result) -> dict[str, float]:
    """The scores by id, having checked that they come in the total order."""
    assert np.isfinite(result.scores).all()
    rows = list(zip((-result.scores).tolist(), result.ids, strict=True))
    assert rows == sorted(rows)
    return dict(zip(result.ids, result.scores.tolist(), strict=True))


MARKS: list[dict[str, bool]] = [{}, {"d03": False}, {"d02": True, "d05": False, "d07": False}, {"d01": True}]
BASE = [
    RM3(n_docs=5, n_terms=None, smoothing=JelinekMercer(0.7)),
    SD(n_docs=5, n_terms=None, iterations=2, smoothing=JelinekMercer(0.3)),
    Mixture(n_docs=5, n_terms=None),
    Rocchio(n_docs=5, n_terms=None),
    Consensus(n_docs=5, n_terms=None),
]


@pytest.mark.parametrize("final", [Dirichlet(50.0), JelinekMercer(0.4), "bm25", "tfidf"], ids=str)
@pytest.mark.parametrize("keep_background", [True, False])
@pytest.mark.parametrize("base", BASE, ids=lambda method: type(method).__name__)
def test_final_scores_are_the_formula(worlds, base: FeedbackMethod, final, keep_background: bool) -> None:
    method = replace(base, final=final, keep_background=keep_background)
    for (texts, _, engine), query in zip(worlds, QUERIES, strict=True):
        dense = Dense(texts)
        for marks in MARKS:
            result = engine.search(query, 100, feedback=method, marks=marks)
            rankings = rankings_before(engine, query, method, marks)
            expansion = method.expand(dense.evidence(result.query.weights, marks, rankings))
            assert scores_of(result) == pytest.approx(dense.scores(expansion, model_of(final)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_segments_do_not_matter(worlds, name: str) -> None:
    for (_, one, many), query, marks in itertools.product(worlds, QUERIES[:2], MARKS):
        method = named(name, n_docs=4, n_terms=6, keep_background=bool(marks))
        results = [engine.search(query, 100, feedback=method, marks=marks) for engine in (one, many)]
        first, second = map(scores_of, results)
        assert second == pytest.approx(first, rel=1e-9, abs=1e-9)
        assert results[0].ids == results[1].ids
        assert results[0].feedback.weights == results[1].feedback.weights, "bit for bit"


@pytest.mark.parametrize("method", [RM1(n_terms=1, unmarked=0.0), Mixture(n_terms=1, query_weight=0.0, unmarked=0.0)])
def test_words_that_tie_are_cut_alike(build: Build, method: FeedbackMethod) -> None:
    """Both words have 6 of 30 places, but 1 + 2 + 3 and 3 + 1 + 2 tenths are not the same sum of floats."""
    counts = {"d0": (1, 3), "d1": (2, 1), "d2": (3, 2)}
    texts = {
        doc_id: ["aa"] * a + ["bb"] * b + [f"{doc_id}x{i}" for i in range(10 - a - b)]
        for doc_id, (a, b) in counts.items()
    }
    kept = []
    for order in itertools.permutations(texts):
        engine = build(*({doc_id: texts[doc_id]} for doc_id in order))
        kept.append(list(engine.search("aa bb", feedback=method, marks=dict.fromkeys(order, True)).feedback.weights))
    assert all(words == kept[0] for words in kept)


def test_documents_before_their_update_do_not_count(worlds) -> None:
    for texts, _, many in worlds:
        result = many.search("w1 w4", 100, feedback="rm3", marks={"d05": True})
        assert "gone" not in result.feedback.weights
        assert set(result.feedback.weights) - {"w1", "w4"} <= {word for words in texts.values() for word in words}


# -- the hint --------------------------------------------------------------------------------------------------------


def without_hints(monkeypatch: pytest.MonkeyPatch, **forced) -> None:
    search = Searcher.search
    monkeypatch.setattr(Searcher, "search", lambda *given, hint=None, **more: search(*given, **{**more, **forced}))


@pytest.fixture(scope="module", params=[1, 2])
def large(build: Build, request: pytest.FixtureRequest) -> Engine:
    """More documents than a window of the kernel for long queries, many alike, some deleted; in 1 or 2 segments."""
    rng = np.random.default_rng(4)
    rows = np.minimum(rng.geometric(0.03, (3000, 9)) - 1, 150)
    texts = {f"d{i:05}": [f"w{w}" for w in rows[i % 3000][: 3 + i % 7]] for i in range(17_000)}
    more = {f"e{i:05}": [f"w{w}" for w in rows[i % 3000]] for i in range(500)}
    parts = [texts | more] if request.param == 1 else [texts, more]
    return build(*parts, delete=[f"d{i:05}" for i in range(0, 17_000, 170)])


METHODS = [
    RM3(n_docs=12, n_terms=5),
    RM3(n_docs=12, n_terms=40),
    SD(n_docs=12, n_terms=40, keep_background=True),
    Mixture(n_docs=12, n_terms=30, final=JelinekMercer(0.4)),
    Rocchio(n_docs=12, n_terms=40),
    RM1(n_docs=12, n_terms=30, final="bm25"),
    Consensus(n_docs=12, n_terms=40),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{type(method).__name__}-{method.n_terms}")
def test_hints_do_not_change_results(large: Engine, monkeypatch: pytest.MonkeyPatch, method: FeedbackMethod) -> None:
    """Bit for bit, ties included; nor does pruning."""
    asked = [
        {"query": query, "k": k, "feedback": method, "marks": marks}
        for query, k in itertools.product(["w3 w17", "w60 w61 parity:1"], [1, 7, 12, 40])
        for marks in ({}, {"d00001": True, "d00002": False})
    ]
    hinted = [large.search(**one) for one in asked]
    for forced in ({}, {"prune": False}):
        with monkeypatch.context() as patched:
            without_hints(patched, **forced)
            for one, found in zip(asked, hinted, strict=True):
                other = large.search(**one)
                assert (other.ids, other.scores.tolist()) == (found.ids, found.scores.tolist())


def test_forward_lists_are_verified_before_they_are_read(
    large: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Piece by piece, as in large segments; damage is found by the search that needs the list."""
    monkeypatch.setattr(container, "SOON_WHOLE", 0)
    monkeypatch.setattr(segment, "is_few", lambda n: False)  # a kernel looks for itself whether a list was verified
    asked = {"query": "w3 w17", "k": 7, "feedback": METHODS[1]}
    expected, verified = large.search(**asked), []
    opened = Engine.open(large.folder)
    verify = Segment.verify_forward
    monkeypatch.setattr(
        Segment, "verify_forward", lambda own, docs: (verified.append(len(docs)), verify(own, docs))
    )
    for times in range(2):
        found = opened.search(**asked)
        assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())
        assert bool(verified) == (times == 0)
        verified.clear()
    shutil.copytree(large.folder, tmp_path / "damaged")
    for live in Engine.open(large.folder).retriever.snapshot.segments:
        begin, end = live.segment.container.place_of("fwd_words")
        with (tmp_path / "damaged" / live.segment.path.name).open("r+b") as file:
            file.seek(begin)
            file.write(bytes(end - begin))
    with pytest.raises(DamagedIndexError, match="fwd_words"):
        Engine.open(tmp_path / "damaged").search(**asked)


# -- conditions and priors -------------------------------------------------------------------------------------------


def test_conditions_hold_in_both_passes(worlds) -> None:
    """What is learnt from passes the filter, and so does what is found; marked documents need not."""
    for (texts, _, engine), name in itertools.product(worlds, FEEDBACK_NAMES):
        odd = {doc_id for doc_id, words in texts.items() if len(words) % 2}
        without = {doc_id for doc_id, words in texts.items() if "w2" not in words}
        marked = next(doc_id for doc_id, words in texts.items() if words and doc_id not in odd)
        method = named(name, n_docs=5)
        for marks in ({}, {marked: True}):
            result = engine.search("w1 w4 -w2 parity:1", 100, feedback=method, marks=marks)
            assert 0 < len(result) <= len(odd & without)
            assert set(result.ids) <= odd & without
            learnt = {one.id for one in result.feedback.documents}
            assert learnt - {marked} <= odd & without
            assert learnt >= set(marks)
        added = set(result.ids) - set(engine.search("w1 w4 -w2 parity:1", 100).ids)
        assert all(not {"w1", "w4"} & set(texts[doc_id]) for doc_id in added)


@pytest.mark.parametrize("final", [Dirichlet(50.0), "bm25"], ids=str)
def test_priors_count_in_both_passes(worlds, final) -> None:
    for texts, _, engine in worlds:
        dense, prior, marks = Dense(texts), FieldPrior("size", 3.0), {"d03": False}
        method = RM3(n_docs=4, n_terms=None, first=Dirichlet(50.0), final=final)
        result = engine.search("w1 w4", 100, feedback=method, marks=marks, priors=[prior])
        rankings = rankings_before(engine, "w1 w4", method, marks, priors=[prior])
        assert union(rankings) != union(rankings_before(engine, "w1 w4", method, marks))
        expansion = method.expand(dense.evidence(result.query.weights, marks, rankings))
        expected = {
            doc_id: score + 3.0 * np.log(len(texts[doc_id]))
            for doc_id, score in dense.scores(expansion, model_of(final)).items()
        }
        assert scores_of(result) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_model_given_ranks_both_passes(worlds) -> None:
    for texts, _, engine in worlds:
        dense, method = Dense(texts), RM3(n_docs=4, n_terms=None)
        result = engine.search("w1 w4", 100, feedback=method, model="bm25", k1=0.9)
        plain = engine.search("w1 w4", 4, model="bm25", k1=0.9)
        expansion = method.expand(dense.evidence(result.query.weights, {}, [scores_of(plain)]))
        assert scores_of(result) == pytest.approx(dense.scores(expansion, BM25(0.9)), rel=1e-9)


# -- the report ------------------------------------------------------------------------------------------------------


def test_what_fell_out(worlds) -> None:
    for _, _, engine in worlds:
        before = engine.search("w1 w4", 5).ids
        marks = {before[0]: False}
        result = engine.search("w1 w4", 5, feedback="rm3", marks=marks)
        fallen = result.feedback.fallen
        assert [(one.id, one.before) for one in fallen] == [
            (doc_id, rank) for rank, doc_id in enumerate(before, start=1) if doc_id not in result.ids
        ]
        repelling = {word.word for word in result.feedback.words if word.weight < 0}
        assert all(impact < 0 and word in repelling for one in fallen for word, impact in one.words)


def test_no_feedback_no_report(worlds) -> None:
    _, engine, _ = worlds[0]
    assert engine.search("w1").feedback is None
    assert engine.search("w1", marks={}).feedback is None


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_report_of_words(worlds, name: str) -> None:
    for (texts, _, engine), marks in itertools.product(worlds, ({}, {"d02": True}, {"d02": True, "d03": False})):
        method = named(name, n_docs=5, n_terms=10, query_weight=0.25, trust=0.0)  # twice that is Consensus's limit
        report = engine.search("w1^3 w4", 10, feedback=method, marks=marks).feedback
        positive = sum(report.weights.values())
        assert positive == pytest.approx(1.0 - (method.negative_weight if len(marks) == 2 else 0.0), abs=1e-12)
        sizes = [abs(weight) for weight in report.weights.values()]
        assert sizes == sorted(sizes, reverse=True)
        assert [(one.term, one.weight) for one in report.words] == list(report.weights.items())
        own = {one.term: one.query_weight for one in report.words if one.query_weight}
        if name == "consensus":  # λ·√|Q|, and rare words count more
            assert sum(own.values()) == pytest.approx(0.25 * 2.0)
        else:
            assert own == pytest.approx({"w1": 0.25 * 0.75, "w4": 0.25 * 0.25})
        for one in report.words:
            sign = 1.0 if one.weight > 0 else -1.0  # a word that repels comes from what is marked not relevant
            weight_of = {seen.id: max(sign * seen.weight, 0.0) for seen in report.documents}
            share = {i: w * texts[i].count(one.term) / len(texts[i]) for i, w in weight_of.items() if texts[i]}
            total = sum(share.values())
            found = dict(one.sources)
            assert found == pytest.approx({i: share[i] / total for i in found}, rel=1e-9)
            shares = [value for _, value in one.sources]
            assert shares == sorted(shares, reverse=True)
            if total > 0 and sum(value > 0 for value in share.values()) <= 3:
                assert sum(shares) == pytest.approx(1.0)
            assert len(shares) == min(3, sum(value > 0 for value in share.values()))


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_report_of_documents(worlds, name: str) -> None:
    for _, _, engine in worlds:
        method, marks = named(name, n_docs=4), {"d02": True, "d03": False, "d06": False}
        report = engine.search("w1 w4", 10, feedback=method, marks=marks).feedback
        assert {one.id: one.mark for one in report.documents if one.mark is not None} == marks
        assert [one.id for one in report.documents if one.mark is None] != []
        assert {one.id for one in report.documents if one.mark is None} == set(
            union(rankings_before(engine, "w1 w4", method, marks))
        )
        weights = [one.weight for one in report.documents]
        assert weights == sorted(weights, reverse=True)
        assert sum(one.weight for one in report.documents if one.mark is not False) == pytest.approx(1.0)
        assert [one.weight for one in report.documents if one.mark is False] == pytest.approx([-0.5, -0.5])
        plain = engine.search("w1 w4", 10, feedback=method).feedback
        assert sum(one.weight for one in plain.documents) == pytest.approx(1.0)


@pytest.mark.parametrize("name", FEEDBACK_NAMES)
def test_report_of_moves(worlds, name: str) -> None:
    for texts, _, engine in worlds:
        method = named(name, n_docs=4)
        result = engine.search("w7 w12", 8, feedback=method, marks={"d03": False})
        before = engine.search("w7 w12", len(result), model=model_of(method.first)).ids
        moves = result.feedback.moves
        assert [(move.rank, move.id) for move in moves] == list(enumerate(result.ids, start=1))
        assert [move.before for move in moves] == [
            before.index(doc_id) + 1 if doc_id in before else None for doc_id in result.ids
        ]
        wanted = {term for term, weight in result.feedback.weights.items() if weight > 0} - {"w7", "w12"}
        for move in moves:
            words, impacts = [word for word, _ in move.words], [impact for _, impact in move.words]
            assert set(words) <= wanted & set(texts[move.id])
            assert len(words) == min(5, len(wanted & set(texts[move.id])))
            assert impacts == sorted(impacts, reverse=True)
            assert all(impact > 0 for impact in impacts)


def test_report_of_what_only_repels(worlds) -> None:
    """Nothing learnt for: the query's words are all the query's own."""
    _, engine, _ = worlds[0]
    report = engine.search("w1 w4", feedback=RM3(n_docs=0), marks={"d03": False}).feedback
    assert {one.term: one.query_weight for one in report.words if one.query_weight} == {"w1": 0.5, "w4": 0.5}
    assert [(one.id, one.weight, one.mark) for one in report.documents] == [("d03", -1.0, False)]


# -- odd input -------------------------------------------------------------------------------------------------------

every_method = pytest.mark.parametrize("name", FEEDBACK_NAMES)


def report_in_full(result) -> None:
    """Every part of the report can be computed, and holds numbers."""
    report = result.feedback
    assert all(np.isfinite(weight) for weight in report.weights.values())
    assert all(np.isfinite(share) for one in report.words for _, share in one.sources)
    assert all(np.isfinite(one.weight) for one in report.documents)
    assert len(report.moves) == len(result)


@every_method
def test_no_known_word(worlds, name: str) -> None:
    """Nothing is found, unless a mark tells what is wanted; then by the mark."""
    for texts, _, engine in worlds:
        for query in ("", "unheard", "unheard -w1", {}):
            for marks in ({}, {"d02": False}):
                result = engine.search(query, feedback=name, marks=marks)
                assert (result.ids, result.scores.tolist()) == ([], [])
                report_in_full(result)
        result = engine.search("unheard", 100, feedback=name, marks={"d02": True})
        report_in_full(result)
        assert set(result.ids) == {doc_id for doc_id, words in texts.items() if set(words) & set(texts["d02"])}
        assert result.ids == engine.search("", 100, feedback=name, marks={"d02": True}).ids
        scores_of(result)


@every_method
def test_fewer_documents_than_asked_for(worlds, name: str) -> None:
    texts, _, engine = worlds[0]
    result = engine.search("w1 w4", 10**6, feedback=named(name, n_docs=10**6))
    matching = {doc_id for doc_id, words in texts.items() if {"w1", "w4"} & set(words)}
    assert {one.id for one in result.feedback.documents} == matching
    assert len(scores_of(result)) <= len(engine)
    assert result.ids[:3] == engine.search("w1 w4", 3, feedback=named(name, n_docs=10**6)).ids


@pytest.mark.parametrize("name", [name for name in FEEDBACK_NAMES if name != "consensus"])
@pytest.mark.parametrize("limit", [{"n_docs": 0}, {"query_weight": 1.0}], ids=str)
def test_limits_that_are_the_plain_query(worlds, name: str, limit) -> None:
    """Nothing is learnt: the query's own ranking, its weights divided by their sum."""
    for (_, _, engine), query in itertools.product(worlds, QUERIES):
        method = named(name, **limit)
        result, plain = (
            engine.search(query, 100, feedback=method), engine.search(query, 100, model=model_of(method.final))
        )  # fmt: skip
        mass = sum(weight for word, weight in plain.query.weights.items() if word != "unheard")
        assert scores_of(result) == pytest.approx({i: s / mass for i, s in scores_of(plain).items()}, rel=1e-9)
        assert {one.term: one.weight for one in result.feedback.words} == pytest.approx(
            {one.term: one.query_weight for one in result.feedback.words}
        )


def test_consensus_without_documents_weighs_the_query_by_rarity(worlds) -> None:
    for (texts, _, engine), query in itertools.product(worlds, QUERIES):
        result = engine.search(query, 100, feedback=Consensus(n_docs=0))
        df = Counter(word for words in texts.values() for word in set(words))
        asked = {
            word: f * np.sqrt(np.log(1 + (len(texts) - df[word] + 0.5) / (df[word] + 0.5)))
            for word, f in result.query.weights.items()
            if word in df
        }
        plain = engine.search({word: f / sum(asked.values()) for word, f in asked.items()}, 100)
        assert scores_of(result) == pytest.approx(scores_of(plain), rel=1e-9)


@every_method
def test_a_query_weight_of_zero(worlds, name: str) -> None:
    for _, _, engine in worlds:
        result = engine.search("w1 w4", 100, feedback=named(name, query_weight=0.0), marks={"d02": True})
        assert all(one.query_weight == 0.0 for one in result.feedback.words)
        assert len(scores_of(result))


@every_method
@pytest.mark.parametrize("mark", [True, False])
def test_marks_that_name_no_document(build: Build, name: str, mark: bool) -> None:
    engine = build({"kept": ["a", "b"], "deleted": ["a"]}, {"kept": ["a", "c"]}, delete=["deleted"])
    for doc_id in ("never", "deleted", ""):
        with pytest.raises(UnknownDocumentError, match=f"'{doc_id}'"):
            engine.search("a", feedback=name, marks={"kept": True, doc_id: mark})
    result = engine.search("a", feedback=named(name, n_docs=0), marks={"kept": True})
    assert set(result.feedback.weights) == {"a", "c"}, "the document as it is now"


def test_marks_both_ways() -> None:
    with pytest.raises(ParameterError, match="at once: d2"):
        Marks(["d1", "d2"], ["d2", "d3"])


def test_ways_to_mark(worlds) -> None:
    """A mapping or Marks, ids repeated or not; marks alone imply the default method."""
    _, engine, _ = worlds[0]
    assert Marks.of({"a": True, "b": False, "c": True}) == Marks(["a", "c", "a"], ["b"])
    assert (bool(Marks()), bool(Marks([], ["x"]))) == (False, True)
    mapped = engine.search("w1", marks={"d02": True, "d03": False})
    for other in (
        engine.search("w1", marks=Marks(["d02", "d02"], ["d03"])),
        engine.search("w1", marks=Marks(["d02"], ["d03"]), feedback=DEFAULT_FEEDBACK),
    ):
        assert other.scores.tolist() == mapped.scores.tolist()
    assert mapped.feedback.method == named(DEFAULT_FEEDBACK)


@every_method
@pytest.mark.parametrize("keep_background", [True, False])
def test_empty_documents_marked(worlds, name: str, keep_background: bool) -> None:
    """Both ways. On its own such a mark changes nothing, unless the background counts."""
    for texts, _, engine in worlds:
        empty = next(doc_id for doc_id, words in texts.items() if not words)
        for marks, n_docs in itertools.product(({empty: True}, {empty: False}), (0, 3)):
            method = named(name, n_docs=n_docs, keep_background=keep_background)
            result = engine.search("w1 w4", 100, feedback=method, marks=marks)
            report_in_full(result)
            scores = scores_of(result)
            assert empty not in scores
            if n_docs == 0 and not keep_background:
                assert scores == scores_of(engine.search("w1 w4", 100, feedback=method))
        assert engine.search("unheard", feedback=name, marks={empty: True}).ids == []


@every_method
@pytest.mark.parametrize("texts", [{}, {"1": []}, {"1": [], "2": []}], ids=["none", "one", "two"])
def test_collections_without_words(build: Build, name: str, texts: Texts) -> None:
    engine = build(texts)
    for keep_background, marks in itertools.product((True, False), ({}, dict.fromkeys(texts, True), {"1": False})):
        if set(marks) <= set(texts):
            result = engine.search("w1", feedback=named(name, keep_background=keep_background), marks=marks)
            assert result.ids == []
            report_in_full(result)


@every_method
def test_an_index_emptied(build: Build, name: str) -> None:
    engine = build({"1": ["a", "b"], "2": ["a"]}, delete=["1", "2"])
    assert engine.search("a", feedback=name).ids == []
    with pytest.raises(UnknownDocumentError, match="'1'"):
        engine.search("a", feedback=name, marks={"1": True})


@every_method
def test_one_document_with_one_word(build: Build, name: str) -> None:
    """p_C = 1: every logarithm is of one."""
    engine = build({"1": ["a"]})
    for keep_background, marks in itertools.product((True, False), ({}, {"1": True})):
        result = engine.search("a", feedback=named(name, keep_background=keep_background), marks=marks)
        assert list(scores_of(result)) == ["1"]
        report_in_full(result)
    repelled = engine.search("a", feedback=named(name, negative_weight=1.0), marks={"1": False})
    assert repelled.ids == [], "the word is not wanted any more"


@every_method
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_every_model_gives_numbers(worlds, name: str, model: str) -> None:
    _, _, engine = worlds[1]
    for marks, keep_background in itertools.product(MARKS, (True, False)):
        method = named(name, keep_background=keep_background)
        result = engine.search("w1 w4 unheard", 100, feedback=method, model=model, marks=marks)
        assert len(scores_of(result)) > 0


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (RM3(final=JelinekMercer(1.0)), "0 < lam < 1"),
        (RM3(first=JelinekMercer(0.0)), "0 < lam < 1"),
        (RM3(weighting=JelinekMercer(1.0)), "no share to the collection"),
        (SD(smoothing=JelinekMercer(1.0)), "no share to the collection"),
        (SD(weighting=JelinekMercer(1.0)), "no share to the collection"),
    ],
    ids=str,
)
def test_lam_where_a_logarithm_is_infinite(worlds, method: FeedbackMethod, message: str) -> None:
    _, engine, _ = worlds[0]
    with pytest.raises(ParameterError, match=message):
        engine.search("w1 w4", feedback=method)


@pytest.mark.parametrize(
    "method",
    [
        SD(smoothing=JelinekMercer(0.0)),
        RM3(smoothing=JelinekMercer(0.0)),
        RM3(smoothing=JelinekMercer(1.0)),
        RM3(weighting=JelinekMercer(0.0)),
        SD(lam_query=0.0),
        SD(lam_query=1.0),
        SD(smoothing=JelinekMercer(1 - 1e-12), weighting=JelinekMercer(1 - 1e-12)),
    ],
    ids=str,
)
def test_lam_at_other_ends(worlds, method: FeedbackMethod) -> None:
    _, engine, _ = worlds[0]
    assert len(scores_of(engine.search("w1 w4", 100, feedback=method, marks={"d03": False}))) > 0


@pytest.mark.parametrize("wrong", ["rm4", RM3, 3])
def test_methods_that_are_none(worlds, wrong) -> None:
    _, engine, _ = worlds[0]
    with pytest.raises(ParameterError, match="no feedback method"):
        engine.search("w1", feedback=wrong)


@every_method
def test_k_below_one(worlds, name: str) -> None:
    _, engine, _ = worlds[0]
    for query in ("w1", "unheard"):
        with pytest.raises(ParameterError, match="k must be at least 1"):
            engine.search(query, 0, feedback=name)


def test_batch(worlds) -> None:
    """The same as one by one, from several threads."""
    _, _, engine = worlds[0]
    topics = [Topic(str(i), query) for i, query in enumerate(["w1 w4", "w0 w7", "unheard"])]
    for topic, result in engine.batch(topics, 20, feedback="sd", priors=[LengthPrior()], threads=2):
        alone = engine.search(topic.text, 20, feedback="sd", priors=[LengthPrior()], syntax=False)
        assert (result.ids, result.scores.tolist()) == (alone.ids, alone.scores.tolist())


def test_what_feedback_hands_out_is_plain_data(tmp_path: Path) -> None:
    """Whether there is one segment or several: a method of one's own may keep, copy and change what it is given."""
    seen: list[Evidence] = []

    class Curious(RM3):
        def expand(self, evidence: Evidence) -> Expansion:
            seen.append(evidence)
            return super().expand(evidence)

    with Engine.create(tmp_path / "index") as engine:
        engine.add(Document(f"d{i}", {"text": f"copper mine w{i % 7} w{i % 3}"}) for i in range(40))
        found = engine.search("copper", feedback=Curious())
    topic, evidence = found.feedback.topic, seen[0]
    assert json.loads(json.dumps(topic.weights)) == topic.weights == copy.deepcopy(topic).weights
    for other in (replace(evidence), copy.deepcopy(evidence)):
        assert other.n_words == evidence.n_words
        np.testing.assert_array_equal(other.root_idf, evidence.root_idf)
        learnt, expected = RM3().expand(other).topic, RM3().expand(evidence).topic
        np.testing.assert_array_equal(learnt.ids, expected.ids)
        np.testing.assert_allclose(learnt.excess, expected.excess, rtol=1e-12)

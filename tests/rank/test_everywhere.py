"""Scores of all documents and of given ones: literal formulas, and the kernels beside NumPy."""

from collections import Counter
from collections.abc import Callable
from math import log, sqrt

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.index.sequences import documents_with_all
from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing, TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, TfIdf, model_named
from germane.rank.kinds import COUNT, LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, SATURATION
from germane.rank.maxscore import search
from germane.rank.models.evidence import EvidenceModel
from germane.rank.plan import Plan
from germane.rank.scoring import exact
from germane.rank.scoring.arguments import DocumentValues, TermArrays, with_extremes
from germane.rank.scoring.exact import score_documents
from germane.rank.scoring.hits import Hits
from germane.rank.scoring.score_all import background_everywhere, scores_everywhere

SMOOTHINGS = [Dirichlet(3.0), Dirichlet(800.0), JelinekMercer(0.4), TwoStage(0.6, 9.0), AbsoluteDiscounting(0.6)]
GONE = ["d003", "d011", "d017"]
ASKED = {"w0": 0.5, "w4": 2.0, "w21": 0.125, "unheard": 1.0}


@pytest.fixture(scope="module")
def tokens() -> dict[str, list[str]]:
    """Twenty documents with words, and an empty one; the last word stands in a deleted document only."""
    rng = np.random.default_rng(5)
    made = {f"d{i:03}": [f"w{int(w)}" for w in rng.geometric(0.12, rng.integers(1, 30)) - 1] for i in range(20)}
    return made | {"d017": ["solely", "w0"], "empty": []}


@pytest.fixture(scope="module")
def searcher(build, tokens):
    """The same in three segments, some documents deleted."""
    items = list(tokens.items())
    return build(*(dict(items[i::3]) for i in range(3)), delete=GONE).retriever._searcher


@pytest.fixture(scope="module")
def live(tokens) -> dict[str, list[str]]:
    return {doc_id: words for doc_id, words in tokens.items() if doc_id not in GONE}


def by_id(searcher, everywhere) -> dict[str, float]:
    """What stands for each live document that has words."""
    found = {}
    for part, scores in zip(searcher.snapshot.segments, everywhere, strict=True):
        assert len(scores) == part.segment.n_docs
        for doc in np.flatnonzero(~part.deletions.deleted & (part.segment.doc_len > 0)).tolist():
            found[part.segment.doc_id(doc)] = float(scores[doc])
    return found


def theta(smoothing: Smoothing, tokens: dict[str, list[str]], words: list[str]) -> Callable[[str], float]:
    """θ_D(w), written out."""
    cf, c, n = Counter(w for document in tokens.values() for w in document), Counter(words), len(words)
    total = sum(cf.values())

    def probability(w: str) -> float:
        p_C = cf[w] / total
        match smoothing:
            case Dirichlet(mu):
                return (c[w] + mu * p_C) / (n + mu)
            case JelinekMercer(lam):
                return lam * c[w] / n + (1 - lam) * p_C
            case TwoStage(lam, mu):
                return lam * (c[w] + mu * p_C) / (n + mu) + (1 - lam) * p_C
            case AbsoluteDiscounting(delta):
                return max(c[w] - delta, 0) / n + delta * len(c) / n * p_C
        raise AssertionError(smoothing)

    return probability


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_t_cross_entropy_of_all_documents(searcher, live, smoothing) -> None:
    """Those that hold no word of the query too."""
    found = by_id(searcher, scores_everywhere(searcher, ASKED, QueryLikelihood(smoothing)))
    expected = {
        doc_id: sum(weight * log(theta(smoothing, live, words)(w)) for w, weight in ASKED.items() if w != "unheard")
        for doc_id, words in live.items()
        if words
    }
    assert found == pytest.approx(expected, rel=1e-12)
    assert any(not set(ASKED) & set(live[doc_id]) for doc_id in found)


def test_the_baselines_of_all_documents(searcher, live) -> None:
    df = Counter(w for words in live.values() for w in set(words))
    average = sum(map(len, live.values())) / len(live)
    idf = {w: log(1 + len(live) / df[w]) for w in df}
    known = {w: weight for w, weight in ASKED.items() if w in df}
    bm25, cosine = {}, {}
    for doc_id, words in live.items():
        c = Counter(words)
        if words:
            bm25[doc_id] = sum(
                weight * log(1 + (len(live) - df[w] + 0.5) / (df[w] + 0.5)) * c[w] * 2.2
                / (c[w] + 1.2 * (0.6 + 0.4 * len(words) / average))
                for w, weight in known.items()
            )  # fmt: skip
            norm = sqrt(sum(((1 + log(n)) * idf[w]) ** 2 for w, n in c.items()))
            dot = sum(weight * idf[w] ** 2 * (1 + log(c[w])) for w, weight in known.items() if c[w])
            cosine[doc_id] = dot / norm
    assert by_id(searcher, scores_everywhere(searcher, ASKED, BM25(1.2, 0.4))) == pytest.approx(bm25, rel=1e-12)
    assert by_id(searcher, scores_everywhere(searcher, ASKED, TfIdf())) == pytest.approx(cosine, rel=1e-12)


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_background_of_all_documents(searcher, live, smoothing) -> None:
    """Σ_w p_C(w)·log θ_D(w) over every word of the live collection."""
    cf = Counter(w for words in live.values() for w in words)
    expected = {
        doc_id: sum(n / cf.total() * log(theta(smoothing, live, words)(w)) for w, n in cf.items())
        for doc_id, words in live.items()
        if words
    }
    model = QueryLikelihood(smoothing)
    found = background_everywhere(searcher, model)
    assert by_id(searcher, found) == pytest.approx(expected, rel=1e-12)
    assert all(np.isfinite(part).all() for part in found), "empty and deleted documents have numbers too"
    assert background_everywhere(searcher, QueryLikelihood(smoothing)) is found, "it is remembered"


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_where_a_search_finds_a_document_the_score_is_the_same(searcher, name: str) -> None:
    model = model_named(name)
    hits = searcher.search(ASKED, model, 100)
    everywhere = scores_everywhere(searcher, ASKED, model)
    same = [everywhere[i][doc] for i, doc in zip(hits.segments, hits.docs, strict=True)]
    np.testing.assert_allclose(same, hits.scores, rtol=1e-12)


def test_no_known_word(searcher) -> None:
    for weights in ({}, {"unheard": 1.0}, {"w0": 0.0}):
        found = scores_everywhere(searcher, weights, BM25())
        assert [part.tolist() for part in found] == [[0.0] * live.segment.n_docs for live in searcher.snapshot.segments]
    with pytest.raises(ParameterError, match="weight of 'w0'"):
        scores_everywhere(searcher, {"w0": -1.0}, BM25())


def test_background_follows_the_collection(build) -> None:
    """It is remembered with the snapshot, and forgotten with it."""
    engine, model = build({"1": ["a", "b"], "2": ["a"]}), QueryLikelihood(Dirichlet(2.0))
    before = background_everywhere(engine.retriever._searcher, model)[0]
    engine.delete(["2"])
    engine.close()
    after = background_everywhere(engine.retriever._searcher, model)[0]
    assert before[0] == pytest.approx(2 / 3 * log((1 + 4 / 3) / 4) + 1 / 3 * log((1 + 2 / 3) / 4))
    assert after[0] == pytest.approx(log(1 / 2))


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_scores_of_given_documents(searcher, name: str) -> None:
    """To the last bit what a search gives, priors included; -inf for documents a search would not find."""
    model, rng = model_named(name), np.random.default_rng(1)
    priors = [rng.normal(size=live.segment.n_docs) for live in searcher.snapshot.segments]
    for own in (None, priors):
        hits = searcher.search(ASKED, model, 100, priors=own)
        order = rng.permutation(len(hits.docs))
        shuffled = Hits(*(part[order] for part in hits))
        assert searcher.scores_by(shuffled, ASKED, model, own).tolist() == hits.scores[order].tolist()
    if isinstance(model, EvidenceModel):  # it has no plan
        return
    plan = searcher.plan(ASKED, model)
    assert searcher.scores_of(shuffled, plan, model, own).tolist() == hits.scores[order].tolist()
    found = set(zip(hits.segments.tolist(), hits.docs.tolist(), strict=True))
    parts = enumerate(searcher.snapshot.segments)
    others = [(i, doc) for i, live in parts for doc in np.flatnonzero(~live.deletions.deleted) if (i, doc) not in found]
    places = np.array(others, np.int64)
    scores = searcher.scores_of(Hits(np.zeros(len(others)), places[:, 0], places[:, 1]), plan, model, None)
    assert len(others) > 1
    assert (scores == -np.inf).all()


# -- kernels beside NumPy ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def segment(build):
    """400 documents, so that common words fill several blocks."""
    rng = np.random.default_rng(2)
    made = {f"d{i:03}": [f"w{int(w)}" for w in rng.geometric(0.1, rng.integers(0, 50)) - 1] for i in range(400)}
    return build(made).retriever._searcher.snapshot.segments[0].segment


@pytest.fixture(scope="module")
def matrix(segment) -> np.ndarray:
    """Counts: a row a document, a column a term."""
    starts, terms, counts = segment.forward_of(slice(0, segment.n_docs))
    dense = np.zeros((segment.n_docs, segment.n_terms))
    dense[np.repeat(np.arange(segment.n_docs), np.diff(starts)), terms] = counts
    return dense


def arrays_of(segment, numbers, kind: int, weight, scale) -> TermArrays:
    plan = Plan(kind, (), weight, scale, constant=-3.0, mass=0.7, delta=0.25, x0=1.5, x1=0.5)
    return TermArrays(numbers, weight, scale, plan)


@pytest.mark.parametrize("squared_log", [True, False])
def test_word_sums(segment, matrix, squared_log: bool) -> None:
    weight = np.random.default_rng(3).normal(size=segment.n_terms)
    out = search.word_sums(segment, weight, squared_log=squared_log)
    np.testing.assert_array_equal(out, exact.word_sums(segment, weight, squared_log=squared_log))
    logs = np.where(matrix > 0, 1 + np.log(np.maximum(matrix, 1)), 0.0)
    np.testing.assert_allclose(out, (logs**2 if squared_log else matrix) @ weight, rtol=1e-10, atol=1e-12)


IMPACTS = {
    LOG_COUNT_RATIO: lambda c, size, w, s: w * np.log(1 + s * c),
    LOG_SIZE_RATIO: lambda c, size, w, s: w * np.log(1 + s * (c - 0.25) / (1.5 + 0.5 * size)),
    SATURATION: lambda c, size, w, s: w * c / (c + 1.5 + 0.5 * size),
    LOG_COUNT: lambda c, size, w, s: w * (1 + np.log(c)),
    COUNT: lambda c, size, w, s: w * c,
}


def numpy_impacts(kind: int, counts: np.ndarray, size: np.ndarray, weight: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Σ_t impact over the columns, where the document holds the term."""
    values = IMPACTS[kind](np.maximum(counts, 1), size[:, None], weight, scale)
    return np.where(counts > 0, values, 0.0).sum(axis=1)


@pytest.mark.parametrize("kind", IMPACTS)
def test_impact_sums(segment, matrix, kind: int) -> None:
    rng = np.random.default_rng(kind)
    terms = rng.choice(segment.n_terms, 20, replace=False)
    weight, scale = rng.uniform(0.1, 2, 20), rng.uniform(0.1, 2, 20)
    size = segment.doc_len
    arrays = arrays_of(segment, terms, kind, weight, scale)
    out = search.impact_sums(segment, arrays)
    np.testing.assert_array_equal(out, exact.accumulate(segment, arrays)[0])
    np.testing.assert_allclose(out, numpy_impacts(kind, matrix[:, terms], size, weight, scale), rtol=1e-12)


@pytest.mark.parametrize("kind", IMPACTS)
@pytest.mark.parametrize("full", [True, False])
def test_score_documents(segment, matrix, kind: int, full: bool) -> None:
    """With all parts of a score and with none; a term of another segment has the number -1."""
    rng = np.random.default_rng(10 + kind)
    numbers = np.array([*rng.choice(segment.n_terms, 6, replace=False), -1])
    weight, scale, size = rng.uniform(0.1, 2, 7), rng.uniform(0.1, 2, 7), segment.doc_len
    docs = rng.permutation(segment.n_docs)[:250]
    doc, norm, prior = (rng.uniform(0.5, 2, segment.n_docs if full else 0) for _ in range(3))
    values = DocumentValues(*(with_extremes(part) for part in (norm, doc, prior)))
    out = score_documents(segment, arrays_of(segment, numbers, kind, weight, scale), values, docs)
    counts = matrix[:, numbers[:6]]
    scores = numpy_impacts(kind, counts, size, weight[:6], scale[:6])
    scores = scores * norm - 3.0 + 0.7 * doc + prior if full else scores - 3.0
    expected = np.where((counts > 0).any(axis=1), scores, -np.inf)
    np.testing.assert_allclose(out, expected[docs], rtol=1e-12)
    assert np.isneginf(out).any()
    assert np.isfinite(out).any()


def test_documents_with_all_terms(segment, matrix) -> None:
    """Long lists beside short ones, and lists of like length."""
    by_df = np.argsort(segment.df)
    for numbers in ([by_df[-1]], [by_df[-2], by_df[-1]], [by_df[3], by_df[-1]], [by_df[0], *by_df[-3:]], by_df[-4:]):
        expected = np.flatnonzero((matrix[:, numbers] > 0).all(axis=1))
        assert documents_with_all(segment, [int(number) for number in numbers]).tolist() == expected.tolist()


def test_forward_lists_of_any_documents(segment, matrix) -> None:
    docs = np.array([399, 0, 7, 7, 250])
    starts, terms, counts = segment.forward_of(docs)
    for i, doc in enumerate(docs.tolist()):
        own = slice(starts[i], starts[i + 1])
        assert terms[own].tolist() == np.flatnonzero(matrix[doc]).tolist()
        assert counts[own].tolist() == matrix[doc][matrix[doc] > 0].tolist()
    assert [len(part) for part in segment.forward_of(np.empty(0, np.int64))] == [1, 0, 0]


def test_frequencies_of_terms(searcher, live) -> None:
    """Among live documents of all segments, whichever segment names the terms."""
    df, cf = Counter(w for words in live.values() for w in set(words)), Counter(w for d in live.values() for w in d)
    for i, part in enumerate(searcher.snapshot.segments):
        names = [part.segment.term(number) for number in range(part.segment.n_terms)]
        found = searcher.snapshot.frequencies_of(i, np.arange(part.segment.n_terms))
        assert [column.tolist() for column in found] == [[df[w] for w in names], [cf[w] for w in names]]

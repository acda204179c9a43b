"""A second stage: what is scored again, in which order, and what follows below."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from germane import Document, Engine, Topic
from germane.engine import RERANKER_NAMES, ByModel, Candidates, Gathered
from germane.errors import ParameterError
from germane.lm import Dirichlet
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood
from germane.rank.query.resolve import ParsedQuery
from germane.rank.scoring.priors import FieldPrior, LengthPrior
from germane.refine.weighting import ResultList


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    rng = np.random.default_rng(4)
    return {f"d{i:03}": [f"word{int(w)}" for w in rng.zipf(1.4, rng.integers(2, 40)) % 50] for i in range(240)}


@pytest.fixture(scope="module", params=[1, 3], ids=["one segment", "three segments"])
def engine(texts, request, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    documents = [
        Document(i, {"text": " ".join(words), "year": 2000 + len(words) % 7, "cites": 1 + len(words) % 5})
        for i, words in texts.items()
    ]
    with Engine.create(tmp_path_factory.mktemp("reranked") / "index") as made:
        for i in range(request.param):
            made.add(documents[i :: request.param], threads=1)
    return made


@dataclass
class Noting:
    """Scores by what it is told to, and notes what it was given."""

    scores: object = None
    query: ParsedQuery | None = None
    candidates: Candidates | None = None

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> np.ndarray:
        self.query, self.candidates = query, candidates
        return np.arange(len(candidates), dtype=float) if self.scores is None else np.asarray(self.scores)


@pytest.mark.parametrize("priors", [(), (LengthPrior(0.5), FieldPrior("cites", 2.0))], ids=["plain", "priors"])
@pytest.mark.parametrize("name", MODEL_NAMES)
def test_by_a_model_over_all_results_is_that_model(engine: Engine, name: str, priors) -> None:
    """If everything found is scored again, the second model alone decides: the oracle is its own search."""
    query = "word1 word2^3 word9 year:>=2002"
    alone = engine.search(query, 500, model=name, priors=priors)
    for first in ("bm25", "tfidf"):
        result = engine.search(query, 500, model=first, priors=priors, rerank=name)
        assert result.ids == alone.ids
        assert result.scores.tolist() == alone.scores.tolist()
    assert len(alone) > 50


@pytest.mark.parametrize("method", ["rm3", "sd", "consensus"])
@pytest.mark.parametrize("marks", [None, {"d003": True, "d010": False}], ids=["unmarked", "marked"])
def test_after_feedback(engine: Engine, method: str, marks) -> None:
    """The second stage scores the query that feedback learnt: the model of the second pass changes nothing."""
    learnt = engine.search("word1 word9 -word4", 300, feedback=method, marks=marks)
    final = learnt.feedback._passes.final
    result = engine.search("word1 word9 -word4", 300, feedback=method, marks=marks, rerank=ByModel(final))
    assert result.ids == learnt.ids
    assert result.scores.tolist() == learnt.scores.tolist()
    assert [move.id for move in result.feedback.moves] == learnt.ids
    other = engine.search("word1 word9 -word4", 300, feedback=method, marks=marks, rerank=Noting(), depth=5)
    assert other.ids[:5] == learnt.ids[:5][::-1]
    assert [move.id for move in other.feedback.moves] == other.ids


def test_depth(engine: Engine) -> None:
    """The first `depth` change places, the rest keep theirs below, and scores fall all the way."""
    plain = engine.search("word1 word2", 40)
    result = engine.search("word1 word2", 40, rerank=Noting(), depth=12)
    assert result.ids == plain.ids[:12][::-1] + plain.ids[12:]
    assert result.scores[:12].tolist() == list(range(11, -1, -1))
    assert (np.diff(result.scores) <= 0).all()
    assert result.scores[12] < result.scores[11]
    np.testing.assert_allclose(np.diff(result.scores[12:]), np.diff(plain.scores[12:]), atol=1e-12)
    for k in (1, 5, 12, 13):
        assert engine.search("word1 word2", k, rerank=Noting(), depth=12).ids == result.ids[:k]
    asked = Noting()
    engine.search("word1 word2", 3, rerank=asked)
    assert asked.candidates is not None
    assert asked.candidates.ids == engine.search("word1 word2", 1000).ids, "1000 unless said otherwise"


def test_ties_go_by_id(engine: Engine) -> None:
    result = engine.search("word1", 30, rerank=Noting(np.zeros(30)), depth=30)
    assert result.ids == sorted(engine.search("word1", 30).ids)
    first = engine.search("word1", 30)
    result = engine.search("word1", 30, rerank=Noting(np.full(30, -np.inf)), depth=30)
    assert result.ids == sorted(first.ids)


def test_candidates(engine: Engine, texts) -> None:
    """What a re-ranker may ask for, beside counts made here."""
    asked = Noting()
    plain = engine.search("word1 word2^2 +word3", 20)
    engine.search("word1 word2^2 +word3", 20, rerank=asked, depth=20)
    given = asked.candidates
    assert given is not None
    assert asked.query == plain.query
    assert given.topic.weights == {"word1": 1.0, "word2": 2.0, "word3": 1.0}
    assert given.ids == plain.ids
    assert given.scores.tolist() == plain.scores.tolist()
    assert given.fields(3) == plain.fields(3)
    gathered = given.gathered
    names = gathered.terms
    assert {names[word]: weight for word, weight in gathered.query.items()} == given.topic.weights
    df = Counter(word for words in texts.values() for word in set(words))
    assert dict(zip(names, gathered.df.tolist(), strict=True)) == {name: df[name] for name in names}
    for i, doc_id in enumerate(given.ids):
        own = slice(gathered.starts[i], gathered.starts[i + 1])
        counts = {names[w]: n for w, n in zip(gathered.words[own], gathered.counts[own], strict=True)}
        assert counts == Counter(texts[doc_id])
        assert gathered.lengths[i] == len(texts[doc_id])
    assert (np.diff(gathered.words[: gathered.starts[1]]) > 0).all()


def test_refinement_reads_what_was_gathered(engine: Engine, texts) -> None:
    """A list for `germane.refine` needs no second analysis of the texts."""
    asked = Noting()
    engine.search("word1", 25, rerank=asked)
    assert asked.candidates is not None
    gathered: Gathered = asked.candidates.gathered
    shape = len(asked.candidates), len(gathered.terms)
    counts = sparse.csr_matrix((gathered.counts, gathered.words, gathered.starts), shape)
    assert ResultList(counts).counts.sum(axis=1).A1.tolist() == [len(texts[i]) for i in asked.candidates.ids]


def test_batch_and_nothing_found(engine: Engine) -> None:
    topics = [Topic("1", "word1 word2"), Topic("2", "unheard"), Topic("3", "word7")]
    for topic, result in engine.batch(topics, 10, rerank="dirichlet", depth=30, threads=2):
        assert result.ids == engine.search(topic.text, 10, rerank="dirichlet", depth=30).ids
        assert len(result) == (0 if topic.id == "2" else 10)


def test_names() -> None:
    assert RERANKER_NAMES == MODEL_NAMES


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rerank": "bert"}, "there is no re-ranker 'bert'; choose one of dirichlet"),
        ({"depth": 5}, "name a re-ranker too"),
        ({"rerank": "bm25", "depth": 0}, "depth must be at least 1, not 0"),
        ({"rerank": BM25()}, "has a method rerank"),
        ({"rerank": Noting([1.0, 2.0])}, "a number for each of"),
        ({"rerank": Noting(np.full(40, np.nan)), "depth": 40}, "40 NaN"),
        ({"rerank": "bm25", "k": 0}, "k must be at least 1"),
    ],
)
def test_bad_requests(engine: Engine, options, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        engine.search("word1 word2", **options)


def test_a_model_with_parameters(engine: Engine) -> None:
    model = QueryLikelihood(Dirichlet(37.0))
    result = engine.search("word1 word2", 10, rerank=ByModel(model))
    assert result.scores.tolist() == engine.search("word1 word2", 10, model=model).scores.tolist()

"""BM25F, the mixture of fields and sequential dependence, against the formulas written out over documents read anew."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer, Document, Engine
from germane.errors import IndexFormatError, ParameterError
from germane.index.sequences import TextFields, count_pair, counts_by_field, pair_counts
from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing
from germane.rank.models.base import RankingModel
from germane.rank.models.bm25 import BM25
from germane.rank.models.dependence import MAX_PAIRS, SequentialDependence
from germane.rank.models.fields import BM25F, FieldMixture
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.models.tfidf import TfIdf
from germane.rank.registry import model_named
from germane.types import FieldValue

FIELDS = ("title", "text", "notes")
PLAIN = Analyzer(stemmer="none", stopwords="none")
WORDS = [f"w{i}" for i in range(9)]
Values = dict[str, list[list[str]]]


def some_document(rng: random.Random, doc_id: str) -> Document:
    """Few words, so that pairs are met; a field may be empty, missing or have several values."""

    def words(n: int) -> str:
        return " ".join(rng.choices(WORDS, k=n))

    fields: dict[str, FieldValue] = {
        "title": words(rng.randrange(4)),
        "text": words(rng.choice((0, 1, 3, 12, 40))),
        "year": rng.choice((1999, 2005)),
    }
    if rng.random() < 0.5:
        fields["notes"] = [words(rng.randrange(4)), None, words(2)] if rng.random() < 0.5 else words(3)
    if rng.random() < 0.2:
        del fields["text"]
    return Document(doc_id, fields)


def values_of(document: Document) -> Values:
    """The terms of each value of each text field."""
    held: Values = {}
    for name in FIELDS:
        value = document.fields.get(name)
        items = value if isinstance(value, list) else [value]
        held[name] = [PLAIN.terms(str(item)) for item in items if item is not None]
    return held


class Collection:
    """Documents as their words, and what the formulas ask of them; nothing is shared with the engine."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.docs = {document.id: values_of(document) for document in documents}
        self._counts = {
            (doc_id, field): Counter(word for values in held[field] for word in values)
            for doc_id, held in self.docs.items()
            for field in FIELDS
        }
        self._means = {
            field: sum(self.length(doc_id, field) for doc_id in self.docs) / len(self.docs) for field in FIELDS
        }
        self._pairs: dict[tuple[str, str, str, int], tuple[int, int]] = {}

    def count(self, doc_id: str, field: str, word: str) -> int:
        return self._counts[doc_id, field][word]

    def total(self, doc_id: str, word: str) -> int:
        return sum(self.count(doc_id, field, word) for field in FIELDS)

    def length(self, doc_id: str, field: str) -> int:
        return self._counts[doc_id, field].total()

    def size(self, doc_id: str) -> int:
        return sum(self.length(doc_id, field) for field in FIELDS)

    def mean(self, field: str) -> float:
        return self._means[field]

    @cached_property
    def n_tokens(self) -> int:
        return sum(map(self.size, self.docs))

    def idf(self, df: int) -> float:
        return math.log(1 + (len(self.docs) - df + 0.5) / (df + 0.5))

    def pair(self, doc_id: str, a: str, b: str, window: int) -> tuple[int, int]:
        """All pairs of places, value by value; remembered."""
        asked = doc_id, a, b, window
        if asked not in self._pairs:
            self._pairs[asked] = self._pair(*asked)
        return self._pairs[asked]

    def _pair(self, doc_id: str, a: str, b: str, window: int) -> tuple[int, int]:
        ordered = unordered = 0
        for held in (values for field in FIELDS for values in self.docs[doc_id][field]):
            for i in range(len(held)):
                ordered += held[i : i + 2] == [a, b]
                unordered += sum(sorted((held[i], held[j])) == sorted((a, b)) for j in range(max(0, i - window + 1), i))
        return ordered, unordered


Formula = Callable[[Collection, str, list[str]], float]


def bm25f(weights: Mapping[str, float], b: Mapping[str, float], k1: float) -> Formula:
    def score(docs: Collection, doc_id: str, query: list[str]) -> float:
        means = {field: docs.mean(field) for field in FIELDS}
        k = k1 * sum(weights[field] * means[field] for field in FIELDS) / sum(means.values())
        total = 0.0
        for word, alpha in Counter(query).items():
            df = sum(docs.total(other, word) > 0 for other in docs.docs)
            pseudo = 0.0
            for field in FIELDS:
                if count := docs.count(doc_id, field, word):
                    normal = 1 - b[field] + b[field] * docs.length(doc_id, field) / means[field]
                    pseudo += weights[field] * count / normal
            total += alpha * docs.idf(df) * pseudo * (k + 1) / (pseudo + k)
        return total

    return score


def mixture(weights: Mapping[str, float], smoothed: Callable[[float, float, float, float], float]) -> Formula:
    """`smoothed`: P(w|D_f) of a count, a length, p_C and the share of the field in all words."""

    def score(docs: Collection, doc_id: str, query: list[str]) -> float:
        means = {field: docs.mean(field) for field in FIELDS}
        tokens = sum(weights[field] * means[field] for field in FIELDS)
        total = 0.0
        for word in query:
            p_C = sum(docs.total(other, word) for other in docs.docs) / docs.n_tokens
            if p_C > 0:
                parts = (
                    weights[field] * means[field] / tokens
                    * smoothed(docs.count(doc_id, field, word), docs.length(doc_id, field), p_C,
                               means[field] / sum(means.values()))
                    for field in FIELDS if means[field] > 0
                )  # fmt: skip
                total += math.log(sum(parts))
        return total

    return score


def dirichlet(mu: float) -> Callable[[float, float, float, float], float]:
    return lambda count, length, p_C, share: (count + mu * share * p_C) / (length + mu * share)


def linear(lam: float) -> Callable[[float, float, float, float], float]:
    return lambda count, length, p_C, share: p_C if not length else lam * count / length + (1 - lam) * p_C


def dependence(
    word: Callable[[Collection, str, int, int, int], float],
    pair: Callable[[Collection, str, int, int, int], float],
    ordered: float, unordered: float, window: int,
) -> Formula:  # fmt: skip
    """`word`, `pair`: what a count gives, with df and cf, in a document."""

    def score(docs: Collection, doc_id: str, query: list[str]) -> float:
        total = 0.0
        for held in query:
            counts = {other: docs.total(other, held) for other in docs.docs}
            if any(counts.values()):
                df, cf = sum(map(bool, counts.values())), sum(counts.values())
                total += (1 - ordered - unordered) * word(docs, doc_id, counts[doc_id], df, cf)
        for a, b in pairwise(query):
            counted = {other: docs.pair(other, a, b, window) for other in docs.docs}
            for share, which in ((ordered, 0), (unordered, 1)):
                own = {other: counts[which] for other, counts in counted.items()}
                if any(own.values()):
                    df, cf = sum(map(bool, own.values())), sum(own.values())
                    total += share * pair(docs, doc_id, own[doc_id], df, cf)
        return total

    return score


def saturated(k1: float, b: float) -> Callable[[Collection, str, int, int, int], float]:
    def impact(docs: Collection, doc_id: str, count: int, df: int, cf: int) -> float:
        normal = 1 - b + b * docs.size(doc_id) * len(docs.docs) / docs.n_tokens
        return docs.idf(df) * count * (k1 + 1) / (count + k1 * normal) if count else 0.0

    return impact


def likelihood(mu: float) -> Callable[[Collection, str, int, int, int], float]:
    return lambda docs, doc_id, count, df, cf: math.log((count + mu * cf / docs.n_tokens) / (docs.size(doc_id) + mu))


EVEN = dict.fromkeys(FIELDS, 1.0)
TITLE = {**EVEN, "title": 3.0}
CASES: list[tuple[RankingModel, Formula]] = [
    (BM25F(), bm25f(TITLE, {"title": 0.25, "text": 0.75, "notes": 0.75}, 2.0)),
    (
        BM25F({"notes": 0.0, "text": 2.5}, 1.2, 0.4, {"text": 1.0}),
        bm25f({"title": 1.0, "text": 2.5, "notes": 0.0}, {"title": 0.4, "text": 1.0, "notes": 0.4}, 1.2),
    ),
    (FieldMixture(), mixture(TITLE, dirichlet(400.0))),
    (
        FieldMixture({"title": 7.0, "notes": 0.0}, Dirichlet(20.0)),
        mixture({"title": 7.0, "text": 1.0, "notes": 0.0}, dirichlet(20.0)),
    ),
    (FieldMixture({"text": 2.0}, JelinekMercer(0.3)), mixture({**EVEN, "text": 2.0}, linear(0.3))),
    (SequentialDependence(), dependence(saturated(2.0, 0.75), saturated(1.0, 0.0), 0.1, 0.05, 8)),
    (
        SequentialDependence(BM25(1.2, 0.3), 0.3, 0.2, 3, BM25(1.0, 0.5)),
        dependence(saturated(1.2, 0.3), saturated(1.0, 0.5), 0.3, 0.2, 3),
    ),
    (
        SequentialDependence(QueryLikelihood(Dirichlet(30.0)), 0.2, 0.4, 4),
        dependence(likelihood(30.0), likelihood(30.0), 0.2, 0.4, 4),
    ),
]
NAMES = [f"{type(model).__name__}{i}" for i, (model, _) in enumerate(CASES)]


class Indexed:
    """An engine of several segments, with deletions; the documents that are left."""

    def __init__(self, folder: Path, seed: int) -> None:
        rng = random.Random(seed)
        documents = [some_document(rng, f"d{i:02}") for i in range(60)]
        self.engine = Engine.create(folder / str(seed), analyzer=PLAIN, fields=FIELDS)
        for start in range(0, 60, 20):
            self.engine.add(documents[start : start + 20])
        gone = {f"d{i:02}" for i in rng.sample(range(60), 12)}
        self.engine.delete(sorted(gone))
        self.collection = Collection([document for document in documents if document.id not in gone])


@pytest.fixture(scope="module", params=range(2))
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return Indexed(tmp_path_factory.mktemp("fields"), request.param)


QUERIES = ("w1 w2", "w3", "w1 w1 w2 w1", "w4 unknown w5 w6 w4 w5", "w8 w7 w6 w5 w4 w3 w2 w1 w0")


@pytest.mark.parametrize(("model", "formula"), CASES, ids=NAMES)
@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_those_of_the_formula(indexed: Indexed, model: RankingModel, formula: Formula, query: str) -> None:
    docs, words = indexed.collection, query.split()
    found = indexed.engine.search(query, 100, model=model)
    expected = {
        doc_id: formula(docs, doc_id, words) for doc_id in docs.docs if any(docs.total(doc_id, w) for w in words)
    }
    assert dict(zip(found.ids, found.scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-11)
    rows = list(zip((-found.scores).tolist(), found.ids, strict=True))
    assert rows == sorted(rows)
    assert indexed.engine.search(query, 7, model=model).ids == found.ids[:7]
    for doc_id, score in zip(found.ids[:10], found.scores.tolist(), strict=False):
        assert indexed.engine.explain(query, doc_id, model=model).score == score


@pytest.mark.parametrize(("model", "formula"), CASES, ids=NAMES)
@pytest.mark.parametrize(
    "query",
    ["w1 w2 year:2005", "w1 AND w2", "+w1 -w2 w3", '"w1 w2" OR w5', "NOT w1", "(w1 w2) AND title:w3", "w1 w2^2"],
)
def test_structure_decides_membership_and_the_model_the_order(
    indexed: Indexed, model: RankingModel, formula: Formula, query: str
) -> None:
    """Who is found does not depend on the model, nor does a document's score on who else is found."""
    found = indexed.engine.search(query, 100, model=model)
    assert sorted(found.ids) == sorted(indexed.engine.search(query, 100, model="bm25").ids)
    for doc_id, score in zip(found.ids, found.scores.tolist(), strict=True):
        if found.query.weights:
            assert indexed.engine.explain(query, doc_id, model=model).score == score


@pytest.mark.parametrize(("model", "formula"), CASES, ids=NAMES)
def test_nothing_depends_on_how_documents_lie(tmp_path: Path, model: RankingModel, formula: Formula) -> None:
    indexed = Indexed(tmp_path, 7)
    before = [indexed.engine.search(query, 100, model=model) for query in QUERIES]
    indexed.engine.merge()
    for query, earlier in zip(QUERIES, before, strict=True):
        now = indexed.engine.search(query, 100, model=model)
        assert now.ids == earlier.ids
        assert now.scores.tolist() == earlier.scores.tolist()


def test_equal_weights_of_one_field_are_the_bag_of_words(tmp_path: Path) -> None:
    """With one field there is nothing to weigh: BM25F is BM25, the mixture query likelihood."""
    engine = Engine.create(tmp_path / "one", analyzer=PLAIN, fields=["text"])
    rng = random.Random(3)
    engine.add(Document(str(i), {"text": " ".join(rng.choices(WORDS, k=rng.randrange(9)))}) for i in range(40))
    pairs = [("bm25f", "bm25"), ("lmf", "dirichlet"), (FieldMixture({}, JelinekMercer(0.3)), "jm")]
    for by_field, bag in pairs:
        weighed = engine.search("w1 w2 w3", 40, model=by_field)
        plain = engine.search("w1 w2 w3", 40, model=bag)
        assert dict(zip(weighed.ids, weighed.scores, strict=True)) == pytest.approx(
            dict(zip(plain.ids, plain.scores, strict=True))
        )


def test_without_an_order_sequential_dependence_is_its_base(indexed: Indexed) -> None:
    mapping = {"w1": 1.0, "w2": 2.0}
    for base in (BM25(), QueryLikelihood(Dirichlet(30.0))):
        own = indexed.engine.search(mapping, 100, model=SequentialDependence(base))
        plain = indexed.engine.search(mapping, 100, model=base)
        assert own.scores / 0.85 == pytest.approx(plain.scores)


@pytest.mark.parametrize("name", ["bm25f", "lmf", "sdm", "sdm-lm"])
def test_second_looks_give_the_same_scores(indexed: Indexed, name: str) -> None:
    """Re-ranking all documents by a model, ranking by it, and a batch agree to the last bit."""
    from germane.types import Topic

    ranked = indexed.engine.search("w1 w2 w3", 100, model=name)
    again = indexed.engine.search("w1 w2 w3", 100, model="tfidf", rerank=name, depth=100)
    ((_, batch),) = indexed.engine.batch([Topic("q", "w1 w2 w3")], 100, model=name, threads=1)
    assert again.ids == ranked.ids == batch.ids
    assert again.scores.tolist() == ranked.scores.tolist() == batch.scores.tolist()


def test_feedback_ranks_by_these_models_too(indexed: Indexed) -> None:
    for name in ("bm25f", "sdm"):
        found = indexed.engine.search("w1 w2", 10, model=name, feedback="rm3", marks={indexed_id(indexed): True})
        assert len(found) == 10


def indexed_id(indexed: Indexed) -> str:
    return indexed.engine.search("w1 w2", 1).ids[0]


# -- pairs and fields in the index -------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [2, 3, 8, 100])
def test_pairs_are_counted_as_they_stand(indexed: Indexed, window: int) -> None:
    texts = TextFields(PLAIN, FIELDS)
    for a, b in (("w1", "w2"), ("w2", "w1"), ("w3", "w3"), ("w5", "w8")):
        counted: dict[str, tuple[int, int]] = {}
        for live in indexed.engine.retriever._searcher.snapshot.segments:
            first, second = live.segment.find_terms([a, b]).tolist()
            found = pair_counts(live.segment, first, second, window, texts)
            ids = live.segment.doc_ids(found.docs)
            counted |= dict(zip(ids, zip(found.ordered.tolist(), found.unordered.tolist(), strict=True), strict=True))
        docs = indexed.collection
        expected = {doc_id: docs.pair(doc_id, a, b, window) for doc_id in docs.docs}
        assert {key: value for key, value in counted.items() if key in expected} == {
            key: value for key, value in expected.items() if value[1]
        }


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=30), st.sampled_from("abc"), st.sampled_from("abc"), st.integers(2, 9))
def test_the_rule_of_pairs(held: list[str], a: str, b: str, window: int) -> None:
    spots = [(i, j) for i in range(len(held)) for j in range(len(held)) if (held[i], held[j]) == (a, b) and i != j]
    near = {frozenset(spot) for spot in spots if abs(spot[0] - spot[1]) < window}
    assert count_pair(held, a, b, window) == (sum(j == i + 1 for i, j in spots), len(near))


def test_counts_by_field_add_up(indexed: Indexed) -> None:
    for live in indexed.engine.retriever._searcher.snapshot.segments:
        number = int(live.segment.find_terms(["w1"])[0])
        docs, counts = counts_by_field(live.segment, number, TextFields(PLAIN, FIELDS))
        for doc_id, own in zip(live.segment.doc_ids(docs), counts.tolist(), strict=True):
            if doc_id in indexed.collection.docs:
                assert own == [indexed.collection.count(doc_id, field, "w1") for field in FIELDS]


# -- the words that stand together -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("w1 w2 w3", [("w1", "w2", "w3")]),
        ("w1^2 w2", [("w1", "w2")]),
        ("w1 +w2 w3 w4", [("w1",), ("w2",), ("w3", "w4")]),
        ("w1 -w2 w3", [("w1",), ("w3",)]),
        ("w1 AND w2", [("w1",), ("w2",)]),
        ("(w1 w2) AND w3", [("w1", "w2"), ("w3",)]),
        ('w1 "w2 w3" w4', [("w1",), ("w2", "w3"), ("w4",)]),
        ("w1 year:2005 w2", [("w1",), ("w2",)]),
        ("title:w1 w2", [("w1",), ("w2",)]),
        ("w1 w2* w3", [("w1",), ("w3",)]),
        ("w1 NOT w2", [("w1",)]),
    ],
)
def test_runs(indexed: Indexed, query: str, runs: list[tuple[str, ...]]) -> None:
    assert list(indexed.engine.search(query).query.runs) == runs


def test_a_long_query_looks_for_its_first_pairs(tmp_path: Path) -> None:
    words = [f"x{i}" for i in range(MAX_PAIRS + 10)]
    engine = Engine.create(tmp_path / "long", analyzer=PLAIN)
    engine.add([Document("1", {"text": " ".join(words)}), Document("2", {"text": "x1 x2"})])
    parts = engine.explain(" ".join(words), "1", model="sdm").parts
    assert sum(part.term.startswith("#1(") for part in parts) == MAX_PAIRS
    assert len(parts) == len(words) + 2 * MAX_PAIRS


def test_the_weight_of_pairs_is_summed_in_the_order_of_the_query(tmp_path: Path) -> None:
    """As sets have words, it would be another one in each process: two small weights together change a large one."""
    words = [f"x{i}" for i in range(40)]
    engine = Engine.create(tmp_path / "ordered", analyzer=PLAIN)
    engine.add([Document("1", {"text": " ".join(words)}), Document("2", {"text": "x1 x2"})])
    weights = [1000.0, *[5e-14] * 39]
    assert sum(weights) == 1000.0 != sum(reversed(weights))
    query = " ".join(f"{word}^{weight}" for word, weight in zip(words, weights, strict=True))
    parts = engine.explain(query, "1", model="sdm", ordered=0.5).parts
    assert {part.weight for part in parts if part.term.startswith("#1(")} == {0.5 * (1000.0 / 40)}


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_an_index_without_the_order_of_words(tmp_path: Path) -> None:
    engine = Engine.create(tmp_path / "bare", analyzer=PLAIN, positions=False)
    engine.add([Document("1", {"title": "w1", "text": "w1 w2"})])
    for name in ("bm25f", "lmf", "sdm", "sdm-lm"):
        with pytest.raises(IndexFormatError, match=r"needs the order of words.*germane upgrade"):
            engine.search("w1 w2", model=name)


def test_wrong_weights(indexed: Indexed) -> None:
    with pytest.raises(ParameterError, match=r"no text field 'titel' for weights; did you mean 'title'\?.*title, text"):
        indexed.engine.search("w1", model="bm25f", weights={"titel": 2})
    with pytest.raises(ParameterError, match=r"no text field 'year' for field_b"):
        indexed.engine.search("w1", model=BM25F(field_b={"year": 0.5}))
    with pytest.raises(ParameterError, match="no field that has words has a weight"):
        indexed.engine.search("w1", model="lmf", weights=dict.fromkeys(FIELDS, 0.0))
    with pytest.raises(ParameterError, match=r"weights\['title'\] must lie between 0"):
        BM25F({"title": -1.0})
    with pytest.raises(ParameterError, match="maps the names of fields to numbers"):
        BM25F(3.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'adaptive' has no weights of fields; bm25f and lmf have"):
        indexed.engine.search("w1", weights={"title": 2})
    with pytest.raises(ParameterError, match="carries its own parameters"):
        indexed.engine.search("w1", model=BM25F(), weights={"title": 2})


def test_wrong_dependence() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: SequentialDependence(TfIdf()), "for BM25 and query likelihood"),
        (lambda: SequentialDependence(ordered=0.7, unordered=0.7), "is above 1"),
        (lambda: SequentialDependence(ordered=-0.1), "ordered must lie between 0 and 1"),
        (lambda: SequentialDependence(window=1), "window must be a whole number of at least 2"),
        (lambda: FieldMixture(None, AbsoluteDiscounting(0.5)), "distinct words are not known"),
        (lambda: model_named("sdm", window=3.0), "has no parameter window"),
    ]
    for make, message in wrong:
        with pytest.raises(ParameterError, match=message):
            make()


def test_models_are_values() -> None:
    assert BM25F({"title": 3, "text": 1}) == BM25F({"text": 1.0, "title": 3.0})
    assert hash(BM25F({"title": 3})) == hash(BM25F((("title", 3.0),)))
    smoothing: Smoothing = Dirichlet(20.0)
    assert FieldMixture({"title": 2}, smoothing) == FieldMixture({"title": 2}, Dirichlet(20.0))
    assert model_named("sdm") == SequentialDependence()
    assert model_named("bm25f") == BM25F()
    assert model_named("lmf", {"title": 2}, mu=20.0) == FieldMixture({"title": 2}, smoothing)

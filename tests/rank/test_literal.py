"""Every formula once more, slow and obvious, from the raw tokens; the engine must agree for all matching documents."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import lgamma, log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage
from germane.rank import BM25, DCrossEntropy, LikelihoodRatio, QueryLikelihood, RankingModel, TfIdf

Tokens = Mapping[str, Sequence[str]]
Weights = Mapping[str, float]
Literal = Callable[["Collection", Weights, Sequence[str]], float]


class Collection:
    """What a formula needs, counted from the tokens."""

    def __init__(self, documents: Tokens) -> None:
        self.documents = documents
        self.tokens = [token for tokens in documents.values() for token in tokens]
        self.cf = Counter(self.tokens)
        self.df = Counter(word for tokens in documents.values() for word in set(tokens))
        self.n_docs = len(documents)

    def p(self, word: str) -> float:
        return self.cf[word] / len(self.tokens)

    def known(self, weights: Weights) -> dict[str, float]:
        return {word: weight for word, weight in weights.items() if self.cf[word] and weight > 0}

    def matching(self, weights: Weights) -> list[str]:
        known = set(self.known(weights))
        return [doc_id for doc_id, tokens in self.documents.items() if known & set(tokens)]


def log_likelihood(probability: Callable[[int, str], float], weights: Weights, tokens: Sequence[str]) -> float:
    """Σ_w α_w log P(w|D)."""
    return sum(weight * log(probability(tokens.count(word), word)) for word, weight in weights.items())


def dirichlet(mu: float) -> Literal:
    return lambda c, weights, doc: log_likelihood(
        lambda tf, word: (tf + mu * c.p(word)) / (len(doc) + mu), c.known(weights), doc
    )


def jelinek_mercer(lam: float) -> Literal:
    return lambda c, weights, doc: log_likelihood(
        lambda tf, word: lam * tf / len(doc) + (1 - lam) * c.p(word), c.known(weights), doc
    )


def two_stage(lam: float, mu: float) -> Literal:
    return lambda c, weights, doc: log_likelihood(
        lambda tf, word: lam * (tf + mu * c.p(word)) / (len(doc) + mu) + (1 - lam) * c.p(word), c.known(weights), doc
    )


def absolute_discounting(delta: float) -> Literal:
    return lambda c, weights, doc: log_likelihood(
        lambda tf, word: max(tf - delta, 0) / len(doc) + delta * len(set(doc)) / len(doc) * c.p(word),
        c.known(weights),
        doc,
    )


def bm25(k1: float, b: float) -> Literal:
    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        total = 0.0
        for word, weight in c.known(weights).items():
            idf = log(1 + (c.n_docs - c.df[word] + 0.5) / (c.df[word] + 0.5))
            length = len(doc) / (len(c.tokens) / c.n_docs)
            total += weight * idf * doc.count(word) * (k1 + 1) / (doc.count(word) + k1 * (1 - b + b * length))
        return total

    return score


def tf_idf_cosine(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
    """The dot product of the two vectors over the document's norm."""

    def idf(word: str) -> float:
        return log(1 + c.n_docs / c.df[word])

    document = {word: (1 + log(tf)) * idf(word) for word, tf in Counter(doc).items()}
    query = {word: weight * idf(word) for word, weight in c.known(weights).items()}
    dot = sum(value * document.get(word, 0.0) for word, value in query.items())
    return dot / sqrt(sum(value * value for value in document.values()))


def d_cross_entropy(mu: float, lam: float) -> Literal:
    """Σ_w θ_D(w) log α(w) over the whole vocabulary."""

    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        known = c.known(weights)
        total = 0.0
        for word in c.cf:
            theta = (doc.count(word) + mu * c.p(word)) / (len(doc) + mu)
            alpha = lam * known.get(word, 0.0) / sum(known.values()) + (1 - lam) * c.p(word)
            total += theta * log(alpha)
        return total

    return score


def likelihood_ratio(lam: float) -> Literal:
    """log P(D|θ^R) - log P(D|θ^N), token by token."""

    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        known = c.known(weights)
        relevant = {w: lam * known.get(w, 0.0) / sum(known.values()) + (1 - lam) * c.p(w) for w in c.cf}
        return sum(log(relevant[token]) for token in doc) - sum(log(c.p(token)) for token in doc)

    return score


def dirichlet_multinomial(mu: float) -> Literal:
    """The integral of P(Q|θ) over the Dirichlet posterior of θ, by its gamma functions; f need not be whole."""

    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        known = c.known(weights)
        alpha = {word: doc.count(word) + mu * c.p(word) for word in c.cf}
        A, Q = sum(alpha.values()), sum(known.values())
        words = sum(lgamma(alpha[word] + f) - lgamma(alpha[word]) for word, f in known.items())
        return lgamma(A) - lgamma(A + Q) + words

    return score


def smoothed_dirichlet_integral(mu: float) -> Literal:
    """The ratio of two approximate normalisers of SD (3.24), each over the whole vocabulary."""

    def normaliser(alpha: Sequence[float]) -> float:
        return sum(a * log(a) for a in alpha) - sum(alpha) * log(sum(alpha))

    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        alpha = {word: doc.count(word) + mu * c.p(word) for word in c.cf}
        asked = {word: a + c.known(weights).get(word, 0.0) for word, a in alpha.items()}
        return normaliser(list(asked.values())) - normaliser(list(alpha.values()))

    return score


def bigram_chain(mu: float, lam: float, query: Sequence[str]) -> Literal:
    """Word after word of the query: λ·c(ab)/c(a) + (1-λ)·θ_D(b), the first by θ_D alone."""

    def score(c: Collection, weights: Weights, doc: Sequence[str]) -> float:
        total, before = 0.0, ""
        for word in query:
            theta = (doc.count(word) + mu * c.p(word)) / (len(doc) + mu)
            pairs = sum(1 for pair in pairwise(doc) if pair == (before, word))
            follows = pairs / doc.count(before) if doc.count(before) else 0.0
            total += log(lam * follows + (1 - lam) * theta) if before else log(theta)
            before = word
        return total

    return score


MODELS: dict[str, Callable[[float], tuple[RankingModel, Literal]]] = {
    "dirichlet": lambda x: (QueryLikelihood(Dirichlet(x * 800)), dirichlet(x * 800)),
    "jm": lambda x: (QueryLikelihood(JelinekMercer(x)), jelinek_mercer(x)),
    "twostage": lambda x: (QueryLikelihood(TwoStage(x, 50 * x)), two_stage(x, 50 * x)),
    "absolute": lambda x: (QueryLikelihood(AbsoluteDiscounting(x)), absolute_discounting(x)),
    "bm25": lambda x: (BM25(3 * x, x), bm25(3 * x, x)),
    "tfidf": lambda x: (TfIdf(), tf_idf_cosine),
    "dce": lambda x: (DCrossEntropy(100 * x, x), d_cross_entropy(100 * x, x)),
    "ratio": lambda x: (LikelihoodRatio(x), likelihood_ratio(x)),
}

WORDS = [f"w{i}" for i in range(9)]
words = st.sampled_from([*WORDS, "w0", "w0", "w1"])
documents = st.lists(st.lists(words, max_size=25), min_size=1, max_size=12)
weights = st.dictionaries(
    st.sampled_from([*WORDS, "unseen"]), st.one_of(st.just(1.0), st.floats(1e-6, 1e6)), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(documents, weights, st.floats(0.01, 0.99), st.integers(1, 3))
def test_scores_of_all_matching_documents(build, lists, asked, x, n_segments) -> None:
    # A copy of the first document makes a tie, and one document is always empty.
    tokens = {f"d{i:02}": doc for i, doc in enumerate([*lists, lists[0], []])}
    pieces = [dict(list(tokens.items())[i::n_segments]) for i in range(n_segments)]
    engine = build(*(piece for piece in pieces if piece))
    collection = Collection(tokens)
    for name, make in MODELS.items():
        model, literal = make(x)
        result = engine.search(asked, k=100, model=model)
        expected = {doc_id: literal(collection, asked, tokens[doc_id]) for doc_id in collection.matching(asked)}
        assert set(result.ids) == set(expected), name
        for doc_id, score in zip(result.ids, result.scores.tolist(), strict=True):
            assert score == pytest.approx(expected[doc_id], rel=1e-9, abs=1e-9), (name, doc_id)
        ranked = list(zip((-result.scores).tolist(), result.ids, strict=True))
        assert ranked == sorted(ranked), name


def test_the_engine_names_the_same_models(build) -> None:
    """Names and parameters on the road from `Engine.search` reach the formula they stand for."""
    tokens = {"1": list("aabc"), "2": list("ad"), "3": [], "4": list("bcccde")}
    engine, collection, asked = build(tokens), Collection(tokens), {"a": 1.0, "c": 2.0, "zebra": 1.0}
    cases: list[tuple[str, dict[str, float], Literal]] = [
        ("dirichlet", {}, dirichlet(400)),
        ("dirichlet", {"mu": 3}, dirichlet(3)),
        ("jm", {}, jelinek_mercer(0.3)),
        ("jm", {"lam": 0.8}, jelinek_mercer(0.8)),
        ("twostage", {}, two_stage(0.9, 400)),
        ("twostage", {"lam": 0.2, "mu": 7}, two_stage(0.2, 7)),
        ("absolute", {}, absolute_discounting(0.7)),
        ("absolute", {"delta": 0.1}, absolute_discounting(0.1)),
        ("bm25", {}, bm25(2.0, 0.75)),
        ("bm25", {"k1": 0.9, "b": 0.4}, bm25(0.9, 0.4)),
        ("tfidf", {}, tf_idf_cosine),
        ("dce", {}, d_cross_entropy(400, 0.5)),
        ("dce", {"mu": 2, "lam": 0.9}, d_cross_entropy(2, 0.9)),
        ("ratio", {}, likelihood_ratio(0.5)),
        ("ratio", {"lam": 0.9}, likelihood_ratio(0.9)),
        ("dcm", {}, dirichlet_multinomial(400)),
        ("dcm", {"mu": 3}, dirichlet_multinomial(3)),
        ("sd", {}, smoothed_dirichlet_integral(1000)),
        ("sd", {"mu": 3}, smoothed_dirichlet_integral(3)),
    ]
    for name, parameters, literal in cases:
        result = engine.search("a c^2 zebra", model=name, **parameters)
        expected = {doc_id: literal(collection, asked, tokens[doc_id]) for doc_id in ("1", "2", "4")}
        assert dict(zip(result.ids, result.scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-12)


def test_repeated_query_words_count_as_often_as_they_occur(build) -> None:
    tokens = {"1": ["a", "b"], "2": ["b", "b", "c"]}
    engine, collection = build(tokens), Collection(tokens)
    result = engine.search("a b b", model="dirichlet", mu=5)
    for doc_id, score in zip(result.ids, result.scores.tolist(), strict=True):
        query = ["a", "b", "b"]
        literal = sum(log((tokens[doc_id].count(w) + 5 * collection.p(w)) / (len(tokens[doc_id]) + 5)) for w in query)
        assert score == pytest.approx(literal, rel=1e-12)


def test_the_whole_integral_by_quadrature() -> None:
    """∫ P(Q|θ) Dir(θ | α) dθ over two words is what the gamma functions say, so that they are the right ones."""
    a, b, f, g = 2.5, 1.25, 3, 1
    grid = [(i + 0.5) / 20000 for i in range(20000)]
    density = [t ** (a - 1) * (1 - t) ** (b - 1) for t in grid]
    integral = sum(d * t**f * (1 - t) ** g for d, t in zip(density, grid, strict=True)) / sum(density)
    closed = sum(lgamma(x + n) - lgamma(x) for x, n in ((a, f), (b, g))) - (lgamma(a + b + f + g) - lgamma(a + b))
    assert log(integral) == pytest.approx(closed, abs=1e-4)


@pytest.mark.parametrize("lam", [0.1, 0.7])
def test_a_chain_of_words(build, lam) -> None:
    """Through two segments, with repeated pairs, documents without a pair, and a pair that no document holds."""
    tokens = {
        "1": list("abcab"),
        "2": list("acb"),
        "3": list("aab"),
        "4": list("xyz"),
        "5": list("bab"),
        "6": list("ca"),
    }
    engine = build({i: tokens[i] for i in "123"}, {i: tokens[i] for i in "456"})
    collection = Collection(tokens)
    for query in ("a b", "a b a b", "c a", "b b", "x a"):
        words = query.split()
        literal = bigram_chain(50, lam, words)
        result = engine.search(query, 10, model="bigram", mu=50, lam=lam)
        expected = {i: literal(collection, {}, tokens[i]) for i in tokens if set(words) & set(tokens[i])}
        assert dict(zip(result.ids, result.scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-10), query

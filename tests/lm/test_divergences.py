from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.lm import (
    Dirichlet,
    JelinekMercer,
    LanguageModel,
    cross_entropy,
    d_cross_entropy,
    entropy,
    jensen_shannon,
    kl,
    perplexity,
    symmetric_kl,
    t_cross_entropy,
)

V = 7
P_C = np.array([0.35, 0.25, 0.15, 0.1, 0.08, 0.06, 0.01])
WORDS = range(V)
texts = st.lists(st.integers(0, V - 1), max_size=12)
some_texts = texts.filter(bool)
smooth = st.builds(lambda text, mu: Dirichlet(mu).model(text, [1] * len(text)), texts, st.floats(0.01, 1000))
bare = st.builds(lambda text: LanguageModel.from_counts(text, [1] * len(text)), some_texts)
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def dense(model: LanguageModel) -> list[float]:
    return list(model.probability(WORDS, P_C))


# The literal formulas, word by word.
def literal_cross_entropy(p: list[float], q: list[float]) -> float:
    return -sum(p[w] * log(q[w]) for w in WORDS if p[w] > 0)


def literal_kl(p: list[float], q: list[float]) -> float:
    return sum(p[w] * log(p[w] / q[w]) for w in WORDS if p[w] > 0)


def literal_js(p: list[float], q: list[float], pi: float) -> float:
    m = [pi * p[w] + (1 - pi) * q[w] for w in WORDS]
    of_p = pi * literal_kl(p, m) if pi > 0 else 0.0  # 0 · ∞ = 0 where only one of the two is left
    of_q = (1 - pi) * literal_kl(q, m) if pi < 1 else 0.0
    return of_p + of_q


@given(st.one_of(smooth, bare), smooth)
def test_cross_entropies(p: LanguageModel, q: LanguageModel) -> None:
    expected = literal_cross_entropy(dense(p), dense(q))
    assert cross_entropy(p, q, P_C) == pytest.approx(expected, **CLOSE)
    assert cross_entropy(dense(p), dense(q)) == pytest.approx(expected, **CLOSE)
    assert t_cross_entropy(p, q, P_C) == pytest.approx(sum(dense(p) * np.log(dense(q))), **CLOSE)
    assert d_cross_entropy(q, p, P_C) == pytest.approx(sum(dense(p) * np.log(dense(q))), **CLOSE)
    assert perplexity(p, q, P_C) == pytest.approx(exp(expected), rel=1e-11)


@given(st.one_of(smooth, bare), smooth)
def test_the_sparse_form_of_the_architecture(topic: LanguageModel, document: LanguageModel) -> None:
    """Σ_{w∈D} α_w log(1 + e_D/(a_D p_C)) + (Σα) log a_D + Σ_w α_w log p_C, on dense arrays."""
    alpha, a_D = topic.probability(WORDS, P_C), document.background
    impact = sum(alpha[w] * np.log(1 + e / (a_D * P_C[w])) for w, e in zip(document.ids, document.excess, strict=True))
    expected = impact + sum(alpha) * log(a_D) + sum(alpha * np.log(P_C))
    assert t_cross_entropy(topic, document, P_C) == pytest.approx(expected, **CLOSE)


@given(some_texts, texts)
def test_t_cross_entropy_of_a_query_is_its_log_likelihood(query: list[int], text: list[int]) -> None:
    """SD (2.4)-(2.6): log P(Q|θ_D) = |Q| · -H(θ̂_Q, θ_D)."""
    document = JelinekMercer(0.4).model(text, [1] * len(text))
    log_likelihood = sum(log(dense(document)[w]) for w in query)
    asked = LanguageModel.from_counts(query, [1] * len(query))
    assert len(query) * t_cross_entropy(asked, document, P_C) == pytest.approx(log_likelihood, **CLOSE)


@given(some_texts, smooth)
def test_d_cross_entropy_is_the_log_likelihood_of_the_document(text: list[int], topic: LanguageModel) -> None:
    """SD (2.10), (2.11): Σ_j f_j log θ_T = |D| · -H(θ̂_D, θ_T)."""
    document = LanguageModel.from_counts(text, [1] * len(text))
    literal = sum(log(dense(topic)[w]) for w in text)
    assert len(text) * d_cross_entropy(topic, document, P_C) == pytest.approx(literal, **CLOSE)


@given(st.one_of(smooth, bare), smooth, st.floats(0, 1))
def test_divergences(p: LanguageModel, q: LanguageModel, pi: float) -> None:
    P, Q = dense(p), dense(q)
    assert kl(p, q, P_C) == pytest.approx(literal_kl(P, Q), **CLOSE)
    assert kl(P, Q) == pytest.approx(literal_kl(P, Q), **CLOSE)
    assert kl(p, q, P_C) == pytest.approx(cross_entropy(p, q, P_C) - entropy(p, P_C), **CLOSE)
    assert jensen_shannon(p, q, P_C, weight_of_p=pi) == pytest.approx(literal_js(P, Q, pi), **CLOSE)
    assert jensen_shannon(P, Q, weight_of_p=pi) == pytest.approx(literal_js(P, Q, pi), **CLOSE)


@given(smooth, smooth)
def test_symmetric_kl(p: LanguageModel, q: LanguageModel) -> None:
    literal = 0.5 * (literal_kl(dense(p), dense(q)) + literal_kl(dense(q), dense(p)))
    assert symmetric_kl(p, q, P_C) == pytest.approx(literal, **CLOSE)
    assert symmetric_kl(q, p, P_C) == pytest.approx(symmetric_kl(p, q, P_C), **CLOSE)


@given(st.one_of(smooth, bare))
def test_entropy(p: LanguageModel) -> None:
    expected = -sum(x * log(x) for x in dense(p) if x > 0)
    assert entropy(p, P_C) == pytest.approx(expected, **CLOSE)
    assert entropy(dense(p)) == pytest.approx(expected, **CLOSE)
    assert perplexity(p, p, P_C) == pytest.approx(exp(expected), rel=1e-11)


@given(st.one_of(smooth, bare), smooth)
def test_kl_is_zero_only_for_equals(p: LanguageModel, q: LanguageModel) -> None:
    assert kl(p, q, P_C) >= 0
    assert kl(q, q, P_C) == 0
    if np.abs(np.subtract(dense(p), dense(q))).max() > 1e-6:
        assert kl(p, q, P_C) > 0


@given(st.one_of(smooth, bare), st.one_of(smooth, bare))
def test_jensen_shannon_is_symmetric_and_at_most_log_2(p: LanguageModel, q: LanguageModel) -> None:
    value = jensen_shannon(p, q, P_C)
    assert 0 <= value <= log(2) + 1e-15
    assert value == pytest.approx(jensen_shannon(q, p, P_C), **CLOSE)
    assert jensen_shannon(p, p, P_C) == 0


def test_known_values() -> None:
    left, right = LanguageModel.from_counts([0], [1]), LanguageModel.from_counts([1], [1])
    assert jensen_shannon(left, right) == pytest.approx(log(2))
    assert entropy([0.25] * 4) == pytest.approx(log(4))
    assert perplexity([0.25] * 4, [0.25] * 4) == pytest.approx(4)
    assert kl([0.5, 0.5], [0.25, 0.75]) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))


def test_support_that_covers_needs_no_background() -> None:
    p, q = LanguageModel.from_counts([0, 2], [1, 3]), LanguageModel.from_counts([0, 1, 2], [2, 1, 1])
    assert t_cross_entropy(p, q) == pytest.approx(0.25 * log(0.5) + 0.75 * log(0.25))
    everywhere = LanguageModel(WORDS, P_C, 0.0)
    smoothed = Dirichlet(3).model([1], [2])
    assert kl(smoothed, everywhere, P_C) == pytest.approx(literal_kl(dense(smoothed), list(P_C)), **CLOSE)
    expected = literal_cross_entropy(dense(smoothed), list(P_C))
    assert cross_entropy(smoothed, everywhere, P_C) == pytest.approx(expected, **CLOSE)


def test_a_view_of_the_words_is_enough_unless_the_topic_has_background() -> None:
    query, document = LanguageModel.from_counts([1], [1]), Dirichlet(10).model([0, 1], [3, 1])
    view = [0.01, 0.002]
    assert t_cross_entropy(query, document, view) == pytest.approx(log((1 + 10 * 0.002) / 14))
    other = Dirichlet(20).model([1], [2])
    assert kl(other, document, view) > 0
    with pytest.raises(ParameterError, match="sum to 1"):
        t_cross_entropy(other, document, view)


def test_what_would_be_infinite_or_meaningless_raises() -> None:
    p, q = LanguageModel.from_counts([0], [1]), LanguageModel.from_counts([1], [1])
    smoothed = Dirichlet(3).model([1], [2])
    bad_calls = [
        (lambda: t_cross_entropy(p, q), "smooth it"),
        (lambda: t_cross_entropy(smoothed, q, P_C), "smooth it"),
        (lambda: kl(p, q), "smooth it"),
        (lambda: kl(smoothed, p, P_C), "smooth it"),
        (lambda: symmetric_kl(smoothed, p, P_C), "smooth it"),
        (lambda: kl([0.5, 0.5], [1, 0]), "smooth it"),
        (lambda: t_cross_entropy(p, smoothed), "needs the collection model"),
        (lambda: kl(p, smoothed), "needs the collection model"),
        (lambda: t_cross_entropy(p, smoothed, [0, 0.5, 0.5]), "greater than 0"),
        (lambda: kl(p, smoothed, [0.9, 0.9]), "more than 1"),
        (lambda: kl(p, [0.5, 0.5], P_C), "not one of each"),
        (lambda: kl([0.5, 0.5], [0.2, 0.2, 0.6]), "2 and 3 words"),
        (lambda: kl([0.5, 0.6], [0.5, 0.5]), "first array must sum to 1"),
        (lambda: kl([0.5, 0.5], [1.5, -0.5]), "second array must be finite"),
        (lambda: jensen_shannon(p, q, weight_of_p=2), "weight_of_p"),
    ]
    for call, complaint in bad_calls:
        with pytest.raises(ParameterError, match=complaint):
            call()

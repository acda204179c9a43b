"""Comparing distributions over words: cross-entropies, divergences, entropy, perplexity. All in nats.

Each function takes either two dense arrays that sum to 1, or two `LanguageModel`s and the collection model p_C
(indexed by word id). For models the sums are sparse and exact:

- a divergence depends on two models only through the ratio of their probabilities, and all words outside both
  supports have the one ratio a_p/a_q; so these words count as a single cell of mass a·(1 - Σ_support p_C);
- a cross-entropy takes the logarithm log θ(w) = log(1 + e(w)/(a·p_C(w))) + log a + log p_C(w) apart.

An infinite value is never returned: where the second distribution has no probability for a word of the first,
`ParameterError` asks for smoothing.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import InputError, ParameterError
from germane.lm.model import LanguageModel, background_at
from germane.lm.parameters import distribution, fraction

Distribution: TypeAlias = LanguageModel | npt.ArrayLike

NO_WORDS = 1e-12
"""Collection mass below which the words outside a support are rounding error, not words (one token in 10¹²)."""


def t_cross_entropy(topic: Distribution, document: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """T-cross-entropy as a ranking score, higher is better: -H(θ_T, θ_D) = Σ_w θ_T(w) log θ_D(w).

    Source: SD (2.3), (5.9), named in §2.4. With the query's MLE as topic it is log P(q|d)/|q|, SD (2.6).
    Departure: computed as Σ_{w∈D} θ_T(w) log(1 + e_D(w)/(a_D·p_C(w))) + log a_D + Σ_w θ_T(w) log p_C(w).
    """
    return -cross_entropy(topic, document, p_C)


def d_cross_entropy(topic: Distribution, document: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """D-cross-entropy as a ranking score, higher is better: -H(θ_D, θ_T) = Σ_w θ_D(w) log θ_T(w).

    Source: SD (2.11), and each half of (2.18), named in §2.4. The document is usually its MLE, the topic smoothed.
    """
    return -cross_entropy(document, topic, p_C)


def cross_entropy(p: Distribution, q: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """H(p, q) = -Σ_w p(w) log q(w). Source: SD (2.3)."""
    if not (isinstance(p, LanguageModel) and isinstance(q, LanguageModel)):
        return -_sum_log(*_cells(p, q, p_C))
    if q.background == 0:
        p_cells, q_cells = _cells(p, q, p_C)
        return -_sum_log(p_cells, q_cells)
    of_q, of_p = background_at(q.ids, p_C), background_at(p.ids, p_C)
    if (of_q == 0).any() or (of_p == 0).any():
        raise ParameterError("p_C must be greater than 0 on every word of the models")
    matched = p.probability(q.ids, p_C) @ np.log1p(q.excess / (q.background * of_q))
    constant = p.excess @ np.log(of_p)
    if p.background > 0:
        whole = distribution("p_C, summed over the vocabulary,", np.asarray(p_C))
        constant += p.background * _sum_log(whole, whole)
    return -float(matched + _mass(p) * np.log(q.background) + constant)


def entropy(p: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """H(p) = -Σ_w p(w) log p(w), with 0 log 0 = 0."""
    if isinstance(p, LanguageModel) and p.background == 0:
        return -_sum_log(p.excess, p.excess)
    return cross_entropy(p, p, p_C)


def perplexity(p: Distribution, q: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """exp H(p, q): how many equally likely words q hesitates between, on text with distribution p.

    Source: SD (3.42), for a text whose words are independent given q and whose MLE is p.
    """
    return float(np.exp(cross_entropy(p, q, p_C)))


def kl(p: Distribution, q: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """Kullback-Leibler divergence: KL(p || q) = Σ_w p(w) log(p(w)/q(w)). Source: SD (2.3); Refine (11)."""
    return _kl(*_cells(p, q, p_C))


def symmetric_kl(p: Distribution, q: Distribution, p_C: npt.ArrayLike | None = None) -> float:
    """½·(KL(p || q) + KL(q || p)). Source: Refine (11), with both arguments over the same words (erratum)."""
    p_cells, q_cells = _cells(p, q, p_C)
    return 0.5 * (_kl(p_cells, q_cells) + _kl(q_cells, p_cells))


def jensen_shannon(
    p: Distribution, q: Distribution, p_C: npt.ArrayLike | None = None, *, weight_of_p: float = 0.5
) -> float:
    """JS_π(p, q) = π·KL(p || m) + (1-π)·KL(q || m), m = π·p + (1-π)·q; at most log 2, and always finite.

    Source: Refine (14) for two distributions; Lin (1991).
    """
    pi = fraction("weight_of_p", weight_of_p)
    p_cells, q_cells = _cells(p, q, p_C)
    middle = pi * p_cells + (1 - pi) * q_cells
    return sum(w * _kl(cells, middle) for w, cells in ((pi, p_cells), (1 - pi, q_cells)) if w > 0)


def _sum_log(p: Floats, q: Floats) -> float:
    """Σ p log q over the words with p > 0, all of which need q > 0."""
    seen = p > 0
    if (q[seen] == 0).any():
        raise ParameterError("the second distribution gives 0 to a word of the first: smooth it (background > 0)")
    return float(p[seen] @ np.log(q[seen]))


def _kl(p: Floats, q: Floats) -> float:
    """Σ p log(p/q) over the words with p > 0; a rounding error below 0 is returned as 0."""
    seen = p > 0
    if (q[seen] == 0).any():
        raise ParameterError("the second distribution gives 0 to a word of the first: smooth it (background > 0)")
    return max(0.0, float(p[seen] @ np.log(p[seen] / q[seen])))


def _mass(p: LanguageModel) -> float:
    return float(p.excess.sum()) + p.background


def _cells(p: Distribution, q: Distribution, p_C: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """p and q over the same cells: given arrays as they are; models on the union support and one cell for the rest."""
    if isinstance(p, LanguageModel) and isinstance(q, LanguageModel):
        ids: Integers = np.union1d(p.ids, q.ids)
        if p.background == q.background == 0:
            return p.probability(ids), q.probability(ids)
        rest = 1.0 - float(background_at(ids, p_C).sum())
        if rest < -NO_WORDS:
            raise ParameterError(f"p_C sums to {1 - rest!r} on the words of the models: more than 1")
        rest = rest if rest > NO_WORDS else 0.0
        return np.append(p.probability(ids, p_C), p.background * rest), np.append(
            q.probability(ids, p_C), q.background * rest
        )
    if isinstance(p, LanguageModel) or isinstance(q, LanguageModel):
        raise ParameterError("compare two language models, or two arrays, not one of each")
    left, right = distribution("the first array", p), distribution("the second array", q)
    if left.shape != right.shape:
        raise ParameterError(f"the arrays have {left.size} and {right.size} words")
    return left, right


def document_perplexity(log_probabilities: npt.ArrayLike, len_d: npt.ArrayLike) -> float:
    """exp(-Σ_i log P(f^i) / Σ_i |D_i|), lower is better. Source: SD (3.42).

    `log_probabilities` are those of a mass function (`Multinomial`, `DCM`), all with or all without the coefficient;
    densities cannot be compared with them, SD §3.4. ∞ where a document has probability 0. For one document under a
    multinomial without the coefficient it is `germane.lm.perplexity` of the document's MLE.
    """
    logs, lengths = np.asarray(log_probabilities, dtype=np.float64), np.asarray(len_d, dtype=np.float64)
    if logs.shape != lengths.shape or logs.ndim != 1:
        raise InputError(f"{logs.shape} log-probabilities do not match {lengths.shape} lengths")
    if np.isnan(logs).any() or not lengths.sum() > 0:
        raise InputError("perplexity needs log-probabilities that are numbers, and at least one word")
    return float(np.exp(-logs.sum() / lengths.sum()))

"""The two means of document models: arithmetic (the Relevance Model) and geometric (the Smoothed Dirichlet)."""

from typing import TYPE_CHECKING

import numpy as np

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.lazy import LazyModule, compiler_is_loaded
from germane.lm import LanguageModel, Smoothing

if TYPE_CHECKING:
    from germane.feedback import kernels
else:
    kernels = LazyModule("germane.feedback.kernels")

MOST_TABLED = 256
"""Where no word comes more often in a document, the excess of each count is computed once a document."""

sparse = LanguageModel.sparse
"""The model with this excess over all words of the evidence, and this background."""


def arithmetic_mean(evidence: Evidence, weights: Floats, smoothing: Smoothing) -> LanguageModel:
    """θ(w) = Σ_i W(i)·θ^i(w), SD (5.2) and table 5.1 row 4: e = Σ W·e_i, a = Σ W·a_i. The weights sum to 1."""
    excess = mean_excess(evidence, weights, smoothing)
    return sparse(excess, float(weights @ evidence.background(smoothing)))


def mean_excess(evidence: Evidence, weights: Floats, smoothing: Smoothing) -> Floats:
    """That e of each word."""
    most = int(evidence.counts.max(initial=1.0))
    if most > MOST_TABLED or not evidence.is_counted or not compiler_is_loaded():
        return evidence.per_word(weights[evidence.document_of] * evidence.excess(smoothing))
    sums, table = np.zeros(evidence.n_words), evidence.excess_table(smoothing, most)
    kernels.sum_by_word(evidence.starts, evidence.ids, evidence.counts, table, weights, sums)
    return sums


def geometric_mean(evidence: Evidence, weights: Floats, smoothing: Smoothing) -> LanguageModel:
    """θ(w) = (1/Z)·Π_i θ^i(w)^W(i), SD (5.13), (5.14), computed over the non-zero entries only (3.33).

    With R(w) = exp Σ_i W(i)·log(1 + e_i(w)/(a_i·p_C(w))) and Z = 1 + Σ_w p_C(w)·(R(w)-1): e = p_C·(R-1)/Z, a = 1/Z;
    Π a_i^W(i) cancels. See `LanguageModel.geometric_mean`. The weights sum to 1.
    """
    ratios = evidence.log_ratios(smoothing)
    raised = evidence.p_C * np.expm1(evidence.per_word(weights[evidence.document_of] * ratios))
    Z = 1.0 + float(raised.sum())
    return sparse(raised / Z, 1.0 / Z)

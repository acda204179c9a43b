"""The parameters of all ranking models as keywords, for editors and type checkers."""

from typing import TypedDict


class ModelParameters(TypedDict, total=False):
    """What may stand beside `model=...` in a search; which model takes which: `rank.registry.MODELS`.

    None is the model's default.
    """

    mu: float | None
    """Prior mass μ of Dirichlet smoothing, in words."""
    lam: float | None
    """Weight λ of the document in Jelinek-Mercer smoothing and its kin."""
    delta: float | None
    """Discount δ of absolute discounting."""
    k1: float | None
    """Saturation of term frequency in BM25."""
    b: float | None
    """Normalisation by length in BM25."""
    idf: float | None
    """Power of the inverse document frequency in `adaptive`."""
    burst: float | None
    """Power of a word's burstiness in `adaptive`."""
    ordered: float | None
    """Share of ordered pairs of words in sequential dependence."""
    unordered: float | None
    """Share of unordered pairs of words in sequential dependence."""
    pair_k1: float | None
    """k1 of pairs of words."""
    pair_b: float | None
    """b of pairs of words."""

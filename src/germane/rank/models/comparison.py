"""Models that exist for comparison with query likelihood, as the papers compare them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm import Dirichlet
from germane.lm.parameters import EDGE, bounded, open_fraction
from germane.rank.kinds import COUNT
from germane.rank.models.base import Documents, RankingModel, WordSums
from germane.rank.models.defaults import DEFAULT_MU
from germane.rank.plan import Collection, Plan, QueryTerm


@dataclass(frozen=True)
class DCrossEntropy(RankingModel):
    """D-cross-entropy, for comparison: -H(θ_D, α) = Σ_w θ_D(w) log α(w), SD (2.11).

    θ_D is Dirichlet-smoothed with `mu`; the query model must be smoothed too: α(w) = λ·α̂(w) + (1-λ)·p_C(w), α̂ being the
    query's weights divided by their sum. Over the words of D: Σ c·[log p_C + log(1 + λα̂/((1-λ)p_C))]/(|D|+μ) + log(1-λ)
    + a_D·(Σ_w p_C log p_C + Σ_Q p_C log(1 + λα̂/((1-λ)p_C))).
    """

    needs_entropy: ClassVar[bool] = True
    mu: float = DEFAULT_MU
    lam: float = 0.5

    def __post_init__(self) -> None:
        Dirichlet(self.mu)
        bounded("lam", open_fraction("lam", self.lam), EDGE, 1.0 - EDGE)

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        if collection.entropy is None:
            raise ParameterError("D-cross-entropy needs the entropy of the collection, Collection(entropy=...)")
        p_C = [term.cf / collection.n_tokens for term in terms]
        total = math.fsum(term.weight for term in terms)
        odds = self.lam / (1.0 - self.lam)
        weight = [math.log1p(odds * term.weight / total / p) for term, p in zip(terms, p_C, strict=True)]
        background = math.fsum(p * w for p, w in zip(p_C, weight, strict=True)) - collection.entropy
        constant = math.log(1.0 - self.lam)
        return Plan.ordered(COUNT, terms, weight, strength=weight, constant=constant, mass=background)

    def word_sums(self) -> WordSums:
        return WordSums.LOG_PROBABILITY

    def document_norm(self, documents: Documents) -> Floats:
        """1/(|D| + μ), by which the counts are divided."""
        return 1.0 / (documents.length.astype(np.float64) + self.mu)

    def document_background(self, documents: Documents) -> Floats:
        """a_D = μ/(|D| + μ), which multiplies the query's background."""
        return self.mu / (documents.length.astype(np.float64) + self.mu)

    def document_base(self, documents: Documents) -> Floats:
        """Σ_{w∈D} c log p_C(w)/(|D| + μ), which is the document's own whatever the query."""
        return documents.sums / (documents.length.astype(np.float64) + self.mu)


@dataclass(frozen=True)
class LikelihoodRatio(RankingModel):
    """P(D|R)/P(D|N) of two multinomials: Σ_w c·log(θ^R(w)/θ^N(w)) = |D|·(H(θ̂^D, θ^N) - H(θ̂^D, θ^R)), SD (2.16)-(2.18).

    θ^R = λ·α̂ + (1-λ)·p_C, α̂ being the query's weights divided by their sum, and θ^N = p_C. A word outside the query has
    the ratio 1-λ, so that the score is Σ_{w∈Q} c·log(1 + λα̂/((1-λ)p_C)) + |D|·log(1-λ). The document is not smoothed,
    its length not normalised. SD gives no estimate of the two classes from a query alone; these are those of (5.11) and
    (5.10). `DCrossEntropy` is the classifier's rule (2.11), which only decides between classes for one document.
    """

    lam: float = 0.5

    def __post_init__(self) -> None:
        bounded("lam", open_fraction("lam", self.lam), EDGE, 1.0 - EDGE)

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        total = math.fsum(term.weight for term in terms)
        odds = self.lam / (1.0 - self.lam)
        weight = [math.log1p(odds * (term.weight / total) / (term.cf / collection.n_tokens)) for term in terms]
        return Plan.ordered(COUNT, terms, weight, strength=weight)

    def document_base(self, documents: Documents) -> Floats:
        """|D|·log(1-λ), which is the document's own whatever the query."""
        return documents.length.astype(np.float64) * math.log1p(-self.lam)

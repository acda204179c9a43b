"""The Smoothed Dirichlet distribution (SD): a Dirichlet over smoothed language models only, SD §3.3."""

from math import log

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.special import betainc, betaincinv, gammaln, softmax, xlogy

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.distributions.counts import Counts
from germane.lm.distributions.smoothed_documents import LogProportions, SmoothedDocuments, full_background
from germane.lm.parameters import (
    at_words,
    fraction,
    open_fraction,
    positive,
    precision_vector,
    proportions_of_words,
    whole,
)

LARGEST_V = 4
"""Numerical integration in V-1 dimensions is refused above this vocabulary."""


class SmoothedDirichlet:
    """P_a(θ|α) = S^S/Π_j α_j^α_j · Π_j θ_j^(α_j-1) over θ = λ·θ̂ + (1-λ)·p_C: `alpha` ≥ 0, `p_C` > 0, 0 < `lam` < 1.

    Source: SD (3.25), the approximate density, whose normaliser replaces Γ(α) by e^-α·α^α (3.23); it integrates to 1
    only roughly. The exact one (3.16) is `exact_log_density`, for a few words. λ and p_C are part of the distribution:
    they say which θ^D a document is.
    """

    def __init__(self, alpha: npt.ArrayLike, p_C: npt.ArrayLike, lam: float) -> None:
        self.alpha, self.p_C, self.lam = precision_vector(alpha), full_background(p_C), open_fraction("lam", lam)
        if self.alpha.size != self.p_C.size:
            raise ParameterError(f"alpha has {self.alpha.size} words, but p_C has {self.p_C.size}")
        self.S = float(self.alpha.sum())
        self.V = self.alpha.size

    @classmethod
    def fit(cls, statistics: LogProportions, *, S: float = 1.0) -> "SmoothedDirichlet":
        """α = (S/Z) {Π_i (1 + λθ̂^i/((1-λ)p_C))}^(1/N) · (1-λ)p_C, the normalised weighted geometric mean.

        Source: SD (3.28), (3.33). It maximises (3.25) for any given S = Σα; S itself has no maximum there.
        """
        return cls(positive("S", S) * softmax(statistics.mean_log), statistics.p_C, statistics.lam)

    def log_density(self, counts: Counts) -> Floats:
        """log P_a(θ^D|α) of each document, SD (3.25). An empty one is θ^D = p_C."""
        return self._kernel(counts) - approximate_log_normaliser(self.alpha)

    def exact_log_density(self, counts: Counts) -> Floats:
        """log P(θ^D|α) of each document with the exact normaliser, SD (3.16); for at most `LARGEST_V` words."""
        return self._kernel(counts) - exact_log_normaliser(self.alpha, self.p_C, self.lam)

    def log_marginal(self, words: npt.ArrayLike, theta: npt.ArrayLike) -> Floats:
        """log P_a(θ_j|α) = log S^S/(α_j^α_j·(S-α_j)^(S-α_j)) + (α_j-1) log θ_j + (S-α_j-1) log(1-θ_j), SD (3.49).

        `words` (ids) and `theta` broadcast. A density, and an approximate one: normalise it before plotting counts.
        """
        a = at_words(self.alpha, words)
        b = self.S - a
        theta_j = proportions_of_words(theta)
        normaliser = xlogy(a, a) + xlogy(b, b) - xlogy(self.S, self.S)
        return np.asarray((a - 1) * np.log(theta_j) + (b - 1) * np.log1p(-theta_j) - normaliser)

    def log_mass_bound(self, counts: Counts, *, at_edges: bool = False) -> Floats:
        """An upper bound on log P(f^D|α): log P_a(θ^D|α) + (V-1) log λ - (V-1) log |D|.

        Source: SD (7.15), from the volume (7.12) of the models that round to f^D. Departure: λ^(V-1) where (7.6) prints
        λ^V, for the simplex has V-1 dimensions (the erratum to (3.15)); with λ^V it would not be a bound. With
        `at_edges` each absent word halves the volume, (7.13). The density is taken as constant over the volume, (7.5).
        An empty document is the only one of its length: 0.
        """
        documents = SmoothedDocuments.of(counts, self.p_C, self.lam)
        len_d = np.maximum(documents.len_d, 1.0)
        log_volume = (self.V - 1) * (log(self.lam) - np.log(len_d))
        if at_edges:
            log_volume = log_volume - log(2) * (self.V - np.diff(documents.log_ratios.indptr))
        bound = documents.weighted_logs(self.alpha - 1) - approximate_log_normaliser(self.alpha) + log_volume
        return np.where(documents.len_d > 0, bound, 0.0)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None, sweeps: int = 200) -> Floats:
        """n language models θ of the exact density (3.16), as an n × V array (every θ is full).

        A Gibbs sampler: each sweep pairs the words at random and redraws how each pair divides its sum s, which is
        s·Beta(α_i, α_j) cut to the smoothed simplex. The n chains are independent; they start at λ·Dirichlet(1) +
        (1-λ)·p_C and need more `sweeps` for a larger V. Needs α > 0.
        """
        whole("n", n, least=0), whole("sweeps", sweeps, least=1)
        if (self.alpha == 0).any():
            raise ParameterError("sampling needs alpha greater than 0 for every word")
        rng = np.random.default_rng(random_state)
        least = (1 - self.lam) * self.p_C
        theta = self.lam * rng.dirichlet(np.ones(self.V), size=n) + least
        for _ in range(sweeps):
            order = rng.permutation(self.V)
            i, j = order[: self.V // 2], order[self.V // 2 : 2 * (self.V // 2)]
            both = theta[:, i] + theta[:, j]
            low = betainc(self.alpha[i], self.alpha[j], least[i] / both)
            high = betainc(self.alpha[i], self.alpha[j], 1 - least[j] / both)
            cut = betaincinv(self.alpha[i], self.alpha[j], low + (high - low) * rng.random(both.shape))
            theta[:, i] = np.clip(cut * both, least[i], both - least[j])
            theta[:, j] = both - theta[:, i]
        return np.asarray(theta)

    def _kernel(self, counts: Counts) -> Floats:
        return SmoothedDocuments.of(counts, self.p_C, self.lam).weighted_logs(self.alpha - 1)


def approximate_log_normaliser(alpha: npt.ArrayLike) -> float:
    """log Z_a = Σ_j α_j log α_j - S log S, with 0 log 0 = 0. Source: SD (3.24)."""
    a = precision_vector(alpha)
    return float(xlogy(a, a).sum() - xlogy(a.sum(), a.sum()))


def exact_log_normaliser(alpha: npt.ArrayLike, p_C: npt.ArrayLike, lam: float) -> float:
    """log Z = log λ^(V-1) ∫_Δ Π_j (λθ̂_j + (1-λ)p_C(j))^(α_j-1) dθ̂, by quadrature; at most `LARGEST_V` words.

    Source: SD (3.14), (3.15). Departure: λ^(V-1), not λ (erratum). For λ = 1 it is the Dirichlet's, (3.12), in closed
    form. It stays finite where an α_j is 0, SD figure 3.4(a).
    """
    a, shares = precision_vector(alpha), full_background(p_C)
    if a.size != shares.size:
        raise ParameterError(f"alpha has {a.size} words, but p_C has {shares.size}")
    if fraction("lam", lam) == 0:
        raise ParameterError("lam must be greater than 0")
    if lam == 1:
        return float(gammaln(a).sum() - gammaln(a.sum()))
    if a.size > LARGEST_V:
        raise ParameterError(f"the exact normaliser is integrated for at most {LARGEST_V} words, not {a.size}")
    least = (1 - lam) * shares
    return log(_integral(a, least, 1.0))


def _integral(alpha: Floats, least: Floats, total: float) -> float:
    """∫ Π_j θ_j^(α_j-1) over θ_j ≥ least_j with Σθ = total, one word at a time."""
    if alpha.size == 1:
        return float(total ** (alpha[0] - 1))
    end = total - float(least[1:].sum())
    value, _ = quad(
        lambda theta: theta ** (alpha[0] - 1) * _integral(alpha[1:], least[1:], total - theta),
        least[0], end, epsabs=0.0, epsrel=1e-10,
    )  # fmt: skip
    return float(value)

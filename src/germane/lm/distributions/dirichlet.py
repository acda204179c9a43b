"""The Dirichlet distribution over multinomials θ, SD (3.1), and its estimation from mean logarithms."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln, psi, softmax, xlog1py, xlogy

from germane.arrays import Floats
from germane.errors import InputError, ParameterError
from germane.lm.distributions.ascent import Derivatives, ascend
from germane.lm.distributions.psi import inverse_psi, trigamma
from germane.lm.distributions.smoothed_documents import LogProportions, SmoothedDocuments
from germane.lm.parameters import SUM_TOLERANCE, at_words, positive, precision_vector, proportions_of_words, whole

STARTING_S = 10.0 ** np.arange(-1, 7)
"""Precisions tried at the observed mean, to start from the likeliest, when S is to be estimated."""


class DirichletDistribution:
    """P(θ|α) = Γ(S)/Π_j Γ(α_j) · Π_j θ_j^(α_j-1), S = Σα, over the simplex: `alpha` > 0. Source: SD (3.1).

    (`germane.lm.Dirichlet` is the smoothing.)
    """

    def __init__(self, alpha: npt.ArrayLike) -> None:
        self.alpha = precision_vector(alpha)
        if (self.alpha == 0).any():
            raise ParameterError("alpha must be greater than 0 for every word of a Dirichlet distribution")
        self.S = float(self.alpha.sum())
        self.V = self.alpha.size

    @classmethod
    def fit(
        cls, statistics: LogProportions, *, S: float | None = None, max_iter: int = 500, tol: float = 1e-12
    ) -> "DirichletDistribution":
        """The Dirichlet of `fit_dirichlet` for smoothed documents."""
        return cls(fit_dirichlet(statistics.mean_log, S=S, weight=statistics.weight, max_iter=max_iter, tol=tol).alpha)

    def log_density(self, theta: npt.ArrayLike | SmoothedDocuments) -> Floats:
        """log P(θ|α) for each of many smoothed documents (sparse), or for each row of an array of proportions > 0."""
        normaliser = float(gammaln(self.alpha).sum() - gammaln(self.S))
        if isinstance(theta, SmoothedDocuments):
            if theta.p_C.size != self.V:
                raise InputError(f"the documents have {theta.p_C.size} words, but the model has {self.V}")
            return theta.weighted_logs(self.alpha - 1) - normaliser
        rows = np.atleast_2d(np.asarray(theta, dtype=np.float64))
        if rows.ndim != 2 or rows.shape[1] != self.V:
            raise InputError(f"theta has shape {rows.shape}, but the model has {self.V} words")
        if not (rows > 0).all() or not np.allclose(rows.sum(axis=1), 1.0, atol=SUM_TOLERANCE, rtol=0):
            raise InputError("each theta must be greater than 0 everywhere and sum to 1: smooth the documents")
        return np.asarray(np.log(rows) @ (self.alpha - 1) - normaliser)

    def log_marginal(self, words: npt.ArrayLike, theta: npt.ArrayLike) -> Floats:
        """log P(θ_j|α), the density of Beta(α_j, S-α_j). Source: SD (3.48). `words` (ids) and `theta` broadcast."""
        a = at_words(self.alpha, words)
        theta_j = proportions_of_words(theta)
        return np.asarray(xlogy(a - 1, theta_j) + xlog1py(self.S - a - 1, -theta_j) - betaln(a, self.S - a))

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Floats:
        """n multinomials θ as an n × V array (every θ is full). Where α is tiny a θ_j may be too small for a float: 0.

        In logarithms, log γ_j = log Gamma(α_j + 1) + log(U)/α_j, so that small α do not make a whole row 0.
        """
        rng = np.random.default_rng(random_state)
        shape = (whole("n", n, least=0), self.V)
        logs = np.log(rng.standard_gamma(self.alpha + 1, size=shape)) - rng.standard_exponential(shape) / self.alpha
        return np.asarray(softmax(logs, axis=1)) if n else np.empty(shape)


class DirichletFit(NamedTuple):
    """Estimated α, its sum S, and the trace of the log-likelihood."""

    alpha: Floats
    S: float
    log_likelihoods: Floats


def fit_dirichlet(
    mean_log: npt.ArrayLike, *, S: float | None = None, weight: float = 1.0, max_iter: int = 500, tol: float = 1e-12
) -> DirichletFit:
    """Maximum likelihood of the Dirichlet (3.1): of the mean α/S for a given S, or with S=None of S too.

    `mean_log` is the sufficient statistic t_j = (1/N) Σ_i log θ_j^i (`LogProportions.mean_log` for smoothed
    documents); `weight` is N, which only scales the trace. Source: Minka (2003), §§ 1-2; SD §3.4 keeps S fixed.
    One point, or equal ones, have no maximum in S: those with Σ exp t_j = 1 are refused when S is free.
    """
    t = np.asarray(mean_log, dtype=np.float64)
    if t.ndim != 1 or t.size < 2:
        raise InputError("mean_log must be one number for each of at least two words")
    if not np.isfinite(t).all() or t.max() > 0:
        raise InputError("mean_log must be finite and at most 0: smooth the proportions, so that none is 0")
    mean = np.exp(t - t.max())
    mean /= mean.sum()
    total = float(np.exp(t).sum())
    if total > 1 + 1e-9:
        raise InputError(f"exp(mean_log) sums to {total}: means of logarithms of proportions cannot exceed 1")
    if S is None and total > 1 - 1e-12:
        raise InputError("all proportions are equal, so S has no maximum likelihood estimate: give S")
    likelihood = _Likelihood(t, positive("weight", weight))
    if S is not None:
        start = positive("S", S)
    else:
        start = float(max(STARTING_S, key=lambda each: likelihood.log_likelihood(each * mean)))
    alpha, trace = ascend(likelihood, start * mean, keep_S=S is not None, max_iter=max_iter, tol=tol)
    return DirichletFit(alpha, float(alpha.sum()), trace)


class _Likelihood:
    """N·(log Γ(S) - Σ_j log Γ(α_j) + Σ_j (α_j - 1)·t_j); concave in α."""

    def __init__(self, t: Floats, weight: float) -> None:
        self.t, self.weight = t, weight

    def log_likelihood(self, alpha: Floats) -> float:
        return self.weight * float(gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ self.t)

    def derivatives(self, alpha: Floats) -> Derivatives:
        S = alpha.sum()
        return Derivatives(
            self.weight * (psi(S) - psi(alpha) + self.t),
            -self.weight * trigamma(alpha),
            self.weight * float(trigamma(S)),
        )

    def fixed_point(self, alpha: Floats, *, keep_S: bool) -> Floats:
        """α_j ← ψ⁻¹(ψ(S) + t_j), Minka (2003) (9); for the mean alone ψ⁻¹(t_j + Σ_k m_k(ψ(α_k) - t_k)), rescaled."""
        S = alpha.sum()
        if not keep_S:
            return inverse_psi(psi(S) + self.t)
        moved = inverse_psi(self.t + (alpha / S) @ (psi(alpha) - self.t))
        return np.asarray(moved * (S / moved.sum()))

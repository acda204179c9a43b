"""The Dirichlet compound multinomial (DCM, or Pólya) distribution: a multinomial whose θ is drawn for each document."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from germane.arrays import Floats, Integers
from germane.errors import InputError
from germane.lm.distributions.ascent import Derivatives, ascend
from germane.lm.distributions.counts import Counts, blocks, checked_counts, checked_weights, lengths_of, sum_rows
from germane.lm.distributions.multinomial import documents_of, draw_words, log_binomial, log_coefficient
from germane.lm.distributions.psi import trigamma
from germane.lm.parameters import at_words, counts_and_lengths, positive, precision_vector, wholes

LARGE = 1e3
"""From here on the series is exact to rounding: its first neglected term is below 1/(1260·a⁵) = 10⁻¹⁸."""


def log_rising(a: Floats, f: Floats) -> Floats:
    """log Γ(a + f) - log Γ(a) for a > 0, f ≥ 0; for a whole f it is Σ_{k<f} log(a + k)."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = (top - 0.5) * np.log1p(f / A) + f * np.log(A) - f - f / (12 * A * top) - _cubes(A, top) / 360
    return np.asarray(np.where(large, series, gammaln(a + f) - gammaln(a)))


def log_rising_slope(a: Floats, f: Floats) -> Floats:
    """d/da of `log_rising`: ψ(a + f) - ψ(a) ≥ 0; for a whole f it is Σ_{k<f} 1/(a + k)."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = np.log1p(f / A) + f / (2 * A * top) + f * (A + top) / (12 * (A * top) ** 2)
    return np.asarray(np.where(large, series, psi(a + f) - psi(a)))


def log_rising_curvature(a: Floats, f: Floats) -> Floats:
    """d²/da² of `log_rising`: ψ'(a + f) - ψ'(a) ≤ 0; for a whole f it is -Σ_{k<f} 1/(a + k)²."""
    large = a > LARGE
    A = np.where(large, a, LARGE)
    top = A + f
    series = -f / (A * top) - f * (A + top) / (2 * (A * top) ** 2) + _cubes(A, top) / 6
    return np.asarray(np.where(large, series, trigamma(a + f) - trigamma(a)))


def _cubes(A: Floats, top: Floats) -> Floats:
    """1/(A + f)³ - 1/A³, where top = A + f."""
    return np.asarray(top**-3.0 - A**-3.0)


STARTING_S = 10.0 ** np.arange(-2, 6)
"""Precisions tried at the observed mean, to start from the likeliest, when S is to be estimated."""


class DCM:
    """P(f|α) = |D|!/Π_j f_j! · Γ(S)/Γ(S+|D|) · Π_j Γ(α_j+f_j)/Γ(α_j), S = Σα, over documents of a given length.

    Source: SD (3.2). Departure: (3.2) leaves out the coefficient |D|!/Π f_j!, without which it is the probability of
    the words in their order. `alpha` ≥ 0 with S > 0; a word with α_j = 0 never occurs.
    """

    def __init__(self, alpha: npt.ArrayLike) -> None:
        self.alpha = precision_vector(alpha)
        self.S = float(self.alpha.sum())
        self.V = self.alpha.size

    @classmethod
    def fit(
        cls, statistics: "DCMStatistics", *, S: float | None = None, max_iter: int = 500, tol: float = 1e-10
    ) -> "DCM":
        """The DCM of `fit_dcm`."""
        return cls(fit_dcm(statistics, S=S, max_iter=max_iter, tol=tol).alpha)

    def log_density(self, counts: Counts, *, coefficient: bool = True) -> Floats:
        """log P(f|α) of each document; -∞ where it holds a word with α_j = 0, and 0 for an empty one."""
        rows = checked_counts(counts, self.V)
        of_words = sum_rows(rows, _log_rising_from_0(self.alpha[rows.indices], rows.data))
        logs = of_words - log_rising(np.asarray(self.S), lengths_of(rows))
        return logs + log_coefficient(rows) if coefficient else logs

    def log_marginal(self, words: npt.ArrayLike, f: npt.ArrayLike, len_d: npt.ArrayLike) -> Floats:
        """log P(f_j|α, |D|), beta-binomial: log C(|D|, f_j) + log α_j^(f_j) + log (S-α_j)^(|D|-f_j) - log S^(|D|).

        Rising factorials a^(f) = Γ(a+f)/Γ(a); `words` (ids), `f` and `len_d` broadcast. Source: SD (3.44). Departure:
        as printed it has Γ(S+|D|-f_j), where the beta-binomial has Γ(S-α_j+|D|-f_j), and leaves out C(|D|, f_j);
        the printed form does not sum to 1.
        """
        a = at_words(self.alpha, words)
        times, lengths = counts_and_lengths(f, len_d)
        of_word, of_others = (
            _log_rising_from_0(a, times),
            _log_rising_from_0(np.maximum(self.S - a, 0), lengths - times),
        )
        return log_binomial(lengths, times) + of_word + of_others - log_rising(np.asarray(self.S), lengths)

    def sample(self, len_d: npt.ArrayLike, *, random_state: int | np.random.Generator | None = None) -> csr_array:
        """One document of each of the lengths, as sparse counts.

        By Pólya's urn, so that no θ is ever drawn: the t-th token (from 0) is new, drawn from α/S, with probability
        S/(S+t), and otherwise repeats one of the t before it, all alike.
        """
        lengths = wholes("len_d", len_d)
        rng = np.random.default_rng(random_state)
        n_tokens = int(lengths.sum())
        start = np.repeat(np.cumsum(lengths) - lengths, lengths)
        t = np.arange(n_tokens) - start
        new = rng.random(n_tokens) * (self.S + t) < self.S
        source = np.where(new, np.arange(n_tokens), start + np.floor(rng.random(n_tokens) * t).astype(np.int64))
        while (source != source[source]).any():  # follow repeats of repeats to the new token at their origin
            source = source[source]
        return documents_of(draw_words(self.alpha, n_tokens, rng)[source], lengths, self.V)


class DCMFit(NamedTuple):
    """Estimated α (0 for words that never occur), its sum S, and the trace of the log-likelihood."""

    alpha: Floats
    S: float
    log_likelihoods: Floats


@dataclass(frozen=True, eq=False)
class DCMStatistics:
    """What the likelihood (3.2) depends on: how heavily each word occurs f times, and how many documents have |D| = n.

    A histogram: word `words[k]` occurs `values[k]` > 0 times in documents of total weight `weights[k]`; documents of
    length `lengths[k]` > 0 weigh `length_weights[k]`. Statistics of two parts of a collection add up with `+`.
    """

    V: int
    words: Integers
    values: Floats
    weights: Floats
    lengths: Floats
    length_weights: Floats

    @classmethod
    def of(cls, counts: Counts, sample_weight: npt.ArrayLike | None = None) -> "DCMStatistics":
        """The statistics of documents. Empty ones have probability 1 under any α and leave no trace."""
        rows: csr_array = checked_counts(counts)
        weights = checked_weights(sample_weight, rows.shape[0])
        return reduce(add, (cls._of_block(*block) for block in blocks(rows, weights)))

    @classmethod
    def _of_block(cls, rows: csr_array, weights: Floats) -> "DCMStatistics":
        lengths = lengths_of(rows)
        used = (lengths > 0) & (weights > 0)
        per_count = np.repeat(weights, np.diff(rows.indptr))
        kept = per_count > 0
        return cls(
            rows.shape[1],
            *_histogram(rows.indices[kept].astype(np.int64), rows.data[kept], per_count[kept]),
            *_histogram(np.zeros(int(used.sum()), np.int64), lengths[used], weights[used])[1:],
        )

    def __add__(self, other: "DCMStatistics") -> "DCMStatistics":
        if self.V != other.V:
            raise InputError(f"statistics over {self.V} and {other.V} words cannot be merged")
        lengths = np.concatenate([self.lengths, other.lengths])
        return DCMStatistics(
            self.V,
            *_histogram(
                np.concatenate([self.words, other.words]),
                np.concatenate([self.values, other.values]),
                np.concatenate([self.weights, other.weights]),
            ),
            *_histogram(
                np.zeros(lengths.size, np.int64), lengths, np.concatenate([self.length_weights, other.length_weights])
            )[1:],
        )


def fit_dcm(
    counts: Counts | DCMStatistics,
    *,
    S: float | None = None,
    max_iter: int = 500,
    tol: float = 1e-10,
    sample_weight: npt.ArrayLike | None = None,
) -> DCMFit:
    """Maximum likelihood of the DCM (3.2): of the mean α/S for a given S, or with S=None of S too.

    Source: Minka (2003), §§ 3-4; SD §3.4 keeps S fixed. Words that never occur get α = 0: their likelihood falls with
    α, so add a constant if new documents may hold them. Where documents vary no more than a multinomial the likelihood
    rises with S for ever, and the climb ends by `tol` at a large S; where none has two words it does not depend on S.
    `log_likelihoods` leaves out the multinomial coefficients, as (3.2) does.
    """
    if isinstance(counts, DCMStatistics):
        if sample_weight is not None:
            raise InputError("statistics carry their weights already: give sample_weight with counts only")
        statistics = counts
    else:
        statistics = DCMStatistics.of(counts, sample_weight)
    if not statistics.lengths.size:
        raise InputError("a DCM cannot be fitted: there is no document with words and a weight greater than 0")
    seen, places = np.unique(statistics.words, return_inverse=True)
    likelihood = _Likelihood(statistics, places, seen.size)
    cf = likelihood.per_word(statistics.values)
    mean = cf / cf.sum()
    if S is not None:
        start = positive("S", S)
    else:
        start = float(max(STARTING_S, key=lambda each: likelihood.log_likelihood(each * mean)))
    climbed = ascend(likelihood, start * mean, keep_S=S is not None, max_iter=max_iter, tol=tol)
    alpha = np.zeros(statistics.V)
    alpha[seen] = climbed.alpha
    return DCMFit(alpha, float(alpha.sum()), climbed.log_likelihoods)


def _log_rising_from_0(a: Floats, f: Floats) -> Floats:
    """`log_rising` with its limits at a = 0: -∞ for f > 0, and 0 for f = 0."""
    positive_a = np.where(a > 0, a, 1.0)
    return np.where(a > 0, log_rising(positive_a, f), np.where(f > 0, -np.inf, 0.0))


class _Likelihood:
    """Σ_j Σ_f w_jf log α_j^(f) - Σ_n w_n log S^(n), rising factorials, over the words that occur."""

    def __init__(self, statistics: DCMStatistics, places: Integers, n_seen: int) -> None:
        self.of, self.places, self.n_seen = statistics, places, n_seen

    def log_likelihood(self, alpha: Floats) -> float:
        of, S = self.of, np.asarray(alpha.sum())
        of_words = of.weights @ log_rising(alpha[self.places], of.values)
        return float(of_words - of.length_weights @ log_rising(S, of.lengths))

    def derivatives(self, alpha: Floats) -> Derivatives:
        of, S = self.of, np.asarray(alpha.sum())
        return Derivatives(
            self._slopes(alpha) - of.length_weights @ log_rising_slope(S, of.lengths),
            self.per_word(log_rising_curvature(alpha[self.places], of.values)),
            -float(of.length_weights @ log_rising_curvature(S, of.lengths)),
        )

    def fixed_point(self, alpha: Floats, *, keep_S: bool) -> Floats:
        """α_j ← α_j·Σ(ψ(f + α_j) - ψ(α_j)) / Σ(ψ(n + S) - ψ(S)), Minka (2003) (55); it never lowers the likelihood."""
        moved = alpha * self._slopes(alpha)
        S = np.asarray(alpha.sum())
        if keep_S:
            return np.asarray(moved * (S / moved.sum()))
        return np.asarray(moved / (self.of.length_weights @ log_rising_slope(S, self.of.lengths)))

    def _slopes(self, alpha: Floats) -> Floats:
        return self.per_word(log_rising_slope(alpha[self.places], self.of.values))

    def per_word(self, values: Floats) -> Floats:
        """For each word, the weighted sum of `values`, which stand beside the histogram."""
        summed = np.bincount(self.places, weights=self.of.weights * values, minlength=self.n_seen)
        return np.asarray(summed, dtype=np.float64)


def _histogram(words: Integers, values: Floats, weights: Floats) -> tuple[Integers, Floats, Floats]:
    """The different (word, value) pairs in order, and the sum of the weights of each."""
    order = np.lexsort((values, words))
    words, values, weights = words[order], values[order], weights[order]
    first = np.ones(words.size, dtype=np.bool_)
    first[1:] = (np.diff(words) > 0) | (np.diff(values) > 0)
    starts = np.flatnonzero(first)
    return words[starts], values[starts], np.add.reduceat(weights, starts) if starts.size else weights

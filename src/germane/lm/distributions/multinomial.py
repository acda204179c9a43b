"""The multinomial distribution: words drawn one by one from one θ."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import gammaln, xlog1py, xlogy

from germane.arrays import Floats, Integers
from germane.errors import InputError
from germane.lm.distributions.counts import (
    Counts,
    blocks,
    checked_counts,
    checked_weights,
    lengths_of,
    row_of_each,
    sum_rows,
    sum_words,
)
from germane.lm.model import background_at
from germane.lm.parameters import at_words, counts_and_lengths, distribution, wholes
from germane.lm.smoothing import MLE, Laplace, Smoothing


@dataclass(frozen=True, eq=False)
class CountStatistics:
    """Weighted occurrences `cf` and documents `df` of each word, and the weight `n_docs` of all documents.

    Sufficient for the multinomial (cf) and for the multiple Bernoulli (df, n_docs); statistics add up with `+`.
    """

    cf: Floats
    df: Floats
    n_docs: float

    @classmethod
    def of(cls, counts: Counts, sample_weight: npt.ArrayLike | None = None) -> "CountStatistics":
        """The statistics of documents."""
        rows = checked_counts(counts)
        weights = checked_weights(sample_weight, rows.shape[0])
        return reduce(add, (cls._of_block(*block) for block in blocks(rows, weights)))

    @classmethod
    def _of_block(cls, rows: csr_array, weights: Floats) -> "CountStatistics":
        per_count = weights[row_of_each(rows)]
        return cls(sum_words(rows, per_count * rows.data), sum_words(rows, per_count), float(weights.sum()))

    def __add__(self, other: "CountStatistics") -> "CountStatistics":
        if self.cf.size != other.cf.size:
            raise InputError(f"statistics over {self.cf.size} and {other.cf.size} words cannot be merged")
        return CountStatistics(self.cf + other.cf, self.df + other.df, self.n_docs + other.n_docs)


class Multinomial:
    """P(f|θ) = |D|!/Π_j f_j! · Π_j θ_j^f_j over documents of a given length: `theta` sums to 1. Source: SD (1.4)."""

    def __init__(self, theta: npt.ArrayLike) -> None:
        self.theta = distribution("theta", theta)
        self.theta.setflags(write=False)
        self.V = self.theta.size

    @classmethod
    def fit(
        cls, statistics: CountStatistics, smoothing: Smoothing | Laplace | None = None, p_C: npt.ArrayLike | None = None
    ) -> "Multinomial":
        """θ by maximum likelihood, SD (1.7), or smoothed by a method of `germane.lm.smoothing`.

        The collection model p_C is needed by all but `MLE` (the default) and `Laplace`. Without any word the smoothed
        θ is p_C (with Laplace, uniform), and the MLE is refused.
        """
        cf, total = statistics.cf, float(statistics.cf.sum())
        if isinstance(smoothing, Laplace):
            return cls(smoothing.probability(cf, total, cf.size))
        if total == 0 and p_C is None:
            raise InputError("a multinomial cannot be fitted: the documents have no words")
        excess, share = (smoothing or MLE()).split(cf, total, int((cf > 0).sum()))
        return cls(excess if share == 0 else excess + share * background_at(np.arange(cf.size), p_C))

    def log_density(self, counts: Counts, *, coefficient: bool = True) -> Floats:
        """log P(f|θ) of each document; -∞ where it holds a word of probability 0, and 0 for an empty one.

        Without the `coefficient` |D|!/Π f_j! it is the probability of the words in their order.
        """
        rows = checked_counts(counts, self.V)
        with np.errstate(divide="ignore"):
            of_words = sum_rows(rows, rows.data * np.log(self.theta)[rows.indices])
        return of_words + log_coefficient(rows) if coefficient else of_words

    def log_marginal(self, words: npt.ArrayLike, f: npt.ArrayLike, len_d: npt.ArrayLike) -> Floats:
        """log P(f_j|θ, |D|), binomial: log C(|D|, f_j) + f_j log θ_j + (|D|-f_j) log(1-θ_j). Source: SD (3.43).

        `words` (ids), `f` and `len_d` broadcast.
        """
        theta = at_words(self.theta, words)
        times, lengths = counts_and_lengths(f, len_d)
        return np.asarray(log_binomial(lengths, times) + xlogy(times, theta) + xlog1py(lengths - times, -theta))

    def sample(self, len_d: npt.ArrayLike, *, random_state: int | np.random.Generator | None = None) -> csr_array:
        """One document of each of the lengths, as sparse counts."""
        lengths = wholes("len_d", len_d)
        words = draw_words(self.theta, int(lengths.sum()), np.random.default_rng(random_state))
        return documents_of(words, lengths, self.V)


def log_coefficient(rows: csr_array) -> Floats:
    """log |D|!/Π_j f_j! of each document."""
    return np.asarray(gammaln(lengths_of(rows) + 1) - sum_rows(rows, gammaln(rows.data + 1)))


def log_binomial(n: Floats, k: Floats) -> Floats:
    """log C(n, k)."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def draw_words(theta: Floats, n: int, rng: np.random.Generator) -> Integers:
    """n word ids drawn from θ."""
    steps = np.cumsum(theta)
    last = int(np.flatnonzero(theta)[-1])  # rounding must not lead to a word of probability 0
    drawn = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
    return np.asarray(np.minimum(drawn, last), dtype=np.int64)


def documents_of(words: Integers, lengths: Integers, V: int) -> csr_array:
    """Counts of documents whose tokens stand one after another in `words`."""
    rows = csr_array((np.ones(words.size), words, np.concatenate([[0], np.cumsum(lengths)])), shape=(lengths.size, V))
    rows.sum_duplicates()
    return rows

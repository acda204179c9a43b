"""The two-Poisson model: a word is frequent in documents that are about it, its elite, and rare in the others."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import gammaln, xlogy

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.distributions.counts import Counts, checked_counts, sum_rows
from germane.lm.parameters import at_words, probabilities, reals, whole


class TwoPoisson:
    """P(f|λ, μ) = Π_j (p_j·Poisson(f_j; λ_j) + (1-p_j)·Poisson(f_j; μ_j)): p, λ and μ for each word. Source: SD (1.14).

    `elite_share` is p, `elite_mean` λ and `other_mean` μ, since λ and μ are smoothing parameters elsewhere. Zero counts
    cost one pass over the vocabulary, then only the words of a document are looked at.
    """

    def __init__(self, elite_share: npt.ArrayLike, elite_mean: npt.ArrayLike, other_mean: npt.ArrayLike) -> None:
        self.elite_share = probabilities("elite_share", elite_share)
        self.elite_mean, self.other_mean = reals("elite_mean", elite_mean), reals("other_mean", other_mean)
        if not self.elite_share.size == self.elite_mean.size == self.other_mean.size:
            raise ParameterError("elite_share, elite_mean and other_mean must have the same number of words")
        self.V = self.elite_share.size

    def log_density(self, counts: Counts) -> Floats:
        """log P(f|λ, μ) of each document; the lengths are not given but random. Empty: Σ_j log P(f_j = 0)."""
        rows = checked_counts(counts, self.V)
        absent = self.log_marginal(np.arange(self.V), np.zeros(self.V))
        present = self.log_marginal(rows.indices, rows.data)
        return float(absent.sum()) + sum_rows(rows, present - absent[rows.indices])

    def log_marginal(self, words: npt.ArrayLike, f: npt.ArrayLike) -> Floats:
        """log P(f_j) of single words: one factor of (1.14). `words` (ids) and `f` broadcast."""
        f = np.asarray(f, dtype=np.float64)
        if not (np.isfinite(f) & (f >= 0)).all():
            raise ParameterError("counts must be finite and not negative")
        share, elite, other = (at_words(each, words) for each in (self.elite_share, self.elite_mean, self.other_mean))
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(share), np.log1p(-share)
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.logaddexp(log_p + xlogy(f, elite) - elite, log_q + xlogy(f, other) - other) - gammaln(f + 1)
            )

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> csr_array:
        """n documents as sparse counts."""
        rng = np.random.default_rng(random_state)
        ids, values = [np.empty(0, np.int64)], [np.empty(0)]
        ends = [0]
        for _ in range(whole("n", n, least=0)):
            means = np.where(rng.random(self.V) < self.elite_share, self.elite_mean, self.other_mean)
            f = rng.poisson(means)
            ids.append(np.flatnonzero(f))
            values.append(f[ids[-1]].astype(np.float64))
            ends.append(ends[-1] + ids[-1].size)
        return csr_array((np.concatenate(values), np.concatenate(ids), np.array(ends)), shape=(n, self.V))

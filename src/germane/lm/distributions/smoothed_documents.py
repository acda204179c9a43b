"""Documents as smoothed language models θ^D = λ·f/|D| + (1-λ)·p_C, SD (2.1), kept sparse, and their mean logarithms.

Every θ^D is full, but log θ_j^D = log p_C(j) + log a_D + log(1 + e_j/(a_D·p_C(j))) differs from a common vector only on
the words of D, SD (3.31)-(3.33). So all sums over the vocabulary cost one pass over the counts and one over p_C.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from germane.arrays import Floats
from germane.errors import InputError, ParameterError
from germane.lm.distributions.counts import Counts, blocks, checked_counts, checked_weights, lengths_of, row_of_each
from germane.lm.parameters import distribution, open_fraction
from germane.lm.smoothing import JelinekMercer


def full_background(p_C: npt.ArrayLike) -> Floats:
    """`p_C` if it is a distribution that gives every word something."""
    shares = distribution("p_C", p_C)
    if (shares == 0).any():
        raise ParameterError(f"p_C gives 0 to word {int(np.argmin(shares))}: smooth it, so that every word has a share")
    return shares


@dataclass(frozen=True, eq=False)
class SmoothedDocuments:
    """θ^D of many documents: `log_ratios` holds log(1 + e/(a·p_C)) at their words, `log_shares` the log a of each.

    An empty document is pure background, θ^D = p_C, as everywhere in `germane.lm.smoothing`.
    """

    p_C: Floats
    lam: float
    log_ratios: csr_array
    log_shares: Floats
    len_d: Floats

    @classmethod
    def of(cls, counts: Counts, p_C: npt.ArrayLike, lam: float) -> "SmoothedDocuments":
        """Smooth the counts with λ, 0 < λ < 1, and the collection model p_C > 0."""
        shares, lam = full_background(p_C), open_fraction("lam", lam)
        rows = checked_counts(counts, shares.size)
        len_d, n_unique = lengths_of(rows), np.diff(rows.indptr)
        documents = row_of_each(rows)
        excess, a = JelinekMercer(lam).split(rows.data, len_d[documents], n_unique[documents])
        ratios = csr_array((np.log1p(excess / (a * shares[rows.indices])), rows.indices, rows.indptr), shape=rows.shape)
        _, of_documents = JelinekMercer(lam).split(0.0, len_d, n_unique)
        return cls(shares, lam, ratios, np.log(of_documents), len_d)

    def weighted_logs(self, weights: Floats) -> Floats:
        """Σ_j weights_j · log θ_j^D for each document."""
        of_words = np.asarray(self.log_ratios @ weights)
        return np.asarray(of_words + weights.sum() * self.log_shares + float(weights @ np.log(self.p_C)))


@dataclass(frozen=True, eq=False)
class LogProportions:
    """Σ_i w_i log θ^i, sufficient for the Dirichlet and for the Smoothed Dirichlet; statistics add up with `+`.

    `log_ratios` is Σ_i w_i log(1 + e_j/(a·p_C(j))) for each word, `log_share` is Σ_i w_i log a_i, `weight` is Σ_i w_i.
    """

    p_C: Floats
    lam: float
    log_ratios: Floats
    log_share: float
    weight: float

    @classmethod
    def of(
        cls, counts: Counts, p_C: npt.ArrayLike, lam: float, sample_weight: npt.ArrayLike | None = None
    ) -> "LogProportions":
        """The statistics of documents, smoothed as in `SmoothedDocuments`."""
        shares = full_background(p_C)
        rows = checked_counts(counts, shares.size)
        weights = checked_weights(sample_weight, rows.shape[0])
        return reduce(add, (cls._of_block(*block, shares, lam) for block in blocks(rows, weights)))

    @classmethod
    def _of_block(cls, rows: csr_array, weights: Floats, p_C: Floats, lam: float) -> "LogProportions":
        documents = SmoothedDocuments.of(rows, p_C, lam)
        return cls(
            documents.p_C,
            documents.lam,
            np.asarray(documents.log_ratios.T @ weights),
            float(weights @ documents.log_shares),
            float(weights.sum()),
        )

    def __add__(self, other: "LogProportions") -> "LogProportions":
        if self.lam != other.lam or not np.array_equal(self.p_C, other.p_C):
            raise InputError("statistics of documents that were smoothed differently cannot be merged")
        return LogProportions(
            self.p_C,
            self.lam,
            self.log_ratios + other.log_ratios,
            self.log_share + other.log_share,
            self.weight + other.weight,
        )

    @property
    def mean_log(self) -> Floats:
        """(1/N) Σ_i log θ_j^i for each word; needs a document of weight greater than 0."""
        if not self.weight > 0:
            raise InputError("there is no document with a weight greater than 0")
        return np.asarray((self.log_ratios + self.log_share) / self.weight + np.log(self.p_C))

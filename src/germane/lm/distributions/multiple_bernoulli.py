"""The multiple Bernoulli distribution of the Binary Independence Retrieval model: each word is there or not."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from germane.arrays import Floats
from germane.errors import InputError
from germane.lm.distributions.counts import Counts, checked_counts, sum_rows
from germane.lm.distributions.multinomial import CountStatistics
from germane.lm.parameters import number, probabilities, whole
from germane.lm.smoothing import Laplace


class MultipleBernoulli:
    """P(x|β) = Π_j β_j^x_j · (1-β_j)^(1-x_j), where x_j says whether word j occurs: 0 ≤ `beta` ≤ 1. Source: SD (1.12).

    Absent words speak too, but sparsely: log P = Σ_j log(1-β_j) + Σ_{j∈D} log(β_j/(1-β_j)).
    """

    def __init__(self, beta: npt.ArrayLike) -> None:
        self.beta = probabilities("beta", beta)
        self.V = self.beta.size

    @classmethod
    def fit(cls, statistics: CountStatistics, delta: float = 0.0) -> "MultipleBernoulli":
        """β_j = (df_j + δ)/(N + 2δ): maximum likelihood for δ = 0, add-δ over "there" and "not there" otherwise."""
        if number("delta", delta) == 0:
            if not statistics.n_docs > 0:
                raise InputError("a multiple Bernoulli cannot be fitted: there is no document of weight above 0")
            return cls(np.minimum(statistics.df / statistics.n_docs, 1.0))
        return cls(Laplace(delta).probability(statistics.df, statistics.n_docs, 2))

    def log_density(self, counts: Counts) -> Floats:
        """log P(x|β) of each document; counts above 0 mean "there". -∞ where β rules the document out."""
        rows = checked_counts(counts, self.V)
        open_ = self.beta < 1
        log_absent = np.log1p(-self.beta, where=open_, out=np.zeros(self.V))
        with np.errstate(divide="ignore"):
            log_odds = np.log(self.beta) - log_absent
        base = float(log_absent.sum())
        certain = sum_rows(rows, (~open_[rows.indices]).astype(np.float64))
        has_all = certain == int((~open_).sum())
        return np.where(has_all, base + sum_rows(rows, log_odds[rows.indices]), -np.inf)

    def log_ratio(self, other: "MultipleBernoulli", counts: Counts) -> Floats:
        """log P(x|β^R)/P(x|β^N) of each document, self being R: the BIR model's ranking. Source: SD (1.13).

        NaN where both rule the document out.
        """
        with np.errstate(invalid="ignore"):
            return self.log_density(counts) - other.log_density(counts)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> csr_array:
        """n documents of zeros and ones, sparse."""
        rng = np.random.default_rng(random_state)
        present = [np.flatnonzero(rng.random(self.V) < self.beta) for _ in range(whole("n", n, least=0))]
        ends = np.cumsum([0, *(ids.size for ids in present)])
        ids = np.concatenate([np.empty(0, np.int64), *present])
        return csr_array((np.ones(ids.size), ids, ends), shape=(n, self.V))

"""Sparse vectors turned round: for a word, the vectors that hold it. One vector meets many by its own words alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from germane.arrays import Floats, Integers
from germane.lazy import LazyModule, compiler_is_loaded

if TYPE_CHECKING:
    from germane.track import percolator_kernels as kernels
else:
    kernels = LazyModule("germane.track.percolator_kernels")


class InvertedVectors:
    """Vectors one after another, `sizes` words of each, ascending; word w is of the vectors at starts[w]:starts[w+1].

    Products are added word by word in ascending order, so that every sum is that of `method.linear_score`, bit by bit.
    """

    def __init__(self, terms: Integers, values: Floats, sizes: Sequence[int] | Integers) -> None:
        self.n_vectors = len(sizes)
        shape = self.n_vectors, int(terms.max(initial=-1)) + 1
        rows = csr_matrix((values, terms, np.append(0, np.cumsum(sizes))), shape)
        turned = rows.tocsc()  # counts, and does not sort; a word's vectors stay in their order
        self._starts = turned.indptr.astype(np.int64)
        self._numbers = turned.indices.astype(np.uint32)
        self._values = turned.data

    @classmethod
    def of(cls, vectors: Sequence[tuple[Integers, Floats]]) -> "InvertedVectors":
        """Those of a list, each as its words and their values."""
        terms, values = zip(*[(np.zeros(0, np.int64), np.zeros(0)), *vectors], strict=True)
        return cls(np.concatenate(terms), np.concatenate(values), [len(each) for each in terms[1:]])

    def dots(self, terms: Integers, values: Floats) -> Floats:
        """Σ_w of one vector with each of these; without a compiler, if none is loaded yet."""
        if compiler_is_loaded():
            sums: Floats = np.zeros((1, self.n_vectors))
            ends = np.array([len(terms)])
            kernels.percolate(terms, values, ends, self._starts, self._numbers, self._values, sums)
            return sums.reshape(-1)
        known = terms + 1 < len(self._starts)
        words = terms[known]
        first, sizes = self._starts[words], self._starts[words + 1] - self._starts[words]
        ends = np.cumsum(sizes)
        places = np.arange(sizes.sum()) + np.repeat(first - ends + sizes, sizes)
        products = np.repeat(values[known], sizes) * self._values[places]
        plain: Floats = np.bincount(self._numbers[places], products, self.n_vectors).astype(np.float64, copy=False)
        return plain

    def matrix(self, terms: Integers, values: Floats, sizes: Integers) -> Floats:
        """Σ_w of each given vector (rows), given as these are, with each of these (columns)."""
        sums = np.zeros((len(sizes), self.n_vectors))
        kernels.percolate(terms, values, np.cumsum(sizes), self._starts, self._numbers, self._values, sums)
        return sums

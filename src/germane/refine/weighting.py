"""A result list as the methods of refinement see it: word counts in retrieval order, and the weights made from them."""

from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Integers
from germane.errors import ParameterError

Weighting: TypeAlias = Literal["tfidf", "counts", "seen"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)

SEEN: Weighting = "seen"
SEEN_LENGTH = 30.0
"""The length of a text's vector under "seen": so short that posteriors do not all lie at 0 or 1 (Refine errata)."""

IDF_EXPONENT = 0.7
"""Of the weights behind carried evidence: tuned with the rest of it (docs/refine.md)."""


class ResultList:
    """The cached analysis of one list: `counts` (results × words, in retrieval order) and what is derived from them.

    `weights`        N(w,d)·log(|D|/df(w)), the paper's (Refine §VI); a word of every result weighs 0
    `unit`           `weights` with rows of Euclidean length 1; rows without weight stay 0
    `carried_unit`   log(1 + N(w,d))·log(|D|/df(w))^0.7 with rows of length 1, for `carried.CarriedEvidence`
    """

    def __init__(self, counts: Any) -> None:
        self.counts = _checked(counts)

    def like(self, counts: Any) -> "ResultList":
        """Other texts over the same vocabulary, weighed with this list's idf: for classifying new ones."""
        other = ResultList(counts)
        if other.n_words != self.n_words:
            raise ParameterError(f"the list has {self.n_words} words, but the new counts have {other.n_words}")
        other.idf = self.idf
        return other

    def only(self, words: Integers) -> "ResultList":
        """The same texts over these words alone, renumbered from 0, with the list's own idf."""
        part = ResultList(self.counts[:, words])
        part.idf = self.idf[words]
        return part

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return int(self.counts.shape[1])

    @cached_property
    def idf(self) -> Floats:
        """log(|D|/df(w)); 0 for a word of no result."""
        df = np.bincount(self.counts.indices, minlength=self.n_words)
        return np.asarray(np.log(max(len(self), 1) / np.maximum(df, 1)) * (df > 0))

    @cached_property
    def weights(self) -> Any:
        """N(w,d)·log(|D|/df(w)), Refine §VI."""
        return self._with_data(self.counts.data * self.idf[self.counts.indices])

    @cached_property
    def unit(self) -> Any:
        """`weights`, rows of length 1."""
        return unit_rows(self.weights)

    @cached_property
    def unit_counts(self) -> Any:
        """`counts`, rows of length 1."""
        return unit_rows(self.counts)

    @cached_property
    def carried_unit(self) -> Any:
        """log(1 + N(w,d))·log(|D|/df(w))^0.7, rows of length 1."""
        idf = self.idf**IDF_EXPONENT
        return unit_rows(self._with_data(np.log1p(self.counts.data) * idf[self.counts.indices]))

    def weighted(self, weighting: Weighting) -> Any:
        """`weights`, plain `counts`, or `weights` with rows of `SEEN_LENGTH`."""
        if checked_weighting(weighting) == SEEN:
            return self._with_data(SEEN_LENGTH * self.unit.data)
        return self.weights if weighting == "tfidf" else self.counts

    def unit_weighted(self, weighting: Weighting) -> Any:
        """`weighted`, rows of length 1."""
        return self.unit_counts if checked_weighting(weighting) == "counts" else self.unit

    def _with_data(self, data: Floats) -> Any:
        return sparse.csr_matrix((data, self.counts.indices, self.counts.indptr), self.counts.shape)


def checked_weighting(weighting: str) -> str:
    """`weighting` if it is known."""
    if weighting not in WEIGHTINGS:
        raise ParameterError(f"weights are {' or '.join(map(repr, WEIGHTINGS))}, not {weighting!r}")
    return weighting


def unit_rows(matrix: Any) -> Any:
    """Each row divided by its Euclidean length; rows of length 0 stay as they are."""
    lengths = np.sqrt(row_sums(matrix, matrix.data**2))
    scale = np.repeat(1.0 / np.where(lengths > 0, lengths, 1.0), np.diff(matrix.indptr))
    return sparse.csr_matrix((matrix.data * scale, matrix.indices, matrix.indptr), matrix.shape)


def row_sums(matrix: Any, values: Floats) -> Floats:
    """Σ of `values`, one for each stored entry, by row."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(np.bincount(row, values, matrix.shape[0]), np.float64)


def _checked(counts: Any) -> Any:
    try:
        matrix = sparse.csr_matrix(counts, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"counts must be a matrix of results × words: {error}") from None
    if not (np.isfinite(matrix.data) & (matrix.data >= 0)).all():
        raise ParameterError("counts must be finite and not negative")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if not matrix.shape[1]:  # only empty texts: one word that no result holds keeps every formula defined
        matrix.resize(matrix.shape[0], 1)
    return matrix

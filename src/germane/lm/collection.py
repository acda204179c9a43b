"""What a ranking formula needs to know about a collection: a handful of numbers, not an index."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import whole, wholes


@dataclass(frozen=True, eq=False)
class CollectionStats:
    """The statistics of a collection: documents, tokens, and for each term its collection and document frequency.

    `cf` and `df` are indexed by term id. They may cover the whole vocabulary, or only a few terms (a *view*, its ids
    being positions in the view): cf need not add up to `n_tokens` then, and `is_complete` is False.

    >>> stats = CollectionStats(n_docs=2, n_tokens=5, cf=[3, 2], df=[2, 1])
    >>> stats.p_C.tolist(), stats.mean_len_d
    ([0.6, 0.4], 2.5)
    """

    n_docs: int
    n_tokens: int
    cf: Integers
    df: Integers

    def __init__(self, n_docs: int, n_tokens: int, cf: npt.ArrayLike, df: npt.ArrayLike) -> None:
        values = {
            "n_docs": whole("n_docs", n_docs, least=0),
            "n_tokens": whole("n_tokens", n_tokens, least=0),
            "cf": wholes("cf", cf),
            "df": wholes("df", df),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self.cf.setflags(write=False)
        self.df.setflags(write=False)
        self._check()

    def _check(self) -> None:
        if self.cf.shape != self.df.shape:
            raise ParameterError(f"cf has {self.cf.size} terms but df has {self.df.size}")
        if (self.df > self.cf).any():
            raise ParameterError("a term is in more documents (df) than it has occurrences (cf)")
        if ((self.df == 0) & (self.cf > 0)).any():
            raise ParameterError("a term has occurrences (cf) but is in no document (df)")
        if (self.df > self.n_docs).any():
            raise ParameterError(f"a term is in {self.df.max()} documents of only {self.n_docs}")
        if self.cf.sum() > self.n_tokens:
            raise ParameterError(f"the terms occur {self.cf.sum()} times among only {self.n_tokens} tokens")

    @property
    def is_complete(self) -> bool:
        """Whether the terms here account for every token of the collection, so that p_C sums to 1."""
        return int(self.cf.sum()) == self.n_tokens

    @property
    def mean_len_d(self) -> float:
        """|C| / N: the mean document length, 0 for a collection without documents."""
        return self.n_tokens / self.n_docs if self.n_docs else 0.0

    @property
    def p_C(self) -> Floats:
        """The collection model, indexed by term id: p_C(w) = cf_w / |C|.

        Source: Lecture, "How to smooth" (P(t|M_c)); SD §1.3.2.2 (θ^GE). A collection without tokens has none.
        """
        if self.n_tokens == 0:
            raise ParameterError("an empty collection has no collection model: n_tokens is 0")
        return self.cf / float(self.n_tokens)


def robertson_idf(n_docs: int, df: npt.ArrayLike) -> Floats:
    """log(1 + (N - df + ½)/(df + ½)), the inverse document frequency of BM25 in the form that is never negative."""
    frequency = np.asarray(df, np.float64)
    return np.log1p((n_docs - frequency + 0.5) / (frequency + 0.5))


def idf(n_docs: int, df: npt.ArrayLike) -> Floats:
    """log(1 + N/df), the inverse document frequency of the vector space model here."""
    return np.log1p(n_docs / np.asarray(df, np.float64))

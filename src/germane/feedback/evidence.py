"""What a feedback method sees: the query, some documents as counts, the marks on them, and the collection's model.

Words are numbered from 0 within the evidence: the words of its documents and of the query, nothing else. A formula that
runs over the whole vocabulary therefore runs over these words and, through the background share of the models, over the
rest at once.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.arrays import Floats, Integers, Labels
from germane.errors import ParameterError
from germane.lm import LanguageModel, Smoothing, robertson_idf
from germane.types import Mark


@dataclass(frozen=True, eq=False)
class Evidence:
    """The query and the documents of one feedback step.

    `query`: word -> weight (a plain query: its counts). Document i holds the words `ids[starts[i]:starts[i+1]]`
    (ascending) `counts` times; `lengths` are |D|. `marks`: a `Mark` for each document. `p_C` and `df` belong to the
    words, `n_docs` to the collection. `scores`: a row for each first ranking, with the documents' scores in it, -inf
    for a document that is not among its best. `is_counted`: all counts are whole, and all arrays of the types that
    kernels take.
    """

    query: dict[int, float]
    starts: Integers
    ids: Integers
    counts: Floats
    lengths: Floats
    marks: Labels
    p_C: Floats
    df: Integers
    n_docs: int
    scores: Floats | None = None
    is_counted: bool = False

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.lengths) + 1 or len(self.marks) != len(self.lengths):
            raise ParameterError("starts, lengths and marks disagree on the number of documents")

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_words(self) -> int:
        """Different words."""
        return len(self.p_C)

    def n_marked(self, mark: Mark) -> int:
        """Documents that are marked so."""
        return self._n_marked[mark]

    @cached_property
    def _n_marked(self) -> dict[Mark, int]:
        marks = self.marks.tolist()
        return {mark: marks.count(mark) for mark in Mark}

    @property
    def query_length(self) -> float:
        """|Q|: the sum of the query's weights."""
        return sum(self.query.values())

    @cached_property
    def query_model(self) -> LanguageModel:
        """θ̂^Q, the maximum likelihood estimate of the query; all background if it has no known word."""
        return LanguageModel.of_weights(self.query)

    @cached_property
    def document_of(self) -> Integers:
        """For each posting the document it belongs to."""
        return np.repeat(np.arange(len(self)), self._n_unique)

    @cached_property
    def _n_unique(self) -> Integers:
        """Distinct words of each document."""
        return self.starts[1:] - self.starts[:-1]

    @cached_property
    def root_idf(self) -> Floats:
        """√idf(w) of each word."""
        return np.asarray(np.sqrt(robertson_idf(self.n_docs, self.df)))

    @cached_property
    def _sizes_of(self) -> tuple[Floats, Integers]:
        """For each posting |D| and |D|_u of its document, as `Smoothing.split` takes them."""
        return self.lengths[self.document_of], self._n_unique[self.document_of]

    @cached_property
    def _sizes(self) -> tuple[Floats, Integers]:
        """Return |D| and |D|_u of each document, as columns."""
        return self.lengths[:, np.newaxis], self._n_unique[:, np.newaxis]

    @cached_property
    def _p_C_of(self) -> Floats:
        """For each posting the p_C of its word."""
        return self.p_C[self.ids]

    def log_ratios(self, smoothing: Smoothing) -> Floats:
        """For each posting log(1 + e/(a·p_C)): θ_D = e + a·p_C, SD (5.6)."""
        excess, background = smoothing.split(self.counts, *self._sizes_of)
        return np.log1p(excess / (_positive(background, smoothing) * self._p_C_of))

    def log_probabilities(self, smoothing: Smoothing, words: list[int]) -> Floats:
        """log θ_D(w) = log(e + a·p_C) of each document (row) and of some words (columns), SD (5.5)."""
        excess, background = smoothing.split(self.counts_of(words), *self._sizes)
        return np.log(excess + _positive(background, smoothing) * self.shares_of(words))

    def counts_of(self, words: list[int]) -> Floats:
        """How often each document (row) holds some words (columns)."""
        column = np.zeros(self.n_words, np.int64)
        column[words] = range(1, len(words) + 1)
        columns = column[self.ids]
        held = columns.nonzero()[0]
        counts = np.zeros((len(self), len(words)))
        counts[self.document_of[held], columns[held] - 1] = self.counts[held]
        return counts

    def shares_of(self, words: list[int]) -> Floats:
        """p_C of some words."""
        return self.p_C[words]

    def excess(self, smoothing: Smoothing) -> Floats:
        """The excess e of each posting."""
        return smoothing.split(self.counts, *self._sizes_of)[0]

    def excess_table(self, smoothing: Smoothing, most: int) -> Floats:
        """For each document the excess e of a word that it holds once, twice, ... `most` times."""
        return smoothing.split(np.arange(1.0, most + 1.0), *self._sizes)[0]

    def background(self, smoothing: Smoothing) -> Floats:
        """The background share a of each document."""
        _, background = smoothing.split(0.0, self.lengths, self._n_unique)
        return np.broadcast_to(background, self.lengths.shape)

    def per_document(self, values: Floats) -> Floats:
        """Σ over the postings of each document."""
        return np.asarray(np.bincount(self.document_of, values, minlength=len(self)), np.float64)

    def per_word(self, values: Floats) -> Floats:
        """Σ over the postings of each word."""
        return np.asarray(np.bincount(self.ids, values, minlength=self.n_words), np.float64)


def _positive(background: Floats, smoothing: Smoothing) -> Floats:
    """The background shares; refused where one is 0 (λ = 1)."""
    if np.min(background, initial=1.0) <= 0.0:
        raise ParameterError(f"{smoothing} leaves no share to the collection, so a logarithm with it is infinite")
    return background

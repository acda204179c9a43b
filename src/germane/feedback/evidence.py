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

Postings = Integers | slice
ALL = slice(None)
"""Which postings: by their places, or all of them."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The query and the documents of one feedback step.

    `query`: word -> weight (a plain query: its counts). Document i holds the words `ids[starts[i]:starts[i+1]]`
    (ascending) `counts` times; `lengths` are |D|. `marks`: a `Mark` for each document. `p_C` and `df` belong to the
    words, `n_docs` to the collection. `scores`: a row for each first ranking, with the documents' scores in it, -inf
    for a document that is not among its best.
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

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.lengths) + 1 or len(self.marks) != len(self.lengths):
            raise ParameterError("starts, lengths and marks disagree on the number of documents")

    def __len__(self) -> int:
        return len(self.lengths)

    is_counted = False
    """Whether all counts are whole, and all arrays of the types that kernels take."""

    @property
    def n_words(self) -> int:
        """Different words."""
        return len(self.p_C)

    def n_marked(self, mark: Mark) -> int:
        """Documents that are marked so."""
        return int(self.marks.tolist().count(mark))

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
        return self.root_idf_of(self.df)

    def root_idf_of(self, df: Integers) -> Floats:
        """√idf of words that so many documents hold."""
        return np.asarray(np.sqrt(robertson_idf(self.n_docs, df)))

    def log_ratios(self, smoothing: Smoothing, postings: Postings = ALL) -> tuple[Floats, Floats]:
        """For each posting log(1 + e/(a·p_C)), and for each document its a: θ_D = e + a·p_C, SD (5.6).

        A smoothing without background (λ = 1) has no such ratio and is refused.
        """
        background = self.background(smoothing)
        if (background <= 0).any():
            raise ParameterError(f"{smoothing} leaves no share to the collection, so a log-ratio with it is infinite")
        share = background[self.document_of[postings]] * self.p_C[self.ids[postings]]
        return np.log1p(self.excess(smoothing, postings) / share), background

    def excess(self, smoothing: Smoothing, postings: Postings = ALL) -> Floats:
        """The excess e of each posting."""
        of = self.document_of[postings]
        return smoothing.split(self.counts[postings], self.lengths[of], self._n_unique[of])[0]

    def excess_table(self, smoothing: Smoothing, most: int) -> Floats:
        """For each document the excess e of a word that it holds once, twice, ... `most` times."""
        sizes = self.lengths[:, np.newaxis], self._n_unique[:, np.newaxis]
        return smoothing.split(np.arange(1.0, most + 1.0), *sizes)[0]

    def background(self, smoothing: Smoothing) -> Floats:
        """The background share a of each document."""
        _, background = smoothing.split(0.0, self.lengths, self._n_unique)
        return background if np.ndim(background) else np.full(len(self), background)

    def per_document(self, values: Floats, postings: Postings = ALL) -> Floats:
        """Σ over the postings of each document."""
        return np.asarray(np.bincount(self.document_of[postings], values, minlength=len(self)), np.float64)

    def per_word(self, values: Floats) -> Floats:
        """Σ over the postings of each word."""
        return np.asarray(np.bincount(self.ids, values, minlength=self.n_words), np.float64)

    def at_query(self) -> Floats:
        """The query's weight of each word, 0 for words outside it."""
        weights = np.zeros(self.n_words)
        weights[list(self.query)] = list(self.query.values())
        return weights

"""Base of UM, the topic models and the translation model: P(q|d), mixed with the words of the document.

    P_s(q|d)  = Π_q P_s(q|d)                             Clicks (14)
    P_s(q|d)  = λ1 P(q|C) + (1-λ1) P_mx(q|d)             Clicks (15)
    P_mx(q|d) = λ2 P(q|d) + (1-λ2) P_model(q|d)          Clicks (16)

λ2 = 1 is the unigram model with Jelinek-Mercer smoothing, λ2 = 0 the latent model alone. P(q|C) has a floor: a word
that no training title holds would make every document impossible.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.latent.pairs import FoldedDocuments, Pairs, Query, Texts, WordIds, check_share


class QueryProbabilities(NamedTuple):
    """The parts of Clicks (14)-(16) for one query: its words down, documents across.

    `counts` n(q, q); `background` P(q|C); `literal` P(q|d); `latent` P_model(q|d).
    """

    counts: Floats
    background: Floats
    literal: Floats
    latent: Floats

    def score(self, lambda1: float, lambda2: float) -> Floats:
        """log P_s(q|d) of each document, Clicks (14)-(16)."""
        mixed = lambda2 * self.literal + (1 - lambda2) * self.latent
        smoothed = lambda1 * self.background[:, None] + (1 - lambda1) * mixed
        with np.errstate(divide="ignore"):  # without smoothing a document may be impossible
            return np.asarray(np.add.reduce(self.counts[:, None] * np.log(smoothed), axis=0))  # word by word


@dataclass(frozen=True, eq=False)
class GenerativeModel(ABC):
    """A fitted model of P(q|d). `background` is P(w|C) by id; its last entry is the floor, for words without id."""

    vocabulary: WordIds
    background: Floats
    lambda1: float
    lambda2: float

    def __post_init__(self) -> None:
        check_share("lambda1", self.lambda1)
        check_share("lambda2", self.lambda2)

    def mixed(self, *, lambda1: float, lambda2: float) -> Self:
        """Return the model with other weights in Clicks (15) and (16)."""
        return replace(self, lambda1=lambda1, lambda2=lambda2)

    @property
    def width(self) -> int:
        """The numbers that it keeps of a document: none, unless it has topics."""
        return 0

    def fold_in(self, titles: Sequence[str], vectors: npt.NDArray[np.float32] | None = None) -> FoldedDocuments:
        """Fold in documents, known to the model or new; `vectors`: where these are known already."""
        vocabulary, texts = self.vocabulary.extended(titles)
        return FoldedDocuments(vocabulary, texts, self.vectors(self.known(texts)) if vectors is None else vectors)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The numbers that it keeps of titles, for a vector field."""
        return self.vectors(self.known(self.vocabulary.numbered(texts)[1]))

    def probabilities(self, query: Query, documents: FoldedDocuments) -> QueryProbabilities:
        """The parts of the score."""
        asked = documents.query(query)
        words = asked.words.astype(np.int64)
        known = words < len(self.vocabulary)
        latent = np.zeros((len(words), len(documents)))
        if known.any():
            latent[known] = self.latent(
                words[known], FoldedDocuments(self.vocabulary, self.known(documents.texts), documents.vectors)
            )
        background = self.background[np.minimum(words, len(self.vocabulary))]
        return QueryProbabilities(
            asked.counts.astype(np.float64), background, literal_probabilities(words, documents), latent
        )

    def score(self, query: Query, documents: FoldedDocuments) -> Floats:
        """log P_s(q|d) of each document; a query without any known word scores all alike."""
        return self.probabilities(query, documents).score(self.lambda1, self.lambda2)

    def expansion(self, query: Query, n: int) -> dict[str, float]:
        """The n title words that the query most probably asks for, with their weights; none without a latent part."""
        del query, n
        return {}

    @abstractmethod
    def vectors(self, titles: Texts) -> npt.NDArray[np.float32]:
        """A row for each title over known words."""

    @abstractmethod
    def latent(self, words: Integers, documents: FoldedDocuments) -> Floats:
        """P_model(q|d) for known words, words × documents; documents hold known words only."""

    def known(self, texts: Texts) -> Texts:
        """The texts without words that are new to the model."""
        kept = texts.words < len(self.vocabulary)
        if kept.all():
            return texts
        before = np.concatenate([[0], np.cumsum(kept)])
        return Texts(before[texts.starts], texts.words[kept], texts.counts[kept])


def literal_probabilities(words: Integers, documents: FoldedDocuments) -> Floats:
    """P(q|d) = n(q, d)/|d|, words × documents."""
    texts = documents.texts
    found = np.zeros((len(words), len(documents)))
    row_of = np.full(max(len(documents.vocabulary), 1 + int(words.max(initial=-1))), -1)
    row_of[words] = np.arange(len(words))
    rows = row_of[texts.words]
    hits = np.flatnonzero(rows >= 0)
    docs = texts.rows[hits]
    found[rows[hits], docs] = texts.counts[hits] / texts.lengths[docs]
    return found


def background_model(pairs: Pairs) -> Floats:
    """P(w|C) over the training titles, every count one higher: words of queries alone, and one for all others."""
    titles = pairs.titles
    counts = np.bincount(titles.words, titles.counts * pairs.weights[titles.rows], len(pairs.vocabulary) + 1) + 1
    return np.asarray(counts / counts.sum())

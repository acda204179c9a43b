"""WTM_M1: words of titles translate into words of queries, by IBM model 1 (Brown et al. 1993; Clicks §5.2).

P_wtm(q|d) = Σ_{w∈d} P(q|w) P(w|d)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from germane.arrays import Floats, Integers
from germane.latent.backends.cpu import CPU
from germane.latent.generative import GenerativeModel, background_model
from germane.latent.pairs import FoldedDocuments, Pairs, Query, Texts, check_count, check_share
from germane.latent.statistics import TranslationStatistics


@dataclass(frozen=True)
class WTM:
    """The word translation model. Two or three iterations are best: more fit the rare words of the pairs.

    `prune`: translations of a title word below this probability are dropped after the last iteration, and the others
    divided by their sum.
    """

    n_iterations: int = 3
    prune: float = 1e-4
    lambda1: float = 0.3
    lambda2: float = 0.5

    def __post_init__(self) -> None:
        check_count("n_iterations", self.n_iterations)
        for name in ("prune", "lambda1", "lambda2"):
            check_share(name, getattr(self, name))

    def fit(self, pairs: Pairs, *, on_iteration: Callable[[int], None] | None = None) -> "TranslationModel":
        """EM from uniform translations; model 1 has one maximum."""
        model = self.start(pairs)
        for iteration in range(self.n_iterations):
            model = self.update(model, model.statistics(pairs))
            if on_iteration is not None:
                on_iteration(iteration)
        return self.pruned(model)

    def start(self, pairs: Pairs) -> "TranslationModel":
        """Every title word translates alike into all words of the queries it is paired with."""
        n_words = len(pairs.vocabulary)
        met = sparse.csr_array(pairs.queries.table(n_words).T @ pairs.titles.table(n_words))
        met.sort_indices()
        uniform = TranslationModel(
            pairs.vocabulary, background_model(pairs), self.lambda1, self.lambda2,
            met.indptr.astype(np.int64), met.indices.astype(np.int32), np.ones(met.nnz),
        )  # fmt: skip
        return self.update(uniform, TranslationStatistics(np.ones(met.nnz)))

    def update(self, model: "TranslationModel", statistics: TranslationStatistics) -> "TranslationModel":
        """The M-step: t(q|w) = expected(q, w) / Σ_q' expected(q', w)."""
        sums = np.bincount(model.title_words, statistics.expected, len(model.vocabulary))[model.title_words]
        return replace(model, probability=np.divide(statistics.expected, sums, out=sums, where=sums > 0))

    def pruned(self, model: "TranslationModel") -> "TranslationModel":
        """The model without rare translations."""
        kept = model.probability >= self.prune
        before = np.concatenate([[0], np.cumsum(kept)])
        smaller = replace(
            model,
            starts=before[model.starts],
            title_words=model.title_words[kept],
            probability=model.probability[kept],
        )
        return self.update(smaller, TranslationStatistics(smaller.probability))


class Translation(NamedTuple):
    """A word of queries that a title word becomes."""

    word: str
    probability: float


@dataclass(frozen=True, eq=False)
class TranslationModel(GenerativeModel):
    """t(q|w) as a sparse table: row q is `title_words[starts[q]:starts[q + 1]]`, sorted, with `probability`."""

    starts: npt.NDArray[np.int64]
    title_words: npt.NDArray[np.int32]
    probability: Floats

    def statistics(self, pairs: Pairs) -> TranslationStatistics:
        """The E-step over some pairs, all of whose words have met in the table."""
        return CPU().translation_counts(pairs, self.starts, self.title_words, self.probability)

    def vectors(self, titles: Texts) -> npt.NDArray[np.float32]:
        """None: the words are all it needs."""
        return np.zeros((len(titles), 0), np.float32)

    def latent(self, words: Integers, documents: FoldedDocuments) -> Floats:
        """P_wtm(q|d) = Σ_w P(q|w) n(w, d)/|d|."""
        texts = documents.texts
        share = texts.counts / np.maximum(texts.lengths, 1)[texts.rows]
        rows = texts.rows
        found = np.zeros((len(words), len(documents)))
        from_word = np.zeros(len(self.vocabulary))
        for place, word in enumerate(words.tolist()):
            span = slice(self.starts[word], self.starts[word + 1])
            from_word[self.title_words[span]] = self.probability[span]
            found[place] = np.bincount(rows, from_word[texts.words] * share, len(documents))
            from_word[self.title_words[span]] = 0
        return found

    def expansion(self, query: Query, n: int) -> dict[str, float]:
        """Title words by Σ_q n(q) P(q|w), the largest first."""
        asked = self.vocabulary.query(query)
        weight = np.zeros(len(self.vocabulary))
        for word, count in zip(asked.words.tolist(), asked.counts.tolist(), strict=True):
            if word < len(self.vocabulary):
                span = slice(self.starts[word], self.starts[word + 1])
                weight[self.title_words[span]] += count * self.probability[span]
        return self.vocabulary.strongest(weight, n)

    def sources(self, word: str, document: FoldedDocuments) -> list[Translation]:
        """The words of one document that translate into a query word, with P(q|w) n(w, d)/|d|, the largest first.

        The document holds known words only.
        """
        number = self.vocabulary.ids.get(word, -1)
        texts = document.texts
        span = slice(self.starts[number], self.starts[number + 1]) if number >= 0 else slice(0)
        translated = dict(zip(self.title_words[span].tolist(), self.probability[span].tolist(), strict=True))
        found = [
            Translation(self.vocabulary.words[held], translated[held] * count / float(texts.lengths[0]))
            for held, count in zip(texts.words.tolist(), texts.counts.tolist(), strict=True)
            if held in translated
        ]
        return sorted(found, key=lambda each: (-each.probability, each.word))

    def neighbours(self, title_word: str, n: int = 10) -> list[Translation]:
        """The words of queries that a title word most likely becomes; none for a word that is not known."""
        word = self.vocabulary.ids.get(title_word, -1)
        places = np.flatnonzero(self.title_words == word)
        best = places[np.argsort(-self.probability[places], kind="stable")[:n]]
        queries = np.searchsorted(self.starts, best, side="right") - 1
        return [
            Translation(self.vocabulary.words[query], float(self.probability[place]))
            for query, place in zip(queries.tolist(), best.tolist(), strict=True)
        ]

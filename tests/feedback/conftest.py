"""Small random collections, and every formula's ingredients dense: one array over the whole vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from germane.feedback import Evidence
from germane.lm import Dirichlet, JelinekMercer, LanguageModel, Smoothing

N_DOCS, N_WORDS = 14, 40


@dataclass
class World:
    """A collection as a matrix of counts, a query as a vector, and the documents a feedback step sees."""

    counts: np.ndarray
    query: np.ndarray
    chosen: np.ndarray

    @property
    def p_C(self) -> np.ndarray:
        return self.counts.sum(axis=0) / self.counts.sum()

    @property
    def df(self) -> np.ndarray:
        return (self.counts > 0).sum(axis=0)

    @property
    def words(self) -> np.ndarray:
        """The words of the evidence: those of its documents and of the query."""
        return np.flatnonzero((self.counts[self.chosen] > 0).any(axis=0) | (self.query > 0))

    def theta(self, smoothing: Smoothing, docs: Sequence[int] | None = None) -> np.ndarray:
        """θ_D(w), one row a document, written out: Jelinek-Mercer (2.1) or Dirichlet (5.33)."""
        counts = self.counts[self.chosen if docs is None else docs]
        length = counts.sum(axis=1, keepdims=True)
        if isinstance(smoothing, Dirichlet):
            return (counts + smoothing.mu * self.p_C) / (length + smoothing.mu)
        assert isinstance(smoothing, JelinekMercer)
        mixed = smoothing.lam * counts / np.maximum(length, 1) + (1 - smoothing.lam) * self.p_C
        return np.where(length > 0, mixed, self.p_C)

    def evidence(self, marks: Sequence[int] | None = None) -> Evidence:
        """The same, sparse, words numbered anew."""
        words, held = self.words, self.counts[self.chosen][:, self.words]
        documents, ids = np.nonzero(held)
        asked = np.flatnonzero(self.query[words])
        return Evidence(
            query=dict(zip(asked.tolist(), self.query[words][asked].tolist(), strict=True)),
            starts=np.concatenate([[0], np.cumsum((held > 0).sum(axis=1))]),
            ids=ids,
            counts=held[documents, ids].astype(np.float64),
            lengths=held.sum(axis=1).astype(np.float64),
            marks=np.array([-1] * len(self.chosen) if marks is None else marks, np.int8),
            p_C=self.p_C[words],
            df=self.df[words],
            n_docs=len(self.counts),
            scores=self.scores(marks),
        )

    def scores(self, marks: Sequence[int] | None = None) -> np.ndarray:
        """Two rankings of the unmarked documents, the second without the last of them."""
        scores = np.random.default_rng(len(self.chosen)).normal(size=(2, len(self.chosen)))
        scores[1, -1:] = -np.inf
        scores[:, np.array(marks if marks is not None else [-1] * len(self.chosen)) != -1] = -np.inf
        return scores

    def dense(self, model: LanguageModel) -> np.ndarray:
        """A model of the evidence as probabilities of the whole vocabulary."""
        theta = model.background * self.p_C
        theta[self.words[model.ids]] += model.excess
        return theta


def make_world(seed: int, with_empty: bool = False) -> World:
    rng = np.random.default_rng(seed)
    frequent = 1.0 / np.arange(1, N_WORDS + 1)
    counts = np.array([rng.multinomial(rng.integers(1, 40), rng.dirichlet(3 * frequent)) for _ in range(N_DOCS)])
    chosen = rng.choice(N_DOCS, rng.integers(2, 7), replace=False)
    if with_empty:
        counts[chosen[0]] = 0
    counts = counts[:, counts.sum(axis=0) > 0]
    query = np.zeros(counts.shape[1])
    for word in rng.choice(len(query), rng.integers(1, 5), replace=False):
        query[word] = rng.choice([1.0, 2.0, 0.75])
    return World(counts, query, chosen)


@pytest.fixture(scope="session")
def worlds() -> list[World]:
    """Thirty collections, a third of them with an empty document among those chosen."""
    return [make_world(seed, with_empty=seed % 3 == 0) for seed in range(30)]


@pytest.fixture(scope="session")
def filled_worlds() -> list[World]:
    """Collections in which every chosen document has words."""
    return [make_world(seed) for seed in range(100, 120)]

"""General English: what is known of words apart from any topic, and learnt further as the stream goes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import positive
from germane.track.bags import Bag


class Background:
    """θ^GE_w = (c_w + β)/(|C| + β·V), SD (4.10), over the words met so far and one more for all that are not.

    About half of a stream's words are new to its background, so β > 0. Documents that are `add`ed wait until
    `refresh`, so that scores in between can be compared and made in any order; `version` counts the refreshes.
    """

    def __init__(self, beta: float = 0.5) -> None:
        self.beta = positive("beta", beta)
        self.version = 0
        self.n_documents = 0
        self._counts = np.zeros(0)
        self._document_counts = np.zeros(0)
        self._total, self._n_words = 0.0, 0
        self._waiting: list[Bag] = []

    @classmethod
    def of(cls, bags: Iterable[Bag], beta: float = 0.5) -> "Background":
        """The background of a reference collection."""
        background = cls(beta)
        background.add(bags)
        background.refresh()
        return background

    @property
    def n_waiting(self) -> int:
        """How many documents wait."""
        return len(self._waiting)

    @property
    def waiting(self) -> tuple[Bag, ...]:
        """The documents that wait."""
        return tuple(self._waiting)

    def add(self, bags: Iterable[Bag]) -> None:
        """Documents of the stream, to be known from the next `refresh` on."""
        self._waiting += bags

    def refresh(self) -> None:
        """Take in what waits: θ^GE changes now."""
        if self._waiting:
            terms = np.concatenate([bag.terms for bag in self._waiting])
            counts = np.concatenate([bag.counts for bag in self._waiting])
            size = max(len(self._counts), int(terms.max(initial=-1)) + 1)
            self._counts = _sum(self._counts, np.bincount(terms, counts, size).astype(np.float64))
            self._document_counts = _sum(self._document_counts, np.bincount(terms, minlength=size).astype(np.float64))
            self._total += float(counts.sum())
            self._n_words = int(np.count_nonzero(self._counts))
            self.n_documents += len(self._waiting)
            self._waiting.clear()
        self.version += 1

    @property
    def mean_length(self) -> float:
        """The mean |D| of its documents; 1 where it has none."""
        return self._total / self.n_documents if self._total else 1.0

    def probability(self, terms: Integers) -> Floats:
        """θ^GE of the words, SD (4.10); V is the number of words met, and one."""
        size = self._total + self.beta * (self._n_words + 1)
        probability: Floats = (_at(self._counts, terms) + self.beta) / size
        return probability

    def idf(self, terms: Integers) -> Floats:
        """log((|C| + 1)/(N_w + 0.5)), SD (6.2)."""
        idf: Floats = np.log((self.n_documents + 1.0) / (_at(self._document_counts, terms) + 0.5))
        return idf

    def state(self) -> dict[str, Any]:
        """All of it but what waits, as arrays and numbers; `restored` makes it again, bit by bit."""
        return {
            "beta": self.beta, "version": self.version, "n_documents": self.n_documents, "total": self._total,
            "counts": self._counts, "document_counts": self._document_counts,
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Background":
        """The background that `state` told of."""
        background = cls(float(state["beta"]))
        background.version, background.n_documents = int(state["version"]), int(state["n_documents"])
        background._total = float(state["total"])
        background._counts = np.array(state["counts"], np.float64)
        background._document_counts = np.array(state["document_counts"], np.float64)
        background._n_words = int(np.count_nonzero(background._counts))
        if background._counts.shape != background._document_counts.shape or background._counts.ndim != 1:
            raise ParameterError("the counts of a background must be two lists of one length")
        return background


def _at(values: Floats, terms: Integers) -> Floats:
    """The values of the words; 0 for words beyond them."""
    known = terms < len(values)
    found = np.zeros(len(terms))
    found[known] = values[terms[known]]
    return found


def _sum(old: Floats, new: Floats) -> Floats:
    new[: len(old)] += old
    return new

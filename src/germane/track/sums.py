"""Sums of sparse vectors in constant memory: what a topic remembers of its documents."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from germane.arrays import Floats, Integers
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.method import Tracker
from germane.track.representation import Representation

MAX_WORDS = 2_000
"""A topic remembers this many words at most: those that weigh most."""


class SparseSum:
    """Σ_i w_i·x_i of sparse vectors, at most `MAX_WORDS` long: where it grows longer, the least words are forgotten."""

    def __init__(self, terms: Integers | None = None, values: Floats | None = None) -> None:
        self.terms = np.zeros(0, np.int64) if terms is None else np.asarray(terms, np.int64)
        self.values = np.zeros(0) if values is None else np.asarray(values, np.float64)

    def add(self, terms: Integers, values: Floats) -> None:
        """Add a vector whose terms ascend."""
        union, places = np.unique(np.concatenate([self.terms, terms]), return_inverse=True)
        total: Floats = np.bincount(places, np.concatenate([self.values, values]), len(union)).astype(np.float64)
        if len(union) > MAX_WORDS:
            kept = np.sort(np.argsort(-np.abs(total), kind="stable")[:MAX_WORDS])
            union, total = union[kept], total[kept]
        self.terms, self.values = union, total

    def scale(self, factor: float) -> None:
        """Multiply all of it."""
        self.values = self.values * factor


class TwoMeans(Tracker):
    """Keeps Σ over documents on topic, and Σ over those judged off it, of what `_vector` reads off each."""

    def __init__(self, representation: Representation, background: Background) -> None:
        super().__init__(representation, background)
        self._on, self._off = SparseSum(), SparseSum()
        self._n_on, self._n_off = 0, 0

    @abstractmethod
    def _vector(self, bag: Bag) -> Floats:
        """What is summed, a number for each word: f_w, or a function of it."""

    def _difference(self, gamma: float) -> SparseSum:
        """The mean of what is on topic less γ times the mean of what is not."""
        mean = SparseSum(self._on.terms, self._on.values / self._n_on)
        if self._n_off:
            mean.add(self._off.terms, -gamma * self._off.values / self._n_off)
        return mean

    def seed(self, seeds: Sequence[Bag]) -> None:
        for seed in seeds:
            self._learn(seed, True)

    def _learn(self, bag: Bag, judgement: bool | None) -> None:
        if judgement is False:
            self._off.add(bag.terms, self._vector(bag))
            self._n_off += 1
        else:
            self._on.add(bag.terms, self._vector(bag))
            self._n_on += 1

    def state(self) -> dict[str, Any]:
        return {
            "on_terms": self._on.terms, "on_values": self._on.values, "n_on": self._n_on,
            "off_terms": self._off.terms, "off_values": self._off.values, "n_off": self._n_off,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self._on = SparseSum(state["on_terms"], state["on_values"])
        self._off = SparseSum(state["off_terms"], state["off_values"])
        self._n_on, self._n_off = int(state["n_on"]), int(state["n_off"])

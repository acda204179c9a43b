"""What a tracker reads off a document: a number for each of its words, and one for the background.

Every score is Σ_{w∈D} α_w·x_w(D) + α_0·b(D): x and b are the document's, α the topic's (`method.Weights`). So one
document meets any number of topics by one pass over its words (`percolator.py`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.lm.parameters import open_fraction, positive
from germane.track.background import Background
from germane.track.bags import Bag, Batch


class Features(NamedTuple):
    """x_w for each word of the bag, and b."""

    values: Floats
    common: float


class BatchFeatures(NamedTuple):
    """x_w for each word of each bag, and every b."""

    values: Floats
    common: Floats


class Representation(ABC):
    """A way to read documents. Equal ones (frozen dataclasses) share their work."""

    @abstractmethod
    def read(self, batch: Batch, background: Background) -> BatchFeatures:
        """x and b of documents; of one without words b is 0. What is read of one does not depend on the others."""

    def features(self, bag: Bag, background: Background) -> Features:
        """x and b of one document."""
        values, common = self.read(Batch([bag]), background)
        return Features(values, float(common[0]))


@dataclass(frozen=True)
class LogRatios(Representation):
    """x_w = log(1 + λ·θ̂_w/((1-λ)·θ^GE_w)) and b = Σ_{w∈D} θ^GE_w·x_w: T-cross-entropy, SD (4.31)."""

    lam: float

    def __post_init__(self) -> None:
        open_fraction("lam", self.lam)

    def read(self, batch: Batch, background: Background) -> BatchFeatures:
        general = background.probability(batch.terms)
        share = batch.counts / batch.lengths[batch.owners]
        values = np.log1p(self.lam / (1.0 - self.lam) * share / general)
        return BatchFeatures(values, batch.sums(general * values))


@dataclass(frozen=True)
class PivotedLogRatios(Representation):
    """x_w = log(1 + L·θ̂_w/(μ·θ^GE_w)) with L the background's mean |D|; b = 0.

    That is `LogRatios` with λ = L/(L+μ), Dirichlet smoothing of a document as long as the stream's mean: one μ serves
    streams of short and of long documents, where each would need a λ of its own.
    """

    mu: float

    def __post_init__(self) -> None:
        positive("mu", self.mu)

    def read(self, batch: Batch, background: Background) -> BatchFeatures:
        share = batch.counts / batch.lengths[batch.owners]
        ratio = background.mean_length / self.mu
        return BatchFeatures(np.log1p(ratio * share / background.probability(batch.terms)), np.zeros(len(batch)))


@dataclass(frozen=True)
class UnitTfIdf(Representation):
    """x = v(D)/‖v(D)‖ with v_w = f_w·log((|C|+1)/(N_w+0.5)), SD (6.2), (6.3); b = 0."""

    def read(self, batch: Batch, background: Background) -> BatchFeatures:
        vector = batch.counts * background.idf(batch.terms)
        norms = np.sqrt(batch.sums(vector * vector))
        norms[norms == 0.0] = 1.0
        return BatchFeatures(vector / norms[batch.owners], np.zeros(len(batch)))


@dataclass(frozen=True)
class Counts(Representation):
    """x_w = f_w and b = |D|: the multinomial's log-likelihood ratio, SD (2.16). `mean`: both divided by |D|."""

    mean: bool = False

    def read(self, batch: Batch, background: Background) -> BatchFeatures:
        if not self.mean:
            return BatchFeatures(batch.counts, batch.lengths)
        return BatchFeatures(batch.counts / batch.lengths[batch.owners], np.minimum(batch.lengths, 1.0))

"""UM: the unigram language model with Jelinek-Mercer smoothing, Clicks (14)-(16) with λ2 = 1."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.latent.generative import GenerativeModel, background_model
from germane.latent.pairs import FoldedDocuments, Pairs, Texts


@dataclass(frozen=True)
class UM:
    """The baseline of topic models. Of the pairs it takes the background model alone."""

    lambda1: float = 0.3

    def fit(self, pairs: Pairs) -> "UnigramModel":
        """Count the words of titles."""
        return UnigramModel(pairs.vocabulary, background_model(pairs), self.lambda1, 1.0)


@dataclass(frozen=True, eq=False)
class UnigramModel(GenerativeModel):
    """The background model of the titles."""

    def vectors(self, titles: Texts) -> npt.NDArray[np.float32]:
        """None: the words are all it needs."""
        return np.zeros((len(titles), 0), np.float32)

    def latent(self, words: Integers, documents: FoldedDocuments) -> Floats:
        """There is nothing behind the words."""
        return np.zeros((len(words), len(documents)))

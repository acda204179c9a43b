"""Several models as one, each with a weight that was learnt.

    score(q, d) = Σ_i w_i s_i(q, d)

s_i is the mixed cosine of a projection, and of a generative model log P_s(q|d)/|q|, which is of one size for short and
long queries. Unlike the scores of `combination.CombinedScores` it depends on the query and the document alone, not on
what else was found, so that it can be explained and compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.latent.generative import GenerativeModel
from germane.latent.pairs import FoldedDocuments, Pairs, Query, Texts, WordIds
from germane.latent.projection import ProjectionModel

PartModel: TypeAlias = GenerativeModel | ProjectionModel
UNTUNED = {True: 1.0, False: 10.0}
"""Weights of generative models and of projections where nothing was learnt: cosines differ by less than logarithms."""


class PartEstimator(Protocol):
    """The estimator of a part."""

    def fit(self, pairs: Pairs) -> PartModel:
        """Learn from query-title pairs."""


@dataclass(frozen=True)
class Ensemble:
    """The estimators of the parts, by name. Their weights are learnt afterwards, from graded lists (`Combination`)."""

    estimators: Mapping[str, PartEstimator]

    def __post_init__(self) -> None:
        if len(self.estimators) < 2:
            raise ParameterError("a combination has two parts at least, as in parts=wtm,opca")

    def fit(self, pairs: Pairs) -> "EnsembleModel":
        """Fit every part; equal shares for all."""
        parts = tuple(each.fit(pairs) for each in self.estimators.values())
        weights = [UNTUNED[isinstance(part, GenerativeModel)] / len(parts) for part in parts]
        return EnsembleModel(pairs.vocabulary, tuple(self.estimators), parts, np.array(weights))


@dataclass(frozen=True, eq=False)
class EnsembleModel:
    """Models over one vocabulary, their names and weights. The vectors of a document are those of all parts, joined."""

    vocabulary: WordIds
    names: tuple[str, ...]
    parts: tuple[PartModel, ...]
    weights: Floats

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.parts) == len(self.weights) > 0 or not np.isfinite(self.weights).all():
            raise ParameterError("a combination has a name and a finite weight for each of its parts")
        if any(part.vocabulary.words != self.vocabulary.words for part in self.parts):
            raise ParameterError("the parts of a combination are learnt from the same pairs: their words differ")

    def mixed(self, weights: Sequence[float], parts: Sequence[PartModel] | None = None) -> "EnsembleModel":
        """Return the ensemble with other weights, and if need be with other mixtures within its parts."""
        return replace(self, weights=np.asarray(weights, np.float64), parts=tuple(parts or self.parts))

    @property
    def width(self) -> int:
        """The numbers that all parts keep of a document."""
        return sum(part.width for part in self.parts)

    def fold_in(self, titles: Sequence[str], vectors: npt.NDArray[np.float32] | None = None) -> FoldedDocuments:
        """Return the folded documents of all parts; `vectors`: where these are known already."""
        vocabulary, texts = self.vocabulary.extended(titles)
        return FoldedDocuments(vocabulary, texts, self._vectors(texts) if vectors is None else vectors)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The numbers that all parts keep of titles, side by side."""
        return self._vectors(self.vocabulary.numbered(texts)[1])

    def _vectors(self, texts: Texts) -> npt.NDArray[np.float32]:
        return np.hstack([
            part.project(texts) if isinstance(part, ProjectionModel) else part.vectors(part.known(texts))
            for part in self.parts
        ])  # fmt: skip

    def columns(self) -> Iterator[tuple[PartModel, slice]]:
        """The parts, and which of the joined numbers are theirs."""
        begin = 0
        for part in self.parts:
            yield part, slice(begin, begin + part.width)
            begin += part.width

    def split(self, documents: FoldedDocuments) -> Iterator[tuple[PartModel, FoldedDocuments]]:
        """The parts, and the documents as each of them has folded them in."""
        for part, columns in self.columns():
            yield part, FoldedDocuments(documents.vocabulary, documents.texts, documents.vectors[:, columns])

    def part_scores(self, query: Query, documents: FoldedDocuments) -> Floats:
        """s_i(q, d), parts × documents."""
        asked = documents.query(query)
        rows = [part.score(query, folded) / query_length(part, asked) for part, folded in self.split(documents)]
        return np.stack(rows)

    def score(self, query: Query, documents: FoldedDocuments) -> Floats:
        """Σ_i w_i s_i(q, d) of each document."""
        return np.asarray(np.add.reduce(self.weights[:, None] * self.part_scores(query, documents), axis=0))


def query_length(part: PartModel, asked: Texts) -> float:
    """Divisor of the score of a part: |q| of a generative model, else 1."""
    return max(float(asked.counts.sum()), 1.0) if isinstance(part, GenerativeModel) else 1.0

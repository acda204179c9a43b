"""What is wanted, as a model of words that attract and words that repel, and how a search takes it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.rank.everywhere import background_everywhere, scores_everywhere
from germane.rank.models import QueryLikelihood, RankingModel
from germane.rank.searcher import Searcher
from germane.rank.term_table import NumberedWeights


class SignedTopic(NamedTuple):
    """Index terms with their weights, negative ones repelling, and the share of the collection model."""

    weights: Mapping[str, float]
    background: float = 0.0

    def for_search(
        self, searcher: Searcher, model: RankingModel, priors: Sequence[Floats] | None
    ) -> tuple[Mapping[str, float], Sequence[Floats] | None]:
        """The words to search for, and priors that hold what the others and the background add to every document.

        A search scores documents that hold one of its words; a word that repels counts for all. Models without
        smoothing have no background.
        """
        wanted, unwanted = self.weights, {}
        if not isinstance(wanted, NumberedWeights) and min(wanted.values(), default=1.0) <= 0:
            wanted = {term: weight for term, weight in self.weights.items() if weight > 0}
            unwanted = {term: -weight for term, weight in self.weights.items() if weight < 0}
        if not wanted:  # no document can be found, and a collection without words has no background
            return wanted, priors
        parts = [priors] if priors is not None else []
        if unwanted:
            parts.append([-scores for scores in scores_everywhere(searcher, unwanted, model)])
        if self.background != 0.0 and isinstance(model, QueryLikelihood):
            parts.append([self.background * scores for scores in background_everywhere(searcher, model)])
        return wanted, [np.sum(part, axis=0) for part in zip(*parts, strict=True)] if parts else None

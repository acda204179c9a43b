"""Rank by a topic whose words may repel: what repels becomes a prior of every document."""

from collections.abc import Mapping, Sequence

import numpy as np

from germane.arrays import Floats
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.retriever import Scoring
from germane.rank.scoring.score_all import background_everywhere, scores_everywhere
from germane.rank.scoring.searcher import Searcher


def attracting(searcher: Searcher, scoring: Scoring) -> tuple[Mapping[str, float], Sequence[Floats] | None]:
    """Split a ranking into the words to search for, and log-priors that hold everything else.

    A search scores documents that hold one of its words; a word that repels counts for all documents, and so does the
    background share of a topic under query likelihood. Other models have no background.
    """
    (weights, background), model, priors_asked = scoring
    signed = min(weights.values(), default=1.0) <= 0
    if not signed and background == 0.0 and not priors_asked:
        return weights, None
    priors = searcher.log_priors(priors_asked)
    repelling: dict[str, float] = {}
    if signed:
        repelling = {term: -weight for term, weight in weights.items() if weight < 0}
        weights = {term: weight for term, weight in weights.items() if weight > 0}
    if not weights:  # no document can be found, and a collection without words has no background
        return weights, priors
    parts = [priors] if priors is not None else []
    if repelling:
        parts.append([-scores for scores in scores_everywhere(searcher, repelling, model)])
    if background != 0.0 and isinstance(model, QueryLikelihood):
        parts.append([background * scores for scores in background_everywhere(searcher, model)])
    return weights, [np.sum(part, axis=0) for part in zip(*parts, strict=True)] if parts else None

"""What can be done where nothing is marked relevant: results like the rejected sink, the others keep their order."""

import numpy as np

from germane.arrays import Floats, Labels
from germane.refine.calibration import location, standardised
from germane.refine.carried import FIRST_RANKS
from germane.refine.refined import Contributions, Refined, row_of
from germane.refine.weighting import ResultList
from germane.types import Mark


def demoted(results: ResultList, labels: Labels) -> Refined:
    """Scores (no odds) from rejected marks alone: z(-ln(10 + rank)) - max(z(d), 0), rank from 0.

    d is the mean cosine with the rejected results, a mark saying nothing of itself, over `ResultList.carried_unit`; z
    standardises over the unmarked results. A result that is no more like the rejected ones than the mean result keeps
    its place among its like. Ours, not the paper's, whose methods all need a relevant mark.
    """
    A = results.carried_unit
    rejected = labels == Mark.NOT_RELEVANT
    w = rejected / max(rejected.sum(), 1)
    filled = np.diff(A.indptr) > 0
    words_of_rejected = A.T @ w
    likeness = A @ words_of_rejected - w * filled
    standard = standardised(likeness, labels)
    mean, deviation = location(likeness, labels)
    prior = standardised(-np.log(FIRST_RANKS + np.arange(len(results))), labels)

    def contributions(i: int) -> Contributions:
        words, a = row_of(A, i)
        sinks = deviation > 0 and standard[i] > 0
        amounts = -a * (words_of_rejected[words] - a * w[i]) / deviation if sinks else np.zeros(len(words))
        return Contributions(words, amounts)

    def decide(texts: ResultList) -> Floats:
        if not deviation:
            return np.zeros(len(texts))
        return np.asarray(-np.maximum((texts.carried_unit @ words_of_rejected - mean) / deviation, 0.0))

    return Refined(prior - np.maximum(standard, 0.0), contributions=contributions, decide=decide)

"""Work saved over sampling: how much of a list need not be read to find nearly everything."""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError


def work_saved_over_sampling(scores: npt.ArrayLike, relevant: npt.ArrayLike, recall: float = 0.95) -> float:
    """WSS@R = (TN + FN)/N - (1 - R), where the list is read down to the document at which recall reaches R.

    Cohen et al. 2006 (JAMIA 13(2)). Read in order of score, ties as badly as possible (relevant ones last), the first n
    of N documents are read and N - n = TN + FN are not. WSS@95 of a random order is about 0.
    """
    score, label = np.asarray(scores, np.float64), np.asarray(relevant, bool)
    if score.shape != label.shape or score.ndim != 1 or not 0.0 < recall <= 1.0:
        raise ParameterError("scores and relevance must be of one length, and 0 < recall <= 1")
    n_rel = int(label.sum())
    if n_rel == 0:
        raise ParameterError("work saved over sampling needs a relevant document")
    order = np.lexsort((label, -score))
    needed = math.ceil(recall * n_rel - 1e-9)
    n_read = int(np.flatnonzero(np.cumsum(label[order]) >= needed)[0]) + 1
    return float((len(score) - n_read) / len(score) - (1.0 - recall))


def wss_of_ranking(scores: Mapping[str, float], grades: Mapping[str, int], recall: float) -> float:
    """WSS of one query of a run; judged documents it lacks stand at the end. NaN where nothing is relevant."""
    documents = [*scores, *(doc for doc in grades if doc not in scores)]
    relevant = np.array([grades.get(doc, 0) > 0 for doc in documents])
    if not relevant.any():
        return float("nan")
    values = np.array([scores.get(doc, -np.inf) for doc in documents])
    return work_saved_over_sampling(values, relevant, recall)

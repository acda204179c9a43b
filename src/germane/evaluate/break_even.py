"""Break-even precision: the precision at the rank where it equals recall, R = N_rel; also called R-precision."""

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError


def break_even_precision(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """BEP = Rel(N_rel)/N_rel, SD (4.2): the share of relevant documents among the first N_rel.

    Tied scores are cut by expectation: of t tied documents with r relevant ones, m places hold m·r/t of them. SD does
    not say how it treats ties; trec_eval (the measure `BEP`) orders them by id.
    """
    score, label = np.asarray(scores, np.float64), np.asarray(relevant, bool)
    n_rel = int(label.sum())
    if score.shape != label.shape or score.ndim != 1:
        raise ParameterError("scores and relevance must be two lists of one length")
    if n_rel == 0:
        raise ParameterError("break-even precision needs a relevant document")
    threshold = np.partition(score, len(score) - n_rel)[len(score) - n_rel]
    above, tied = score > threshold, score == threshold
    places = n_rel - int(above.sum())
    return float((label[above].sum() + places * label[tied].mean()) / n_rel)


def macro_bep(bep: npt.ArrayLike) -> float:
    """Macro-BEP = (1/|T|) Σ_T BEP(T), SD (4.3): every class counts the same."""
    values = np.asarray(bep, np.float64)
    if not len(values):
        raise ParameterError("there is no class to average over")
    return float(values.mean())


def micro_bep(bep: npt.ArrayLike, n_rel: npt.ArrayLike) -> float:
    """Micro-BEP = Σ_T N_rel(T)·BEP(T) / Σ_T N_rel(T), SD (4.4): every relevant document counts the same."""
    values, weight = np.asarray(bep, np.float64), np.asarray(n_rel, np.float64)
    if values.shape != weight.shape or not weight.sum() > 0:
        raise ParameterError("each class needs its number of relevant documents, and one of them some")
    return float(values @ weight / weight.sum())

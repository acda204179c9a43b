"""How good a refinement of a list is: the unmarked results that it calls relevant, and the order it puts them in."""

import numpy as np
import numpy.typing as npt

from germane.evaluate.classification import f1


def average_precision(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """Mean over the relevant results of the precision at their rank; ties stay in order. 0 without a relevant one."""
    order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
    ranks = np.flatnonzero(np.asarray(relevant, bool)[order]) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0


def set_f1(predicted: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """F1 = 2PR/(P + R) of the relevant class, Refine (18)."""
    truth, guess = (np.asarray(flags, bool).astype(str).tolist() for flags in (relevant, predicted))
    return f1(truth, guess, ["True"]).per_class["True"]

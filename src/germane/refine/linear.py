"""What the methods on top of scikit-learn's linear models share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from germane.arrays import AnyArray, Floats
from germane.errors import MissingExtraError
from germane.refine.refined import Refined, linear_refined
from germane.refine.weighting import ResultList, Weighting


@contextmanager
def needing_scikit_learn(purpose: str) -> Iterator[None]:
    """Say which extra to install where an import within fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        raise MissingExtraError("scikit-learn", "learn", purpose) from None


def fit_quietly(model: Any, rows: Any, labels: AnyArray, weight: Floats | None = None) -> Any:
    """`model` fitted; that it stopped at its limit of iterations is meant, not a warning."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, labels, sample_weight=weight)


def refined_by(beta: Floats, intercept: float, results: ResultList, weights: Weighting) -> Refined:
    """x·β + b, x the unit vectors."""
    return linear_refined(results, lambda texts: texts.unit_weighted(weights), beta, float(intercept))

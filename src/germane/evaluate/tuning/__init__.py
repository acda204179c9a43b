"""Find parameters on some queries, and measure them on others."""

from germane.evaluate.tuning.cache import TrialCache, content_key
from germane.evaluate.tuning.folds import folds_by_query
from germane.evaluate.tuning.nested import CrossValidation, Fold, cross_validate
from germane.evaluate.tuning.search import Grid, Parameters, Tuned, coordinate_ascent, grid_search, tuner

__all__ = [
    "CrossValidation",
    "Fold",
    "Grid",
    "Parameters",
    "TrialCache",
    "Tuned",
    "content_key",
    "coordinate_ascent",
    "cross_validate",
    "folds_by_query",
    "grid_search",
    "tuner",
]

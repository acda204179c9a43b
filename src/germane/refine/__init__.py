"""A few marks re-rank a whole result list: the methods of the Refine paper, and ours.

Each name is imported when it is first used; `RefineClassifier` needs the extra `learn` (scikit-learn).
"""

from typing import TYPE_CHECKING

from germane.lazy import Extra, lazy_exports

if TYPE_CHECKING:
    from germane.refine.calibration import predicted_set, probabilities
    from germane.refine.estimators import RefineClassifier
    from germane.refine.methods import METHOD_NAMES, method_named
    from germane.refine.refined import Component, Contributions, Refined, RefineMethod
    from germane.refine.refinement import Refinement
    from germane.refine.refiner import Refiner
    from germane.refine.weighting import ResultList

__all__ = [
    "METHOD_NAMES",
    "Component",
    "Contributions",
    "RefineClassifier",
    "RefineMethod",
    "Refined",
    "Refinement",
    "Refiner",
    "ResultList",
    "method_named",
    "predicted_set",
    "probabilities",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "calibration": ["predicted_set", "probabilities"],
        "estimators": ["RefineClassifier"],
        "methods": ["METHOD_NAMES", "method_named"],
        "refined": ["Component", "Contributions", "RefineMethod", "Refined"],
        "refinement": ["Refinement"],
        "refiner": ["Refiner"],
        "weighting": ["ResultList"],
    },
    Extra("sklearn", "scikit-learn", "learn", "A classifier that learns from unlabelled texts"),
)

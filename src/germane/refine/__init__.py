"""A few marks re-rank a whole result list: the methods of the Refine paper, and ours.

Each name is imported when it is first used; `RefineClassifier` needs the extra `learn` (scikit-learn).
"""

from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "METHOD_NAMES": "methods",
    "Component": "refined",
    "Contributions": "refined",
    "RefineClassifier": "estimators",
    "RefineMethod": "refined",
    "Refined": "refined",
    "Refinement": "refinement",
    "Refiner": "refiner",
    "ResultList": "weighting",
    "method_named": "methods",
    "predicted_set": "calibration",
    "probabilities": "calibration",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from germane.errors import MissingExtraError

    try:
        return getattr(import_module(f"germane.refine.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        raise MissingExtraError("scikit-learn", "learn", "A classifier that learns from unlabelled texts") from None

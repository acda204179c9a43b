"""Re-ranking of a result list from a few relevance marks, by the methods of the Refine paper and others.

Names are imported on first use. `RefineClassifier` needs the extra `learn` (scikit-learn).
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.refine.calibration import predicted_set
    from germane.refine.estimators import RefineClassifier
    from germane.refine.method import Component, Contributions, Estimate, RefineMethod
    from germane.refine.refinement import Refinement
    from germane.refine.refiner import Refiner
    from germane.refine.registry import METHOD_NAMES, method_named, probabilities
    from germane.refine.weighting import ResultList

__all__ = [
    "METHOD_NAMES",
    "Component",
    "Contributions",
    "Estimate",
    "RefineClassifier",
    "RefineMethod",
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
        "calibration": ["predicted_set"],
        "estimators": ["RefineClassifier"],
        "method": ["Component", "Contributions", "Estimate", "RefineMethod"],
        "registry": ["METHOD_NAMES", "method_named", "probabilities"],
        "refinement": ["Refinement"],
        "refiner": ["Refiner"],
        "weighting": ["ResultList"],
    },
    "A classifier that learns from unlabelled texts",
)

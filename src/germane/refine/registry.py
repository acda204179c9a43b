"""Methods of refinement by name, as the command line and configuration write them. Naming them loads nothing."""

from typing import TYPE_CHECKING, Any

from germane.errors import ParameterError
from germane.lazy import LazyClasses

if TYPE_CHECKING:
    import numpy.typing as npt

    from germane.arrays import Floats
    from germane.refine.method import RefineMethod

_METHODS: "LazyClasses[RefineMethod]" = LazyClasses(
    "germane.refine",
    {
        "auto": "carried.CarriedEvidence",
        "nb": "em.NaiveBayes",
        "em": "em.EM",
        "mmem-kl": "multi_mixture.MultiMixtureKL",
        "mmem-aib": "multi_mixture.MultiMixtureAIB",
        "saem": "em.SAEM",
        "knn": "neighbours.Neighbours",
        "tsvm": "transductive_svm.TransductiveSVM",
        "sd": "smoothed_dirichlet.SmoothedDirichletEM",
        "rocchio": "linear.Rocchio",
        "logistic": "linear.Logistic",
    },
)

METHOD_NAMES = tuple(_METHODS)


def method_named(name: str, **parameters: Any) -> "RefineMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    from germane.lm.parameters import named

    return named("method", name, _METHODS, parameters)


def probabilities(log_odds: "npt.ArrayLike", labels: "npt.ArrayLike", method: str) -> "Floats":
    """P(relevant) of each result from the log-odds of the method of that name (`RefineMethod.probabilities`)."""
    if method not in _METHODS:
        raise ParameterError(f"there is no calibration for '{method}'; there is one for {', '.join(_METHODS)}")
    return _METHODS[method].probabilities(log_odds, labels)

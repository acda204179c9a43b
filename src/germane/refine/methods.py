"""Methods of refinement by name, as the command line and configuration write them. Importing this loads no method."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.refine.refined import RefineMethod

_METHODS = {
    "auto": "carried.CarriedEvidence",
    "nb": "naive_bayes.NaiveBayes",
    "em": "em.EM",
    "mmem-kl": "multi_mixture.MultiMixtureKL",
    "mmem-aib": "multi_mixture.MultiMixtureAIB",
    "saem": "em.SAEM",
    "knn": "neighbours.Neighbours",
    "tsvm": "transductive_svm.TransductiveSVM",
    "sd": "smoothed_dirichlet.SmoothedDirichletEM",
    "rocchio": "rocchio.Rocchio",
    "logistic": "logistic.Logistic",
}
"""Where in `germane.refine` the class is, whose `name` is the same."""

METHOD_NAMES = tuple(_METHODS)


def method_named(name: str, **parameters: Any) -> "RefineMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    from germane.lm.parameters import named

    return named("method", name, {known: _class(known) for known in METHOD_NAMES}, parameters)


def _class(name: str) -> "type[RefineMethod]":
    module, _, kind = _METHODS[name].rpartition(".")
    found: type[RefineMethod] = getattr(import_module(f"germane.refine.{module}"), kind)
    return found

"""Methods of refinement by name, as the command line and configuration write them."""

from typing import Any

from germane.lm.parameters import named
from germane.refine.carried import CarriedEvidence
from germane.refine.em import EM, SAEM
from germane.refine.logistic import Logistic
from germane.refine.multi_mixture import MultiMixtureAIB, MultiMixtureKL
from germane.refine.naive_bayes import NaiveBayes
from germane.refine.neighbours import Neighbours
from germane.refine.refined import RefineMethod
from germane.refine.rocchio import Rocchio
from germane.refine.smoothed_dirichlet import SmoothedDirichletEM
from germane.refine.transductive_svm import TransductiveSVM

_METHODS: dict[str, type[RefineMethod]] = {
    method.name: method
    for method in (
        CarriedEvidence,
        NaiveBayes,
        EM,
        MultiMixtureKL,
        MultiMixtureAIB,
        SAEM,
        Neighbours,
        TransductiveSVM,
        SmoothedDirichletEM,
        Rocchio,
        Logistic,
    )
}

METHOD_NAMES = tuple(_METHODS)


def method_named(name: str, **parameters: Any) -> RefineMethod:
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    return named("method", name, _METHODS, parameters)

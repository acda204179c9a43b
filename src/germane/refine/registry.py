"""Methods of refinement by name, as the command line and configuration write them. Naming them loads nothing."""

from typing import TYPE_CHECKING, Any

from germane.errors import ParameterError
from germane.lazy import LazyClasses, on_first_use

with on_first_use(__name__):
    from germane.lm import parameters as lm_parameters

if TYPE_CHECKING:
    import numpy.typing as npt

    from germane.arrays import Floats
    from germane.refine.method import RefineMethod

METHODS: "LazyClasses[RefineMethod]" = LazyClasses(
    {
        "auto": "germane.refine.carried.CarriedEvidence",
        "paper": "germane.refine.paper.PaperPolicy",
        "nb": "germane.refine.em.NaiveBayes",
        "em": "germane.refine.em.EM",
        "mmem-kl": "germane.refine.multi_mixture.MultiMixtureKL",
        "mmem-aib": "germane.refine.multi_mixture.MultiMixtureAIB",
        "mmem-sd": "germane.refine.smoothed_dirichlet.MultiMixtureSD",
        "saem": "germane.refine.em.SAEM",
        "knn": "germane.refine.neighbours.Neighbours",
        "tsvm": "germane.refine.transductive_svm.TransductiveSVM",
        "sd": "germane.refine.smoothed_dirichlet.SmoothedDirichletEM",
        "rocchio": "germane.refine.linear.Rocchio",
        "logistic": "germane.refine.linear.Logistic",
    },
)

METHOD_TITLES = {
    "auto": "carried evidence",
    "paper": "as the paper chooses",
    "nb": "naive Bayes",
    "em": "EM",
    "mmem-kl": "EM with topics by KL",
    "mmem-aib": "EM with topics by information bottleneck",
    "mmem-sd": "EM with topics, smoothed Dirichlet",
    "saem": "annealed EM",
    "knn": "nearest neighbours",
    "tsvm": "transductive SVM",
    "sd": "EM, smoothed Dirichlet",
    "rocchio": "Rocchio",
    "logistic": "logistic regression",
}
"""Title of each method for people."""

METHOD_NAMES = tuple(METHODS)


def method_named(name: str, **parameters: Any) -> "RefineMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    return lm_parameters.named("method", name, METHODS, parameters)


def probabilities(log_odds: "npt.ArrayLike", labels: "npt.ArrayLike", method: str) -> "Floats":
    """P(relevant) of each result from the log-odds of the method of that name (`RefineMethod.probabilities`)."""
    if method not in METHODS:
        raise ParameterError(f"there is no calibration for '{method}'; there is one for {', '.join(METHODS)}")
    return METHODS[method].probabilities(log_odds, labels)

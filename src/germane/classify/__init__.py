"""Which class is this text of? Generative models of the papers, and a term weighting, as scikit-learn estimators.

Needs the extra `learn` (scikit-learn); each name is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.classify.bernoulli import BernoulliClassifier
    from germane.classify.dcm import DCMClassifier
    from germane.classify.dirichlet import DirichletClassifier
    from germane.classify.log_ratio import SmoothedLogRatio, smoothed_svm
    from germane.classify.multinomial import MultinomialClassifier
    from germane.classify.one_versus_rest import OneVersusRestRanker
    from germane.classify.smoothed_dirichlet import SmoothedDirichletClassifier
    from germane.classify.statistics import ClassStatistics
    from germane.classify.text_classifier import TextClassifier

__all__ = [
    "BernoulliClassifier",
    "ClassStatistics",
    "DCMClassifier",
    "DirichletClassifier",
    "MultinomialClassifier",
    "OneVersusRestRanker",
    "SmoothedDirichletClassifier",
    "SmoothedLogRatio",
    "TextClassifier",
    "smoothed_svm",
]

_HOMES = {
    "BernoulliClassifier": "bernoulli",
    "ClassStatistics": "statistics",
    "DCMClassifier": "dcm",
    "DirichletClassifier": "dirichlet",
    "MultinomialClassifier": "multinomial",
    "OneVersusRestRanker": "one_versus_rest",
    "SmoothedDirichletClassifier": "smoothed_dirichlet",
    "SmoothedLogRatio": "log_ratio",
    "TextClassifier": "text_classifier",
    "smoothed_svm": "log_ratio",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from germane.errors import MissingExtraError

    try:
        return getattr(import_module(f"germane.classify.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        raise MissingExtraError("scikit-learn", "learn", "classification") from None

"""Text classification: generative classifiers and a term weighting as scikit-learn estimators.

`TextClassifier` takes strings; the other estimators take document-term matrices. Needs the extra `learn`
(scikit-learn). Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.classify.bernoulli import BernoulliClassifier
    from germane.classify.dcm import DCMClassifier
    from germane.classify.dirichlet import DirichletClassifier
    from germane.classify.log_ratio import SmoothedLogRatio, smoothed_svm
    from germane.classify.mixtures import MultinomialMixture, SmoothedDirichletMixture
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
    "MultinomialMixture",
    "OneVersusRestRanker",
    "SmoothedDirichletClassifier",
    "SmoothedDirichletMixture",
    "SmoothedLogRatio",
    "TextClassifier",
    "smoothed_svm",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bernoulli": ["BernoulliClassifier"],
        "dcm": ["DCMClassifier"],
        "dirichlet": ["DirichletClassifier"],
        "log_ratio": ["SmoothedLogRatio", "smoothed_svm"],
        "mixtures": ["MultinomialMixture", "SmoothedDirichletMixture"],
        "multinomial": ["MultinomialClassifier"],
        "one_versus_rest": ["OneVersusRestRanker"],
        "smoothed_dirichlet": ["SmoothedDirichletClassifier"],
        "statistics": ["ClassStatistics"],
        "text_classifier": ["TextClassifier"],
    },
    "classification",
)

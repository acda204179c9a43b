"""The classifiers that experiment files name, and the numbers each may be given."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from germane.errors import ParameterError
from germane.lazy import on_first_use, optional

with on_first_use(__name__):
    from sklearn import multiclass, naive_bayes, pipeline, svm
    from sklearn.feature_extraction import text

    from germane import classify
    from germane.classify import tfidf

SEED = 0
"""LinearSVC visits documents in random order."""
REST, CLASSES = "rest", "classes"
"""Values of `others` of `OneVersusRestRanker`."""


class _Kind(NamedTuple):
    parameters: tuple[str, ...]
    build: Callable[..., Any]
    """takes `ranking` and the parameters"""
    generative: bool = False


def check_classifier(name: str, parameters: Mapping[str, object], others: str = REST) -> None:
    """Complain of a name or a number that no classifier has; imports nothing."""
    if name not in _KINDS:
        raise ParameterError(f"there is no classifier '{name}'; there are: {', '.join(_KINDS)}")
    if others not in (REST, CLASSES):
        raise ParameterError(f"the others of a class are '{REST}' or '{CLASSES}', not '{others}'")
    if others == CLASSES and not _KINDS[name].generative:
        raise ParameterError(f"classifier '{name}' has no model of the other classes; leave 'others' out")
    known = _KINDS[name].parameters
    unknown = sorted({*parameters} - {*known})
    if unknown:
        raise ParameterError(f"classifier '{name}' has no parameter {unknown[0]}; it has: {', '.join(known)}")


def classifier_named(name: str, parameters: Mapping[str, float], *, ranking: bool = False, others: str = REST) -> Any:
    """A new estimator; with `ranking` one that ranks the documents for each class of multi-label data (SD 4.13).

    `others`: what `OneVersusRestRanker` takes for N of (4.6).
    """
    check_classifier(name, parameters, others)
    optional("sklearn", "A classification experiment")
    estimator = _KINDS[name].build(ranking, **parameters)
    return estimator.set_params(others=others) if ranking and others != REST else estimator


def _generative(estimator: str, **fixed: str) -> Callable[..., Any]:
    """One of our generative models, ranking by log P(D|R) - log P(D|N)."""

    def build(ranking: bool, **parameters: float) -> Any:
        model = getattr(classify, estimator)(**fixed, **parameters)
        return classify.OneVersusRestRanker(model) if ranking else model

    return build


def _linear_svm(ranking: bool, features: Any, C: float) -> Any:
    """The features, then a linear support vector machine for each class against the rest."""
    machine = svm.LinearSVC(C=C, random_state=SEED)
    return pipeline.make_pipeline(features, multiclass.OneVsRestClassifier(machine) if ranking else machine)


def _tfidf_svm(ranking: bool, C: float = 1.0) -> Any:
    return _linear_svm(ranking, text.TfidfTransformer(sublinear_tf=True), C)


def _raw_tfidf_svm(ranking: bool, C: float = 1.0) -> Any:
    return _linear_svm(ranking, tfidf.RawTfidf(), C)


def _smoothed_svm(ranking: bool, lam: float = 0.1, beta: float = 1.0, C: float = 1.0) -> Any:
    return _linear_svm(ranking, classify.SmoothedLogRatio(lam=lam, beta=beta), C)


def _complement_nb(ranking: bool, alpha: float = 1.0) -> Any:
    if ranking:
        raise ParameterError("complement-nb ranks no documents; leave it out of experiments on multi-label data")
    return naive_bayes.ComplementNB(alpha=alpha)


_KINDS = {
    "multinomial-laplace": _Kind(("delta",), _generative("MultinomialClassifier", smoothing="laplace"), True),
    "multinomial-jm": _Kind(("lam", "beta"), _generative("MultinomialClassifier", smoothing="jm"), True),
    "bernoulli": _Kind(("delta",), _generative("BernoulliClassifier"), True),
    "dcm": _Kind(("S", "delta"), _generative("DCMClassifier"), True),
    "dirichlet": _Kind(("S", "lam", "beta"), _generative("DirichletClassifier"), True),
    "sd": _Kind(("lam", "beta"), _generative("SmoothedDirichletClassifier", rule="kl"), True),
    "sd-ce": _Kind(("lam", "beta"), _generative("SmoothedDirichletClassifier", rule="ce"), True),
    "tfidf-svm": _Kind(("C",), _tfidf_svm),
    "raw-tfidf-svm": _Kind(("C",), _raw_tfidf_svm),
    "smoothed-svm": _Kind(("lam", "beta", "C"), _smoothed_svm),
    "complement-nb": _Kind(("alpha",), _complement_nb),
}

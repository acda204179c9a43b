"""The models of `TextClassifier` by name: the estimator, and the grid over which its free parameters are tuned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC

from germane.classify.bernoulli import BernoulliClassifier
from germane.classify.dcm import DCMClassifier
from germane.classify.dirichlet import DirichletClassifier
from germane.classify.log_ratio import SmoothedLogRatio, smoothed_svm
from germane.classify.multinomial import MultinomialClassifier
from germane.classify.one_versus_rest import OneVersusRestRanker
from germane.classify.smoothed_dirichlet import SmoothedDirichletClassifier
from germane.classify.tuning import Axes, Setting
from germane.errors import ParameterError


def decades(first: int, last: int) -> tuple[float, ...]:
    """10^first, 10^(first+1), ..., 10^last."""
    return tuple(float(f"1e{power}") for power in range(first, last + 1))


_SHARES = (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99)
"""Weights of a document or class against the background: about evenly spaced in log-odds."""


@dataclass(frozen=True)
class TextModel:
    """How to make the estimator from its free parameters, where tuning starts, and the values it may take."""

    make: Callable[..., Any]
    start: Setting
    axes: Axes
    fixed: Mapping[str, Any] = field(default_factory=dict)
    has_prior: bool = True

    def estimator(self, setting: Setting, prior: Any, random_state: Any) -> Any:
        """A new estimator."""
        common = {"prior": prior} if self.has_prior else {"random_state": random_state}
        return self.make(**self.fixed, **setting, **common)

    def ranker(self, setting: Setting, random_state: Any) -> Any:
        """A new estimator of several labels a document."""
        estimator = self.estimator(setting, "uniform", random_state)
        if self.has_prior:
            return OneVersusRestRanker(estimator)
        return Pipeline([*estimator.steps[:-1], ("svm", OneVsRestClassifier(estimator[-1]))])


_SD_AXES = {"lam": decades(-6, -1), "beta": decades(-4, 1)}

TEXT_MODELS: dict[str, TextModel] = {
    "sd-ce": TextModel(SmoothedDirichletClassifier, {"lam": 1e-4, "beta": 1e-2}, _SD_AXES, {"rule": "ce"}),
    "sd": TextModel(SmoothedDirichletClassifier, {"lam": 1e-4, "beta": 0.1}, _SD_AXES, {"rule": "kl"}),
    "multinomial": TextModel(
        MultinomialClassifier, {"delta": 1e-2}, {"delta": decades(-4, 1)}, {"smoothing": "laplace"}
    ),
    "multinomial-jm": TextModel(
        MultinomialClassifier, {"lam": 0.7, "beta": 1e-3}, {"lam": _SHARES, "beta": decades(-4, 1)}, {"smoothing": "jm"}
    ),
    "bernoulli": TextModel(BernoulliClassifier, {"delta": 0.1}, {"delta": decades(-4, 1)}),
    "dcm": TextModel(
        DCMClassifier,
        {"S": 300.0, "delta": 1e-4},
        {"S": (30.0, 100.0, 300.0, 1000.0, 3000.0), "delta": decades(-6, -1)},
    ),
    "dirichlet": TextModel(
        DirichletClassifier,
        {"S": 400.0, "lam": 0.1, "beta": 1e-2},
        {"S": (50.0, 100.0, 200.0, 400.0, 800.0, 1600.0), "lam": _SHARES, "beta": decades(-4, 1)},
    ),
    "svm": TextModel(
        smoothed_svm, {"lam": 0.1, "C": 1.0}, {"lam": _SHARES, "C": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)}, has_prior=False
    ),
}  # fmt: skip


def text_model(name: str) -> TextModel:
    """The model of that name; `ParameterError`, with the names there are, for any other."""
    if name not in TEXT_MODELS:
        raise ParameterError(f"there is no text model '{name}'; choose one of {', '.join(TEXT_MODELS)}")
    return TEXT_MODELS[name]


SAVED_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        BernoulliClassifier, DCMClassifier, DirichletClassifier, LabelBinarizer, LinearSVC, MultinomialClassifier,
        OneVersusRestRanker, OneVsRestClassifier, Pipeline, SmoothedDirichletClassifier, SmoothedLogRatio,
    )
}  # fmt: skip
"""What the file of a saved classifier may hold."""

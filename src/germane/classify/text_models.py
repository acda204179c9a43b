"""The models of `TextClassifier` by name: the estimator, and the grid over which its free parameters are tuned.

Importing this loads no estimator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from germane.errors import ParameterError
from germane.lazy import load, on_first_use

with on_first_use(__name__):
    from sklearn import multiclass, pipeline

    from germane.classify import one_versus_rest
    from germane.lm import parameters as lm_parameters

if TYPE_CHECKING:
    from germane.classify.tuning import Axes, Setting


def decades(first: int, last: int) -> tuple[float, ...]:
    """10^first, 10^(first+1), ..., 10^last."""
    return tuple(float(f"1e{power}") for power in range(first, last + 1))


_SHARES = (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99)
"""Weights of a document or class against the background: about evenly spaced in log-odds."""


_COSTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class TextModel:
    """Home of the estimator in `germane.classify`, the start of its tuning, and the values of its parameters."""

    home: str
    start: "Setting"
    axes: "Axes"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    has_prior: bool = True
    untuned: Mapping[str, float | None] = field(default_factory=dict)
    """Parameters that are never tuned, with their defaults; None: the model sets it from the documents."""

    @property
    def parameters(self) -> dict[str, float | None]:
        """Every parameter that may be given by hand, with where its tuning starts or its default."""
        return {**self.start, **self.untuned}

    def checked(self, name: str, given: Mapping[str, float]) -> dict[str, float]:
        """Parameters given by hand, if the model has them all and they are numbers; `name` is the model's."""
        foreign = sorted(given.keys() - self.parameters.keys())
        if foreign:
            takes = ", ".join(self.parameters) or "none"
            raise ParameterError(f"text model '{name}' has no parameter {', '.join(foreign)}; it takes {takes}")
        return {key: lm_parameters.number(key, value) for key, value in given.items()}

    def estimator(self, setting: "Setting", prior: Any, random_state: Any) -> Any:
        """A new estimator."""
        common = {"prior": prior} if self.has_prior else {"random_state": random_state}
        return load(f"germane.classify.{self.home}")(**self.fixed, **setting, **common)

    def ranker(self, setting: "Setting", random_state: Any) -> Any:
        """A new estimator of several labels a document."""
        estimator = self.estimator(setting, "uniform", random_state)
        if self.has_prior:
            return one_versus_rest.OneVersusRestRanker(estimator)
        return pipeline.Pipeline([*estimator.steps[:-1], ("svm", multiclass.OneVsRestClassifier(estimator[-1]))])


_SD_AXES = {"lam": decades(-6, -1), "beta": decades(-4, 1)}

AUTO = "auto"
"""Several models together, as the documents decide."""

TEXT_MODELS: dict[str, TextModel] = {
    AUTO: TextModel("pooling.PooledClassifier", {}, {}, has_prior=False),
    "sd-ce": TextModel(
        "smoothed_dirichlet.SmoothedDirichletClassifier",
        {"lam": 1e-4, "beta": 1e-2},
        _SD_AXES,
        {"rule": "ce"},
        untuned={"S": None},
    ),
    "sd": TextModel(
        "smoothed_dirichlet.SmoothedDirichletClassifier",
        {"lam": 1e-4, "beta": 0.1},
        _SD_AXES,
        {"rule": "kl"},
        untuned={"S": None},
    ),
    "multinomial": TextModel(
        "multinomial.MultinomialClassifier", {"delta": 1e-2}, {"delta": decades(-4, 1)}, {"smoothing": "laplace"}
    ),
    "multinomial-jm": TextModel(
        "multinomial.MultinomialClassifier",
        {"lam": 0.7, "beta": 1e-3},
        {"lam": _SHARES, "beta": decades(-4, 1)},
        {"smoothing": "jm"},
    ),
    "bernoulli": TextModel("bernoulli.BernoulliClassifier", {"delta": 0.1}, {"delta": decades(-4, 1)}),
    "dcm": TextModel(
        "dcm.DCMClassifier",
        {"S": 300.0, "delta": 1e-4},
        {"S": (30.0, 100.0, 300.0, 1000.0, 3000.0), "delta": decades(-6, -1)},
    ),
    "dirichlet": TextModel(
        "dirichlet.DirichletClassifier",
        {"S": 400.0, "lam": 0.1, "beta": 1e-2},
        {"S": (50.0, 100.0, 200.0, 400.0, 800.0, 1600.0), "lam": _SHARES, "beta": decades(-4, 1)},
    ),
    "svm": TextModel(
        "log_ratio.smoothed_svm",
        {"lam": 0.1, "C": 1.0},
        {"lam": _SHARES, "C": _COSTS},
        has_prior=False,
        untuned={"beta": 1.0},
    ),
    "tfidf-svm": TextModel("tfidf.tfidf_svm", {"C": 1.0}, {"C": _COSTS}, has_prior=False),
}

MARGINS = ("svm", "tfidf-svm")
"""Models whose scores are margins, not densities."""
TEXT_MODEL_NAMES = tuple(TEXT_MODELS)


def text_model(name: str) -> TextModel:
    """The model of that name; `ParameterError`, with the names there are, for any other."""
    if name not in TEXT_MODELS:
        raise ParameterError(f"there is no text model '{name}'; choose one of {', '.join(TEXT_MODEL_NAMES)}")
    return TEXT_MODELS[name]


def fit_weights(estimator: Any, weight: Any) -> dict[str, Any]:
    """Weights of documents under the name that the estimator's `fit` takes them by."""
    if weight is None:
        return {}
    steps = getattr(estimator, "steps", None)
    if steps and type(steps[-1][1]).__name__ == "OneVsRestClassifier":
        raise ParameterError("the SVM of several labels takes no sample_weight: choose another model")
    return {f"{steps[-1][0]}__sample_weight" if steps else "sample_weight": weight}

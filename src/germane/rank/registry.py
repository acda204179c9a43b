"""Ranking models by name, as the command line and configuration write them. Importing this loads no model."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from germane.errors import ParameterError
from germane.lazy import load, on_first_use
from germane.rank.models.defaults import DEFAULT_LAM, DEFAULT_MU

with on_first_use(__name__):
    from germane.rank.models import base, likelihood

if TYPE_CHECKING:
    from germane.rank.models.base import RankingModel

SDM = {"ordered": 0.1, "unordered": 0.05}
"""Shares of pairs of words in sequential dependence: those of Metzler & Croft (2005)."""

MODELS: dict[str, tuple[str, dict[str, float]]] = {
    "dirichlet": ("germane.lm.Dirichlet", {"mu": DEFAULT_MU}),
    "jm": ("germane.lm.JelinekMercer", {"lam": DEFAULT_LAM}),
    "twostage": ("germane.lm.TwoStage", {"lam": 0.9, "mu": DEFAULT_MU}),
    "absolute": ("germane.lm.AbsoluteDiscounting", {"delta": 0.7}),
    "adaptive": ("germane.rank.models.bm25.AdaptiveBM25", {"k1": 0.0, "b": 0.8, "idf": 1.4, "burst": 0.75}),
    "bm25": ("germane.rank.models.bm25.BM25", {"k1": 2.0, "b": 0.75}),
    "tfidf": ("germane.rank.models.tfidf.TfIdf", {}),
    "dce": ("germane.rank.models.comparison.DCrossEntropy", {"mu": DEFAULT_MU, "lam": 0.5}),
    "ratio": ("germane.rank.models.comparison.LikelihoodRatio", {"lam": 0.5}),
    "dcm": ("germane.rank.models.bayesian_likelihoods.DirichletMultinomial", {"mu": DEFAULT_MU}),
    "sd": ("germane.rank.models.bayesian_likelihoods.SmoothedDirichletIntegral", {"mu": 1000.0}),
    "bigram": ("germane.rank.models.bayesian_likelihoods.BigramLikelihood", {"mu": DEFAULT_MU, "lam": 0.1}),
    "bm25f": ("germane.rank.models.fields.BM25F", {"k1": 2.0, "b": 0.75}),
    "lmf": ("germane.rank.models.fields.field_mixture", {"mu": DEFAULT_MU}),
    "sdm": ("germane.rank.models.dependence.over_bm25", SDM | {"k1": 2.0, "b": 0.75, "pair_k1": 1.0, "pair_b": 0.0}),
    "sdm-lm": ("germane.rank.models.dependence.over_dirichlet", SDM | {"mu": DEFAULT_MU}),
}
"""Where the class is, and its parameters with their defaults. A smoothing ranks by query likelihood under it.

A new model or smoothing is an entry here; see docs/extending.md."""

MODEL_TITLES = {
    "dirichlet": "query likelihood, Dirichlet",
    "jm": "query likelihood, Jelinek-Mercer",
    "twostage": "query likelihood, two-stage",
    "absolute": "query likelihood, absolute discounting",
    "adaptive": "adaptive BM25",
    "bm25": "BM25",
    "tfidf": "tf-idf",
    "dce": "document cross-entropy",
    "ratio": "likelihood ratio",
    "dcm": "Dirichlet compound multinomial",
    "sd": "smoothed Dirichlet",
    "bigram": "query likelihood, bigrams",
    "bm25f": "BM25F, by fields",
    "lmf": "query likelihood, by fields",
    "sdm": "BM25 with pairs of words",
    "sdm-lm": "query likelihood with pairs of words",
}
"""What people are told a model is; one that is not here goes by its name."""

MODEL_NAMES = tuple(MODELS)
FIELD_MODELS = ("bm25f", "lmf")
"""Those that take the weights of fields too (`weights`)."""

DEFAULT_MODEL = "adaptive"
"""What ranks when nothing is said: the best untuned model on collections left out (`reproduce/left-out.toml`)."""


def model_defaults(name: str) -> Mapping[str, float]:
    """The parameters of a model and their defaults."""
    if name not in MODELS:
        raise ParameterError(f"there is no ranking model '{name}'; choose one of {', '.join(MODELS)}")
    return MODELS[name][1]


def model_named(name: str, weights: Mapping[str, float] | None = None, /, **parameters: float | None) -> "RankingModel":
    """The model of that name; a parameter left None keeps its default, one the model does not have is an error.

    `weights`: those of fields, for the models that take them.
    """
    defaults = model_defaults(name)
    given = {key: value for key, value in parameters.items() if value is not None}
    if weights is not None:
        if name not in FIELD_MODELS:
            raise ParameterError(f"model '{name}' has no weights of fields; {' and '.join(FIELD_MODELS)} have")
        return _made(MODELS[name][0], weights=weights, **{**defaults, **_checked(name, given)})
    given = _checked(name, given)
    try:
        return _remembered(MODELS[name][0], **{**defaults, **given})
    except TypeError:  # a value that has no hash; the model itself says what is wrong with it
        return _made(MODELS[name][0], **{**defaults, **given})


def _checked(name: str, given: dict[str, float]) -> dict[str, float]:
    """The parameters, if the model has them all."""
    defaults = model_defaults(name)
    foreign = sorted(given.keys() - defaults.keys())
    if foreign:
        takes = ", ".join(defaults) or "no parameter"
        others = [other for other, (_, takes_too) in MODELS.items() if set(foreign) <= takes_too.keys()]
        hint = f" ({', '.join(foreign)}: model {' or '.join(others)})" if others else ""
        raise ParameterError(f"model '{name}' has no parameter {', '.join(foreign)}; it takes {takes}{hint}")
    return given


def _made(home: str, **parameters: Any) -> "RankingModel":
    made = load(home)(**parameters)
    return made if isinstance(made, base.RankingModel) else likelihood.QueryLikelihood(made)


_remembered = lru_cache(maxsize=1024, typed=True)(_made)
"""Models are values: a search that names one again is given the same. `typed`, for True is no number here but 1 is."""

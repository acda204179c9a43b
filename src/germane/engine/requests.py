"""What a door asks of the engine, as plain values: every name a string, every number a number or "auto".

The command line, HTTP and MCP make these; `resolve` turns their words into models, priors, methods and marks. Messages
put the names of members in quotation marks, so that a door may say what it calls them.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from germane.engine.estimating import learn_lam, learn_mu
from germane.engine.filtering import AnyFilter
from germane.engine.models.promotion import PROMOTED
from germane.engine.searching import DEFAULT_FEEDBACK
from germane.errors import ParameterError
from germane.feedback import FeedbackMethod, feedback_named
from germane.rank.models.base import RankingModel
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.plan import Collection
from germane.rank.query.filter_values import Filter
from germane.rank.registry import DEFAULT_MODEL, MODELS, model_defaults, model_named
from germane.rank.retriever import Retriever
from germane.rank.scoring.priors import Prior, prior_named
from germane.types import Marks

AUTO: Literal["auto"] = "auto"
"""The value of a parameter that the collection itself shall tell."""

Setting: TypeAlias = float | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RankingRequest:
    """A model by name with its parameters, and priors as text (`priors.prior_named`); by default the default.

    `weights`: those of text fields, for the models that take them; empty: the model's own.
    """

    model: str | None = None
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    priors: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def names_model(self) -> bool:
        """Whether it is a ranking of its own, and not the one that searches use by default."""
        return self.model is not None or bool(self.parameters or self.weights)


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    """A feedback method by name with its parameters, and what a person marked. Marks alone imply the default method.

    A parameter that is None is none (`n_terms`: all words), and not the default.
    """

    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    relevant: tuple[str, ...] = ()
    not_relevant: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether the search is to learn at all."""
        return bool(self.method is not None or self.relevant or self.not_relevant)

    @property
    def name(self) -> str:
        """The method's name."""
        return DEFAULT_FEEDBACK if self.method is None else self.method


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The best k documents for a query. `rerank`: score the first `depth` again, by the model that was promoted unless
    another or None is named. `explain`: with what feedback did.

    `filter`, `offset`, `sort`, `group_by`, `min_score`: see `Engine.search`; a filter given as plain data is kept as
    the `Filter` that it describes. `facets`: fields whose values are counted among all
    documents found. `snippets`: with the piece of each document that shows why it was found. `groups`: put the first
    results, `GROUPED` or those asked for if they reach further, in so many groups.
    """

    query: str
    k: int = 10
    ranking: RankingRequest = RankingRequest()
    feedback: FeedbackRequest = FeedbackRequest()
    rerank: str | None = PROMOTED
    depth: int | None = None
    syntax: bool = True
    explain: bool = False
    offset: int = 0
    sort: str | None = None
    group_by: str | None = None
    min_score: float | None = None
    facets: tuple[str, ...] = ()
    snippets: bool = False
    groups: int | None = None
    filter: AnyFilter | None = None

    def __post_init__(self) -> None:
        if self.filter is not None and not isinstance(self.filter, str):
            object.__setattr__(self, "filter", Filter.of(self.filter))


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Why a document has its score. `probabilities`: with those of the words, under a language model. `rerank`: by a
    second stage, as in a `SearchRequest`."""

    query: str
    doc_id: str
    ranking: RankingRequest = RankingRequest()
    syntax: bool = True
    probabilities: bool = False
    rerank: str | None = PROMOTED


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a request names: `model` is None where feedback ranks in its own way; `name` that of the last ranking.

    `learnt` are the parameters that were "auto", with the values found.
    """

    model: RankingModel | None
    name: str
    priors: tuple[Prior, ...]
    method: FeedbackMethod | None
    marks: Marks
    learnt: Mapping[str, float]


def resolve(retriever: Retriever, ranking: RankingRequest, feedback: FeedbackRequest | None = None) -> Resolved:
    """The models and methods that a request names; `ParameterError` for what does not exist or does not go together."""
    asked = feedback or FeedbackRequest()
    method = _method(asked)
    model, learnt = None, dict[str, float]()
    if method is None or ranking.model is not None:
        model, learnt = _model(retriever, ranking)
    elif ranking.parameters or ranking.weights:
        name = next(iter(ranking.parameters), "weights")
        raise ParameterError(f"'{name}' belongs to a ranking model; with feedback, name that with 'model'")
    today = datetime.date.today()
    priors = tuple(prior_named(text, retriever.schema().filters, today) for text in ranking.priors)
    name = ranking.model or (DEFAULT_MODEL if method is None else ranked_by(method))
    return Resolved(model, name, priors, method, Marks(asked.relevant, asked.not_relevant), learnt)


def chosen_parameters(retriever: Retriever, model: RankingModel) -> Mapping[str, float]:
    """The parameters that a model takes from a collection, with their values."""
    schema = retriever.schema()
    return model.chosen(Collection(schema.n_docs, schema.n_tokens))


def ranked_by(method: FeedbackMethod) -> str:
    """The name of the model by which a method ranks last."""
    if isinstance(method.final, str):
        return method.final
    smoothings = {name: getattr(model_named(name), "smoothing", None) for name in MODELS}
    kind = type(method.final)
    return next((name for name, smoothing in smoothings.items() if type(smoothing) is kind), kind.__name__)


def _method(asked: FeedbackRequest) -> FeedbackMethod | None:
    if asked.wanted:
        method = feedback_named(asked.name, **asked.parameters)
        nothing: dict[str, Any] = {name: None for name, value in asked.parameters.items() if value is None}
        return replace(method, **nothing) if nothing else method
    if asked.parameters:
        name = next(iter(asked.parameters))
        raise ParameterError(f"'{name}' belongs to feedback; name a method with 'feedback'")
    return None


def _model(retriever: Retriever, ranking: RankingRequest) -> tuple[RankingModel, dict[str, float]]:
    """The model, and what was learnt for it."""
    name = ranking.model or DEFAULT_MODEL
    given: dict[str, float] = {}
    for parameter, value in ranking.parameters.items():
        if isinstance(value, str) and value != AUTO:
            raise ParameterError(f"'{parameter}' wants a number or 'auto', not '{value}'")
        if not isinstance(value, str):
            given[parameter] = value
    weights = ranking.weights or None
    model_named(name, weights, **given)  # complain before the work of learning
    wanted = [parameter for parameter, value in ranking.parameters.items() if value == AUTO]
    learnt = {parameter: _learnt(retriever, name, parameter) for parameter in wanted}
    return model_named(name, weights, **given, **learnt), learnt


def _learnt(retriever: Retriever, model: str, parameter: str) -> float:
    able = [name for name in MODELS if _can_learn(name, parameter)]
    if not able:
        raise ParameterError(f"'{parameter}' cannot be learnt from a collection: give it a number")
    if model not in able:
        raise ParameterError(f"'{parameter}' auto is for the model {', '.join(able)}, not for '{model}'")
    return (learn_mu(retriever) if parameter == "mu" else learn_lam(retriever)).value


def _can_learn(model: str, parameter: str) -> bool:
    """μ wherever there is one; λ of Jelinek-Mercer alone: beside a μ it is another number."""
    parameters = model_defaults(model).keys()
    if parameter == "mu":
        return parameter in parameters
    return parameter == "lam" and parameters == {"lam"} and isinstance(model_named(model), QueryLikelihood)

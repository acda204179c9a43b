"""From a request's words to models, priors, methods and marks."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from germane.engine.estimating import learn_lam, learn_mu
from germane.engine.requests import AUTO, FeedbackRequest, RankingRequest
from germane.errors import RequestError
from germane.feedback import FeedbackMethod, feedback_named
from germane.rank.models.base import RankingModel
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.plan import Collection
from germane.rank.registry import DEFAULT_MODEL, MODELS, model_defaults, model_named
from germane.rank.retriever import Retriever
from germane.rank.scoring.priors import Prior, prior_named
from germane.types import Marks
from germane.wording import Name


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
    if not asked.wanted:
        return None
    method = feedback_named(asked.name, **asked.parameters)
    nothing: dict[str, Any] = {name: None for name, value in asked.parameters.items() if value is None}
    return replace(method, **nothing) if nothing else method


def _model(retriever: Retriever, ranking: RankingRequest) -> tuple[RankingModel, dict[str, float]]:
    """The model, and what was learnt for it."""
    name = ranking.model or DEFAULT_MODEL
    given: dict[str, float] = {}
    for parameter, value in ranking.parameters.items():
        if isinstance(value, str) and value != AUTO:
            raise RequestError(Name(parameter), f" wants a number or 'auto', not '{value}'")
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
        raise RequestError(Name(parameter), " cannot be learnt from a collection: give it a number")
    if model not in able:
        raise RequestError(Name(parameter), f" auto is for the model {', '.join(able)}, not for '{model}'")
    return (learn_mu(retriever) if parameter == "mu" else learn_lam(retriever)).value


def _can_learn(model: str, parameter: str) -> bool:
    """μ wherever there is one; λ of Jelinek-Mercer alone: beside a μ it is another number."""
    parameters = model_defaults(model).keys()
    if parameter == "mu":
        return parameter in parameters
    return parameter == "lam" and parameters == {"lam"} and isinstance(model_named(model), QueryLikelihood)

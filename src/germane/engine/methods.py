"""Every method that has a name, of every kind, with its parameters: what the doors list, and how they read settings."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from germane.classify.text_models import TEXT_MODELS, text_model
from germane.engine.requests import AUTO, FeedbackRequest, RankingRequest, Setting
from germane.errors import ParameterError
from germane.feedback.registry import DEFAULT_FEEDBACK
from germane.feedback.registry import METHODS as FEEDBACK
from germane.lazy import load
from germane.lm.parameter_parsing import ParameterInfo, parameters_of, read, written
from germane.rank.registry import DEFAULT_MODEL, MODELS, model_defaults
from germane.refine.registry import METHODS as REFINE
from germane.schema import Response
from germane.track.registry import METHODS as TRACK

if TYPE_CHECKING:
    from germane.refine.screening.ranking import RankerParameters

RANKING, LEARNING, REFINING, CLASSIFYING = "ranking", "feedback", "refine", "classify"
TRACKING, SCREENING = "track", "screen"
KINDS = {
    RANKING: "search, batch, explain and tune: --model",
    LEARNING: "search, batch and tune: --feedback",
    REFINING: "refine: --method",
    CLASSIFYING: "classify train: --model",
    TRACKING: "track new: --method",
    SCREENING: "screen, which has the one",
}
"""The kinds of methods, and where each is named."""
SCREENER, SCREENER_HOME = "screening", "germane.refine.screening.ranking.RankerParameters"
"""The one way in which screening learns; loaded when it is asked for."""
HIDDEN = ("random_state",)
"""What has an option of its own, --seed."""


@dataclass(frozen=True, slots=True)
class ParameterResponse(Response):
    """A parameter: its default, as it is written, and what may be written in its place."""

    name: str
    default: str
    wants: str


@dataclass(frozen=True, slots=True)
class MethodResponse(Response):
    """A method of a kind (ranking, feedback, refine, classify, track or screen): what it is, and its parameters."""

    kind: str
    name: str
    about: str
    parameters: tuple[ParameterResponse, ...]


def methods(name: str | None = None) -> tuple[MethodResponse, ...]:
    """All methods, or those of that name; `ParameterError` where no kind has one."""
    found = tuple(method for method in _all() if name is None or method.name == name)
    if not found:
        names = ", ".join(dict.fromkeys([*MODELS, *FEEDBACK, *REFINE, *TEXT_MODELS, *TRACK, SCREENER]))
        raise ParameterError(f"there is no method '{name}'; there are: {names}")
    return found


def _all() -> Iterator[MethodResponse]:
    for name, (home, defaults) in MODELS.items():
        infos = tuple(_number_info(key, value) for key, value in defaults.items())
        yield _response(RANKING, name, load(home), infos)
    for name, kind in FEEDBACK.items():
        yield _response(LEARNING, name, kind, parameters_of(kind))
    for name, method in REFINE.items():
        yield _response(REFINING, name, method, parameters_of(method, HIDDEN))
    for name, model in TEXT_MODELS.items():
        infos = tuple(_number_info(key, value) for key, value in model.parameters.items())
        try:
            estimator = load(f"germane.classify.{model.home}")
        except ModuleNotFoundError:  # the extra `learn` is not installed; its parameters are known all the same
            estimator = None
        yield _response(CLASSIFYING, name, estimator, infos)
    for name, tracker in TRACK.items():
        yield _response(TRACKING, name, tracker, parameters_of(tracker))
    screener = load(SCREENER_HOME)
    yield _response(SCREENING, SCREENER, screener, parameters_of(screener))


def _number_info(name: str, default: float | None) -> ParameterInfo:
    return ParameterInfo(name, "from the documents" if default is None else written(float(default)), "a number")


def _response(kind: str, name: str, home: Any, infos: tuple[ParameterInfo, ...]) -> MethodResponse:
    about = (inspect.getdoc(home) or "").split("\n\n")[0] if home is not None else "needs the extra `learn`"
    return MethodResponse(kind, name, " ".join(about.split()), tuple(ParameterResponse(*info) for info in infos))


# -- settings, NAME=VALUE ----------------------------------------------------------------------------------------------


def with_settings(
    ranking: RankingRequest, feedback: FeedbackRequest, settings: Mapping[str, str]
) -> tuple[RankingRequest, FeedbackRequest]:
    """The two requests with the settings of both added: each goes to whichever has a parameter of that name, or both.

    The model is asked for its parameters where it ranks: without feedback, or named beside it.
    """
    model = ranking.model or (None if feedback.wanted else DEFAULT_MODEL)
    of_model = set(model_defaults(model)) if model is not None else set()
    of_method = {info.name for info in parameters_of(_feedback_class(feedback.name))} if feedback.wanted else set()
    foreign = sorted(settings.keys() - of_model - of_method)
    if foreign:
        named = [f"model '{model}'"] if model is not None else []
        named += [f"feedback method '{feedback.name}'"] if feedback.wanted else []
        takes = ", ".join(sorted(of_model | of_method)) or "no parameter"
        raise ParameterError(f"{' and '.join(named)}: no parameter {', '.join(foreign)}; there is {takes}")
    twice = sorted(settings.keys() & {*ranking.parameters, *feedback.parameters})
    if twice:
        raise ParameterError(f"'{twice[0]}' is given twice")
    ours = {name: _number_or_auto(name, text) for name, text in settings.items() if name in of_model}
    if feedback.wanted:
        own = {name: text for name, text in settings.items() if name in of_method}
        theirs = read(f"feedback method '{feedback.name}'", _feedback_class(feedback.name), own)
        feedback = replace(feedback, parameters={**feedback.parameters, **theirs})
    return replace(ranking, parameters={**ranking.parameters, **ours}), feedback


def _feedback_class(name: str) -> type[Any]:
    if name not in FEEDBACK:
        raise ParameterError(f"there is no feedback method '{name}'; choose one of {', '.join(FEEDBACK)}")
    return FEEDBACK[name or DEFAULT_FEEDBACK]


def refine_settings(method: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """What `Refiner` takes beside the name of its method."""
    if method not in REFINE:
        raise ParameterError(f"there is no method '{method}'; choose one of {', '.join(REFINE)}")
    return read(f"method '{method}'", REFINE[method], settings, HIDDEN)


def track_settings(method: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """What `track.method_named` takes beside the name."""
    if method not in TRACK:
        raise ParameterError(f"there is no method '{method}'; choose one of {', '.join(TRACK)}")
    return read(f"method '{method}'", TRACK[method], settings)


def screen_settings(settings: Mapping[str, str]) -> "RankerParameters":
    """How `Screening` learns."""
    kind = load(SCREENER_HOME)
    found: RankerParameters = kind(**read("screening", kind, settings))
    return found


def text_model_settings(model: str, settings: Mapping[str, str]) -> dict[str, float]:
    """What `TextClassifier` takes as `parameters`."""
    return text_model(model).checked(model, {name: _number(name, text) for name, text in settings.items()})


def _number_or_auto(name: str, text: str) -> Setting:
    return AUTO if text == AUTO else _number(name, text)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{name} wants a number, not '{text}'") from None

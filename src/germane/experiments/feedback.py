"""Ranking models and feedback methods made of a system's flat numbers.

A feedback method holds smoothings, an experiment file only numbers. The names that stand for smoothings are those of
`SMOOTHINGS` below; every other number is the method's own parameter of that name (`n_docs`, `query_weight`,
`lam_query`, `precision`, `tempering`, ...). `n_terms = 0` keeps all words. `weights.title` is the weight of a field.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from germane.errors import ParameterError
from germane.feedback import FeedbackMethod, feedback_named
from germane.lm import Dirichlet, JelinekMercer, Smoothing
from germane.rank.models.base import RankingModel
from germane.rank.registry import DEFAULT_MODEL, model_defaults, model_named

SMOOTHINGS: Mapping[str, tuple[Callable[[float], Smoothing], tuple[str, ...]]] = {
    "mu": (Dirichlet, ("first", "weighting", "final")),
    "lam_first": (JelinekMercer, ("first", "weighting")),  # SD §5.3.4: λ_Q, λ_E1
    "lam_estimate": (JelinekMercer, ("smoothing",)),  # λ_M, λ_M2
    "lam_final": (JelinekMercer, ("final",)),  # λ_CE, λ_E2
}
"""Flat name -> the smoothing, and the parameters of a method that become it; a later name outdoes an earlier one."""


WEIGHTS = "weights."
"""Prefix of a field's weight: weights.title."""


class Ranking(NamedTuple):
    """Ranking of a system: with a model, with feedback, or with feedback whose two rankings the model makes."""

    model: RankingModel | None
    feedback: FeedbackMethod | None


def ranking_of(model: str, feedback: str, parameters: Mapping[str, float]) -> Ranking:
    """The system with these names (either may be empty) and numbers.

    With both, a number goes to whichever of the two has a parameter of that name, and to both if both have.
    """
    weights = {
        name.removeprefix(WEIGHTS): value for name, value in parameters.items() if name.startswith(WEIGHTS)
    } or None
    parameters = {name: value for name, value in parameters.items() if not name.startswith(WEIGHTS)}
    if not feedback:
        return Ranking(model_named(model, weights, **parameters), None)
    to_method = flat_names(feedback)
    to_model = {*model_defaults(model)} if model else set()
    foreign = sorted(parameters.keys() - to_method - to_model)
    if foreign:
        what = f"feedback '{feedback}'" + (f" with model '{model}'" if model else "")
        known = ", ".join(sorted(to_method | to_model))
        raise ParameterError(f"{what} has no parameter {', '.join(foreign)}; it takes {known}")
    method = _method(feedback, {name: value for name, value in parameters.items() if name in to_method})
    own = {name: value for name, value in parameters.items() if name in to_model}
    return Ranking(model_named(model, weights, **own) if model else None, method)


def flat_names(feedback: str) -> set[str]:
    """The numbers that an experiment file may give to a feedback method."""
    default = feedback_named(feedback)
    held = {field.name: getattr(default, field.name) for field in fields(default)}
    numbers = {name for name, value in held.items() if value is None or isinstance(value, (bool, int, float))}
    return numbers | {name for name in SMOOTHINGS if _smoothed(default, name)}


def _smoothed(default: FeedbackMethod, name: str) -> list[str]:
    """The parameters that a flat name sets: those that are smoothings by default, and both rankings where the engine's
    own model makes both. A ranking that differs from the other on purpose (consensus) stays as it is.
    """
    both = default.first == default.final == DEFAULT_MODEL
    return [
        place
        for place in SMOOTHINGS[name][1]
        if isinstance(getattr(default, place, None), Smoothing) or (both and place in ("first", "final"))
    ]


def _method(feedback: str, numbers: Mapping[str, float]) -> FeedbackMethod:
    default = feedback_named(feedback)
    given: dict[str, object] = {name: value for name, value in numbers.items() if name not in SMOOTHINGS}
    for name, (smoothing, _) in SMOOTHINGS.items():
        if name in numbers:
            given |= {place: smoothing(numbers[name]) for place in _smoothed(default, name)}
    given |= {name: bool(value) for name, value in given.items() if isinstance(getattr(default, name), bool)}
    every_word = given.get("n_terms") == 0
    if every_word:
        del given["n_terms"]
    method = feedback_named(feedback, **given)
    return replace(method, n_terms=None) if every_word else method

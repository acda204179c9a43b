"""Feedback methods by name, as the command line and configuration write them."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from germane.errors import ParameterError
from germane.feedback.consensus import Consensus
from germane.feedback.method import FeedbackMethod
from germane.feedback.mixture import Mixture
from germane.feedback.relevance_model import RM1, RM3
from germane.feedback.rocchio import Rocchio
from germane.feedback.smoothed_dirichlet import SD

_METHODS: dict[str, Callable[..., FeedbackMethod]] = {
    "consensus": Consensus,
    "rm1": RM1,
    "rm3": RM3,
    "sd": SD,
    "rocchio": Rocchio,
    "mixture": Mixture,
}

FEEDBACK_NAMES = tuple(_METHODS)


def feedback_named(name: str, **parameters: Any) -> FeedbackMethod:
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    if name not in _METHODS:
        raise ParameterError(f"there is no feedback method '{name}'; choose one of {', '.join(FEEDBACK_NAMES)}")
    method = _METHODS[name]
    known = {field.name for field in fields(method)}  # type: ignore[arg-type]
    given = {key: value for key, value in parameters.items() if value is not None}
    foreign = sorted(given.keys() - known)
    if foreign:
        raise ParameterError(
            f"feedback '{name}' has no parameter {', '.join(foreign)}; it takes {', '.join(sorted(known))}"
        )
    return method(**given)

"""Feedback methods by name, as the command line and configuration write them. Importing this loads no method."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.feedback.method import FeedbackMethod

_METHODS = {
    "consensus": "consensus.Consensus",
    "rm1": "relevance_model.RM1",
    "rm3": "relevance_model.RM3",
    "sd": "smoothed_dirichlet.SD",
    "rocchio": "rocchio.Rocchio",
    "mixture": "mixture.Mixture",
}
"""Where in `germane.feedback` the class is."""

FEEDBACK_NAMES = tuple(_METHODS)


def feedback_named(name: str, **parameters: Any) -> "FeedbackMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    from germane.lm.parameters import named

    return named("feedback method", name, {known: _class(known) for known in _METHODS}, parameters)


def _class(name: str) -> "type[FeedbackMethod]":
    module, _, kind = _METHODS[name].rpartition(".")
    found: type[FeedbackMethod] = getattr(import_module(f"germane.feedback.{module}"), kind)
    return found

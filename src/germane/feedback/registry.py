"""Feedback methods by name, as the command line and configuration write them."""

from typing import Any

from germane.feedback.consensus import Consensus
from germane.feedback.method import FeedbackMethod
from germane.feedback.mixture import Mixture
from germane.feedback.relevance_model import RM1, RM3
from germane.feedback.rocchio import Rocchio
from germane.feedback.smoothed_dirichlet import SD
from germane.lm.parameters import named

_METHODS: dict[str, type[FeedbackMethod]] = {
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
    return named("feedback method", name, _METHODS, parameters)

"""Feedback methods by name, as the command line and configuration write them. Naming them loads nothing."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from germane.lazy import LazyClasses, on_first_use

with on_first_use(__name__):
    from germane.lm import parameters as lm_parameters

if TYPE_CHECKING:
    from germane.feedback.method import FeedbackMethod

METHODS: "LazyClasses[FeedbackMethod]" = LazyClasses(
    {
        "consensus": "germane.feedback.consensus.Consensus",
        "rm1": "germane.feedback.relevance_model.RM1",
        "rm3": "germane.feedback.relevance_model.RM3",
        "sd": "germane.feedback.smoothed_dirichlet.SD",
        "rocchio": "germane.feedback.rocchio.Rocchio",
        "mixture": "germane.feedback.mixture.Mixture",
    },
)
"""Home of each class. A new method is a class here; see docs/extending.md."""

FEEDBACK_NAMES = tuple(METHODS)
DEFAULT_FEEDBACK = "consensus"
"""Name of the method that learns from marks where none is named."""


def feedback_named(name: str, **parameters: Any) -> "FeedbackMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    return _named(name, parameters) if parameters else _with_defaults(name, METHODS.home(name))


def _named(name: str, parameters: Mapping[str, Any]) -> "FeedbackMethod":
    return lm_parameters.named("feedback method", name, METHODS, parameters)


@lru_cache(maxsize=64)
def _with_defaults(name: str, home: str | None) -> "FeedbackMethod":
    """Methods are values: a search that names one again is given the same. `home`: another may take the name."""
    return _named(name, {})

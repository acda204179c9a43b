"""Feedback methods by name, as the command line and configuration write them. Naming them loads nothing."""

from typing import TYPE_CHECKING, Any

from germane.lazy import LazyClasses

if TYPE_CHECKING:
    from germane.feedback.method import FeedbackMethod

_METHODS: "LazyClasses[FeedbackMethod]" = LazyClasses(
    "germane.feedback",
    {
        "consensus": "consensus.Consensus",
        "rm1": "relevance_model.RM1",
        "rm3": "relevance_model.RM3",
        "sd": "smoothed_dirichlet.SD",
        "rocchio": "rocchio.Rocchio",
        "mixture": "mixture.Mixture",
    },
)

FEEDBACK_NAMES = tuple(_METHODS)


def feedback_named(name: str, **parameters: Any) -> "FeedbackMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    from germane.lm.parameters import named

    return named("feedback method", name, _METHODS, parameters)

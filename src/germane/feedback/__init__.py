"""Feedback: from a few documents, taken or marked as relevant, to a better model of what is wanted. See SD ch. 5.

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.feedback.consensus import Consensus
    from germane.feedback.drift import Drift
    from germane.feedback.evidence import Evidence
    from germane.feedback.method import Expansion, FeedbackMethod, truncation_bound
    from germane.feedback.mixture import Mixture
    from germane.feedback.registry import FEEDBACK_NAMES, feedback_named
    from germane.feedback.relevance_model import RM1, RM3
    from germane.feedback.rocchio import Rocchio
    from germane.feedback.smoothed_dirichlet import SD

__all__ = [
    "FEEDBACK_NAMES",
    "RM1",
    "RM3",
    "SD",
    "Consensus",
    "Drift",
    "Evidence",
    "Expansion",
    "FeedbackMethod",
    "Mixture",
    "Rocchio",
    "feedback_named",
    "truncation_bound",
]

_HOMES = {
    "FEEDBACK_NAMES": "registry",
    "RM1": "relevance_model",
    "RM3": "relevance_model",
    "SD": "smoothed_dirichlet",
    "Consensus": "consensus",
    "Drift": "drift",
    "Evidence": "evidence",
    "Expansion": "method",
    "FeedbackMethod": "method",
    "Mixture": "mixture",
    "Rocchio": "rocchio",
    "feedback_named": "registry",
    "truncation_bound": "method",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"germane.feedback.{_HOMES[name]}"), name)

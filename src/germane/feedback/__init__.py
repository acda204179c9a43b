"""Relevance feedback: query expansion from top-ranked or marked documents (RM1, RM3, mixture, Rocchio, SD ch. 5).

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.feedback.consensus import Consensus
    from germane.feedback.evidence import Evidence
    from germane.feedback.method import Drift, Expansion, FeedbackMethod, truncation_bound
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

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "consensus": ["Consensus"],
        "evidence": ["Evidence"],
        "method": ["Drift", "Expansion", "FeedbackMethod", "truncation_bound"],
        "mixture": ["Mixture"],
        "registry": ["FEEDBACK_NAMES", "feedback_named"],
        "relevance_model": ["RM1", "RM3"],
        "rocchio": ["Rocchio"],
        "smoothed_dirichlet": ["SD"],
    },
)

"""Screening: which references to read next, how many relevant ones remain, and when to stop."""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.refine.screening.annotations import Annotation
    from germane.refine.screening.decisions import read_decisions, write_decisions
    from germane.refine.screening.remaining import Remaining
    from germane.refine.screening.review_session import ReviewSession
    from germane.refine.screening.session import Screening, Suggestion
    from germane.refine.screening.simulation import Simulation, simulate
    from germane.refine.screening.stopping import Recommendation, StoppingRule

__all__ = [
    "Annotation",
    "Recommendation",
    "Remaining",
    "ReviewSession",
    "Screening",
    "Simulation",
    "StoppingRule",
    "Suggestion",
    "read_decisions",
    "simulate",
    "write_decisions",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "annotations": ["Annotation"],
        "decisions": ["read_decisions", "write_decisions"],
        "remaining": ["Remaining"],
        "review_session": ["ReviewSession"],
        "session": ["Screening", "Suggestion"],
        "simulation": ["Simulation", "simulate"],
        "stopping": ["Recommendation", "StoppingRule"],
    },
)

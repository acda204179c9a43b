"""Screening: which references to read next, how many relevant ones remain, and when to stop."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.refine.screening.decisions import read_decisions, write_decisions
    from germane.refine.screening.remaining import Remaining
    from germane.refine.screening.session import Screening, Suggestion
    from germane.refine.screening.simulation import Simulation, simulate
    from germane.refine.screening.stopping import Recommendation, StoppingRule

__all__ = [
    "Recommendation",
    "Remaining",
    "Screening",
    "Simulation",
    "StoppingRule",
    "Suggestion",
    "read_decisions",
    "simulate",
    "write_decisions",
]

_HOMES = {
    "Recommendation": "stopping",
    "Remaining": "remaining",
    "Screening": "session",
    "Simulation": "simulation",
    "StoppingRule": "stopping",
    "Suggestion": "session",
    "read_decisions": "decisions",
    "simulate": "simulation",
    "write_decisions": "decisions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"germane.refine.screening.{_HOMES[name]}"), name)

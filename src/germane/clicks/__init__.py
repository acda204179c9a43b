"""From click log to training pairs: readers, history, sessions, position bias, Score(d, q), privacy, a simulator.

Logs are read and counted by DuckDB, out of core; it is imported when a log is first touched (extra `clicks`).
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.clicks.observations import Observations, observe
    from germane.clicks.pairs import Pair, PairsReport, read_pairs, write_pairs
    from germane.clicks.position_bias import PositionCurve, em_curve, ratio_curve
    from germane.clicks.rules import ClickRules, ImportRules, PairRules, SearchRules
    from germane.clicks.simulation import ClickModel, LogSimulation, simulate_log
    from germane.clicks.statistics import ClickStats, click_stats
    from germane.clicks.store import ClickStore, EraseResponse, ImportResponse

__all__ = [
    "ClickModel",
    "ClickRules",
    "ClickStats",
    "ClickStore",
    "EraseResponse",
    "ImportResponse",
    "ImportRules",
    "LogSimulation",
    "Observations",
    "Pair",
    "PairRules",
    "PairsReport",
    "PositionCurve",
    "SearchRules",
    "click_stats",
    "em_curve",
    "observe",
    "ratio_curve",
    "read_pairs",
    "simulate_log",
    "write_pairs",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "observations": ["Observations", "observe"],
        "pairs": ["Pair", "PairsReport", "read_pairs", "write_pairs"],
        "position_bias": ["PositionCurve", "em_curve", "ratio_curve"],
        "rules": ["ClickRules", "ImportRules", "PairRules", "SearchRules"],
        "simulation": ["ClickModel", "LogSimulation", "simulate_log"],
        "statistics": ["ClickStats", "click_stats"],
        "store": ["ClickStore", "EraseResponse", "ImportResponse"],
    },
)

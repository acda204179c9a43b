"""Every threshold between a log and its pairs, with its default. Nothing is dropped by a rule that is not here."""

from dataclasses import dataclass, fields
from typing import Any

from germane.errors import ParameterError

MEMORY = 2048
"""Megabytes that the work on a history may take unless told otherwise."""


def _require(name: str, value: float, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ParameterError(f"{name} must be between {least:g} and {most:g}, not {value}")


@dataclass(frozen=True, slots=True)
class ImportRules:
    """How rows of a log become history. They are kept with the history: all imports into it follow the same rules.

    - `redact_digits`: numbers of this many digits are taken out of queries, signs between digits ignored; 0: none are.
    - `redact_addresses`: e-mail addresses are taken out of queries.
    - `first_position`: what the log calls the first result, 1 or 0.
    - `retain_days`: history older than this is removed at every import; 0: none is.
    """

    redact_digits: int = 5
    redact_addresses: bool = True
    first_position: int = 1
    retain_days: int = 0

    def __post_init__(self) -> None:
        _require("redact_digits", self.redact_digits, 0, 1000)
        _require("first_position", self.first_position, 0, 1)
        _require("retain_days", self.retain_days, 0, 100_000)

    def to_dict(self) -> dict[str, Any]:
        """The rules by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How history becomes searches with results that were shown and clicks on them.

    - `session_gap`: minutes without an event that end a session.
    - `click_window`: minutes after its search in which a click counts.
    - `clock_skew`: seconds by which a click may precede its search, for clocks that differ.
    - `robot_clicks`, `robot_searches`: more of them on one day make a user a robot on that day.
    - `robot_share`, `robot_results`: so does clicking this share of the results, where at least so many were shown.
    - `min_dwell`: seconds until the next event; a click that is known to have held for less is no click. 0: all count.
    - `max_position`: results below it are not looked at.
    - `max_query_words`: longer queries are not searches of a person.
    - `click_actions`, `impression_actions`: the actions of the log that say so.
    """

    session_gap: float = 30.0
    click_window: float = 60.0
    clock_skew: float = 5.0
    robot_clicks: int = 200
    robot_searches: int = 500
    robot_share: float = 0.8
    robot_results: int = 100
    min_dwell: float = 0.0
    max_position: int = 20
    max_query_words: int = 50
    click_actions: tuple[str, ...] = ("click",)
    impression_actions: tuple[str, ...] = ("impression",)

    def __post_init__(self) -> None:
        _require("session_gap", self.session_gap, 0.01, 24 * 60)
        _require("click_window", self.click_window, 0.01, 24 * 60)
        _require("clock_skew", self.clock_skew, 0, 3600)
        _require("robot_clicks", self.robot_clicks, 1, 10**12)
        _require("robot_searches", self.robot_searches, 1, 10**12)
        _require("robot_share", self.robot_share, 0, 1)
        _require("robot_results", self.robot_results, 1, 10**12)
        _require("min_dwell", self.min_dwell, 0, 24 * 3600)
        _require("max_position", self.max_position, 1, 1000)
        _require("max_query_words", self.max_query_words, 1, 10**6)
        if not self.click_actions:
            raise ParameterError("name at least one action that is a click")
        if set(self.click_actions) & set(self.impression_actions):
            raise ParameterError("an action cannot be both a click and an impression")


@dataclass(frozen=True, slots=True)
class PairRules:
    """How clicks become pairs.

    - `min_users`: k-anonymity; a query that fewer people typed is in no pair.
    - `min_clicks`: fewer clicks make no pair.
    - `prior_weight`: Score(d, q) is smoothed by so many examined results with the mean click rate of the log; None
      learns from the log how results differ, and expects of each what its clicks say in this light.
    - `threshold`: Score(d, q) must exceed it; None takes the mean click rate of the log.
    - `certainty`: a result must be above the mean rate with this probability; a threshold that is given is plain.
    - `debias`: divide by examinations rather than by impressions.
    """

    min_users: int = 5
    min_clicks: int = 1
    prior_weight: float | None = None
    threshold: float | None = None
    debias: bool = True
    certainty: float = 0.5

    def __post_init__(self) -> None:
        _require("min_users", self.min_users, 1, 10**9)
        _require("min_clicks", self.min_clicks, 1, 10**9)
        if self.prior_weight is not None:
            _require("prior_weight", self.prior_weight, 0, 1e9)
        _require("certainty", self.certainty, 0, 0.999999)
        if self.threshold is not None:
            _require("threshold", self.threshold, 0, 1e9)


@dataclass(frozen=True)
class ClickRules:
    """How the history is read."""

    search: SearchRules | None = None
    pairs: PairRules | None = None
    memory_mb: int = MEMORY
    threads: int | None = None

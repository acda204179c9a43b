"""What a history holds: counts, coverage, the position curve by both estimators, and what was left out and why."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from germane.clicks.observations import Observations
from germane.clicks.position_bias import em_curve, ratio_curve
from germane.clicks.store import ClickStore
from germane.schema import MaybeNaN, Response


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A position: impressions, clicks, click-through rate, and θ by EM and by ratios, relative to the first."""

    position: int
    shown: int
    clicked: int
    rate: MaybeNaN
    theta: MaybeNaN
    theta_by_ratios: MaybeNaN


@dataclass(frozen=True, slots=True)
class ClickStats(Response):
    """The numbers of a history. `robots` are users on a day; `coverage` are shares: of searches and of queries with a
    click, and of queries that enough people typed to be in a pair; `dropped` is by kind and reason."""

    first_day: str | None
    last_day: str | None
    days: int
    query_rows: int
    event_rows: int
    searches: int
    kept_searches: int
    sessions: int
    users: int
    robots: int
    clicks: int
    kept_clicks: int
    impressions: int
    queries: int
    objects: int
    median_dwell_seconds: float | None
    coverage: Mapping[str, MaybeNaN]
    curve: tuple[CurvePoint, ...]
    curve_pairs: int
    dropped: Mapping[str, Mapping[str, int]]


def click_stats(store: ClickStore, observations: Observations, *, min_users: int = 5) -> ClickStats:
    """The numbers of what was observed; `min_users` is that of the pairs to be made."""
    counts = observations.counts
    queries, clicked, objects = observations.one(
        "SELECT count(DISTINCT query), count(DISTINCT query) FILTER (clicked > 0), count(DISTINCT object) "
        "FROM coded_cells"
    )
    (known,) = observations.one(f"SELECT count(*) FROM coded_users WHERE users >= {int(min_users)}")
    shown, clicks = observations.raw_curve()
    positions = int(np.flatnonzero(shown)[-1]) + 1 if shown.any() else 0
    cells = observations.cells()
    by_em = em_curve(cells, positions=observations.rules.max_position)
    by_ratios = ratio_curve(cells, positions=observations.rules.max_position)
    curve = tuple(
        CurvePoint(
            k + 1,
            int(shown[k]),
            int(clicks[k]),
            float(clicks[k] / shown[k]) if shown[k] else float("nan"),
            float(by_em.theta[k]),
            float(by_ratios.theta[k]),
        )
        for k in range(positions)
    )
    days = store.days
    return ClickStats(
        first_day=days[0] if days else None,
        last_day=days[-1] if days else None,
        days=len(days),
        query_rows=store.rows("queries"),
        event_rows=store.rows("events"),
        searches=counts.searches,
        kept_searches=counts.kept_searches,
        sessions=counts.sessions,
        users=counts.users,
        robots=counts.robots,
        clicks=counts.clicks,
        kept_clicks=counts.kept_clicks,
        impressions=int(shown.sum()),
        queries=queries,
        objects=objects,
        median_dwell_seconds=observations.median_dwell(),
        coverage={
            "searches_with_clicks": _share(counts.searches_with_clicks, counts.kept_searches),
            "queries_with_clicks": _share(clicked, queries),
            "queries_of_enough_users": _share(known, queries),
        },
        curve=curve,
        curve_pairs=by_em.pairs,
        dropped={
            "rows": dict(store.dropped),
            "searches": dict(counts.dropped_searches),
            "clicks": dict(counts.dropped_clicks),
            "impressions": dict(counts.dropped_impressions),
            "events": dict(counts.dropped_events),
        },
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")

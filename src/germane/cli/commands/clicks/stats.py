"""germane clicks stats: what a history holds, the position curve, and what was left out and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.click_options import (
    ClickActions,
    ClickWindow,
    ClockSkew,
    ImpressionActions,
    MaxPosition,
    MaxQueryWords,
    Memory,
    MinDwell,
    MinUsers,
    RobotClicks,
    RobotResults,
    RobotSearches,
    RobotShare,
    SessionGap,
    Store,
    Threads,
    Work,
    bar,
    search_rules,
)
from germane.cli.progress import steps
from germane.cli.streams import put_json, tell
from germane.cli.tables import show_rows
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import clicks
    from germane.evaluate import plots
    from germane.stream import shares

if TYPE_CHECKING:
    from germane.clicks import ClickStats


def stats(
    store: Store,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the position curve (.png, .svg, .pdf).", show_default=False),
    ] = None,
    min_users: MinUsers = 5,
    session_gap: SessionGap = 30.0,
    click_window: ClickWindow = 60.0,
    clock_skew: ClockSkew = 5.0,
    robot_clicks: RobotClicks = 200,
    robot_searches: RobotSearches = 500,
    robot_share: RobotShare = 0.8,
    robot_results: RobotResults = 100,
    min_dwell: MinDwell = 0.0,
    max_position: MaxPosition = 20,
    max_query_words: MaxQueryWords = 50,
    click_action: ClickActions = None,
    impression_action: ImpressionActions = None,
    memory: Memory = 2048,
    threads: Threads = None,
    work: Work = None,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Show counts, coverage, the position curve, and what is left out by which rule.

    Example: germane clicks stats my-clicks --plot curve.png
    """
    rules = search_rules(
        click_action, impression_action, session_gap=session_gap, click_window=click_window, clock_skew=clock_skew,
        robot_clicks=robot_clicks, robot_searches=robot_searches, robot_share=robot_share, robot_results=robot_results,
        min_dwell=min_dwell, max_position=max_position, max_query_words=max_query_words,
    )  # fmt: skip
    opened = clicks.ClickStore.open(store)
    days = len(opened.days)
    with (
        steps("days", total=days, always=progress, otherwise=lambda words: None) as step,
        clicks.observe(opened, rules, memory_mb=memory, threads=threads, work=work, on_progress=step) as observations,
    ):
        found = clicks.click_stats(opened, observations, min_users=min_users)
    if plot is not None:
        curves = {
            "EM": [point.theta for point in found.curve],
            "ratios": [point.theta_by_ratios for point in found.curve],
        }
        plots.save(plots.position_curve(curves, collection=store.name), plot)
        tell(f"the position curve is drawn in {plot}")
    if json:
        put_json(found)
    else:
        _show(found)


def _show(found: "ClickStats") -> None:
    counts = [
        ("days", f"{found.days:,}" + (f" ({found.first_day} to {found.last_day})" if found.days else "")),
        ("searches", f"{found.searches:,}, {found.kept_searches:,} kept"),
        ("sessions", f"{found.sessions:,}"),
        ("users", f"{found.users:,}, and {found.robots:,} robots on a day"),
        ("clicks", f"{found.clicks:,}, {found.kept_clicks:,} kept"),
        ("results shown", f"{found.impressions:,}"),
        ("queries", f"{found.queries:,}"),
        ("objects", f"{found.objects:,}"),
        ("median dwell", "not known" if found.median_dwell_seconds is None else f"{found.median_dwell_seconds:g} s"),
        *(
            (name.replace("_", " "), _share(share, found.kept_searches if "searches" in name else found.queries))
            for name, share in found.coverage.items()
        ),
    ]
    show_rows(("history", ""), counts)
    if found.curve:
        rows = [
            (f"{point.position}", f"{point.shown:,}", _number(point.rate), _number(point.theta),
             _number(point.theta_by_ratios), bar(point.theta))
            for point in found.curve
        ]  # fmt: skip
        title = f"\nPosition curve, from {found.curve_pairs:,} pairs of a query and a result seen at several positions"
        show_rows(("position", "shown", "clicked", "θ", "θ by ratios", ""), rows, title=title)
    left = [
        (kind, reason, count)
        for kind, reasons in found.dropped.items()
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    if left:
        show_rows(("left out", "reason", "count"), left, title="\nLeft out")


def _number(value: float) -> str:
    return f"{value:.3f}" if value == value else "-"


def _share(value: float, of: int) -> str:
    """In percent, or as counts where there are few."""
    if value != value:
        return "-"
    return shares.share_told(value, of) if of < shares.FEWEST else f"{100 * value:.1f} %"

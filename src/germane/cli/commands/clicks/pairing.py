"""germane clicks pairs: queries and titles to learn from."""

from pathlib import Path
from typing import Annotated

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
    search_rules,
    tell_dropped,
)
from germane.cli.path_conflicts import require_apart
from germane.cli.progress import steps
from germane.cli.streams import put_json, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks, data

_PAIRS = "Pairs"


def pairs(
    store: Store,
    into: Annotated[
        Path,
        typer.Option("--into", metavar="FILE", help="Where they go (.parquet, .jsonl, .tsv).", show_default=False),
    ],
    titles: Annotated[
        str | None,
        typer.Option(
            metavar="SRC",
            help="Documents with the objects' titles; else the names in the log serve.",
            show_default=False,
            rich_help_panel=_PAIRS,
        ),
    ] = None,
    min_users: MinUsers = 5,
    min_clicks: Annotated[
        int, typer.Option(metavar="N", help="Fewer clicks make no pair.", rich_help_panel=_PAIRS)
    ] = 1,
    prior_weight: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Examined results at the mean rate that smooth each score.",
            show_default="learnt from the log",
            rich_help_panel=_PAIRS,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Scores must exceed it.",
            show_default="the mean click rate",
            rich_help_panel=_PAIRS,
        ),
    ] = None,
    certainty: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="Probability with which a result must be above the mean click rate.",
            rich_help_panel=_PAIRS,
        ),
    ] = 0.5,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Click-through rates as they are, position and all.", rich_help_panel=_PAIRS),
    ] = False,
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
    """Write pairs of a query and a title with their weight, Score(d, q): clicks over examinations, smoothed.

    Example: germane clicks pairs my-clicks --into pairs.tsv --titles docs.jsonl

    Example: germane clicks pairs my-clicks --into raw.tsv --raw --min-users 10
    """
    rules = search_rules(
        click_action, impression_action, session_gap=session_gap, click_window=click_window, clock_skew=clock_skew,
        robot_clicks=robot_clicks, robot_searches=robot_searches, robot_share=robot_share, robot_results=robot_results,
        min_dwell=min_dwell, max_position=max_position, max_query_words=max_query_words,
    )  # fmt: skip
    wanted = clicks.PairRules(min_users, min_clicks, prior_weight, threshold, not raw, certainty)
    require_apart({"--into": into}, [] if titles is None else [titles])
    opened = clicks.ClickStore.open(store)
    documents = None if titles is None else data.read_documents(titles)
    with (
        steps("days", total=len(opened.days), always=progress, otherwise=lambda words: None) as step,
        clicks.observe(opened, rules, memory_mb=memory, threads=threads, work=work, on_progress=step) as observations,
    ):
        report = clicks.write_pairs(observations, into, wanted, titles=documents)
        counts = observations.counts
    if json:
        put_json(report)
        return
    tell_dropped("searches", counts.dropped_searches)
    tell_dropped("clicks", counts.dropped_clicks)
    tell_dropped("pairs", report.dropped)
    tell(
        f"{counted(report.pairs, 'pair')} of {report.queries:,} queries and {report.titles:,} titles, from "
        f"{counted(report.clicks, 'click')}, written to {into}"
    )

"""germane clicks simulate: a log whose truth is known."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.streams import put_json, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks
    from germane import data as data_files

_USERS = "Users"


class User(StrEnum):
    """Behaviour of simulated people."""

    POSITION = "position"
    CASCADE = "cascade"


class LogFormat(StrEnum):
    """Format of the log."""

    JSONL = "jsonl"
    PARQUET = "parquet"


def simulate(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Documents, or a data set's name or folder.", show_default=False),
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The folder to write the log in.", show_default=False)
    ],
    topics: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The queries.", show_default="those of the data set"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The judgements.", show_default="those of the data set"),
    ] = None,
    searches: Annotated[int, typer.Option(metavar="N", help="Searches of people.")] = 10_000,
    users: Annotated[int, typer.Option(metavar="N", help="People.", rich_help_panel=_USERS)] = 500,
    days: Annotated[int, typer.Option(metavar="N", help="Days of the log.")] = 7,
    first_day: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE", formats=["%Y-%m-%d"], help="The first day of the log.", show_default="it ends yesterday"
        ),
    ] = None,
    depth: Annotated[int, typer.Option(metavar="N", help="Results that a search shows.")] = 10,
    zipf: Annotated[float, typer.Option(metavar="S", help="The r-th query is typed in proportion to r^-S.")] = 1.0,
    ranker: Annotated[
        float, typer.Option(metavar="W", help="How much relevance counts in the lists' order, beside chance.")
    ] = 1.0,
    jitter: Annotated[float, typer.Option(metavar="W", help="How much lists of one query differ.")] = 0.7,
    user: Annotated[
        User, typer.Option(help="How people click.", rich_help_panel=_USERS, case_sensitive=False)
    ] = User.POSITION,
    eta: Annotated[
        float, typer.Option(metavar="ETA", help="The k-th result is examined with k^-ETA.", rich_help_panel=_USERS)
    ] = 1.0,
    noise: Annotated[
        float,
        typer.Option(metavar="P", help="Examined results that are clicked though irrelevant.", rich_help_panel=_USERS),
    ] = 0.1,
    robots: Annotated[
        float, typer.Option(metavar="SHARE", help="Robots, as a share of the users.", rich_help_panel=_USERS)
    ] = 0.01,
    repeats: Annotated[
        float, typer.Option(metavar="SHARE", help="Clicks that come twice.", rich_help_panel=_USERS)
    ] = 0.02,
    random_state: Annotated[int, typer.Option(metavar="N", help="Another number makes another log.")] = 0,
    format: Annotated[LogFormat, typer.Option(help="How the log is written.", case_sensitive=False)] = LogFormat.JSONL,
    json: options.Json = False,
) -> None:
    """Simulate searches over a collection with judgements, as a log of OpenSearch's User Behavior Insights.

    The true position curve, and who is a robot, is in truth.json.

    Example: germane clicks simulate docs.jsonl --topics queries.tsv --qrels qrels.txt --into log --searches 2000

    Example: germane clicks simulate cranfield --into log --user cascade
    """
    simulated = clicks.simulate_log(
        data_files.read_documents(data),
        data_files.read_topics(topics or data),
        data_files.read_qrels(qrels or data),
        into,
        model=clicks.ClickModel(user.value, eta=eta, noise=noise),
        searches=searches,
        users=users,
        days=days,
        first_day=first_day.date() if first_day else datetime.now(UTC).date() - timedelta(days=days),
        depth=depth,
        zipf=zipf,
        ranker=ranker,
        jitter=jitter,
        robots=robots,
        repeats=repeats,
        format=format.value,
        random_state=random_state,
    )
    if json:
        put_json(simulated)
        return
    tell(
        f"{simulated.searches:,} searches for {simulated.queries:,} queries by {counted(simulated.users, 'user')} and "
        f"{counted(simulated.robots, 'robot')}, with "
        f"{counted(simulated.clicks, 'click')}, written to {into}; the truth is in {into / 'truth.json'}"
    )

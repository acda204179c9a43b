"""germane clicks erase: take a user, or old days, out of a history."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.commands.clicks.parts import Memory, Threads
from germane.cli.progress import steps
from germane.cli.streams import counted, put_json, tell
from germane.errors import ParameterError


def erase(
    store: Annotated[
        Path,
        typer.Argument(
            metavar="STORE",
            help="The folder of the history of clicks, or the log of a server (clicks.jsonl).",
            show_default=False,
        ),
    ],
    user: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A user's or a client's id.", show_default=False),
    ] = None,
    older_than: Annotated[
        int | None, typer.Option(metavar="DAYS", help="Days before today; older ones go.", show_default=False, min=0)
    ] = None,
    memory: Memory = 2048,
    threads: Threads = None,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Take every trace of a user out of a history, or all days that are too old. Pairs made before are to be made anew.

    Example: germane clicks erase my-clicks --user client-000017

    Example: germane clicks erase my-clicks --older-than 90

    Example: germane clicks erase ~/.local/share/germane/clicks.jsonl --user 0123456789abcdef01234567
    """
    from germane.clicks import ClickStore

    if (user is None) == (older_than is None):
        raise ParameterError("choose one of --user and --older-than")
    if store.is_file():
        _erase_from_log(store, user, older_than, json=json)
        return
    opened = ClickStore.open(store)
    with steps("erasing", always=progress, otherwise=lambda words: None) as step:
        if user is not None:
            gone = opened.erase(user, memory=memory, threads=threads, progress=step)
        else:
            assert older_than is not None
            gone = opened.erase_before(datetime.now(UTC).date() - timedelta(days=older_than))
    if json:
        put_json(gone)
        return
    tell(
        f"{counted(gone.queries, 'query row')} and {counted(gone.events, 'event')} of {counted(gone.days, 'day')} "
        f"erased from {store}; pairs and models made of it before are to be made anew"
    )


def _erase_from_log(path: Path, user: str | None, older_than: int | None, *, json: bool) -> None:
    """The same of a log that a server writes, which may run meanwhile."""
    from germane.clicks.log import ClickLog, LogErased

    log = ClickLog(path)
    if user is not None:
        lines = log.erase_user(user)
    else:
        lines = log.erase_before(datetime.now(UTC) - timedelta(days=older_than or 0))
    if json:
        put_json(LogErased(lines))
        return
    tell(f"{counted(lines, 'line')} erased from {path}; models learnt from it before are to be learnt anew")

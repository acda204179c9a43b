"""germane clicks erase: take a user, or old days, out of a history, and out of what was learnt from it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.click_options import Memory, Threads
from germane.cli.learnt_models import tell_behind
from germane.cli.opening import open_engine
from germane.cli.progress import steps
from germane.cli.streams import put_json, tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks
    from germane.clicks import log as clicks_log
    from germane.learning import values

if TYPE_CHECKING:
    from germane.clicks.store import EraseResponse
    from germane.engine import Engine
    from germane.learning.values import ErasedFrom

_MODELS = "Models"


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
    index: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="An index that learnt from this history: which of its models have seen what goes; repeatable.",
            show_default=False,
            rich_help_panel=_MODELS,
        ),
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Remove these models, those that serve apart.", rich_help_panel=_MODELS)
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --models: those that serve too.", rich_help_panel=_MODELS)
    ] = False,
    memory: Memory = 2048,
    threads: Threads = None,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Take every trace of a user out of a history, or all days that are too old. Pairs made before are to be made anew.

    Models learnt before still hold it: --index tells which, and --models removes them. A model holds a user who typed a
    query that it was learnt from or tested on; of models learnt by earlier releases only the days are known.

    Example: germane clicks erase my-clicks --user client-000017

    Example: germane clicks erase my-clicks --user client-000017 --index my-index --models

    Example: germane clicks erase my-clicks --older-than 90

    Example: germane clicks erase ~/.local/share/germane/clicks.jsonl --user 0123456789abcdef01234567
    """
    if (user is None) == (older_than is None):
        raise ParameterError("choose one of --user and --older-than")
    if (models and not index) or (force and not models):
        raise ParameterError("--models needs the --index that has them" if models else "--force belongs to --models")
    if store.is_file():
        if index:
            raise ParameterError(
                "--index is for a history of clicks: what is learnt from a server's log goes through one"
            )
        _erase_from_log(store, user, older_than, json=json)
        return
    opened = clicks.ClickStore.open(store)
    engines = {folder: open_engine(folder) for folder in index or ()}
    for engine in engines.values():
        engine.models.versions()  # a damaged record is told before anything is erased
    with steps("erasing", always=progress, otherwise=lambda words: None) as step:
        if user is not None:
            gone = opened.erase(user, memory_mb=memory, threads=threads, on_progress=step)
        else:
            assert older_than is not None
            gone = opened.erase_before(datetime.now(UTC).date() - timedelta(days=older_than))
    found: list[ErasedFrom] = []
    untouched = 0
    for folder, engine in engines.items():
        with engine:
            n_versions = len(engine.models.versions())
            seen = _seen(folder, engine, gone, remove=models, force=force)
            untouched += n_versions - len(seen)
            found += seen
    if json:
        put_json(values.Erasure(gone.queries, gone.events, gone.days, tuple(found), untouched))
        return
    tell(
        f"{counted(gone.queries, 'query row')} and {counted(gone.events, 'event')} of {counted(gone.days, 'day')} "
        f"erased from {store}" + ("; pairs made of it before are to be made anew" if gone.days else "")
    )
    _tell_models(found, named=bool(engines), erased=gone.days > 0)
    if untouched and gone.days:
        tell(f"{counted(untouched, 'other version')} of models: nothing of it there, left as before")


def _seen(folder: Path, engine: "Engine", gone: "EraseResponse", *, remove: bool, force: bool) -> "list[ErasedFrom]":
    """The versions that hold what was erased, and whether each was removed."""
    people = gone.people or None
    versions = [
        values.ErasedFrom(
            str(folder),
            f"{each.name}@{each.version}",
            each.serving,
            remove and (force or not each.serving),
            people is not None and not engine.models.tells_people(each),
        )
        for each in engine.models.learnt_from(gone.dates, people)
    ]
    tell_behind(folder, engine.remove_models([each.version for each in versions if each.removed], force=force))
    return versions


def _tell_models(found: "list[ErasedFrom]", *, named: bool, erased: bool) -> None:
    if erased and not named:
        tell("models learnt from it before still hold it: --index tells which, and germane models remove deletes them")
    for each in found:
        if each.by_days:
            tell(f"of {each.version} of {each.index} only the days of its clicks are known, not whose they were")
        if each.removed:
            tell(
                f"{each.version} of {each.index} had seen it, and is removed"
                + (", though it served" if each.serving else "")
            )
        elif each.serving:
            tell(f"{each.version} of {each.index} has seen it, and serves: learn a new version, then germane models "
                 f"remove {each.index} {each.version}")  # fmt: skip
        else:
            tell(f"{each.version} of {each.index} has seen it: germane models remove {each.index} {each.version}")


def _erase_from_log(path: Path, user: str | None, older_than: int | None, *, json: bool) -> None:
    """Erase from a log that a server writes, which may run meanwhile."""
    log = clicks_log.ClickLog(path)
    if user is not None:
        lines = log.erase_user(user)
    else:
        lines = log.erase_before(datetime.now(UTC) - timedelta(days=older_than or 0))
    if json:
        put_json(clicks_log.LogErased(lines))
        return
    anew = "; models learnt from it before are to be learnt anew" if lines else ""
    tell(f"{counted(lines, 'line')} erased from {path}{anew}")

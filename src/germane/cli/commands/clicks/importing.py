"""germane clicks import: add logs to a history."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.click_options import Memory, Store, Threads, tell_dropped
from germane.cli.documents import mapping_of
from germane.cli.progress import steps
from germane.cli.streams import put_json, tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks
    from germane.clicks import reading
    from germane.clicks import store as clicks_store

NOTHING_READ = 1
_PRIVACY = "Privacy"
_READING = "Reading"


def import_(
    store: Store,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SRC...",
            help="Logs, or folders of them: UBI queries and events, or columns named by --map.",
            show_default=False,
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="jsonl, csv, tsv or parquet; else the file's name tells.", show_default=False, rich_help_panel=_READING
        ),
    ] = None,
    map: options.Map = None,
    encoding: options.Encoding = "utf-8",
    first_position: Annotated[
        int | None,
        typer.Option(
            metavar="0|1", help="What the log calls the first result.", show_default="1", rich_help_panel=_READING
        ),
    ] = None,
    redact_digits: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Numbers of so many digits are taken out of queries; 0 leaves all.",
            show_default="5",
            rich_help_panel=_PRIVACY,
        ),
    ] = None,
    keep_addresses: Annotated[
        bool, typer.Option("--keep-addresses", help="Leave e-mail addresses in queries.", rich_help_panel=_PRIVACY)
    ] = False,
    retain: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            help="Remove history older than this, now and at every import; 0 keeps all.",
            show_default=False,
            rich_help_panel=_PRIVACY,
        ),
    ] = None,
    memory: Memory = 2048,
    threads: Threads = None,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Add click logs to a history, which is made if it is not there. What is there already is not added again.

    Exit code 1 means that no row of any file could be used; rows and files that could not are named and counted.

    Example: germane clicks import my-clicks ubi_queries.jsonl ubi_events.jsonl

    Example: germane clicks import my-clicks log.csv --map time=when --map query=words --map object=product
    """
    given = {"redact_digits": redact_digits, "first_position": first_position}
    said = {name: value for name, value in given.items() if value is not None}
    mapping = mapping_of(map or ())
    clicks_store.log_files(sources)  # complains before a history is made
    if (store / "MANIFEST.json").exists():
        opened = clicks.ClickStore.open(store)
        other = [name for name, value in said.items() if getattr(opened.rules, name) != value]
        if other or (keep_addresses and opened.rules.redact_addresses):
            name = other[0] if other else "redact_addresses"
            raise ParameterError(
                f"{store} was made with {name.replace('_', ' ')} {getattr(opened.rules, name)}; all of a history "
                "follows the same rules: make another"
            )
    else:
        opened = clicks.ClickStore.create(store, clicks.ImportRules(redact_addresses=not keep_addresses, **said))
    with steps("importing", always=progress, otherwise=lambda words: None) as step:
        report = opened.add(
            sources,
            mapping=mapping,
            format=format,
            encoding=encoding,
            retain_days=retain,
            memory_mb=memory,
            threads=threads,
            on_progress=step,
        )
    for what in report.unreadable:
        tell(f"not read, or not to its end: {what}")
    if json:
        put_json(report)
    else:
        tell_dropped("rows", report.dropped)
        if report.expired_days:
            tell(f"{counted(report.expired_days, 'day')} removed, older than the history is kept")
        tell(
            f"{counted(report.rows, 'row')} read; {counted(report.queries, 'query row')} and "
            f"{counted(report.events, 'event')} of {counted(report.days, 'day')} added to {store}"
        )
    unusable = sum(n for reason, n in report.dropped.items() if reason != clicks_store.REPEATED)
    if report.rows > unusable:
        return
    if reading.NO_TIME in report.dropped:
        tell(f"times are looked for in {' and '.join(reading.PATHS['time'])}: --map time=COLUMN names another column")
    elif not report.rows and not report.unreadable:
        tell("there is no row in what was given")
    raise typer.Exit(NOTHING_READ)

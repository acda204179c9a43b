"""germane clicks: from a click log to pairs of queries and titles, and a simulator to test it by."""

import typer

from germane.cli.commands.clicks.erasing import erase
from germane.cli.commands.clicks.importing import import_
from germane.cli.commands.clicks.pairing import pairs
from germane.cli.commands.clicks.simulating import simulate
from germane.cli.commands.clicks.stats import stats

clicks = typer.Typer(no_args_is_help=True)
clicks.command("import")(import_)
clicks.command("stats")(stats)
clicks.command("pairs")(pairs)
clicks.command("erase")(erase)
clicks.command("simulate")(simulate)


@clicks.callback()
def about() -> None:
    """Turn click logs into pairs of queries and titles to learn from.

    Needs DuckDB, which Germane's extra `clicks` installs.

    Example: germane clicks import my-clicks ubi_queries.jsonl ubi_events.jsonl

    Example: germane clicks pairs my-clicks --into pairs.tsv --titles docs.jsonl
    """

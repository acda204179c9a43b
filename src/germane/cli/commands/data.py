"""germane data: the catalogue of data sets."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.streams import put_json, say, tell
from germane.cli.tables import show_rows
from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import data as data_files
    from germane.evaluate import responses
    from germane.experiments import datasets


class Action(StrEnum):
    """Action on data sets."""

    LIST = "list"
    INFO = "info"
    EXPORT = "export"


class Format(StrEnum):
    """Format of topics and judgements."""

    TREC = "trec"
    TSV = "tsv"
    JSON = "json"


def data(
    action: Annotated[Action, typer.Argument(help="list, info NAME or export NAME --into DIR.", show_default=False)],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A data set, or irds:NAME.", show_default=False)
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Where export writes.", show_default=False)
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="How export writes judgements.")] = Format.TREC,
    json: options.Json = False,
) -> None:
    """List the data sets, describe one, or write its documents, topics and judgements to a folder.

    Names are looked up in the folder that GERMANE_DATA names, then in ir_datasets.

    Example: germane data info cranfield
    """
    if action is Action.LIST:
        if json:
            put_json(data_files.dataset_names())
            return
        for known in data_files.dataset_names():
            say(known)
        return
    if name is None:
        raise ParameterError(f"germane data {action} wants the name of a data set; germane data list shows them")

    if action is Action.INFO:
        facts = datasets.describe(name)
        if json:
            put_json(responses.DatasetResponse.of(facts))
        else:
            show_rows(["", name], [[key.replace("_", " "), value] for key, value in facts.items()])
        return
    if into is None:
        raise ParameterError("germane data export wants a folder: --into DIR")
    for path in datasets.export(name, into, format.value):
        tell(f"written: {path}")

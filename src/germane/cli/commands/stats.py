"""germane stats: numbers about an index."""

from typing import Any

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.streams import put_json, terminal
from germane.lazy import on_first_use
from germane.tables import figure

with on_first_use(__name__):
    from rich import table as rich_table

TITLES = {"no_number": "unreadable numbers"}
"""Names of rows that tell little as they are."""


def stats(folder: options.Folder, json: options.Json = False) -> None:
    """Show numbers about an index, and its settings.

    Example: germane stats my-index --json
    """
    numbers = open_engine(folder).stats()
    if json:
        put_json(numbers)
        return

    table = rich_table.Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    for name, value in numbers.to_dict().items():
        table.add_row(TITLES.get(name, name.replace("_", " ")), _written(value))
    terminal().print(table)


def _written(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, dict) and "synonyms" in value:
        value = {**value, "synonyms": len(value["synonyms"])}
    if isinstance(value, dict):
        return ", ".join(f"{name} {_written(part)}" for name, part in value.items()) or "none"
    return ", ".join(map(_written, value)) or "none" if isinstance(value, list) else str(value)

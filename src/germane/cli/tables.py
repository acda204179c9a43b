"""Tables for people and for programs, and how they show that something moved."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from germane.cli.streams import put_row, say, terminal
from germane.lazy import on_first_use
from germane.tables import TABLES, Cell, written

with on_first_use(__name__):
    from rich import table as rich_table
    from rich import text as rich_text

if TYPE_CHECKING:
    from rich.table import Table


WIDEST = 10_000
"""Signs of a line that is not broken."""


def titled(title: str) -> "Table":
    """A table as wide as the terminal, without lines."""
    return rich_table.Table(
        title=rich_text.Text(title, "bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        expand=True,
    )


def arrow(before: int | None, rank: int) -> str:
    """▲3 for three places up, ▼2 for two down, = for none, and new for what had no rank before."""
    if before is None:
        return "new"
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"


def put_rows(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A header and rows with tabs between their cells; numbers in full."""
    for row in (header, *rows):
        put_row(row)


def show_rows(header: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str = "", whole: bool = False) -> None:
    """A table for people; numbers with four digits. `whole`: no row is broken, however narrow the terminal is."""
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=title or None, title_justify="left")
    for i, name in enumerate(header):
        numeric = any(isinstance(row[i], int | float) for row in rows)
        # One sign wide at least: Rich measures an empty column as none, and draws it as one.
        table.add_column(name, justify="right" if numeric else "left", header_style="bold", min_width=1)
    for row in rows:
        table.add_row(*(written(cell) for cell in row))
    console = terminal()
    width = console.measure(table, options=console.options.update(max_width=WIDEST)).maximum if whole else None
    console.print(table, width=width, crop=not whole, soft_wrap=whole)


def put_table(wanted: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table in one of the formats that can hold any: text, Markdown, LaTeX, or columns with tabs."""
    if wanted == "tsv":
        put_rows(header, [[cell.value if isinstance(cell, Cell) else cell for cell in row] for row in rows])
    else:
        say(TABLES[wanted](header, rows))

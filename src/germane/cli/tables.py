"""How tables for people look, and how they show that something moved."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def titled(title: str) -> "Table":
    """A table as wide as the terminal, without lines."""
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=Text(title, "bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True
    )


def arrow(before: int | None, rank: int) -> str:
    """▲3 for three places up, ▼2 for two down, = for none, and new for what had no rank before."""
    if before is None:
        return "new"
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"

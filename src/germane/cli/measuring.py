"""What the commands that measure have in common: naming measures, and printing tables three ways."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from germane.cli.streams import put, terminal
from germane.errors import ParameterError

RunFile = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run: TREC's six columns, TSV (query, document, score) or JSON."),
]
QrelsFile = Annotated[
    str,
    typer.Argument(
        metavar="QRELS", help="Judgements: TREC, TSV or JSON; the name of a data set, or irds:NAME.", show_default=False
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", metavar="NAME...", help="AP, nDCG@10, P(rel=2)@5, ...", show_default=False),
]
MoreMeasures = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MEASURE]...", help="More measures, as in -m AP nDCG@10.", show_default=False),
]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print columns with tabs between them.", rich_help_panel="Output")]
Alternative = Annotated[
    str, typer.Option("--alternative", help="two-sided, greater (the first run is better) or less.")
]


def named(measures: Sequence[str] | None, more: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """The measures asked for, in order, or the default; commas outside parentheses separate too."""
    names: list[str] = []
    for text in [*(measures or ()), *(more or ())]:
        depth, start = 0, 0
        for i, mark in enumerate(text):
            depth += (mark == "(") - (mark == ")")
            if mark == "," and depth == 0:
                names.append(text[start:i].strip())
                start = i + 1
        names.append(text[start:].strip())
    return [name for name in names if name] or list(default)


def one_of(**formats: bool) -> str:
    """The one output format that was asked for; "" for none."""
    wanted = [name for name, asked in formats.items() if asked]
    if len(wanted) > 1:
        raise ParameterError(f"choose one of {', '.join(f'--{name}' for name in wanted)}")
    return wanted[0] if wanted else ""


def put_json(content: Any) -> None:
    """One JSON object; what is not a number becomes null."""
    import orjson

    put(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY))


def put_rows(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A header and rows with tabs between their cells; numbers in full."""
    put("\t".join(header).encode())
    for row in rows:
        put("\t".join(repr(cell) if isinstance(cell, float) else str(cell) for cell in row).encode())


def show_rows(header: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str = "") -> None:
    """A table for people; numbers with four digits."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=title or None, title_justify="left")
    for i, name in enumerate(header):
        numeric = any(isinstance(row[i], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", header_style="bold")
    for row in rows:
        table.add_row(*(_written(cell) for cell in row))
    terminal().print(table)


def _written(cell: Any) -> str:
    if isinstance(cell, float):
        return "-" if math.isnan(cell) else f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)

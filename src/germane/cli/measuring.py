"""Shared options of the commands that measure: runs, judgements, and measures by name."""

from collections.abc import Sequence
from typing import Annotated

import typer

from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.evaluate import measures as evaluate_measures

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
    typer.Option("-m", "--measure", metavar="NAME...", help="AP, nDCG@10, P(rel=2)@5, map, ...", show_default=False),
]
MoreMeasures = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MEASURE]...", help="More measures, as in -m AP nDCG@10.", show_default=False),
]
Alternative = Annotated[
    str, typer.Option("--alternative", help="two-sided, greater (the first run is better) or less.")
]


def named(measures: Sequence[str] | None, more: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """The measures asked for, in order, or the default; commas outside parentheses separate too."""
    return [
        name for text in (*(measures or ()), *(more or ())) for name in evaluate_measures.measure_names(text)
    ] or list(default)

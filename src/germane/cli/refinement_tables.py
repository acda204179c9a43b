"""A refined list: tables for people, lines for programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from germane.cli.feedback_tables import MARKS
from germane.cli.streams import put_row
from germane.cli.tables import arrow, titled
from germane.lazy import on_first_use
from germane.tables import figure
from germane.wording import counted

with on_first_use(__name__):
    from rich import text as rich_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from germane.refine.responses import MovingWord, RefinementResponse, WordAmount

SHOWN = 20
"""Results that a person is shown unless -k says otherwise; programs get all."""
WORDS = 5
"""Words of each side that a person is shown with --explain; programs get more."""


def put_tsv(refinement: "RefinementResponse") -> None:
    """Rank, rank before, id, probability, 1 if predicted relevant, title."""
    for result in refinement.results:
        p = "" if result.probability is None else figure(result.probability)
        cells = (result.rank, result.before, result.id, p, int(result.predicted), result.title or "")
        put_row(cells)


def show(console: "Console", refinement: "RefinementResponse", shown: int) -> None:
    """A table of the new order; the topics among the non-relevant, and what moved, where they were asked for."""
    console.print(_order(refinement))
    if refinement.components and any(result.words for result in refinement.results):
        console.print()
        console.print(_topics(refinement))
    if refinement.changes is not None:
        console.print()
        console.print(_moves(refinement, shown))


def _order(refinement: "RefinementResponse") -> "Table":
    rows, n = refinement.results, refinement.n_results
    part = f", the first {len(rows)}" if len(rows) < n else ""
    key = "" if refinement.threshold is None else " (●: in the predicted set)"
    table = titled(f"{counted(n, 'result')} by {refinement.method}{part}{key}")
    table.add_column("rank", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("P", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("mark", no_wrap=True)
    table.add_column("result", ratio=1)
    for result in rows:
        p = "–" if result.probability is None else f"{result.probability:.2f}"
        name = rich_text.Text(result.id, "bold").append(f"  {result.title}" if result.title else "", "dim")
        if result.words is not None:
            name = rich_text.Text("\n").join(
                [name, *_sides(result.words.in_favour[:WORDS], result.words.against[:WORDS])]
            )
        table.add_row(
            f"{result.before} → {result.rank}",
            rich_text.Text(arrow(result.before, result.rank), "bold"),
            p,
            rich_text.Text("●" if result.predicted else "", "green"),
            rich_text.Text(
                "passed over" if result.passed_over else MARKS[result.mark], "green" if result.mark else "red"
            ),
            name,
        )
    return table


def _sides(in_favour: Sequence["WordAmount"], against: Sequence["WordAmount"]) -> list["Text"]:
    sides = ((in_favour, "cyan"), (against, "red"))
    return [rich_text.Text("  " + _words(words), style) for words, style in sides if words]


def _words(words: Sequence["WordAmount"]) -> str:
    return ", ".join(f"{word.word} {word.amount:+.2f}" for word in words)


def _moving(words: Sequence["MovingWord"]) -> str:
    return ", ".join(f"{word.word}{'' if word.present else ' (absent)'} {word.amount:+.2f}" for word in words)


def _topics(refinement: "RefinementResponse") -> "Table":
    table = titled("Topics among the results that are not relevant")
    table.add_column("results", justify="right")
    table.add_column("words", ratio=1)
    for part in refinement.components:
        table.add_row(str(len(part.ids)), rich_text.Text(", ".join(word.word for word in part.words)))
    return table


def _moves(refinement: "RefinementResponse", shown: int) -> "Table":
    moves = refinement.changes or ()
    part = f", {shown} of {len(moves)}" if len(moves) > shown else ""
    table = titled(f"What moved, and why{part}")
    table.add_column("rank", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("result")
    table.add_column("because of", ratio=1)
    for move in moves[:shown]:
        why = _moving(move.words) if move.cause == "words" else move.cause
        table.add_row(
            f"{move.before} → {move.rank}",
            rich_text.Text(arrow(move.before, move.rank), "bold"),
            move.id,
            rich_text.Text(why, "dim"),
        )
    return table

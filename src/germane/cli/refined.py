"""What a refinement did to a list, for people and for programs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from germane.cli.learnt import MARKS
from germane.cli.streams import counted, put
from germane.cli.tables import arrow, titled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from germane.refine.reasons import Change, Reason
    from germane.refine.refinement import Refinement

SHOWN = 20
"""Results that a person is shown unless -k says otherwise; programs get all."""
WORDS = 5
"""Words of each side that a person is shown with --explain; programs get `WORDS_FOR_PROGRAMS`."""
WORDS_FOR_PROGRAMS = 10


def content(
    refinement: "Refinement", titles: Mapping[str, str], shown: int, *, explain: bool, changes: bool
) -> dict[str, Any]:
    """The refinement as JSON has it."""
    results = []
    for result in refinement.results[:shown]:
        row: dict[str, Any] = {
            "rank": result.rank,
            "before": result.before,
            "id": result.id,
            "probability": result.probability,
            "predicted": result.predicted,
            "mark": result.mark,
            "passed_over": result.passed_over,
        }
        row |= {"title": titles[result.id]} if titles[result.id] else {}
        if explain:
            told = refinement.explain(result.id, WORDS_FOR_PROGRAMS)
            row["words"] = {"for": _reasons(told.in_favour), "against": _reasons(told.against)}
        results.append(row)
    found: dict[str, Any] = {
        "method": refinement.method,
        "reason": refinement.reason,
        "threshold": refinement.threshold,
        "results": results,
        "components": [{"words": _reasons(part.words), "ids": list(part.ids)} for part in refinement.components],
    }
    if changes:
        found["changes"] = [_change(move) for move in refinement.changes()]
    return found


def _change(move: "Change") -> dict[str, Any]:
    words = [{"word": word.word, "amount": word.amount, "present": word.present} for word in move.words]
    return {
        "id": move.id,
        "before": move.before,
        "rank": move.rank,
        "moved": move.moved,
        "cause": move.cause,
        "words": words,
    }


def _reasons(words: Sequence["Reason"]) -> list[dict[str, Any]]:
    return [{"word": word.word, "amount": word.amount} for word in words]


def put_tsv(refinement: "Refinement", titles: Mapping[str, str], shown: int) -> None:
    """Rank, rank before, id, probability, 1 if predicted relevant, title."""
    for result in refinement.results[:shown]:
        p = "" if result.probability is None else repr(result.probability)
        cells = (result.rank, result.before, result.id, p, int(result.predicted), titles[result.id])
        put("\t".join(map(str, cells)).encode())


def show(
    console: "Console", refinement: "Refinement", titles: Mapping[str, str], shown: int, *, explain: bool, changes: bool
) -> None:
    """A table of the new order; with --explain the topics among the non-relevant; with --changes what moved."""
    console.print(_order(refinement, titles, shown, explain=explain))
    if explain and refinement.components:
        console.print()
        console.print(_topics(refinement))
    if changes:
        console.print()
        console.print(_moves(refinement, shown))


def _order(refinement: "Refinement", titles: Mapping[str, str], shown: int, *, explain: bool) -> "Table":
    from rich.text import Text

    rows = refinement.results[:shown]
    part = f", the first {len(rows)}" if len(rows) < len(refinement) else ""
    key = "" if refinement.threshold is None else " (●: in the predicted set)"
    table = titled(f"{counted(len(refinement), 'result')} by {refinement.method}{part}{key}")
    table.add_column("rank", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("P", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("mark", no_wrap=True)
    table.add_column("result", ratio=1)
    for result in rows:
        p = "–" if result.probability is None else f"{result.probability:.2f}"
        name = Text(result.id, "bold").append(f"  {titles[result.id]}" if titles[result.id] else "", "dim")
        if explain:
            told = refinement.explain(result.id, WORDS)
            name = Text("\n").join([name, *_sides(told.in_favour, told.against)])
        table.add_row(
            f"{result.before} → {result.rank}",
            Text(arrow(result.before, result.rank), "bold"),
            p,
            Text("●" if result.predicted else "", "green"),
            Text("passed over" if result.passed_over else MARKS[result.mark], "green" if result.mark else "red"),
            name,
        )
    return table


def _sides(in_favour: Sequence["Reason"], against: Sequence["Reason"]) -> list["Text"]:
    from rich.text import Text

    sides = ((in_favour, "cyan"), (against, "red"))
    return [Text("  " + _words(words), style) for words, style in sides if words]


def _words(words: Sequence["Reason"]) -> str:
    return ", ".join(f"{word.word}{'' if word.present else ' (absent)'} {word.amount:+.2f}" for word in words)


def _topics(refinement: "Refinement") -> "Table":
    from rich.text import Text

    table = titled("Topics among the results that are not relevant")
    table.add_column("results", justify="right")
    table.add_column("words", ratio=1)
    for part in refinement.components:
        table.add_row(str(len(part.ids)), Text(", ".join(word.word for word in part.words)))
    return table


def _moves(refinement: "Refinement", shown: int) -> "Table":
    from rich.text import Text

    moves = refinement.changes()
    part = f", {shown} of {len(moves)}" if len(moves) > shown else ""
    table = titled(f"What moved, and why{part}")
    table.add_column("rank", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("result")
    table.add_column("because of", ratio=1)
    for move in moves[:shown]:
        why = _words(move.words) if move.cause == "words" else move.cause
        table.add_row(
            f"{move.before} → {move.rank}", Text(arrow(move.before, move.rank), "bold"), move.id, Text(why, "dim")
        )
    return table

"""How a comparison of two models is shown: means, tests, wins and losses, and the worst losses."""

from typing import TYPE_CHECKING

from germane.cli.tables import show_rows

if TYPE_CHECKING:
    from germane.engine.learning.values import GateReport


def show_gate(report: "GateReport") -> None:
    """The sets of queries, then the worst losses of each."""
    rows = [
        (each.name, f"{each.queries:,}", f"{each.candidate:.4f}", f"{each.baseline:.4f}",
         f"{each.candidate - each.baseline:+.4f}", _p(each.p_t), _p(each.p_randomisation),
         f"{each.wins:,}", f"{each.losses:,}", f"{each.ties:,}")
        for each in report.sets
    ]  # fmt: skip
    measure = report.sets[0].measure if report.sets else ""
    columns = (
        measure,
        "queries",
        "candidate",
        "baseline",
        "difference",
        "p (t)",
        "p (random)",
        "wins",
        "losses",
        "ties",
    )
    show_rows(columns, rows, title=f"Against {report.against}")
    for each in report.sets:
        if each.worst:
            losses = [(loss.query, f"{loss.candidate:.4f}", f"{loss.baseline:.4f}") for loss in each.worst]
            show_rows(("query", "candidate", "baseline"), losses, title=f"\nWorst losses, {each.name}")


def _p(value: float) -> str:
    return f"{value:.2g}" if value == value else "-"

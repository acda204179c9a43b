"""How a comparison of two models is shown: means, tests, wins and losses, and the worst losses."""

from typing import TYPE_CHECKING

from germane.cli.tables import show_rows

if TYPE_CHECKING:
    from germane.engine.models.values import GateReport

LONGEST_QUERY = 50


def show_gate(report: "GateReport") -> None:
    """The sets of queries side by side, then the worst losses of each."""
    sets = report.sets
    rows = [
        ("queries", *(f"{each.queries:,}" for each in sets)),
        ("candidate", *(f"{each.candidate:.4f}" for each in sets)),
        (report.against, *(f"{each.baseline:.4f}" for each in sets)),
        ("difference", *(f"{each.candidate - each.baseline:+.4f}" for each in sets)),
        ("p, paired t-test", *(_p(each.p_t) for each in sets)),
        ("p, randomisation", *(_p(each.p_randomisation) for each in sets)),
        ("won, lost, tied", *(f"{each.wins:,}, {each.losses:,}, {each.ties:,}" for each in sets)),
    ]
    show_rows((sets[0].measure, *(each.name for each in sets)), rows)
    for each in sets:
        if each.worst:
            losses = [(_cut(loss.query), f"{loss.candidate:.4f}", f"{loss.baseline:.4f}") for loss in each.worst]
            show_rows(("worst losses", "candidate", "baseline"), losses, title=f"\n{each.name}")


def _p(value: float) -> str:
    return f"{value:.2g}" if value == value else "-"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUERY else text[: LONGEST_QUERY - 1] + "…"

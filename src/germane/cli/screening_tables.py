"""Answers of screening: tables for people, rows for programs."""

from typing import TYPE_CHECKING

from germane.cli.streams import put_json, tell, terminal
from germane.cli.tables import put_rows, show_rows
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from rich import padding as rich_padding
    from rich import text as rich_text

    from germane.refine.screening import responses

if TYPE_CHECKING:
    from rich.console import Console

    from germane.refine.screening import Screening, Simulation, StoppingRule
    from germane.refine.screening.responses import ScreeningResponse

WORDS = 12
"""Words shown for and against a document."""
WORD_HEADER = ("word", "adds to the log-odds")


def put_answers(screening: "Screening", n: int, wanted: str, *, abstracts: bool = False) -> None:
    """The next n to read, what was read and found, what remains, and whether to stop."""
    found = responses.ScreeningResponse.of(screening, n, abstracts=abstracts)
    if not found.calibrated:
        tell("probabilities are rough until two relevant and two irrelevant documents are decided")
    if wanted == "json":
        put_json(found)
        return
    header = ["id", "probability", "because of", "title", *(["abstract"] if abstracts else [])]
    if wanted == "tsv" and n:
        rows = [[row.id, row.probability, row.why, row.title, row.abstract or ""] for row in found.next]
        put_rows(header, [row[: len(header)] for row in rows])
        return
    facts = facts_of(screening)
    if wanted == "tsv":
        put_rows(["what", "value"], facts)
        return
    if abstracts:
        _show_abstracts(found)
    elif found.next:
        show_rows(header, [[row.id, f"{row.probability:.0%}", row.why, row.title] for row in found.next])
        terminal().print()
    for name, value in facts:
        terminal().print(f"{name}: {value}", soft_wrap=True)


def facts_of(screening: "Screening") -> list[list[str]]:
    """Describe the state of a screening in a few named sentences."""
    left, advice = screening.estimate(), screening.recommendation()
    waiting = sum(annotation.maybe for annotation in screening.annotations.values())
    return [
        ["read", f"{left.read:,} of {left.read + left.unread:,}"],
        ["relevant found", f"{left.found:,}"],
        *([["waiting (maybe)", f"{waiting:,}"]] if waiting else []),
        ["relevant remaining, expected", "not known yet" if left.expected is None else f"{left.expected:.1f}"],
        [f"remaining, at most ({left.confidence:.0%} confidence)", f"{left.high:,}"],
        ["recommendation", f"{'Stop' if advice.stop else 'Go on'}: {advice.reason}"],
    ]


def _show_abstracts(found: "ScreeningResponse") -> None:
    """The records one under another, each with its abstract, as wide as people read."""
    console = terminal()
    for row in found.next:
        title = rich_text.Text(row.title or row.id, "bold")
        facts = rich_text.Text(f"{row.id} · {row.probability:.0%} · {row.why}", "dim")
        for part in (title, facts, rich_text.Text(row.abstract or "(no abstract)")):
            console.print(rich_padding.Padding(part, (0, 0, 0, 2), expand=False), width=min(console.width, 80))
        console.print()


def put_explanation(screening: "Screening", doc_id: str, wanted: str) -> None:
    """The words for and against a document."""
    if wanted == "":
        show_explanation(terminal(), screening, doc_id)
        return
    found = responses.ScreeningExplanation.of(screening, doc_id)
    if wanted == "json":
        put_json(found)
    else:
        put_rows(WORD_HEADER, [[word.word, word.amount] for word in found.words])


def show_explanation(console: "Console", screening: "Screening", doc_id: str) -> None:
    """Show an explanation to people: the strongest words alone."""
    found = responses.ScreeningExplanation.of(screening, doc_id)
    console.print(f"{doc_id}: {found.title}", soft_wrap=True)
    console.print(f"probability {found.probability:.0%}, score {found.score:.3f} (bias {found.bias:.3f})")
    show_rows(WORD_HEADER, [[word.word, word.amount] for word in found.words[:WORDS]])


def put_simulation(result: "Simulation", rule: "StoppingRule", wanted: str) -> None:
    """Each measure with its interval over seeds."""
    found = responses.SimulationResponse.of(result)
    if wanted == "json":
        put_json(found)
        return
    if wanted == "tsv":
        put_rows(["measure", "mean", "low", "high"], [[name, *mean] for name, mean in found.measures.items()])
        return
    shown = [
        [name, f"{100 * mean.value:.1f}%", f"{100 * mean.low:.1f} to {100 * mean.high:.1f}"]
        for name, mean in found.measures.items()
    ]
    show_rows(["measure", "mean", "95% interval over seeds"], shown)
    terminal().print(
        f"{counted(found.documents, 'document')}, {found.relevant:,} relevant, {counted(len(found.runs), 'run')}; "
        f"recall of {rule.target:.0%} at the recommended stop in {found.reached} of {len(found.runs)}",
        soft_wrap=True,
    )

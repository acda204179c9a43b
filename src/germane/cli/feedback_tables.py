"""Feedback of a search as tables and a figure: its words, their documents, and the results that moved."""

from typing import TYPE_CHECKING

from germane.cli.streams import tell
from germane.cli.tables import arrow, titled
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from rich import text as rich_text

    from germane.evaluate import plots

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from germane.engine import Engine
    from germane.engine.feedback_report import ExpansionWord, FeedbackReport
    from germane.engine.responses import FeedbackResponse

SHOWN = 20
"""Words and documents that a person is shown, the strongest; programs get all."""
WIDTH = 24
OWN, ADDED, AGAINST = "█", "▒", "░"
MARKS = {True: "relevant", False: "not relevant", None: ""}


def draw(report: "FeedbackReport", path: "Path", collection: str) -> None:
    """The strongest words as a figure; without any there is none."""
    if not report.words:
        tell(f"there is no word to draw, so {path} is not written")
        return

    plots.save(plots.expansion(report.words[:SHOWN], collection=collection), path)


def show(console: "Console", engine: "Engine", report: "FeedbackResponse") -> None:
    """Three tables: the expanded query, the documents learnt from, and what moved."""
    drift = report.drift
    if drift is not None:
        done = "the query was left as it is" if drift.fell_back else "they are trusted"
        console.print(
            f"\nDocuments disagree by {drift.disagreement:.2f} of 1 and hold {drift.coverage:.0%} of the query: {done}."
        )
    for table in (_words(report), _documents(engine, report), _moves(report)):
        console.print()
        console.print(table)


def _words(report: "FeedbackResponse") -> "Table":
    words = report.words[:SHOWN]
    n = len(report.words)
    of = f"{len(words)} strongest of {counted(n, 'word')}" if n > len(words) else counted(n, "word")
    minus = f", {AGAINST} learnt against" if any(word.weight < 0 for word in words) else ""
    repelled = {document.id for document in report.documents if document.mark is False}
    table = titled(f"The query as {report.method} rewrote it ({of}; {OWN} typed, {ADDED} learnt{minus})")
    table.add_column("word", no_wrap=True)
    table.add_column("weight", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("typed", justify="right")
    table.add_column("from (−: marked not relevant)" if repelled else "from", ratio=1)
    most = max((abs(word.weight) for word in words), default=1.0)
    for word in words:
        style = "bold yellow" if word.query_weight > 0 else "red" if word.weight < 0 else ""
        sources = ", ".join(f"{'−' * (doc_id in repelled)}{doc_id} {share:.0%}" for doc_id, share in word.sources)
        table.add_row(
            rich_text.Text(word.word, style),
            f"{word.weight:.4f}",
            rich_text.Text(bar(word, most), "red" if word.weight < 0 else "cyan"),
            f"{typed_share(word):.0%}",
            rich_text.Text(sources, "dim"),
        )
    return table


def typed_share(word: "ExpansionWord") -> float:
    """Return the query's share of a word's weight: 1 where documents only lowered it."""
    return min(word.query_weight / word.weight, 1.0) if word.weight > 0 else 0.0


def bar(word: "ExpansionWord", most: float) -> str:
    """As long as the word is strong beside the strongest; the query's own part comes first."""
    length = max(round(WIDTH * abs(word.weight) / most), 1) if most > 0 else 1
    if word.weight < 0:
        return AGAINST * length
    own = round(length * typed_share(word))
    return OWN * own + ADDED * (length - own)


def _documents(engine: "Engine", report: "FeedbackResponse") -> "Table":
    marked_first = sorted(report.documents, key=lambda document: document.mark is None)
    shown = marked_first[:SHOWN]
    more = f" ({len(shown)} of {len(marked_first)})" if len(marked_first) > len(shown) else ""
    table = titled(f"Documents learnt from{more}")
    table.add_column("weight", justify="right")
    table.add_column("mark", no_wrap=True)
    table.add_column("document", ratio=1)
    for document in shown:
        title = " ".join(str(engine.document(document.id).fields.get("title") or "").split())
        name = rich_text.Text(document.id, "bold").append(f"  {title}" if title else "", "dim")
        table.add_row(
            f"{document.weight:.4f}", rich_text.Text(MARKS[document.mark], "green" if document.mark else "red"), name
        )
    return table


def _moves(report: "FeedbackResponse") -> "Table":
    table = titled("What moved, and the added words that argue for it")
    table.add_column("rank", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("document")
    table.add_column("because of", ratio=1)
    for move in report.moves:
        before = "–" if move.before is None else str(move.before)
        words = ", ".join(word for word, _ in move.words)
        table.add_row(
            f"{before} → {move.rank}",
            rich_text.Text(arrow(move.before, move.rank), "bold"),
            move.id,
            rich_text.Text(words, "dim"),
        )
    for fallen in report.fallen:
        against = ", ".join(f"−{word}" for word, _ in fallen.words)
        table.add_row(f"{fallen.before} → –", rich_text.Text("out", "bold"), fallen.id, rich_text.Text(against, "dim"))
    return table

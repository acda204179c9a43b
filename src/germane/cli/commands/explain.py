"""germane explain: why a document has its score."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.requests import Typed, asking, tell_learnt
from germane.cli.streams import put_json, query_typed, terminal
from germane.engine.requests import ExplainRequest
from germane.lazy import LazyModule
from germane.wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from germane.engine import ExplainResponse
    from germane.engine.responses import SecondStageResponse
    from germane.rank.scoring.explain import WordProbability

tables, text = LazyModule("rich.table"), LazyModule("rich.text")


@asking(ExplainRequest)
def explain(
    folder: options.Folder,
    words: options.Query,
    doc_id: Annotated[str, typer.Argument(metavar="ID", help="The document's id.", show_default=False)],
    typed: Typed,
    json: options.Json = False,
) -> None:
    """Show the parts that a document's score is made of.

    They add up to the score exactly.

    Example: germane explain my-index "heart attack" doc-17

    Example: germane explain my-index "heart attack" doc-17 --model dirichlet --probabilities

    Example: germane explain my-index "heart attack" doc-17 --rerank clicks
    """
    found = open_engine(folder).answer(typed.request(query=query_typed(words), doc_id=doc_id))
    tell_learnt(found.learnt)
    if json:
        put_json(found)
    elif found.second is not None:
        show_second(terminal(), found, found.second)
    elif found.probabilities is not None:
        show_probabilities(terminal(), found, found.probabilities)
    else:
        show(terminal(), found)


def show(console: "Console", found: "ExplainResponse") -> None:
    """The parts as a table."""
    table = _table(found, "weight", "in document", "documents", "part of score")
    for part in found.parts:
        impact = part.impact * found.norm
        table.add_row(
            text.Text(part.word, "bold yellow" if part.count else "dim"),
            f"{part.weight:g}",
            str(part.count),
            f"{part.df:,}",
            f"{impact:.4f}",
        )
    rest = (("the query", found.constant), ("the document", found.document), ("priors", found.prior))
    for name, value in rest:
        if value:
            table.add_row(text.Text(name, "italic"), "", "", "", f"{value:.4f}")
    table.add_row(text.Text("score", "bold"), "", "", "", text.Text(f"{found.score:.4f}", "bold cyan"))
    console.print(table)


def show_second(console: "Console", found: "ExplainResponse", second: "SecondStageResponse") -> None:
    """The words with their parts of a latent model's score, and where these come from."""
    table = _table(found, "weight", "by the word", "by others", "part of score", "others")
    table.columns[-1].justify = "left"
    for part in second.parts:
        others = "; ".join(f"{part.word} -> {each.name} {each.weight:.2g}" for each in part.sources if each.weight)
        values = (f"{part.literal:.4f}", f"{part.latent:.4f}", f"{part.impact:.4f}", others)
        table.add_row(text.Text(part.word, "bold yellow"), f"{part.weight:g}", *values)
    if second.constant:
        table.add_row(text.Text("the query", "italic"), "", "", "", f"{second.constant:.4f}", "")
    if second.first_weight:
        first = f"{second.first_weight:g} x the first stage's {second.first_score:.4f}"
        added = f"{second.first_weight * second.first_score:.4f}"
        table.add_row(text.Text("the whole text", "italic"), "", "", "", added, first)
    table.add_row(text.Text("score", "bold"), "", "", "", text.Text(f"{found.score:.4f}", "bold cyan"), second.model)
    console.print(table)


def show_probabilities(console: "Console", found: "ExplainResponse", words: Sequence["WordProbability"]) -> None:
    """The words with their probabilities, and how their logarithms become the score."""
    table = _table(found, "weight", "in document", "P(w|d)", "P(w|C)", "θ_D(w)", "weight · log θ_D(w)")
    for word in words:
        table.add_row(
            text.Text(word.word, "bold yellow" if word.count else "dim"),
            f"{word.weight:g}",
            str(word.count),
            *(f"{p:.6f}" for p in (word.p_d, word.p_C, word.theta_D)),
            f"{word.log_likelihood:.4f}",
        )
    if found.prior:
        table.add_row(text.Text("priors", "italic"), *[""] * 5, f"{found.prior:.4f}")
    table.add_row(text.Text("score", "bold"), *[""] * 5, text.Text(f"{found.score:.4f}", "bold cyan"))
    console.print(table)


def _table(found: "ExplainResponse", *columns: str) -> "Table":

    title = f"{found.doc_id}: score {found.score:.4f}, {counted(found.length, 'word')}"
    table: Table = tables.Table(
        title=text.Text(title, "bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    table.add_column("word")
    for name in columns:
        table.add_column(name, justify="right")
    return table

"""germane explain: why a document has its score."""

from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.requests import as_typed, ranking_request, tell_learnt
from germane.cli.streams import put_json, query_typed, terminal
from germane.rank.registry import DEFAULT_MODEL

if TYPE_CHECKING:
    from rich.console import Console

    from germane.engine import ExplainResponse


def explain(
    folder: options.Folder,
    words: options.Query,
    doc_id: Annotated[str, typer.Argument(metavar="ID", help="The document's id.", show_default=False)],
    model: options.Model = DEFAULT_MODEL,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    field_weight: options.FieldWeight = None,
    ordered: options.Ordered = None,
    unordered: options.Unordered = None,
    prior: options.PriorOption = None,
    plain: options.Plain = False,
    json: options.Json = False,
) -> None:
    """Show the parts that a document's score is made of.

    They add up to the score exactly.

    Example: germane explain my-index "heart attack" doc-17
    """
    from germane.engine import ExplainRequest

    query = query_typed(words)
    ranking = ranking_request(
        model, prior, field_weight, mu=mu, lam=lam, delta=delta, k1=k1, b=b, ordered=ordered, unordered=unordered
    )
    with as_typed():
        found = open_engine(folder).answer(ExplainRequest(query, doc_id, ranking, not plain))
    tell_learnt(found.learnt)
    if json:
        put_json(found)
    else:
        show(terminal(), found)


def show(console: "Console", found: "ExplainResponse") -> None:
    """The parts as a table."""
    from rich.table import Table
    from rich.text import Text

    title = f"{found.doc_id}: score {found.score:.4f}, {found.length:,} words"
    table = Table(title=Text(title, "bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("word")
    for name in ("weight", "in document", "documents", "part of score"):
        table.add_column(name, justify="right")
    for part in found.parts:
        impact = part.impact * found.norm
        table.add_row(
            Text(part.word, "bold yellow" if part.count else "dim"),
            f"{part.weight:g}",
            str(part.count),
            f"{part.df:,}",
            f"{impact:.4f}",
        )
    rest = (("the query", found.constant), ("the document", found.document), ("priors", found.prior))
    for name, value in rest:
        if value:
            table.add_row(Text(name, "italic"), "", "", "", f"{value:.4f}")
    table.add_row(Text("score", "bold"), "", "", "", Text(f"{found.score:.4f}", "bold cyan"))
    console.print(table)

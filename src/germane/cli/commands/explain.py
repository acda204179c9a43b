"""germane explain: why a document has its score."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options, questions
from germane.cli.opening import open_engine
from germane.cli.ranking import Ranking
from germane.cli.streams import put, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from germane.rank.explain import Explanation


def explain(
    folder: options.Folder,
    words: options.Query,
    doc_id: Annotated[str, typer.Argument(metavar="ID", help="The document's id.", show_default=False)],
    model: options.Model = options.DEFAULT_MODEL,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    prior: options.PriorOption = None,
    plain: options.Plain = False,
    json: options.Json = False,
) -> None:
    """Show the parts that a document's score is made of.

    They add up to the score exactly.

    Example: germane explain my-index "heart attack" doc-17
    """
    query = questions.typed(words)
    engine = open_engine(folder)
    chosen, priors = Ranking(model, mu, lam, delta, k1, b, prior or ()).chosen(engine)
    found = engine.explain(query, doc_id, model=chosen, priors=priors, syntax=not plain)
    if json:
        import orjson

        put(orjson.dumps({"query": query, "model": model, "score": found.score, **dataclasses.asdict(found)}))
    else:
        show(terminal(), found)


def show(console: "Console", found: "Explanation") -> None:
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

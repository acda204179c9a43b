"""germane explain: why a document has its score."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.requests import as_typed, ranking_request, reranker_typed, tell_learnt, with_settings
from germane.cli.streams import put_json, query_typed, terminal
from germane.wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from germane.engine import ExplainResponse
    from germane.engine.responses import SecondStageResponse
    from germane.rank.scoring.explain import WordProbability


def explain(
    folder: options.Folder,
    words: options.Query,
    doc_id: Annotated[str, typer.Argument(metavar="ID", help="The document's id.", show_default=False)],
    model: options.ModelIfNamed = None,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    field_weight: options.FieldWeight = None,
    ordered: options.Ordered = None,
    unordered: options.Unordered = None,
    settings: options.Settings = None,
    prior: options.PriorOption = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Show P(w|d), P(w|C) and the smoothed θ_D(w) of each word."),
    ] = False,
    rerank: options.Rerank = None,
    plain: options.Plain = False,
    json: options.Json = False,
) -> None:
    """Show the parts that a document's score is made of.

    They add up to the score exactly.

    Example: germane explain my-index "heart attack" doc-17

    Example: germane explain my-index "heart attack" doc-17 --model dirichlet --probabilities

    Example: germane explain my-index "heart attack" doc-17 --rerank clicks
    """
    from germane.engine import ExplainRequest, FeedbackRequest

    query = query_typed(words)
    ranking = ranking_request(
        model, prior, field_weight, mu=mu, lam=lam, delta=delta, k1=k1, b=b, ordered=ordered, unordered=unordered
    )
    with as_typed():
        ranking, _ = with_settings(ranking, FeedbackRequest(), settings)
        found = open_engine(folder).answer(
            ExplainRequest(query, doc_id, ranking, not plain, probabilities, reranker_typed(rerank))
        )
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
    from rich.text import Text

    table = _table(found, "weight", "in document", "documents", "part of score")
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


def show_second(console: "Console", found: "ExplainResponse", second: "SecondStageResponse") -> None:
    """The words with their parts of a latent model's score, and where these come from."""
    from rich.text import Text

    table = _table(found, "weight", "by the word", "by others", "part of score", "others")
    table.columns[-1].justify = "left"
    for part in second.parts:
        others = "; ".join(f"{part.word} -> {each.name} {each.weight:.2g}" for each in part.sources if each.weight)
        values = (f"{part.literal:.4f}", f"{part.latent:.4f}", f"{part.impact:.4f}", others)
        table.add_row(Text(part.word, "bold yellow"), f"{part.weight:g}", *values)
    if second.constant:
        table.add_row(Text("the query", "italic"), "", "", "", f"{second.constant:.4f}", "")
    if second.first_weight:
        first = f"{second.first_weight:g} x the first stage's {second.first_score:.4f}"
        added = f"{second.first_weight * second.first_score:.4f}"
        table.add_row(Text("the whole text", "italic"), "", "", "", added, first)
    table.add_row(Text("score", "bold"), "", "", "", Text(f"{found.score:.4f}", "bold cyan"), second.model)
    console.print(table)


def show_probabilities(console: "Console", found: "ExplainResponse", words: Sequence["WordProbability"]) -> None:
    """The words with their probabilities, and how their logarithms become the score."""
    from rich.text import Text

    table = _table(found, "weight", "in document", "P(w|d)", "P(w|C)", "θ_D(w)", "weight · log θ_D(w)")
    for word in words:
        table.add_row(
            Text(word.word, "bold yellow" if word.count else "dim"),
            f"{word.weight:g}",
            str(word.count),
            *(f"{p:.6f}" for p in (word.p_d, word.p_C, word.theta_D)),
            f"{word.log_likelihood:.4f}",
        )
    if found.prior:
        table.add_row(Text("priors", "italic"), *[""] * 5, f"{found.prior:.4f}")
    table.add_row(Text("score", "bold"), *[""] * 5, Text(f"{found.score:.4f}", "bold cyan"))
    console.print(table)


def _table(found: "ExplainResponse", *columns: str) -> "Table":
    from rich.table import Table
    from rich.text import Text

    title = f"{found.doc_id}: score {found.score:.4f}, {counted(found.length, 'word')}"
    table = Table(title=Text(title, "bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("word")
    for name in columns:
        table.add_column(name, justify="right")
    return table

"""germane vectors: the vector fields of an index."""

import typer

from germane.cli.commands.vectors.changing import add, drop, fold, graph
from germane.cli.commands.vectors.inspect import list_, search

vectors = typer.Typer(no_args_is_help=True)
vectors.command("add")(add)
vectors.command("fold")(fold)
vectors.command("graph")(graph)
vectors.command("list")(list_)
vectors.command("search")(search)
vectors.command("drop")(drop)


@vectors.callback()
def about() -> None:
    """Give documents vectors, and search by them.

    Example: germane vectors add my-index title title.npy --ids ids.txt

    Example: germane vectors search my-index title query.json --query "heart attack"
    """

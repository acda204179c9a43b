"""The options by which the commands of a workspace name its parts."""

from typing import TYPE_CHECKING, Annotated

import typer

from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import workspace as workspaces

if TYPE_CHECKING:
    from germane.workspace import Workspace
    from germane.workspace.values import Collection, Search

Where = Annotated[str, typer.Argument(metavar="WORKSPACE", help="A file, or a postgresql:// URL.", show_default=False)]
CollectionName = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="A collection.", show_default=False)
]
SearchNumber = Annotated[int | None, typer.Option("--search", metavar="N", help="A search.", show_default=False)]
ProjectName = Annotated[
    str | None, typer.Option("--project", metavar="NAME", help="A screening project.", show_default=False)
]
ReviewerName = Annotated[
    str | None, typer.Option("--reviewer", metavar="NAME", help="One of its reviewers.", show_default=False)
]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who does it.", show_default=False)]


def opened(where: str) -> "Workspace":
    """The workspace, which must be there."""
    return workspaces.Workspace.open(where, create=False)


def one_part(**given: object) -> str:
    """The one of the options that was given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ParameterError(f"choose one of {', '.join(f'--{name}' for name in given)}")
    return named[0]


def marked_list(workspace: "Workspace", collection: str | None, search: int | None) -> "Collection | Search":
    """The list that marks are on."""
    if one_part(collection=collection, search=search) == "collection":
        return workspace.collections.get(str(collection))
    return workspace.searches.get(int(search or 0))

"""germane workspace mark and undo: what is relevant, and taking it back."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli.commands.workspace.parts import (
    By,
    CollectionName,
    ProjectName,
    ReviewerName,
    SearchNumber,
    Where,
    marked_list,
    one_part,
    opened,
)
from germane.cli.streams import tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.types import Mark
from germane.wording import counted

with on_first_use(__name__):
    from germane.workspace import values

if TYPE_CHECKING:
    from germane.workspace import Workspace
    from germane.workspace.values import Collection, Search


def mark(
    where: Where,
    collection: CollectionName = None,
    search: SearchNumber = None,
    relevant: Annotated[
        list[str] | None,
        typer.Option("--relevant", metavar="ID,ID", help="Relevant records; repeatable.", show_default=False),
    ] = None,
    not_relevant: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="ID,ID", help="Those that are not; repeatable.", show_default=False),
    ] = None,
    unmark: Annotated[
        list[str] | None,
        typer.Option(
            "--unmark", metavar="ID,ID", help="Those that are to be neither again; repeatable.", show_default=False
        ),
    ] = None,
    by: By = "",
) -> None:
    """Mark records of a collection, or results of a search; each mark is on disk before the next is made.

    Example: germane workspace mark my.workspace --collection reading --relevant 12345 --not 678
    """
    if not (relevant or not_relevant or unmark):
        raise ParameterError("name records to mark with --relevant, --not or --unmark")
    with opened(where) as workspace:
        on = marked_list(workspace, collection, search)
        wanted = []
        for texts, given in ((relevant, Mark.RELEVANT), (not_relevant, Mark.NOT_RELEVANT), (unmark, Mark.UNMARKED)):
            wanted += [(doc_id, given) for text in texts or () for doc_id in _ids(workspace, on, text)]
        if again := next((doc_id for doc_id, times in Counter(d for d, _ in wanted).items() if times > 1), None):
            raise ParameterError(f"'{again}' is named twice")
        for doc_id, given in wanted:
            workspace.marks.mark(on, doc_id, given, by=by)
    tell(f"{counted(len(wanted), 'mark')} made")


def undo(
    where: Where,
    collection: CollectionName = None,
    search: SearchNumber = None,
    project: ProjectName = None,
    reviewer: ReviewerName = None,
    by: By = "",
) -> None:
    """Take back the latest mark of a list, or the latest decision of a reviewer; again, the one before it.

    Nothing is deleted: taking back is kept too.

    Example: germane workspace undo my.workspace --collection reading

    Example: germane workspace undo my.workspace --project review --reviewer ann
    """
    with opened(where) as workspace:
        if one_part(collection=collection, search=search, project=project) == "project":
            if reviewer is None:
                raise ParameterError("whose decision? Name a --reviewer")
            decision = workspace.projects.undo(workspace.projects.get(str(project)), reviewer)
            tell(f"the decision on {decision.document} is taken back" if decision else "there is nothing to take back")
        else:
            entry = workspace.marks.undo(marked_list(workspace, collection, search), by=by)
            tell(f"the mark on {entry.document} is taken back" if entry else "there is nothing to take back")


def _ids(workspace: "Workspace", on: "Collection | Search", text: str) -> list[str]:
    """Ids with commas between them; a text that is an id itself is that id."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    known = _held(workspace, on, [text, *parts])
    if text in known:
        return [text]
    if unknown := next((doc_id for doc_id in parts if doc_id not in known), None):
        raise ParameterError(f"there is no '{unknown}' in this list")
    return parts


def _held(workspace: "Workspace", on: "Collection | Search", ids: list[str]) -> set[str]:
    if isinstance(on, values.Collection):
        return workspace.collections.holds(on, ids)
    return {result.document for result in workspace.searches.results(on)}.intersection(ids)

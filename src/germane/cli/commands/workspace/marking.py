"""germane workspace mark and undo: what is relevant, and taking it back."""

from typing import Annotated

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
from germane.cli.streams import counted, tell
from germane.errors import ParameterError


def mark(
    where: Where,
    collection: CollectionName = None,
    search: SearchNumber = None,
    relevant: Annotated[
        list[str] | None,
        typer.Option("--relevant", metavar="ID", help="A relevant record; repeatable.", show_default=False),
    ] = None,
    not_relevant: Annotated[
        list[str] | None, typer.Option("--not", metavar="ID", help="One that is not; repeatable.", show_default=False)
    ] = None,
    by: By = "",
) -> None:
    """Mark records of a collection, or results of a search; each mark is on disk before the next is made.

    Example: germane workspace mark my.workspace --collection reading --relevant 12345 --not 678
    """
    from germane.types import Mark

    wanted = [(doc_id, Mark.RELEVANT) for doc_id in relevant or ()]
    wanted += [(doc_id, Mark.NOT_RELEVANT) for doc_id in not_relevant or ()]
    if not wanted:
        raise ParameterError("name records to mark with --relevant or --not")
    with opened(where) as workspace:
        on = marked_list(workspace, collection, search)
        if collection is not None:
            ids = {document.id for document in workspace.collections.documents(workspace.collections.get(collection))}
        else:
            found = workspace.searches.results(workspace.searches.get(int(search or 0)))
            ids = {result.document for result in found}
        if unknown := next((doc_id for doc_id, _ in wanted if doc_id not in ids), None):
            raise ParameterError(f"there is no '{unknown}' in this list")
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

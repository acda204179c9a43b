"""germane workspace note: what a person writes on a document."""

from typing import Annotated

import typer

from germane.cli import options
from germane.cli.commands.workspace.parts import By, Where, opened
from germane.cli.streams import put_json, tell
from germane.cli.tables import put_rows, show_rows
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.workspace import responses


def note(
    where: Where,
    document: Annotated[str, typer.Argument(metavar="ID", help="A document.", show_default=False)],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The note; else those that it has.", show_default=False)
    ] = None,
    by: By = "",
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Write a note on a document, or show its notes, the oldest first. Notes stay.

    Example: germane workspace note my.workspace 12345 "ask for the data" --by ann

    Example: germane workspace note my.workspace 12345
    """
    wanted = options.one_of(json=json, tsv=tsv)

    with opened(where) as workspace:
        if text is not None:
            workspace.notes.add(document, text, by=by)
            tell(f"a note on {document} is kept")
            return
        notes = responses.NotesResponse(document, tuple(workspace.notes.of(document)))
    if wanted == "json":
        put_json(notes)
    elif notes.notes:
        rows = [[each.at, each.by, each.text] for each in notes.notes]
        (put_rows if wanted == "tsv" else show_rows)(["at", "by", "note"], rows)
    else:
        tell(f"there is no note on {document}")

"""germane delete: take documents out of an index."""

from typing import Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.streams import tell
from germane.wording import counted


def delete(
    folder: options.Folder,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The documents' ids.", show_default=False)],
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Pass over ids that are not in the index.")
    ] = False,
) -> None:
    """Delete documents by id: all of them, or none if one is unknown.

    Example: germane delete my-index doc-17 doc-42
    """
    with open_engine(folder) as engine:
        deleted = engine.delete(ids, missing="ignore" if ignore_missing else "error")
    tell(f"{counted(deleted, 'document')} deleted; the index holds {len(engine):,}")

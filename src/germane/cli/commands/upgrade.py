"""germane upgrade: an index of an older version, made anew."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.streams import tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import engine as engines


def upgrade(
    folder: options.Folder,
    into: Annotated[Path, typer.Option("--into", metavar="NEW", help="Where the new index goes.", show_default=False)],
) -> None:
    """Make a new index of the documents of one that an older version made.

    They are indexed anew from their stored fields; the old index stays as it is. An index made without positions
    is made anew with them.

    Example: germane upgrade my-index --into my-new-index
    """
    with engines.Engine.upgrade(folder, into) as engine:
        tell(f"{counted(len(engine), 'document')} of {folder} now in {into}")

"""germane workspace init: a new workspace."""

from germane.cli.commands.workspace.parts import Where
from germane.cli.streams import tell


def init(where: Where) -> None:
    """Make a workspace, or bring an older one up to date; one that is there stays as it is.

    Example: germane workspace init my.workspace

    Example: germane workspace init postgresql://user@host/database
    """
    from germane.workspace import Workspace

    with Workspace.open(where) as workspace:
        tell(f"{workspace.name} is ready")

"""germane workspace init: a new workspace."""

from germane.cli.commands.workspace.parts import Where
from germane.cli.streams import tell
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import workspace as workspaces


def init(where: Where) -> None:
    """Make a workspace, or bring an older one up to date; one that is there stays as it is.

    Example: germane workspace init my.workspace

    Example: germane workspace init postgresql://user@host/database
    """
    with workspaces.Workspace.open(where) as workspace:
        tell(f"{workspace.name} is ready")

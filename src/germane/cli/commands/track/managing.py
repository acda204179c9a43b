"""germane track pause, resume and remove."""

from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, opened
from germane.cli.streams import tell


def pause(name: TopicName, workspace: WorkspaceFile = WORKSPACE, stream: StreamName = MAIN) -> None:
    """Show a topic no documents until it is resumed. What comes meanwhile it never sees.

    Example: germane track pause quakes
    """
    with opened(workspace, stream) as watch:
        watch.pause(name)
    tell(f"'{name}' is paused")


def resume(name: TopicName, workspace: WorkspaceFile = WORKSPACE, stream: StreamName = MAIN) -> None:
    """Show a topic documents again.

    Example: germane track resume quakes
    """
    with opened(workspace, stream) as watch:
        watch.resume(name)
    tell(f"'{name}' is followed again")


def remove(name: TopicName, workspace: WorkspaceFile = WORKSPACE, stream: StreamName = MAIN) -> None:
    """Follow a topic no more. What it delivered stays in the workspace, and the name is free.

    Example: germane track remove quakes
    """
    with opened(workspace, stream) as watch:
        watch.remove(name)
    tell(f"'{name}' is removed")

"""germane merge: one segment, without deleted documents."""

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.streams import tell
from germane.wording import counted


def merge(folder: options.Folder) -> None:
    """Merge all segments into one and drop deleted documents permanently.

    The ranking does not change.

    Example: germane merge my-index
    """
    with open_engine(folder) as engine:
        before = engine.stats()
        engine.merge()
        after = engine.stats()
    tell(f"{counted(before.segments, 'segment')}, {before.bytes:,} bytes -> {after.segments:,}, {after.bytes:,}")

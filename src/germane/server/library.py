"""What the server serves: open indexes by name, a workspace, and the things kept in memory for them."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import ParameterError
from germane.server.events import EventLog
from germane.server.kept import KeptSearches
from germane.server.settings import Settings
from germane.workspace import Workspace

if TYPE_CHECKING:
    from germane.engine import Engine

PREFERRED = ("year", "topic", "journal", "source", "type", "language", "publisher", "keywords", "mesh")
"""Fields that are offered to narrow a search by, where documents have them."""
UNFIT = {
    "id",
    "doi",
    "pmid",
    "url",
    "link",
    "abstract",
    "record_format",
    "record_tags",
    "key",
    "pages",
    "author",
    "issn",
}
MOST_FACETS = 4


class Library:
    """Indexes by name, the first being the one that is searched unless another is named, and the workspace.

    Every method may be called from any thread.
    """

    def __init__(self, engines: "Mapping[str, Engine]", workspace: Workspace, settings: Settings, home: Path) -> None:
        from germane.server.screens import Screens
        from germane.server.uploads import Uploads

        if not engines:
            raise ParameterError("there is no collection to serve")
        self.engines = dict(engines)
        self.workspace = workspace
        self.settings = settings
        self.home = home
        self.kept = KeptSearches(workspace)
        self.screens: Screens = Screens(workspace)
        self.uploads: Uploads = Uploads(home / "uploads")
        self.events = EventLog(home / "clicks.jsonl")
        self.tracking = threading.Lock()
        """Held while topics change: a `Watch` is not for several threads."""

    @property
    def first(self) -> str:
        """The collection that is searched unless another is named."""
        return next(iter(self.engines))

    def engine(self, name: str | None) -> "Engine":
        """The index of a collection."""
        chosen = name or self.first
        if chosen not in self.engines:
            raise ParameterError(f"there is no collection '{chosen}'; there are: {', '.join(self.engines)}")
        return self.engines[chosen]

    def facet_fields(self, engine: "Engine") -> tuple[str, ...]:
        """The fields that a search is narrowed by."""
        known = engine.filterable()
        named = [name for name in PREFERRED if name in known]
        named += sorted(name for name in known if name not in named and name not in UNFIT and "id" not in name)
        return tuple(named[:MOST_FACETS])

    def close(self) -> None:
        """Finish what is under way, and let go of indexes and workspace."""
        for engine in self.engines.values():
            engine.close()
        self.workspace.close()

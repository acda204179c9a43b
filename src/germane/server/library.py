"""Everything that the server serves: open indexes by name, a workspace, and the things kept in memory for them."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, overload

from germane.clicks.log import ClickLog
from germane.deadline import limited
from germane.engine.requests import ExplainRequest, SearchRequest
from germane.errors import IndexLockedError, ParameterError, StorageError
from germane.index.manifest import NAME as MANIFEST
from germane.lazy import load
from germane.server import budget
from germane.server.audit import Audit
from germane.server.histories import remove_left
from germane.server.locks import lock_file, locked
from germane.server.requested import requested
from germane.server.saved_searches import SavedSearches
from germane.server.screens import Screens
from germane.server.settings import Settings
from germane.server.uploads import Uploads
from germane.workspace import Workspace

if TYPE_CHECKING:
    from germane.engine import Engine
    from germane.engine.responses import ExplainResponse, SearchResponse
    from germane.server.jobs import Runner
    from germane.stream import Watch

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
WAIT_SECONDS = 30.0
"""Seconds that a change waits for those of other processes of the server."""


class Library:
    """Indexes by name, the first being the one that is searched unless another is named, and the workspace.

    Every method may be called from any thread.
    """

    def __init__(
        self, engines: "Mapping[str, Engine]", workspace: Workspace, settings: Settings, home: Path, sample: str = ""
    ) -> None:
        if not engines:
            raise ParameterError("there is no collection to serve")
        self.engines = dict(engines)
        for engine in self.engines.values():
            engine.max_expansions, engine.max_looks = budget.MAX_EXPANSIONS, budget.MAX_LOOKS
        self.workspace = workspace
        self.settings = settings
        self.home = home
        self.sample = sample
        """The collection whose texts are generated, where it is served."""
        self.saved_searches = SavedSearches(workspace)
        self.screens: Screens = Screens(workspace, shared=settings.workers > 1)
        self.uploads: Uploads = Uploads(home / "uploads")
        self.events = ClickLog(home / "clicks.jsonl")
        self.audit = Audit(settings.audit)
        self.jobs: Runner = load("germane.server.work.runner_of")(self)
        remove_left(home)
        self._stamps: dict[str, tuple[int, int]] = {}
        self.tracking = threading.Lock()
        """Held while topics change: a `Watch` is not for several threads."""
        self.watch: Watch | None = None
        """The stream of the topics once it was looked at; its state is read again where it was changed elsewhere."""

    @property
    def first(self) -> str:
        """The collection that is searched unless another is named."""
        return next(iter(self.engines))

    def engine(self, name: str | None) -> "Engine":
        """The index of a collection, with all that was committed by now, by whichever process."""
        chosen = name or self.first
        engine = self.engines.get(chosen)
        if engine is None:
            raise ParameterError(f"there is no collection '{chosen}'; there are: {', '.join(self.engines)}")
        try:
            found = os.stat(engine.folder / MANIFEST)
        except OSError:
            return engine  # what is open can still be searched
        stamp = found.st_ino, found.st_mtime_ns
        if self._stamps.get(chosen) != stamp:
            engine.refresh()
            self._stamps[chosen] = stamp
        return engine

    @overload
    def answer(self, name: str | None, request: "SearchRequest") -> "SearchResponse": ...

    @overload
    def answer(self, name: str | None, request: "ExplainRequest") -> "ExplainResponse": ...

    def answer(self, name: str | None, request: "SearchRequest | ExplainRequest") -> "SearchResponse | ExplainResponse":
        """Answer a search of a collection within its bounds, by whichever door it came, while its client waits."""
        engine = self.engine(name)
        if isinstance(request, SearchRequest):
            budget.check(request, self.settings)
        asked = requested.get()
        with nullcontext() if asked is None else limited(asked.look, asked.left):
            return engine.answer(request)

    @contextmanager
    def changing(self, name: str | None) -> "Iterator[Engine]":
        """The index of a collection, to be changed. Of several processes each waits for its turn, and lets the writer's
        lock go afterwards; a single one keeps it for a moment, which makes the next change quicker."""
        engine = self.engine(name)
        if self.settings.workers == 1:
            yield engine
            return
        with lock_file(self.home / f"{name or self.first}.turn") as turn:
            until = time.monotonic() + WAIT_SECONDS
            while not locked(turn):
                if time.monotonic() > until:
                    raise IndexLockedError("other changes of the collection take long: try again in a minute")
                time.sleep(0.005)
            try:
                yield engine
            finally:
                engine.release()

    def learnt_models(self, name: str | None) -> list[str]:
        """The learnt models that a search of a collection can name. None where their folder cannot be used, as a link
        cannot: searches go on without, and the page of models says why."""
        try:
            return self.engine(name).models.names()
        except StorageError:
            return []

    def facet_fields(self, engine: "Engine") -> tuple[str, ...]:
        """The fields that a search is narrowed by."""
        known = engine.filterable()
        named = [name for name in PREFERRED if name in known]
        named += sorted(name for name in known if name not in named and name not in UNFIT and "id" not in name)
        return tuple(named[:MOST_FACETS])

    def close(self) -> None:
        """Finish what is under way, and let go of indexes and workspace; a job goes on at the next start."""
        self.jobs.stop()
        for engine in self.engines.values():
            engine.close()
        self.workspace.close()

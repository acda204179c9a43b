"""`Workspace`: one door to all that is kept."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from germane.lazy import on_first_use, optional

with on_first_use(__name__):
    from germane.workspace import collections, jobs, marks, notes, projects, searches, versions
    from germane.workspace import database as workspace_database

if TYPE_CHECKING:
    from germane.workspace.database import Database


class Workspace:
    """An open workspace. Its parts, by theme: `collections`, `searches`, `marks`, `interests`, `projects`, `notes`,
    `topics`, `models`, `jobs`. A write is on disk when its method returns, and any number of processes may write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Workspace.open(f"{folder}/my.workspace") as workspace:
    ...     collection = workspace.collections.create("reading")
    ...     workspace.collections.size(collection)
    0
    """

    def __init__(self, database: "Database") -> None:
        self.database = database
        self.collections = collections.Collections(database)
        self.searches = searches.Searches(database)
        self.marks = marks.MarkHistory(database)
        self.interests = versions.Interests(database)
        self.projects = projects.Projects(database)
        self.notes = notes.Notes(database)
        self.topics = versions.Topics(database)
        self.models = versions.Models(database)
        self.jobs = jobs.Jobs(database)

    @classmethod
    def open(cls, where: str | Path, *, create: bool = True, clock: Callable[[], str] | None = None) -> "Workspace":
        """The workspace in a file, or behind a `postgresql://` URL; a new one where there is none, unless `create` is
        false. An older schema is brought up to date; a newer one, and what is no workspace, is refused. `clock` says
        what time it is, as text.
        """
        optional("germane.workspace.database", "a workspace")
        return cls(workspace_database.Database(where, create=create, clock=clock or workspace_database.now))

    @property
    def name(self) -> str:
        """Its file or URL, without a password."""
        return self.database.name

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

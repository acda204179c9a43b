"""`Workspace`: one door to all that is kept."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from germane.errors import MissingExtraError

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
        from germane.workspace.collections import Collections
        from germane.workspace.jobs import Jobs
        from germane.workspace.marks import MarkHistory
        from germane.workspace.notes import Notes
        from germane.workspace.projects import Projects
        from germane.workspace.searches import Searches
        from germane.workspace.versions import Interests, Models, Topics

        self.database = database
        self.collections = Collections(database)
        self.searches = Searches(database)
        self.marks = MarkHistory(database)
        self.interests = Interests(database)
        self.projects = Projects(database)
        self.notes = Notes(database)
        self.topics = Topics(database)
        self.models = Models(database)
        self.jobs = Jobs(database)

    @classmethod
    def open(cls, where: str | Path, *, create: bool = True, clock: Callable[[], str] | None = None) -> "Workspace":
        """The workspace in a file, or behind a `postgresql://` URL; a new one where there is none, unless `create` is
        false. An older schema is brought up to date; a newer one, and what is no workspace, is refused. `clock` says
        what time it is, as text.
        """
        try:
            from germane.workspace.database import Database, now
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "sqlalchemy", "workspace", "a workspace") from None
        return cls(Database(where, create=create, clock=clock or now))

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

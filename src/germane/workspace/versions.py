"""What is saved under a name again and again, each time as a new version: interests, tracked topics, models."""

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, Table, func, select

from germane.errors import ParameterError, StorageError
from germane.types import Marks
from germane.workspace.database import Database, RowRefusedError
from germane.workspace.tables import interests, models, topics
from germane.workspace.values import Interest, TrackedTopic, TrainedModel

_ATTEMPTS = 20


class _Versions:
    """The versions in one table."""

    table: Table
    kind: str

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> list[str]:
        """The names that were saved, sorted."""
        with self._database.read() as connection:
            found = connection.execute(select(self.table.c.name).distinct())
            return sorted(row.name for row in found)

    def _save(self, name: str, **values: Any) -> dict[str, Any]:
        if not name.strip():
            raise ParameterError(f"{self.kind} needs a name")
        latest = select(func.max(self.table.c.version)).where(self.table.c.name == name)
        for _ in range(_ATTEMPTS):
            try:
                with self._database.write() as connection:
                    version = (connection.execute(latest).scalar() or 0) + 1
                    row = {"name": name, "version": version, **values, "at": self._database.clock()}
                    self._database.add(connection, self.table, **row)
                    return row
            except RowRefusedError:  # another process saved this version first
                continue
        raise StorageError(f"'{name}' is saved by too many others at once; try again")

    def _load(self, name: str, version: int | None) -> Row[Any]:
        query = select(self.table).where(self.table.c.name == name).order_by(self.table.c.version.desc()).limit(1)
        if version is not None:
            query = query.where(self.table.c.version == version)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            known = ", ".join(f"'{each}'" for each in self.names()) or "none"
            which = f" in version {version}" if version is not None else ""
            raise ParameterError(f"{self.kind} '{name}' is not there{which}; there are: {known}")
        return row


class Interests(_Versions):
    """Saved interests."""

    table, kind = interests, "an interest"

    def save(
        self, name: str, query: str, *, marks: Marks | None = None, method: str = "", model: Mapping[str, float] = {}
    ) -> Interest:
        """Keep what is wanted under a name: a new version, where the name is known."""
        given = marks or Marks()
        row = self._save(name, query=query, method=method, relevant=list(given.relevant),
                         not_relevant=list(given.not_relevant), model=dict(model))  # fmt: skip
        return Interest(**row | {"relevant": given.relevant, "not_relevant": given.not_relevant})

    def get(self, name: str, version: int | None = None) -> Interest:
        """The latest version, or the one of that number."""
        row = self._load(name, version)
        return Interest(row.name, row.version, row.query, row.method, tuple(row.relevant), tuple(row.not_relevant),
                        row.model, row.at)  # fmt: skip


class Topics(_Versions):
    """Tracked topics."""

    table, kind = topics, "a topic"

    def save(self, name: str, model: Mapping[str, Any], settings: Mapping[str, Any] = {}) -> TrackedTopic:
        """Keep the state of a topic: a new version, where the name is known."""
        return TrackedTopic(**self._save(name, model=dict(model), settings=dict(settings)))

    def get(self, name: str, version: int | None = None) -> TrackedTopic:
        """The latest version, or the one of that number."""
        row = self._load(name, version)
        return TrackedTopic(row.name, row.version, row.model, row.settings, row.at)


class Models(_Versions):
    """Models that were learnt, such as saved classifiers: their bytes, and what they were learnt with."""

    table, kind = models, "a model"

    def save(self, name: str, content: bytes, *, kind: str = "", settings: Mapping[str, Any] = {}) -> TrainedModel:
        """Keep a model: a new version, where the name is known."""
        digest = hashlib.sha256(content).hexdigest()
        row = self._save(name, kind=kind, settings=dict(settings), content=content, sha256=digest)
        return TrainedModel(**{key: value for key, value in row.items() if key != "content"})

    def get(self, name: str, version: int | None = None) -> TrainedModel:
        """The latest version, or the one of that number."""
        row = self._load(name, version)
        return TrainedModel(row.name, row.version, row.kind, row.settings, row.sha256, row.at)

    def content(self, name: str, version: int | None = None) -> bytes:
        """Its bytes, if they are those that were saved."""
        row = self._load(name, version)
        if hashlib.sha256(row.content).hexdigest() != row.sha256:
            raise StorageError(f"the model '{name}', version {row.version}, is not what was saved")
        return bytes(row.content)

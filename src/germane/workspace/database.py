"""The database behind a workspace: SQLite by a path, PostgreSQL by a URL; what goes wrong becomes a sentence.

A write is one transaction, and on disk before it is acknowledged: SQLite keeps a write-ahead log that is flushed at
every commit (synchronous=FULL), PostgreSQL does so by itself. Writers of one SQLite file wait for one another.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, insert, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from germane.data.owned import claim_database
from germane.errors import DiskFullError, GermaneError, InputError, MissingExtraError, ParameterError, StorageError
from germane.workspace.migrations import LATEST, VERSION_TABLE, is_known, upgrade

WAIT_SECONDS = 60
"""How long a write waits for those of other processes."""
SQLITE_SETTINGS = {"synchronous": "FULL", "foreign_keys": "ON", "cache_size": "-32768", "wal_autocheckpoint": "4000"}
_WRITES = "germane_writes"


class RowRefusedError(StorageError):
    """A row that breaks a rule of the schema: a name twice, or the number of a row that is not there."""


def now() -> str:
    """The time in UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Database:
    """An open database of the latest schema."""

    def __init__(self, where: str | Path, *, create: bool, clock: Callable[[], str] = now) -> None:
        self.clock = clock
        self._engine, self.name = _engine_of(where, create=create)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        try:
            with self._engine.connect() as connection:
                found = self._version(connection, create)
            if self.dialect == "sqlite":
                self._keep_log()
            if found != LATEST:
                with self.write() as connection:  # another process may have come first
                    if self._version(connection, create) != LATEST:
                        upgrade(connection)
        except BaseException as error:
            self.close()
            if isinstance(error, SQLAlchemyError):
                raise _sentence(error, self.name) from error
            raise

    def _version(self, connection: Connection, create: bool) -> str | None:
        """The version of the schema; None where there is none yet. What is no workspace is refused."""
        tables = inspect(connection).get_table_names()
        if VERSION_TABLE not in tables:
            if tables:
                raise InputError("a database, but not a workspace: it has other tables", source=self.name)
            if not create:
                raise InputError("no workspace: make one with 'germane workspace init'", source=self.name)
            return None
        version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        if version is not None and not is_known(str(version)):
            raise InputError(
                f"a workspace of a newer version of Germane (schema {version}; this one knows {LATEST}): update "
                "Germane to open it",
                source=self.name,
            )
        return None if version is None else str(version)

    def _keep_log(self) -> None:
        """Turn the write-ahead log on; the file remembers it. Not before it is known to be ours."""
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the workspace."""
        with self._translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on disk, whole, when the block is left, or did not happen."""
        with self._translated(), self._writer.connect() as connection, connection.begin():
            yield connection

    def add(self, connection: Connection, table: Table, **values: Any) -> int:
        """Add a row; returns its number."""
        key: Any = connection.execute(insert(table).values(values)).inserted_primary_key
        return int(key[0])

    def add_all(self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add many rows."""
        if rows:
            connection.execute(insert(table), rows)

    def add_many(
        self, connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        """Add very many rows, in their order: the values of these columns as the database has them (JSON as text)."""
        if rows:
            quoted = map(connection.dialect.identifier_preparer.quote, names)
            mark = "?" if self.dialect == "sqlite" else "%s"
            into = f"INSERT INTO {table.name} ({', '.join(quoted)}) VALUES ({', '.join([mark] * len(names))})"
            connection.exec_driver_sql(into, [*rows])

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise RowRefusedError(f"{self.name}: a row breaks a rule of the schema: {_said(error)}") from error
        except SQLAlchemyError as error:
            raise _sentence(error, self.name) from error


@contextmanager
def refusing(message: str) -> Iterator[None]:
    """A row that breaks a rule of the schema (a name twice, a row that is not there) is refused with this sentence."""
    try:
        yield
    except RowRefusedError:
        raise ParameterError(message) from None


def _engine_of(where: str | Path, *, create: bool) -> tuple[Engine, str]:
    if isinstance(where, str) and "://" in where:
        try:
            url = make_url(where)
            if url.get_backend_name() not in ("sqlite", "postgresql"):
                raise ParameterError("a workspace is a file (SQLite) or a postgresql:// URL")
            if url.get_backend_name() == "postgresql":
                driven = url.set(drivername="postgresql+psycopg")
                return create_engine(driven, pool_pre_ping=True), url.render_as_string(hide_password=True)
            path = Path(url.database or "")
        except (ArgumentError, NoSuchModuleError):
            raise ParameterError("this is no URL of a database; a workspace is a file or a postgresql:// URL") from None
        except ModuleNotFoundError:
            raise MissingExtraError("psycopg", "postgresql", "a workspace in PostgreSQL") from None
    else:
        path = Path(where)
    if path.is_dir():
        raise InputError("a folder, where a workspace is a file", source=str(path))
    if not os.path.lexists(path) and not create:
        raise InputError("there is no such workspace: make one with 'germane workspace init'", source=str(path))
    if path.name in ("", ".", ":memory:"):
        raise ParameterError("a workspace needs a file to be kept in")
    claim_database(path, create=create)
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": WAIT_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine, str(path)


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say
    for name, value in SQLITE_SETTINGS.items():
        connection.execute(f"PRAGMA {name} = {value}")


def _begin_sqlite(connection: Connection) -> None:
    """A write takes the lock at once: two that read first and write then could never both finish."""
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _sentence(error: SQLAlchemyError, name: str) -> GermaneError:
    cause = getattr(error, "orig", None)
    if isinstance(cause, GermaneError):
        return cause
    said = _said(error)
    if "not a database" in said:
        return InputError("not a workspace: the file is no SQLite database", source=name)
    if "malformed" in said:
        return InputError("the file is damaged; an archive of the workspace can be imported again", source=name)
    if "unable to open" in said:
        return StorageError(f"{name} cannot be opened: its folder must be there, and be writable too")
    if "readonly" in said:
        return StorageError(f"{name} cannot be written; a workspace needs a file and a folder that are writable")
    if "disk is full" in said or "No space left" in said:
        return DiskFullError(f"{name} cannot be written: no space left on the disk; what was kept before is untouched")
    if "locked" in said:
        return StorageError(f"{name}: other processes write to it, for more than {WAIT_SECONDS} seconds")
    if isinstance(error, DatabaseError):
        return StorageError(f"{name}: {said[:300]}")
    return StorageError(f"{name}: the database answered with an error: {said[:300]}")


def _said(error: SQLAlchemyError) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())

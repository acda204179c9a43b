"""The history of clicks: a folder of Parquet files by day, behind a manifest.

    MANIFEST.json                                 which files there are, the rules of import, what was dropped and why
    LOCK                                          held by the one writer
    queries/day=2026-01-31/<number>.parquet       time, query_id, user_id, client_id, session, query, hits
    events/day=2026-01-31/<number>.parquet        time, query_id, user_id, client_id, session, query, action, object,
                                                  position, title
    .work-*                                       being worked in; removed by whoever made it, or by the next writer

What the manifest does not name does not exist. A change writes new files, flushes them, and replaces the manifest
atomically; files that it no longer names are removed then. A row that the history holds already, to the last column, is
not added again: to import a file twice adds nothing.
"""

import fcntl
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import orjson

from germane.clicks.database import working_database
from germane.clicks.reading import LogReader
from germane.clicks.rules import MEMORY, ImportRules
from germane.data.atomic import write_bytes
from germane.data.owned import (
    check_owned,
    fsync_folder,
    make_private_folder,
    open_owned,
    read_owned,
    storage_errors,
)
from germane.errors import IndexLockedError, InputError, ParameterError, StorageError
from germane.schema import HIDDEN, Response, value_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MANIFEST = "MANIFEST.json"
LOCK = "LOCK"
TRUTH = "truth.json"
"""What the simulator writes beside a log."""
FORMAT = 1
REPEATED = "there already"

TABLES: Mapping[str, str] = {
    "queries": "time, query_id, user_id, client_id, session, query, hits",
    "events": "time, query_id, user_id, client_id, session, query, action, object, position, title",
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
MOST_MANIFEST = 64 << 20
"""Bytes of a manifest."""
_KIND = {"queries": "query", "events": "event"}

Progress = Callable[[str], None]
"""Called after each step with what it was."""


class DayFile(NamedTuple):
    """One file of the history."""

    table: str
    day: str
    number: int
    rows: int

    @property
    def name(self) -> str:
        """Its path below the folder."""
        return f"{self.table}/day={self.day}/{self.number:08d}.parquet"


@dataclass(frozen=True, slots=True)
class ImportResponse(Response):
    """What an import read, added and dropped: rows by reason, files that could not be read to their end, and the days
    that went because they are older than the history is kept."""

    rows: int
    queries: int
    events: int
    dropped: Mapping[str, int]
    unreadable: tuple[str, ...]
    days: int
    expired_days: int


@dataclass(frozen=True, slots=True)
class EraseResponse(Response):
    """What was taken out of the history: rows of one user, or of days too old; `dates` are the days they were of."""

    queries: int
    events: int
    days: int
    dates: Annotated[tuple[str, ...], HIDDEN] = ()
    people: Annotated[tuple[int, ...], HIDDEN] = ()
    """The codes of those whose rows they were (`person_code`); none where days were erased."""


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What the manifest says."""

    format: int
    rules: ImportRules
    next: int
    rows_read: int
    dropped: Mapping[str, int]
    files: tuple[DayFile, ...]


class ClickStore:
    """The history in a folder."""

    def __init__(self, folder: Path, manifest: _Manifest) -> None:
        self.folder = folder
        self._load(manifest)

    def _load(self, manifest: _Manifest) -> None:
        self.rules = manifest.rules
        self.files = [DayFile(*file) for file in manifest.files]
        self.rows_read = manifest.rows_read
        self.dropped: Counter[str] = Counter(manifest.dropped)
        self._next = manifest.next

    @classmethod
    def create(cls, folder: str | Path, rules: ImportRules | None = None) -> "ClickStore":
        """A new history in a folder that is not there, or empty."""
        path = Path(folder)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ParameterError(f"{path} is there already, and not an empty folder; ClickStore.open opens a history")
        make_private_folder(path.resolve())
        store = cls(path, _Manifest(FORMAT, rules or ImportRules(), 1, 0, {}, ()))
        store._write_manifest()
        return store

    @classmethod
    def open(cls, folder: str | Path) -> "ClickStore":
        """The history in a folder."""
        path = Path(folder)
        return cls(path, _manifest(path))

    @property
    def days(self) -> list[str]:
        """The days there are, in order."""
        return sorted({file.day for file in self.files})

    def rows(self, table: str) -> int:
        """Number of rows of `queries` or `events`."""
        return sum(file.rows for file in self.files if file.table == table)

    def paths(self, table: str, days: Sequence[str]) -> list[str]:
        """The files of a table for these days; `StorageError` where there is something else by that name."""
        wanted = set(days)
        found = [self.folder / file.name for file in self.files if file.table == table and file.day in wanted]
        for path in found:
            if path.parent.is_symlink() or path.parent.parent.is_symlink():
                raise StorageError(f"{path.parent} is reached by a link, which is not followed here")
            if not check_owned(path):
                raise InputError("a file of the history is missing: import its day into a new one", source=str(path))
        return [str(path) for path in found]

    # -- import --------------------------------------------------------------------------------------------------------

    def add(
        self,
        sources: Sequence[str | Path],
        *,
        mapping: Mapping[str, str] | None = None,
        format: str | None = None,
        encoding: str = "utf-8",
        memory_mb: int = MEMORY,
        threads: int | None = None,
        retain_days: int | None = None,
        today: date | None = None,
        on_progress: Progress | None = None,
    ) -> ImportResponse:
        """Add the rows of files: all that can be used, once, or (where the system refuses a write) none.

        `mapping` is from our columns to theirs (`clicks/reading.py`); `retain_days` sets that rule anew, and `today`
        is what it counts from.
        """
        told = on_progress or _silent
        files = log_files(sources)
        with self._writing(), working_database(self.folder, memory_mb=memory_mb, threads=threads) as connection:
            if retain_days is not None:
                self.rules = replace(self.rules, retain_days=retain_days)
            work = _work_of(connection)
            reader = LogReader(
                connection, work, rules=self.rules, mapping=mapping, format=format, encoding=encoding
            )  # fmt: skip
            for path in files:
                reader.read(path)
                told(f"read {path.name}")
            report = reader.finish()
            added: list[DayFile] = []
            repeated = 0
            counts = connection.execute("SELECT day, kind, count(*) FROM rows GROUP BY ALL ORDER BY ALL").fetchall()
            try:
                for day, kind, count in counts:
                    table = next(name for name, of in _KIND.items() if of == kind)
                    new = self._add_day(connection, table, day.isoformat())
                    repeated += count - (new.rows if new else 0)
                    added += [new] if new else []
                    told(f"{table} of {day}")
                if repeated:
                    report.dropped[REPEATED] += repeated
                self.files += added
                self.rows_read += report.rows
                self.dropped.update(report.dropped)
                expired = self._expired(today)
                self.files = [file for file in self.files if file.day not in expired]
                self._write_manifest()
            except BaseException:
                self._load(_manifest(self.folder))
                self._sweep()
                raise
        totals = Counter({table: sum(file.rows for file in added if file.table == table) for table in TABLES})
        return ImportResponse(
            rows=report.rows,
            queries=totals["queries"],
            events=totals["events"],
            dropped=dict(sorted(report.dropped.items())),
            unreadable=tuple(report.unreadable),
            days=len({file.day for file in added}),
            expired_days=len(expired),
        )

    def _add_day(self, connection: "DuckDBPyConnection", table: str, day: str) -> DayFile | None:
        """Write the rows of a day that the history does not hold yet; None where it holds them all.

        EXCEPT and DISTINCT compare whole rows, NULLs too, and leave each once; DISTINCT looks only at rows whose hashes
        are alike.
        """
        columns = TABLES[table]
        chosen = f"SELECT {columns} FROM rows WHERE kind = '{_KIND[table]}' AND day = DATE '{day}'"
        held = self.paths(table, [day])
        if held:
            chosen += f" EXCEPT SELECT {columns} FROM read_parquet({path_list(held)})"
        else:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE alike AS SELECT hash({columns}) AS code FROM ({chosen}) "
                "GROUP BY code HAVING count(*) > 1"
            )
            chosen = (
                f"SELECT * FROM ({chosen}) c ANTI JOIN alike ON hash({columns}) = alike.code UNION ALL "
                f"SELECT DISTINCT * FROM ({chosen}) c SEMI JOIN alike ON hash({columns}) = alike.code"
            )
        return self._write_file(connection, table, day, chosen)

    def _write_file(self, connection: "DuckDBPyConnection", table: str, day: str, select: str) -> DayFile | None:
        """A new file of the rows, in the order of time; None, and no file, where there are none."""
        made = DayFile(table, day, self._next, 0)
        path = self.folder / made.name
        make_private_folder(path.parent.parent)
        make_private_folder(path.parent)
        (rows,) = connection.execute(
            f"COPY (SELECT * FROM ({select}) ORDER BY time, query_id) TO {literal(str(path))} "
            "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 200000)"
        ).fetchall()[0]
        if not rows:
            path.unlink()
            return None
        self._next += 1
        descriptor = open_owned(path, os.O_RDWR)
        try:
            with storage_errors(path):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return made._replace(rows=int(rows))

    def _expired(self, today: date | None) -> set[str]:
        if not self.rules.retain_days:
            return set()
        first = (today or datetime.now(UTC).date()) - timedelta(days=self.rules.retain_days)
        return {day for day in self.days if day < first.isoformat()}

    # -- erasing -------------------------------------------------------------------------------------------------------

    def erase(
        self, user: str, *, memory_mb: int = MEMORY, threads: int | None = None, on_progress: Progress | None = None
    ) -> EraseResponse:
        """Take out every row of a user: those that name the user, or, where they name no other, the user's devices and
        sessions; and whatever else belongs to the user's searches. Files are written anew without them.
        """
        if not user:
            raise ParameterError("name the user to erase: an empty name is nobody's")
        told = on_progress or _silent
        with self._writing(), working_database(self.folder, memory_mb=memory_mb, threads=threads) as connection:
            everything = " UNION ALL ".join(
                f"SELECT query_id, user_id, client_id, session FROM read_parquet({path_list(paths)})"
                for table in TABLES
                if (paths := self.paths(table, self.days))
            )
            if not everything:
                return EraseResponse(0, 0, 0)
            of_user = "(user_id = ? OR client_id = ?)"
            connection.execute(
                f"CREATE TABLE own AS SELECT DISTINCT * FROM ({everything}) WHERE {of_user}", [user, user]
            )
            devices = "SELECT client_id FROM own WHERE client_id IS NOT NULL"
            sessions = "SELECT session FROM own WHERE session IS NOT NULL"
            theirs = (
                f"(user_id IS NULL AND client_id IN ({devices})) OR "
                f"(user_id IS NULL AND client_id IS NULL AND session IN ({sessions}))"
            )
            connection.execute(f"INSERT INTO own SELECT DISTINCT * FROM ({everything}) WHERE {theirs}")
            connection.execute("CREATE TABLE searches AS SELECT DISTINCT query_id FROM own WHERE query_id IS NOT NULL")
            gone = (
                f"(coalesce(user_id, '') = {literal(user)} OR coalesce(client_id, '') = {literal(user)} "
                f"OR coalesce(({theirs}), false) OR coalesce(query_id IN (SELECT query_id FROM searches), false))"
            )
            rows = person_code("coalesce(user_id, client_id, session)")
            people = connection.execute(f"SELECT {rows} FROM own UNION SELECT {person_code('?')}", [user]).fetchall()
            codes = tuple(sorted(code for (code,) in people if code is not None))
            return replace(self._without(connection, gone, told), people=codes)

    def erase_before(self, day: date, *, on_progress: Progress | None = None) -> EraseResponse:
        """Remove the days before this one."""
        old = [file for file in self.files if file.day < day.isoformat()]
        with self._writing():
            self.files = [file for file in self.files if file.day >= day.isoformat()]
            self._write_manifest()
        counts = {table: sum(file.rows for file in old if file.table == table) for table in TABLES}
        dates = sorted({file.day for file in old})
        return EraseResponse(counts["queries"], counts["events"], len(dates), tuple(dates))

    def _without(self, connection: "DuckDBPyConnection", gone: str, told: Progress) -> EraseResponse:
        """The history without the rows for which the condition holds."""
        kept: list[DayFile] = []
        counts: Counter[str] = Counter()
        days = set()
        try:
            for file in self.files:
                (path,) = (path for path in self.paths(file.table, [file.day]) if path.endswith(file.name))
                scan = f"read_parquet({path_list([path])})"
                (hit,) = connection.execute(f"SELECT count(*) FROM {scan} WHERE {gone}").fetchall()[0]
                if not hit:
                    kept.append(file)
                    continue
                select = f"SELECT {TABLES[file.table]} FROM {scan} WHERE NOT {gone}"
                new = self._write_file(connection, file.table, file.day, select)
                kept += [new] if new else []
                counts[file.table] += hit
                days.add(file.day)
                told(f"{file.table} of {file.day}")
            self.files = kept
            self._write_manifest()
        except BaseException:
            self._load(_manifest(self.folder))
            self._sweep()
            raise
        return EraseResponse(counts["queries"], counts["events"], len(days), tuple(sorted(days)))

    # -- the folder ----------------------------------------------------------------------------------------------------

    def _write_manifest(self) -> None:
        for folder in sorted({(self.folder / file.name).parent for file in self.files}):
            fsync_folder(folder)
            fsync_folder(folder.parent)
        content = {
            "format": FORMAT,
            "rules": self.rules.to_dict(),
            "next": self._next,
            "rows_read": self.rows_read,
            "dropped": dict(sorted(self.dropped.items())),
            "files": [list(file) for file in sorted(self.files)],
        }
        write_bytes(self.folder / MANIFEST, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n", owned=True)
        self._sweep()

    def _sweep(self) -> None:
        """Remove what the manifest does not name, among the names that a history gives."""
        named = {self.folder / file.name for file in self.files}
        for table in TABLES:
            for path in (self.folder / table).glob("day=*/*.parquet"):
                if path not in named:
                    path.unlink(missing_ok=True)
            for folder in (self.folder / table).glob("day=*"):
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the lock of the one writer, on the latest state; what an interrupted one left behind is removed."""
        make_private_folder(self.folder.resolve())
        descriptor = open_owned(self.folder / LOCK, os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IndexLockedError(
                    f"another process is writing to {self.folder}; wait until it has finished"
                ) from None
            for left in self.folder.glob(".work-*"):
                shutil.rmtree(left, ignore_errors=True)
            self._load(_manifest(self.folder))
            self._sweep()
            yield
        finally:
            os.close(descriptor)


def _silent(step: str) -> None:
    pass


def _manifest(folder: Path) -> _Manifest:
    path = folder / MANIFEST
    try:
        content = orjson.loads(read_owned(path, MOST_MANIFEST))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("no history of clicks; 'germane clicks import' makes one", source=str(folder)) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"damaged: {error}", source=str(path)) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"not the manifest of a history of clicks of format {FORMAT}", source=str(path))
    try:
        found: _Manifest = value_of(_Manifest, content)
        for table, day, number, rows in found.files:
            if table not in TABLES or _DAY.fullmatch(day) is None or number < 0 or rows < 0:
                raise ValueError("a file that no history has")
        if found.next < 0 or found.rows_read < 0:
            raise ValueError("a number below 0")
    except ValueError as error:
        raise InputError(f"damaged: {error}", source=str(path)) from None
    return found


def log_files(sources: Sequence[str | Path]) -> list[Path]:
    """The files named, and those of the folders named, by name; in a folder the truth of a simulation is no log."""
    found: list[Path] = []
    for source in sources:
        path = Path(source)
        if path.is_dir():
            within = (file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
            found += sorted(file for file in within if file.name != TRUTH)
        elif path.is_file():
            found.append(path)
        else:
            raise InputError("no such file or folder", source=str(source))
    if not found:
        raise InputError("there are no files to import", source=", ".join(map(str, sources)))
    return found


def _work_of(connection: "DuckDBPyConnection") -> Path:
    """The folder of a working database."""
    (path,) = connection.execute("SELECT path FROM duckdb_databases() WHERE database_name = 'work'").fetchall()[0]
    return Path(path).parent


def person_code(who: str) -> str:
    """The expression of the code of 64 bits of a person, `who` being that of the id: the same in every release."""
    return f"md5_number_lower({who})"


def literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def path_list(paths: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, paths))}], hive_partitioning = false"

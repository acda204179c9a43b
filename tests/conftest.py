"""What holds for all tests.

No test depends on how fast the machine is: Hypothesis gets no deadline, and may be slow to draw its examples, which are
others each time. A few
documents that are added together make a segment of their own: much of what is tested happens between segments. Nothing
waits for the disk: what a power cut leaves is tested on a disk of our own making (`fuzz/power.py`), and what a killed
process leaves does not depend on it.
"""

import importlib.util
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from germane.engine import open_index
from germane.index import durable

settings.register_profile("any machine", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True, scope="session")
def writers_keep_their_lock() -> Iterator[None]:
    """However long a test thinks between two changes; and who comes to write is refused at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_index, "let_go_when_idle", lambda changed: None)
        patch.setattr(durable, "PATIENCE", 0.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_power_fails() -> Iterator[dict[str, str]]:
    """What SQLite is told otherwise."""
    shipped: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        if importlib.util.find_spec("sqlalchemy") is not None:
            from germane.workspace import database

            shipped.update(database.SQLITE_SETTINGS)
            patch.setitem(database.SQLITE_SETTINGS, "synchronous", "OFF")
        yield shipped

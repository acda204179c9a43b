"""Alembic migrations of the workspace database; the scripts are in `versions/`, named by their number."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from germane.lazy import on_first_use

with on_first_use(__name__):
    from alembic import command
    from alembic import config as alembic_config

VERSION_TABLE = "germane_version"
VERSIONS = ("0001", "0002", "0003")
"""Every version, the latest last."""
LATEST = VERSIONS[-1]
ADDED: dict[str, dict[str, dict[str, Any]]] = {"0002": {"decisions": {"maybe": False, "note": ""}}}
"""The columns that a version brought, by table, and what older rows have in them."""


def is_known(version: str) -> bool:
    """Whether this version of Germane knows that of the schema."""
    return version in VERSIONS


def added_since(version: str) -> dict[str, dict[str, Any]]:
    """Return the columns that rows of that version lack, by table, with their values in such rows."""
    lacking: dict[str, dict[str, Any]] = {}
    for later in VERSIONS[VERSIONS.index(version) + 1 :]:
        for table, columns in ADDED.get(later, {}).items():
            lacking.setdefault(table, {}).update(columns)
    return lacking


def upgrade(connection: Connection) -> None:
    """Bring the schema to the latest version, within the connection's transaction."""
    config = alembic_config.Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")

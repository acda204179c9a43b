"""From one version of the schema to the next, by Alembic; the scripts are in `versions/`, each named by its number."""

from pathlib import Path

from sqlalchemy import Connection

VERSION_TABLE = "germane_version"
VERSIONS = ("0001",)
"""Every version, the latest last."""
LATEST = VERSIONS[-1]


def is_known(version: str) -> bool:
    """Whether this version of Germane knows that of the schema."""
    return version in VERSIONS


def upgrade(connection: Connection) -> None:
    """Bring the schema to the latest version, within the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")

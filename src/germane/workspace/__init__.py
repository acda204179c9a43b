"""The workspace database: collections, saved searches, marks, screening, notes, topics, models, clicks and jobs.

    from germane.workspace import Workspace

    with Workspace.open("my.workspace") as workspace:
        reading = workspace.collections.create("reading")
        workspace.collections.add(reading, documents)
        workspace.marks.mark(reading, "12345", Mark.RELEVANT)

The database is one SQLite file, or PostgreSQL where a URL is given. Needs the extra `workspace` (SQLAlchemy, Alembic).
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.workspace.agreement import cohens_kappa
    from germane.workspace.archive import export_archive, import_archive
    from germane.workspace.workspace import Workspace

__all__ = ["Workspace", "cohens_kappa", "export_archive", "import_archive"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "agreement": ["cohens_kappa"],
        "archive": ["export_archive", "import_archive"],
        "workspace": ["Workspace"],
    },
)

"""Notes on documents."""

from sqlalchemy import select

from germane.errors import ParameterError
from germane.workspace.database import Database
from germane.workspace.tables import notes
from germane.workspace.values import Note


class Notes:
    """The notes of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, document: str, text: str, *, by: str = "") -> Note:
        """Write a note on a document."""
        if not text.strip():
            raise ParameterError("a note needs a text")
        row = {"document": document, "text": text, "by": by, "at": self._database.clock()}
        with self._database.write() as connection:
            return Note(id=self._database.add(connection, notes, **row), **row)

    def of(self, document: str) -> list[Note]:
        """The notes on a document, the oldest first."""
        query = select(notes).where(notes.c.document == document).order_by(notes.c.id)
        with self._database.read() as connection:
            return [Note(**row) for row in connection.execute(query).mappings()]

    def by(self, name: str) -> list[Note]:
        """All that somebody wrote, the oldest first."""
        query = select(notes).where(notes.c.by == name).order_by(notes.c.id)
        with self._database.read() as connection:
            return [Note(**row) for row in connection.execute(query).mappings()]

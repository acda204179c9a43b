"""Collections: named lists of records, whole as they were read."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sqlalchemy import Connection, func, select

from germane.errors import ParameterError
from germane.types import Document
from germane.workspace.columns import ascended
from germane.workspace.database import Database, refusing
from germane.workspace.tables import collections, records
from germane.workspace.values import AddReport, Collection

CHUNK = 500
"""Records handed to the database at once."""


class Collections:
    """The collections of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, description: str = "") -> Collection:
        """A new, empty collection."""
        if not name.strip():
            raise ParameterError("a collection needs a name")
        row = {"name": name, "description": description, "at": self._database.clock()}
        with refusing(f"there is a collection '{name}' already"), self._database.write() as connection:
            return Collection(id=self._database.add(connection, collections, **row), **row)

    def get(self, name: str) -> Collection:
        """The collection of that name."""
        with self._database.read() as connection:
            found = connection.execute(select(collections).where(collections.c.name == name)).mappings().first()
        if found is None:
            known = ", ".join(f"'{each.name}'" for each in self.all()) or "none"
            raise ParameterError(f"there is no collection '{name}'; there are: {known}")
        return Collection(**found)

    def all(self) -> list[Collection]:
        """Every collection, the oldest first."""
        with self._database.read() as connection:
            return [Collection(**row) for row in connection.execute(select(collections).order_by("id")).mappings()]

    def add(self, collection: Collection, documents: Iterable[Document]) -> AddReport:
        """Add records, all in one transaction. Of two with one id the first stays, and the report names the other."""
        added = present = 0
        clashing: list[str] = []
        stream = iter(documents)
        with refusing(f"there is no collection '{collection.name}' any more"), self._database.write() as connection:
            at = self._database.clock()
            while chunk := list(islice(stream, CHUNK)):
                known = self._known(connection, collection, [document.id for document in chunk])
                rows = []
                for document in chunk:
                    fields = dict(document.fields)
                    if document.id not in known:
                        known[document.id] = fields
                        row = {"collection_id": collection.id, "document": document.id, "fields": fields, "at": at}
                        rows.append(row)
                    elif known[document.id] == fields:
                        present += 1
                    else:
                        clashing.append(document.id)
                self._database.add_all(connection, records, rows)
                added += len(rows)
        return AddReport(added, present, tuple(clashing))

    def documents(self, collection: Collection) -> Iterator[Document]:
        """The records, in the order they came in."""
        return records_of(self._database, collection.id)

    def holds(self, collection: Collection, documents: Sequence[str]) -> set[str]:
        """Those of the ids that it has a record of."""
        with self._database.read() as connection:
            found: set[str] = set()
            for start in range(0, len(documents), CHUNK):
                found.update(self._known(connection, collection, documents[start : start + CHUNK]))
            return found

    def size(self, collection: Collection) -> int:
        """How many records it has."""
        with self._database.read() as connection:
            query = select(func.count()).select_from(records).where(records.c.collection_id == collection.id)
            return int(connection.execute(query).scalar_one())

    def _known(self, connection: Connection, collection: Collection, ids: Sequence[str]) -> dict[str, object]:
        query = select(records.c.document, records.c.fields).where(
            records.c.collection_id == collection.id, records.c.document.in_(ids)
        )
        return {row.document: row.fields for row in connection.execute(query)}


def records_of(database: Database, number: int) -> Iterator[Document]:
    """The records of the collection of that number, in the order they came in."""
    last = 0
    while True:
        query = (
            select(records.c.id, records.c.document, records.c.fields)
            .where(records.c.collection_id == number, records.c.id > last)
            .order_by(records.c.id)
            .limit(CHUNK)
        )
        with database.read() as connection:
            rows = connection.execute(query).all()
        if not rows:
            return
        yield from (Document(row.document, row.fields) for row in rows)
        last = ascended(last, rows[-1].id)

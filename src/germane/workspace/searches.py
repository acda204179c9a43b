"""Searches with their results as they were fetched, and what was clicked in them."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select

from germane.errors import ParameterError
from germane.workspace.database import Database, refusing
from germane.workspace.tables import clicks, results, searches
from germane.workspace.values import Click, Result, Search


class Searches:
    """The searches of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self, query: str, found: Iterable[Result], *, source: str = "", settings: Mapping[str, Any] | None = None
    ) -> Search:
        """Keep a search and its results, in their order: the first has rank 1."""
        row = {"query": query, "source": source, "settings": dict(settings or {}), "at": self._database.clock()}
        with self._database.write() as connection:
            search = Search(id=self._database.add(connection, searches, **row), **row)  # type: ignore[arg-type]
            rows = [
                {
                    "search_id": search.id, "rank": rank, "document": result.document, "score": result.score,
                    "fields": dict(result.fields), "provenance": result.provenance,
                }
                for rank, result in enumerate(found, 1)
            ]  # fmt: skip
            self._database.add_all(connection, results, rows)
        return search

    def get(self, number: int) -> Search:
        """The search of that number."""
        with self._database.read() as connection:
            row = connection.execute(select(searches).where(searches.c.id == number)).mappings().first()
        if row is None:
            raise ParameterError(f"there is no search {number}")
        return Search(**row)

    def all(self) -> list[Search]:
        """Every search, the oldest first."""
        with self._database.read() as connection:
            return [Search(**row) for row in connection.execute(select(searches).order_by("id")).mappings()]

    def results(self, search: Search) -> list[Result]:
        """The results as they were fetched, the best first."""
        query = select(results).where(results.c.search_id == search.id).order_by(results.c.rank)
        with self._database.read() as connection:
            return [Result(row.document, row.fields, row.score, row.provenance) for row in connection.execute(query)]

    def size(self, search: Search) -> int:
        """How many results it has."""
        with self._database.read() as connection:
            query = select(func.count()).select_from(results).where(results.c.search_id == search.id)
            return int(connection.execute(query).scalar_one())

    def click(self, search: Search, document: str, rank: int, *, kind: str = "open", by: str = "") -> Click:
        """Keep that a result was opened, saved, or whatever `kind` says."""
        row = {"search_id": search.id, "document": document, "rank": rank, "kind": kind, "by": by,
               "at": self._database.clock()}  # fmt: skip
        with refusing(f"there is no search {search.id}"), self._database.write() as connection:
            return Click(id=self._database.add(connection, clicks, **row), **row)  # type: ignore[arg-type]

    def clicks(self, search: Search) -> list[Click]:
        """What was done with the results of a search, in its order."""
        query = select(clicks).where(clicks.c.search_id == search.id).order_by(clicks.c.id)
        with self._database.read() as connection:
            return [Click(**row) for row in connection.execute(query).mappings()]

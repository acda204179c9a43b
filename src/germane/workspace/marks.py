"""Marks on the results of a search or the records of a collection: what a person said, and what they took back."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from germane.errors import ParameterError
from germane.refine.screening.verdicts import Verdict
from germane.types import Mark, Marks
from germane.workspace.columns import damaged
from germane.workspace.database import Database, refusing
from germane.workspace.history import last_standing, standing
from germane.workspace.tables import marks
from germane.workspace.values import Collection, MarkEntry, Search

_MARKS = frozenset(int(mark) for mark in Mark)


class MarkHistory:
    """The marks of a workspace. Nothing is deleted: taking back is an entry too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mark(self, on: Search | Collection, document: str, mark: Mark, *, by: str = "") -> MarkEntry:
        """Mark a document. It is on disk when this returns."""
        if not isinstance(mark, Mark):
            raise ParameterError(f"a mark is Mark.RELEVANT, Mark.NOT_RELEVANT or Mark.UNMARKED, not {mark!r}")
        with refusing("there is no such list to mark"), self._database.write() as connection:
            return self._put(connection, on, document, mark, by, None)

    def undo(self, on: Search | Collection, *, by: str = "") -> MarkEntry | None:
        """Take the latest mark back, and return it; None where no mark is left. Called again, the one before it."""
        with self._database.write() as connection:
            last = last_standing(connection, marks, _list(on))
            if last is None:
                return None
            self._put(connection, on, last.document, Mark.UNMARKED, by, last.id)
        return _entry(last)

    def current(self, on: Search | Collection) -> Marks:
        """What holds now."""
        return Marks.of({document: bool(said.included) for document, said in self.verdicts(on).items()})

    def verdicts(self, on: Search | Collection) -> dict[str, Verdict]:
        """What holds now, relevant as included, with who marked it and when."""
        with self._database.read() as connection:
            rows = connection.execute(select(marks).where(_list(on)).order_by(marks.c.id))
            return standing((row.id, row.document, _verdict(row), row.undoes) for row in rows)

    def history(self, on: Search | Collection) -> list[MarkEntry]:
        """Every mark ever made, in its order."""
        with self._database.read() as connection:
            return [_entry(row) for row in connection.execute(select(marks).where(_list(on)).order_by(marks.c.id))]

    def _put(
        self, connection: Connection, on: Search | Collection, document: str, mark: Mark, by: str, undoes: int | None
    ) -> MarkEntry:
        at = self._database.clock()
        lists = {"search_id": None, "collection_id": None} | {_column(on): on.id}
        row = {"document": document, "mark": int(mark), "by": by, "at": at, "undoes": undoes}
        return MarkEntry(self._database.add(connection, marks, **lists, **row), document, mark, by, at, undoes)


def _column(on: Search | Collection) -> str:
    if not isinstance(on, Search | Collection):
        raise ParameterError(f"marks are on a search or a collection, not on {on!r}")
    return "search_id" if isinstance(on, Search) else "collection_id"


def _list(on: Search | Collection) -> ColumnElement[bool]:
    column: ColumnElement[int] = marks.c[_column(on)]
    return column == on.id


def _verdict(row: Any) -> Verdict | None:
    if row.mark == int(Mark.UNMARKED):
        return None
    return Verdict(row.mark == int(Mark.RELEVANT), by=row.by, at=row.at)


def _entry(row: Any) -> MarkEntry:
    if row.mark not in _MARKS:
        raise damaged(f"{row.mark} stands where a mark was kept")
    return MarkEntry(row.id, row.document, Mark(row.mark), row.by, row.at, row.undoes)

"""What holds after a history in which entries take others back: marks and decisions share the rule.

An entry that was taken back, and the entry that does so, count no more. What remains is read in its order: a later
value replaces an earlier one in its place, and None (unmarked, undecided) removes it.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, select

Value = TypeVar("Value")


def standing(entries: Iterable[tuple[int, str, Value | None, int | None]]) -> dict[str, Value]:
    """The value of each document, from (number, document, value, the number taken back), in their order.

    >>> standing([(1, "a", True, None), (2, "b", False, None), (3, "b", None, 2), (4, "a", False, None)])
    {'a': False}
    """
    listed = list(entries)
    undone = {entry[3] for entry in listed}
    values: dict[str, Value] = {}
    for number, document, value, undoes in listed:
        if undoes is not None or number in undone:
            continue
        if value is None:
            values.pop(document, None)
        else:
            values[document] = value
    return values


def last_standing(connection: Connection, table: Table, whose: ColumnElement[bool]) -> Any:
    """The latest row that was not taken back and takes nothing back; None where there is none.

    A row that takes one back took the latest that stood then: whatever lies between the two does not stand, and the
    search goes on before both. That holds because taking back and adding wait for one another, within the connection's
    transaction: in SQLite whoever writes has the file, in PostgreSQL the table is locked against other writers.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")
    latest = select(table).where(whose).order_by(table.c.id.desc()).limit(1)
    row = connection.execute(latest).first()
    while row is not None and row.undoes is not None:
        row = connection.execute(latest.where(table.c.id < min(row.id, row.undoes))).first()
    return row

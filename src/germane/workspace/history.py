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
    undone = {undoes for *_, undoes in listed if undoes is not None}
    values: dict[str, Value] = {}
    for number, document, value, undoes in listed:
        if number in undone or undoes is not None:
            continue
        if value is None:
            values.pop(document, None)
        else:
            values[document] = value
    return values


def last_standing(connection: Connection, table: Table, whose: ColumnElement[bool]) -> Any:
    """The latest row that was not taken back and takes nothing back; None where there is none."""
    later = table.alias()
    query = (
        select(table)
        .where(whose, table.c.undoes.is_(None))
        .where(~select(later.c.id).where(later.c.undoes == table.c.id).exists())
        .order_by(table.c.id.desc())
        .limit(1)
    )
    return connection.execute(query).first()

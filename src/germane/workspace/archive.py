"""The whole workspace as one file of JSON Lines, and back, identical: every row with its number and time.

The first line names the format and the schema, then comes a line for each row (`[table, {column: value}]`), and the
last says how many there were and what they hash to, so that a file cut short or changed is refused. The same workspace
gives the same bytes, whichever database it is in.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

import orjson
from sqlalchemy import Connection, Table, func, insert, select, text

from germane.data.atomic import open_for_writing
from germane.data.lines import read_lines
from germane.errors import GermaneError, InputError
from germane.workspace.columns import Bytes, ascended
from germane.workspace.database import Database
from germane.workspace.migrations import LATEST, added_since, is_known
from germane.workspace.tables import metadata
from germane.workspace.workspace import Workspace

FORMAT = "germane workspace archive"
CHUNK = 1000
NO_ARCHIVE = (
    "not an archive of a workspace; references go into a --collection NAME, decisions into a --project NAME of a "
    "--reviewer NAME"
)


def export_archive(workspace: Workspace, target: str | Path | TextIO) -> int:
    """Write everything, whole or not at all, as of one moment; returns how many rows there are."""
    digest = hashlib.sha256()
    count = 0
    with workspace.database.read() as connection, open_for_writing(target) as file:
        for line in _lines(connection):
            digest.update(line)
            file.write(line.decode())
            count += 1
        last = {"rows": count - 1, "sha256": digest.hexdigest()}
        file.write(orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE).decode())
    return count - 1


def import_archive(workspace: Workspace, path: str | Path) -> int:
    """Fill an empty workspace from an archive, all or nothing; returns how many rows it has."""
    source = str(path)
    with workspace.database.write() as connection:
        if any(connection.execute(select(func.count()).select_from(t)).scalar() for t in metadata.sorted_tables):
            raise InputError(
                "only an empty workspace can take an archive: make a new one; references go into a --collection NAME",
                source=workspace.name,
            )
        try:
            count = _fill(workspace.database, connection, source)
        except GermaneError:
            raise
        except Exception as error:
            raise InputError(f"this archive cannot be imported: {_short(error)}", source=source) from error
        _count_on(connection, workspace.database.dialect)
    return count


def _lines(connection: Connection) -> Iterator[bytes]:
    yield orjson.dumps({"format": FORMAT, "schema": LATEST}, option=orjson.OPT_APPEND_NEWLINE)
    for table in metadata.sorted_tables:
        last = 0
        while rows := connection.execute(
            select(table).where(table.c.id > last).order_by(table.c.id).limit(CHUNK)
        ).mappings().all():  # fmt: skip
            for row in rows:
                shown = {str(key): _written(value) for key, value in row.items()}
                yield orjson.dumps([table.name, shown], option=orjson.OPT_APPEND_NEWLINE)
            last = ascended(last, rows[-1]["id"])


def _written(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _fill(database: Database, connection: Connection, source: str) -> int:
    tables = {table.name: table for table in metadata.sorted_tables}
    digest = hashlib.sha256()
    waiting: list[dict[str, Any]] = []
    current: Table | None = None
    lacking: dict[str, dict[str, Any]] = {}
    count = -1
    end: Any = None
    for number, line in read_lines(source):
        if end is not None:
            _bad("something follows the last line", source, number)
        try:
            content = orjson.loads(line)
        except orjson.JSONDecodeError:
            if count == -1:
                _bad(NO_ARCHIVE, source, number)
            _bad("not valid JSON: the archive is damaged or cut short", source, number)
        if count == -1:
            lacking = added_since(_schema(content, source, number))
        elif isinstance(content, dict):
            end = content
            continue
        else:
            table, row = _row(content, tables, lacking, source, number)
            if table is not current or len(waiting) == CHUNK:
                _put(connection, current, waiting)
                current, waiting = table, []
            waiting.append(row)
        digest.update(line)
        count += 1
    if end is None:
        _bad("the archive is cut short: its last line is missing", source, None)
    if end != {"rows": count, "sha256": digest.hexdigest()}:
        _bad("the archive was changed: its last line does not fit the others", source, None)
    _put(connection, current, waiting)
    return count


def _put(connection: Connection, table: Table | None, rows: list[dict[str, Any]]) -> None:
    if table is not None and rows:
        connection.execute(insert(table), rows)


def _schema(content: Any, source: str, number: int) -> str:
    """The schema of the archive: one that was, or is."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _bad(NO_ARCHIVE, source, number)
    schema = content.get("schema")
    if not isinstance(schema, str) or not is_known(schema):
        _bad(f"an archive of schema {schema}, where this version of Germane reads up to {LATEST}: update Germane to "
             "import it", source, number)  # fmt: skip
    return schema


def _row(
    content: Any, tables: dict[str, Table], lacking: dict[str, dict[str, Any]], source: str, number: int
) -> tuple[Table, dict[str, Any]]:
    """A row with all columns; `lacking`: those that it does not have, being of an older schema."""
    if not (isinstance(content, list) and len(content) == 2 and isinstance(content[1], dict)):
        _bad("a row is a table's name and its columns", source, number)
    table = tables.get(content[0]) if isinstance(content[0], str) else None
    later = lacking.get(table.name, {}) if table is not None else {}
    if (
        table is None
        or content[1].keys() | later.keys() != {column.name for column in table.c}
        or (content[1].keys() & later.keys())
    ):
        _bad(f"'{content[0]}' is no table of this schema, or has other columns", source, number)
    row = {**content[1], **later}
    for column in table.c:
        if isinstance(column.type, Bytes):
            try:
                row[column.name] = base64.b64decode(row[column.name], validate=True)
            except (binascii.Error, TypeError, ValueError):
                _bad(f"the column '{column.name}' is not base64", source, number)
    return table, row


def _count_on(connection: Connection, dialect: str) -> None:
    """PostgreSQL counts by itself, and has to be told which numbers were given."""
    if dialect == "postgresql":
        for table in metadata.sorted_tables:
            highest = connection.execute(select(func.max(table.c.id))).scalar()
            if highest is not None:
                name = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), :highest)"
                connection.execute(text(name), {"highest": highest})


def _bad(message: str, source: str, line: int | None) -> NoReturn:
    raise InputError(message, source=source, line=line)


def _short(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())[:200]

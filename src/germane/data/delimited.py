"""CSV and TSV with a header line.

In CSV the separator (comma, semicolon, tab or bar) is the one that gives the header most columns, and fields may be
quoted. In TSV nothing is quoted: a quotation mark is a character like any other.
"""

import csv
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.fields import ID_NAMES, document_id, missing_column, year_of
from germane.data.lines import decode, read_lines
from germane.errors import InputError
from germane.types import Document, FieldValue

MAX_FIELD_CHARACTERS = 64 << 20
MAX_HEADER_CHARACTERS = 1 << 20
SEPARATORS = ",;\t|"


def read_delimited(
    path: str | Path,
    *,
    tabs: bool = False,
    mapping: Mapping[str, str] | None = None,
    number: bool = False,
    encoding: str = "utf-8",
    on_bad: OnBad = stop,
) -> Iterator[Document]:
    """Documents of a CSV file, or with `tabs` a TSV file: one per row, one field per column.

    The id column is `mapping["id"]`, else the first of `ID_NAMES` in the header (in any case). With `number`, rows
    without an id are called `file name:N`, N counting the rows. A column `year` becomes a whole number where it can.
    """
    source = str(path)
    # The csv module's limit is one for the whole process (128 KiB by default): it is raised, never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD_CHARACTERS))
    lines = _Lines(path, encoding)
    try:
        header_line = lines.skip_blank()
        if header_line is None:
            return
        if len(header_line) > MAX_HEADER_CHARACTERS:
            message = f"a header of more than {MAX_HEADER_CHARACTERS:,} characters: is this a table?"
            raise InputError(message, source=source, line=lines.number)
        rows = _rows(lines, "\t" if tabs else _separator(header_line), quoted=not tabs)
        try:
            found = _header(next(rows), source, lines.number)
        except csv.Error as error:
            raise InputError(f"the header is not valid CSV: {error}", source=source, line=1) from None
        wanted = _columns(found, mapping or {}, number, source, lines.number)
        count = 0
        while True:
            start = lines.number + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                count += 1
                on_bad(InputError(f"not valid CSV: {error}", source=source, line=start))
                continue
            except InputError as error:
                if not lines.decoding:  # the file itself cannot be read on
                    raise
                count += 1
                on_bad(error)
                continue
            if not row:
                continue
            count += 1
            if len(row) != len(found):
                message = f"{len(row)} columns, where the header has {len(found)}"
                on_bad(InputError(message, source=source, line=start))
                continue
            fields: dict[str, FieldValue] = {name: row[column] for name, column in wanted.items()}
            identifier = document_id(fields.pop("id", ""))
            if identifier is None and number:
                identifier = f"{Path(path).name}:{count}"
            if identifier is None:
                on_bad(InputError("the document has no id", source=source, line=start, field=found[wanted["id"]]))
                continue
            year = fields.get("year")
            if isinstance(year, str) and year.strip().isdigit():
                fields["year"] = year_of(year) or year
            yield Document(identifier, fields)
    finally:
        lines.close()


read_csv = partial(read_delimited, tabs=False)
read_tsv = partial(read_delimited, tabs=True)


class _Lines:
    """Decoded lines for the csv module. A line that does not decode raises, and the next one can still be read."""

    def __init__(self, path: str | Path, encoding: str) -> None:
        self._source = str(path)
        self._lines = read_lines(path, encoding)
        self._held: str | None = None
        self.number = 0
        self.decoding = False

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if self._held is not None:
            held, self._held = self._held, None
            return held
        self.decoding = False
        self.number, line = next(self._lines)
        self.decoding = True
        return decode(line, self._source, self.number)

    def skip_blank(self) -> str | None:
        """The first line that is not blank; it will be read again."""
        for line in self:
            if line.strip():
                self._held = line
                return line
        return None

    def close(self) -> None:
        self._lines.close()  # type: ignore[attr-defined]


def _rows(lines: _Lines, separator: str, quoted: bool) -> "Iterator[list[str]]":
    if quoted:
        return csv.reader(lines, delimiter=separator, strict=True)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE, quotechar=None, strict=True)


def _separator(header: str) -> str:
    """The separator that cuts the header into most columns; rather one that does not cut within quotation marks."""

    def columns(separator: str) -> tuple[bool, int]:
        try:
            cells = next(csv.reader([header], delimiter=separator))
        except csv.Error:
            return False, 0
        return not any('"' in cell for cell in cells), len(cells)

    return max(SEPARATORS, key=columns)


def _header(cells: list[str], source: str, line: int) -> list[str]:
    names = [cell.strip() or f"column{position}" for position, cell in enumerate(cells, 1)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"the header has the column '{name}' twice", source=source, line=line)
        seen.add(name)
    return names


def _columns(found: list[str], mapping: Mapping[str, str], number: bool, source: str, line: int) -> dict[str, int]:
    """Our field -> position of their column, the id among them unless rows are numbered."""
    wanted: dict[str, int] = {}
    for ours, theirs in mapping.items():
        if theirs not in found:
            raise missing_column(ours, theirs, found, source, line)
        wanted[ours] = found.index(theirs)
    lower = [name.lower() for name in found]
    if "id" not in wanted:
        column = next((lower.index(name) for name in ID_NAMES if name in lower), None)
        if column is not None:
            wanted["id"] = column
        elif not number:
            raise missing_column("id", "id", found, source, line)
    taken = set(wanted.values())
    for column, name in enumerate(found):
        ours = (
            name.lower() if name.lower() in ("title", "text", "year") and name.lower() not in lower[:column] else name
        )
        if column not in taken and ours not in wanted:
            wanted[ours] = column
    return wanted

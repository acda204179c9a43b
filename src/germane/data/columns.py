"""Rows of white-space separated columns, the common ground of TREC's qrels and runs."""

from collections.abc import Iterator
from pathlib import Path

from germane.data.lines import decode, read_lines
from germane.errors import InputError


def read_columns(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, list[str]]]:
    """(line number, columns) of each line that is not blank. Columns are cut at tabs and spaces, in any number."""
    source = str(path)
    for number, line in read_lines(path, encoding):
        # Cut before decoding: to a string, other characters (a no-break space) are white space too.
        columns = line.split()
        if columns:
            try:
                yield number, [column.decode() for column in columns]
            except UnicodeDecodeError:
                decode(line, source, number)


class Pairs:
    """The (query, document) pairs seen so far, with their lines: a second one is an error."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines: dict[str, dict[str, int]] = {}

    def add(self, query_id: str, doc_id: str, line: int) -> None:
        documents = self._lines.setdefault(query_id, {})
        before = documents.setdefault(doc_id, line)
        if before != line:
            raise InputError(
                f"query '{query_id}' and document '{doc_id}' are on line {before} already",
                source=self._source,
                line=line,
            )


def whole_number(text: str) -> int | None:
    """The number, or None: unlike `int`, without underscores and digits of other scripts, and of 64 bits at most."""
    try:
        number = int(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None
    return number if number is not None and fits(number) else None


def fits(number: int) -> bool:
    """Whether the number has 64 bits at most, sign included: arrays hold no others."""
    return -(2**63) <= number < 2**63

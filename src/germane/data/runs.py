"""Rankings: TREC's six columns `query Q0 document rank score tag`."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from germane.data.atomic import open_for_writing
from germane.data.bad_records import OnBad, stop
from germane.data.columns import Pairs, read_columns, whole_number
from germane.data.names import writable_name
from germane.errors import InputError
from germane.types import RunEntry


def read_run(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[RunEntry]:
    """Entries of a run, in the file's order. A document ranked twice for a query is an error that names both lines.

    A line that cannot be used is handed to `on_bad`, which raises unless told otherwise (`data/bad_records.py`).
    """
    source = str(path)
    pairs = Pairs(source)
    for number, columns in read_columns(path, encoding):
        try:
            entry = _entry(columns, source, number)
            pairs.add(entry.query_id, entry.doc_id, number)
        except InputError as error:
            on_bad(error)
            continue
        yield entry


def _entry(columns: list[str], source: str, number: int) -> RunEntry:
    if len(columns) != 6:
        message = f"{len(columns)} columns, where 6 (query Q0 document rank score tag) are needed"
        raise InputError(message, source=source, line=number)
    query_id, _, doc_id, rank_text, score_text, tag = columns
    rank = whole_number(rank_text)
    if rank is None:
        message = f"a rank must be a whole number of at most 64 bits, not '{rank_text}'"
        raise InputError(message, source=source, line=number, field="rank")
    score = _score(score_text)
    if score is None:
        message = f"a score must be a number, not '{score_text}'"
        raise InputError(message, source=source, line=number, field="score")
    return RunEntry(query_id, doc_id, rank, score, tag)


def write_run(target: str | Path | TextIO, entries: Iterable[RunEntry]) -> None:
    """Write a run, to a path (whole or not at all) or an open text file. Scores read back exactly as they are."""
    with open_for_writing(target) as file:
        for query_id, doc_id, rank, score, tag in entries:
            writable_name(query_id, "query_id")
            writable_name(doc_id, "doc_id")
            writable_name(tag, "tag")
            if math.isnan(score):
                raise InputError(f"the score of document '{doc_id}' for query '{query_id}' is NaN", field="score")
            file.write(f"{query_id} Q0 {doc_id} {int(rank)} {float(score)!r} {tag}\n")


def _score(text: str) -> float | None:
    """The number, or None where it is none, or NaN; infinities can be ranked."""
    try:
        score = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(score) else score

"""Relevance judgements: TREC's four columns `query iteration document grade`, or three, `query document grade`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from germane.data import catalog, irds
from germane.data.atomic import open_for_writing
from germane.data.bad_records import OnBad, stop
from germane.data.columns import Pairs, read_columns, whole_number
from germane.data.names import writable_name
from germane.errors import InputError
from germane.types import Judgement

_HEADINGS = ("query-id", "query_id", "queryid", "qid", "query", "topic", "topic_id")


def read_qrels(source: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Judgement]:
    """Judgements of a file, of a data set by name, or of `irds:NAME`.

    The first line settles whether there are three columns or four, and may be a header, as in BEIR. A pair judged twice
    is an error that names both lines. A line that cannot be used is handed to `on_bad`, which raises unless told
    otherwise (`data/bad_records.py`).
    """
    if isinstance(source, str) and source.startswith(irds.PREFIX):
        return irds.read_irds_qrels(source)
    return _read(catalog.resolve(source, catalog.QRELS), encoding, on_bad)


def _read(path: Path, encoding: str, on_bad: OnBad) -> Iterator[Judgement]:
    source = str(path)
    pairs = Pairs(source)
    width = 0
    for number, columns in read_columns(path, encoding):
        if not width:
            width = len(columns)
            if width not in (3, 4):
                message = (
                    f"{width} columns, where 4 (query iteration document grade) or 3 (query document grade) are needed"
                )
                raise InputError(message, source=source, line=number)
            if columns[0].lower() in _HEADINGS and whole_number(columns[-1]) is None:
                continue
        try:
            judgement = _judgement(columns, width, source, number)
            pairs.add(judgement.query_id, judgement.doc_id, number)
        except InputError as error:
            on_bad(error)
            continue
        yield judgement


def _judgement(columns: list[str], width: int, source: str, number: int) -> Judgement:
    if len(columns) != width:
        raise InputError(f"{len(columns)} columns, where {width} are needed", source=source, line=number)
    grade = whole_number(columns[-1])
    if grade is None:
        message = f"a grade must be a whole number of at most 64 bits, not '{columns[-1]}'"
        raise InputError(message, source=source, line=number, field="grade")
    return Judgement(columns[0], columns[-2], grade)


def write_qrels(target: str | Path | TextIO, judgements: Iterable[Judgement]) -> None:
    """Write judgements in TREC's four columns, to a path (whole or not at all) or an open text file."""
    with open_for_writing(target) as file:
        for query_id, doc_id, grade in judgements:
            writable_name(query_id, "query_id")
            writable_name(doc_id, "doc_id")
            file.write(f"{query_id} 0 {doc_id} {int(grade)}\n")

"""Runs and judgements as the measures take them: query id -> document id -> score or grade.

TREC's columns, TSV (three columns, a header optional) and JSON (an object of objects, or one object a line) are told
apart by the file's beginning.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from germane.data import catalog, read_qrels, read_run
from germane.data.bad_records import OnBad, stop
from germane.data.columns import Pairs, fits, read_columns
from germane.data.compression import open_binary
from germane.data.fields import document_id
from germane.data.jsonl import json_object
from germane.data.lines import read_lines
from germane.errors import InputError
from germane.types import Judgement, RunEntry

Run: TypeAlias = Mapping[str, Mapping[str, float]]
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]

QUERY_NAMES = ("query_id", "query-id", "qid", "q_id", "topic", "query")
DOC_NAMES = ("doc_id", "corpus-id", "docid", "docno", "document", "doc", "pid")
SCORE_NAMES = ("score", "sim")
GRADE_NAMES = ("grade", "relevance", "rel", "score", "label")


def load_run(source: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> dict[str, dict[str, float]]:
    """The scores of a run file. Ranks are not used: as in trec_eval, the scores make the order. Lines in TREC's columns
    that cannot be used are handed to `on_bad`, which raises unless told otherwise."""
    path = Path(source)
    start = _beginning(path, encoding)
    triples: Iterable[tuple[str, str, float]]
    if start == "{":
        triples = _read_json(path, encoding, SCORE_NAMES, checked_score)
    elif _width(path, encoding) == 3:
        triples = _read_three(path, encoding)
    else:
        entries = read_run(path, encoding=encoding, on_bad=on_bad)
        triples = ((entry.query_id, entry.doc_id, entry.score) for entry in entries)
    return _gathered(triples, str(path), "ranked documents")


def load_qrels(source: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> dict[str, dict[str, int]]:
    """The grades of a file, of a data set by name, or of `irds:NAME`; what cannot be used is handed to `on_bad`."""
    triples: Iterable[tuple[str, str, int]]
    if isinstance(source, str) and source.startswith("irds:"):
        triples = read_qrels(source)
    else:
        path = catalog.resolve(source, catalog.QRELS)
        if _beginning(path, encoding) == "{":
            triples = _read_json(path, encoding, GRADE_NAMES, checked_grade)
        else:
            triples = read_qrels(path, encoding=encoding, on_bad=on_bad)
    return _gathered(triples, str(source), "judgements")


def run_entries(run: Run, tag: str = "germane") -> Iterator[RunEntry]:
    """The lines of a TREC run: score descending, then id ascending."""
    for query_id, scores in run.items():
        ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        for rank, (doc_id, score) in enumerate(ordered, 1):
            yield RunEntry(query_id, doc_id, rank, score, tag)


def judgements(qrels: Qrels) -> Iterator[Judgement]:
    """The lines of a qrels file."""
    return (Judgement(query, doc, grade) for query, grades in qrels.items() for doc, grade in grades.items())


def _gathered(triples: Iterable[tuple[str, str, Any]], source: str, what: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, value in triples:
        found.setdefault(query_id, {})[doc_id] = value
    if not found:
        raise InputError(f"the file holds no {what}", source=source)
    return found


def _beginning(path: Path, encoding: str) -> str:
    with open_binary(path, encoding) as stream:
        return stream.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()[:1].decode("latin-1")


def _width(path: Path, encoding: str) -> int:
    return next((len(columns) for _, columns in read_columns(path, encoding)), 0)


def _read_three(path: Path, encoding: str) -> Iterator[tuple[str, str, float]]:
    """Three columns, `query document score`, after a header that may name them in any order."""
    source = str(path)
    pairs = Pairs(source)
    at = (0, 1, 2)
    for first, (number, columns) in enumerate(read_columns(path, encoding)):
        if len(columns) != 3:
            message = f"{len(columns)} columns, where 3 (query document score) are needed"
            raise InputError(message, source=source, line=number)
        lower = [column.lower() for column in columns]
        if not first and {*lower} & {*QUERY_NAMES} and {*lower} & {*DOC_NAMES}:
            at = _header(lower, source, number)
            continue
        query_id, doc_id, text = (columns[i] for i in at)
        try:
            score = checked_score(float(text))
        except ValueError:
            message = f"a score must be a number, not '{text}'"
            raise InputError(message, source=source, line=number, field="score") from None
        pairs.add(query_id, doc_id, number)
        yield query_id, doc_id, score


def _header(lower: list[str], source: str, line: int) -> tuple[int, int, int]:
    places = [
        next((lower.index(name) for name in names if name in lower), -1)
        for names in (QUERY_NAMES, DOC_NAMES, SCORE_NAMES)
    ]
    if -1 in places:
        raise InputError("the header must name a query, a document and a score", source=source, line=line)
    return places[0], places[1], places[2]


class _Members(list[tuple[str, Any]]):
    """A JSON object as its members, repeated names included."""


def _read_json(
    path: Path, encoding: str, names: tuple[str, ...], check: Callable[[Any], Any]
) -> Iterator[tuple[str, str, Any]]:
    """`{"q1": {"d1": 1.5}}`, or lines of `{"query_id": "q1", "doc_id": "d1", "score": 1.5}`."""
    source = str(path)
    lines = [(number, line) for number, line in read_lines(path, encoding) if not line.isspace()]
    try:
        whole = json.loads(b"".join(line for _, line in lines), object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        yield from _read_json_lines(lines, source, names, check)
        return
    if not all(isinstance(value, _Members) for _, value in whole):
        yield from _read_json_lines(lines, source, names, check)
        return
    seen: set[tuple[str, str]] = set()
    for query_id, documents in whole:
        for doc_id, value in documents:
            if (query_id, doc_id) in seen:
                raise InputError(f"query '{query_id}' has document '{doc_id}' twice", source=source)
            seen.add((query_id, doc_id))
            try:
                yield checked_id(query_id), checked_id(doc_id), check(value)
            except ValueError as error:
                message = f"query '{query_id}', document '{doc_id}': {error}"
                raise InputError(message, source=source, field=names[0]) from None


def _read_json_lines(
    lines: list[tuple[int, bytes]], source: str, names: tuple[str, ...], check: Callable[[Any], Any]
) -> Iterator[tuple[str, str, Any]]:
    pairs = Pairs(source)
    for number, line in lines:
        record = json_object(line, source, number)
        values = []
        for wanted in (QUERY_NAMES, DOC_NAMES, names):
            name = next((name for name in wanted if name in record), None)
            if name is None:
                raise InputError(f"the record has no {wanted[0]}", source=source, line=number)
            values.append(record[name])
        try:
            query_id, doc_id, value = checked_id(values[0]), checked_id(values[1]), check(values[2])
        except ValueError as error:
            raise InputError(str(error), source=source, line=number, field=names[0]) from None
        pairs.add(query_id, doc_id, number)
        yield query_id, doc_id, value


def checked_id(value: Any) -> str:
    """The id of a query or a document; a ValueError for what cannot be one."""
    name = document_id(value)
    if name is None:
        raise ValueError(f"an id must be a text or a whole number of at most 64 bits, not {value!r}")
    name.encode()  # half a surrogate pair, which JSON can spell, is a ValueError
    return name


def checked_score(value: Any) -> float:
    """The score; a ValueError for what is no number."""
    try:
        score = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number beyond all floats
        score = math.nan
    if math.isnan(score):
        raise ValueError(f"a score must be a number, not {value!r}")
    return score


def checked_grade(value: Any) -> int:
    """The grade; a ValueError for what is no whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not fits(value):
        raise ValueError(f"a grade must be a whole number of at most 64 bits, not {value!r}")
    return value

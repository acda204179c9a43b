"""Runs and judgements that were handed in to be measured: kept apart for a day, read line by line, compared."""

import re
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson

from germane.data import SkipReport
from germane.data.atomic import write_bytes
from germane.data.bad_records import OnBad, Skipped
from germane.data.owned import check_owned, make_private_folder, read_owned
from germane.errors import GermaneError, InputError, ParameterError, UnknownDocumentError
from germane.lazy import on_first_use
from germane.schema import value_of
from germane.server.leftovers import forget_old
from germane.server.listing import title_of

with on_first_use(__name__):
    from germane import evaluate
    from germane.evaluate import compare, significance
    from germane.evaluate import measures as evaluate_measures

if TYPE_CHECKING:
    from germane.engine import Engine
    from germane.evaluate import Evaluation, Qrels, Run
    from germane.evaluate.compare import Comparison

MOST_LINES = 1_000_000
MOST_BAD = 1_000
"""Lines that cannot be used; more of them, and the file is something else."""
IN_MEMORY = 4
SHOWN = 20
RECALLS = tuple(i / 10 for i in range(11))
ROLES = {"a": "run", "b": "second run", "qrels": "judgements"}
_KEY = re.compile(r"[0-9a-f]{32}")
_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class Handed:
    """A file: what it was called, what it holds."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Odd:
    """A file with lines that were left out: its name, how many, and the first of them with their reasons."""

    name: str
    count: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A measure of one run: its mean, and the interval that holds it with 95 % (None of a single query)."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document in a run: rank, score, grade (None where nobody judged it), and its title where it is known here."""

    rank: int
    id: str
    score: float
    grade: int | None
    title: str


@dataclass(frozen=True, slots=True)
class QueryBar:
    """A query: the value of each run, and what is drawn: the difference, or the value of a single run."""

    query: str
    values: tuple[float, ...]
    drawn: float


@dataclass(frozen=True, slots=True)
class Opened:
    """One query: the first results of each run, and how many relevant documents there are."""

    query: str
    values: tuple[float, ...]
    rankings: tuple[tuple[Ranked, ...], ...]
    relevant: int


@dataclass(frozen=True, slots=True)
class Measured:
    """All that is told of one or two runs."""

    names: tuple[str, ...]
    judgements: str
    queries: int
    missing: tuple[int, ...]
    unjudged: tuple[int, ...]
    measures: tuple[str, ...]
    values: tuple[Mapping[str, Value], ...]
    comparisons: "Mapping[str, tuple[Comparison, float]]"
    curves: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    odd: tuple[Odd, ...]
    measure: str
    bars: tuple[QueryBar, ...]
    opened: Opened | None


@dataclass(slots=True)
class _Read:
    names: tuple[str, ...]
    judgements: str
    runs: "tuple[Run, ...]"
    qrels: "Qrels"
    odd: tuple[Odd, ...]


class Evaluations:
    """Files that were handed in, each set in a folder whose name we give; forgotten after a day."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._read: OrderedDict[str, _Read] = OrderedDict()

    def keep(self, files: Mapping[str, Handed]) -> str:
        """Keep a run (`a`), judgements (`qrels`) and perhaps a second run (`b`); the key of the set.

        Lines that cannot be used are left out and told; a set without anything to measure is refused, and not kept.
        """
        for role in ("a", "qrels"):
            if role not in files:
                raise InputError(f"there is no file of {ROLES[role]}: a run and its judgements are needed")
        for handed in files.values():
            _check(handed)
        make_private_folder(self._folder)
        forget_old(self._folder)
        key = secrets.token_hex(16)
        folder = self._folder / key
        make_private_folder(folder)
        try:
            for role, handed in files.items():
                write_bytes(folder / role, handed.content, owned=True)
            names = {role: handed.name for role, handed in files.items()}
            write_bytes(folder / "names.json", orjson.dumps(names), owned=True)
            self.view(key)
        except BaseException:
            shutil.rmtree(folder)
            raise
        return key

    def view(self, key: str, measure: str = "", query: str = "", engine: "Engine | None" = None) -> Measured:
        """The measures of a set, the queries by one of them, and perhaps one query opened."""
        found = self._opened(key)
        measures = tuple(dict.fromkeys((*evaluate.DEFAULT_MEASURES, *((measure,) if measure else ()))))
        if measure:
            evaluate_measures.parse_measure(measure)
        evaluated = [evaluate.evaluate(run, found.qrels, measures) for run in found.runs]
        shown = measure or "nDCG@10"
        comparisons: dict[str, tuple[Comparison, float]] = {}
        if len(evaluated) == 2 and len(found.qrels) > 1:
            rows = [compare.compare_evaluations(evaluated[0], evaluated[1], each, tests=("t",)) for each in measures]
            corrected = significance.holm([row.tests["t"].p_value for row in rows]).tolist()
            comparisons = {row.measure: (row, p) for row, p in zip(rows, corrected, strict=True)}
        names = [f"IPrec@{recall}" for recall in RECALLS]
        curves = []
        for name, run in zip(found.names, found.runs, strict=True):
            precision = evaluate.evaluate(run, found.qrels, names)
            curves.append((name, tuple((recall, precision[each]) for recall, each in zip(RECALLS, names, strict=True))))
        return Measured(
            found.names,
            found.judgements,
            len(found.qrels),
            tuple(len(found.qrels.keys() - run.keys()) for run in found.runs),
            tuple(len(run.keys() - found.qrels.keys()) for run in found.runs),
            measures,
            tuple({each: _value(one, each) for each in measures} for one in evaluated),
            comparisons,
            tuple(curves),
            found.odd,
            shown,
            _bars(evaluated, shown),
            _query(found, evaluated, shown, query, engine) if query else None,
        )

    def _opened(self, key: str) -> _Read:
        if not _KEY.fullmatch(key):
            raise ParameterError("there is no such evaluation: hand the files in again")
        with self._lock:
            found = self._read.get(key)
            if found is None:
                found = self._read[key] = _read(self._folder / key)
                while len(self._read) > IN_MEMORY:
                    self._read.popitem(last=False)
            self._read.move_to_end(key)
            return found


def told_apart(files: Sequence[Handed]) -> dict[str, Handed]:
    """Files without a role: those with TREC's six columns, or scores that are no grades, are runs, in their order.

    >>> list(told_apart([Handed("q", b"1 0 d 1"), Handed("x", b"1 Q0 d 1 2.5 tag"), Handed("y", b"1 Q0 e 1 2.5 tag")]))
    ['qrels', 'a', 'b']
    """
    found: dict[str, Handed] = {}
    for file in files:
        first = file.content[:4096].lstrip().partition(b"\n")[0].split()
        role = "qrels" if len(first) < 5 else "b" if "a" in found else "a"
        if role in found:
            raise InputError(f"one file of {ROLES[role]} is enough: choose what is measured, file by file")
        found[role] = file
    return found


def _check(handed: Handed) -> None:
    if not handed.content.strip():
        raise InputError("the file is empty", source=handed.name)
    if handed.content.startswith(_COMPRESSED):
        raise InputError("the file is compressed: unpack it first", source=handed.name)
    if handed.content.count(b"\n") > MOST_LINES:
        raise InputError(
            f"the file has more than {MOST_LINES:,} lines: 'germane evaluate' takes it", source=handed.name
        )


def _read(folder: Path) -> _Read:
    try:
        names: dict[str, str] = value_of(dict[str, str], orjson.loads(read_owned(folder / "names.json", 1 << 20)))
        for role in ROLES.keys() & names.keys():
            check_owned(folder / role)
    except (FileNotFoundError, ValueError):
        raise ParameterError(
            "there is no such evaluation, it may be older than a day: hand the files in again"
        ) from None
    reports = {role: SkipReport() for role in names}
    runs: list[Run] = []
    qrels: Qrels = {}
    for role in ("a", "b", "qrels"):
        if role not in names:
            continue
        report = reports[role]
        try:
            if role == "qrels":
                qrels = evaluate.load_qrels(folder / role, on_bad=_counting(report))
            else:
                runs.append(evaluate.load_run(folder / role, on_bad=_counting(report)))
        except InputError as error:
            first = f" ({_said(report.first[0])})" if report.first and error.line is None else ""
            raise InputError(error.message + first, source=names[role], line=error.line, field=error.field) from None
    odd = [
        Odd(names[role], found.count, tuple(map(_said, found.first))) for role, found in reports.items() if found.count
    ]
    called = tuple(names[role] for role in ("a", "b") if role in names)
    return _Read(called, names["qrels"], tuple(runs), qrels, tuple(odd))


def _counting(report: SkipReport) -> OnBad:
    def note(error: InputError) -> bool:
        used = report.note(error)
        if report.count > MOST_BAD:
            raise InputError(f"more than {MOST_BAD:,} lines cannot be used; the first: {_said(report.first[0])}")
        return used

    return note


def _said(one: Skipped) -> str:
    return str(InputError(one.reason, line=one.line, field=one.field))


def _value(found: "Evaluation", measure: str) -> Value:
    values = found.values[measure][np.isfinite(found.values[measure])]
    if len(values) < 2:
        return Value(found[measure], None, None)
    effect = significance.paired_effect(values, np.zeros(len(values)))
    if values.min() < 0.0 or values.max() > 1.0:
        return Value(found[measure], effect.low, effect.high)
    return Value(found[measure], max(effect.low, 0.0), min(effect.high, 1.0))  # no mean of shares lies beyond


def _bars(found: "Sequence[Evaluation]", measure: str) -> tuple[QueryBar, ...]:
    columns = [each.values[measure].tolist() for each in found]
    rows = [
        QueryBar(query, values, values[0] - values[1] if len(values) > 1 else values[0])
        for query, *values_ in zip(found[0].query_ids, *columns, strict=True)
        if np.isfinite(values := tuple(values_)).all()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.drawn, row.query)))


def _query(
    found: _Read, evaluated: "Sequence[Evaluation]", measure: str, query: str, engine: "Engine | None"
) -> Opened:
    if query not in found.qrels:
        raise ParameterError(f"there is no judged query '{query[:80]}' among these")
    grades = found.qrels[query]
    rankings = []
    for run in found.runs:
        ordered = sorted(run.get(query, {}).items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
        rankings.append(tuple(
            Ranked(rank, name, score, grades.get(name), _title(engine, name))
            for rank, (name, score) in enumerate(ordered, start=1)
        ))  # fmt: skip
    values = tuple(each.per_query(measure)[query] for each in evaluated)
    return Opened(query, values, tuple(rankings), sum(grade > 0 for grade in grades.values()))


def _title(engine: "Engine | None", name: str) -> str:
    if engine is None:
        return ""
    try:
        return title_of(engine.document(name))
    except (UnknownDocumentError, GermaneError):
        return ""

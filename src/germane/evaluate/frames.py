"""Runs, judgements and topics in the shapes that other tools have them, and tables made of runs.

Everything that measures takes any of these:

| what | runs and judgements | topics |
|---|---|---|
| plain | `{"q1": {"d1": 1.5}}` | `{"q1": "heart attack"}`, or `Topic`s |
| frames (pandas, PyTerrier) | columns `qid`, `docid`, `score` or `grade`, by any of their names | `qid`, `query` |
| ir_measures, ir_datasets | `ScoredDoc`s; `Qrel`s | queries with `query_id` and `text` |
| ranx | `Run`; `Qrels` | |

No library is imported to read its values: a frame has `columns`, a ranx object `to_dict`, a record attributes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias

from germane.data import write_run
from germane.errors import GermaneError, InputError
from germane.evaluate.rankings import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    SCORE_NAMES,
    Qrels,
    Run,
    checked_grade,
    checked_id,
    checked_score,
    run_entries,
)
from germane.types import Topic

AnyRun: TypeAlias = Any
"""A run in any of the shapes above."""
AnyQrels: TypeAlias = Any
AnyTopics: TypeAlias = Any

TOPIC_NAMES = (*(name for name in QUERY_NAMES if name != "query"), "id")
"""What a topic's id may be called; `query` are its words."""
TEXT_NAMES = ("query", "text", "title")


class RunTable(dict[str, dict[str, float]]):
    """A run: query id -> document id -> score, each ranking best first. A dictionary, so that every tool can take it.

    `queries` are the words of the topics, where they are known.
    """

    def __init__(self, rankings: Run, queries: Mapping[str, str] | None = None) -> None:
        super().__init__({query: dict(scores) for query, scores in rankings.items()})
        self.queries = dict(queries or {})

    def rows(self) -> Iterator[tuple[str, str, int, float]]:
        """(qid, docid, rank, score), ranks from 1 on."""
        return ((entry.query_id, entry.doc_id, entry.rank, entry.score) for entry in run_entries(self))

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with the columns qid, docid, rank and score, and query where it is known. Needs pandas."""
        frame = dataframe(list(self.rows()), ["qid", "docid", "rank", "score"])
        if self.queries:
            frame["query"] = [self.queries.get(query, "") for query in frame["qid"]]
        return frame

    def write(self, target: str | Path | TextIO, tag: str = "germane") -> None:
        """Write it in TREC's six columns."""
        write_run(target, run_entries(self, tag))


def dataframe(rows: Sequence[Any], columns: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame of these rows."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise GermaneError("a DataFrame needs the package pandas: pip install pandas") from None
    return pandas.DataFrame(rows, columns=columns)


def as_run(source: AnyRun) -> Run:
    """The run, in whatever shape it comes; a document ranked twice for a query is an error."""
    run: Run = _as_mapping(source, _Kind("run", "score", SCORE_NAMES, checked_score))
    return run


def as_qrels(source: AnyQrels) -> Qrels:
    """The judgements, in whatever shape they come."""
    qrels: Qrels = _as_mapping(source, _Kind("qrels", "grade", GRADE_NAMES, checked_grade))
    return qrels


def as_topics(source: AnyTopics) -> list[Topic]:
    """The topics, in whatever shape they come; two of one id are an error."""
    if isinstance(source, str | Path):
        raise InputError(f"topics are values here, not a name: germane.data.read_topics({str(source)!r}) reads them")
    if isinstance(source, Mapping):
        rows: Iterable[tuple[Any, Any]] = source.items()
    elif hasattr(source, "columns"):
        names = _columns(source, "topics", (TOPIC_NAMES, TEXT_NAMES))
        rows = zip(*(_column(source, name) for name in names), strict=True)
    else:
        rows = (
            (_attribute(item, "topics", TOPIC_NAMES, 0), _attribute(item, "topics", TEXT_NAMES, 1)) for item in source
        )
    topics = []
    seen: set[str] = set()
    for number, (query, text) in enumerate(rows, 1):
        query_id = _checked(checked_id, query, "topics", number, "qid")
        if query_id in seen:
            raise InputError(f"there are two topics with the id '{query_id}'", source="topics")
        if not isinstance(text, str):
            raise InputError(f"the words of topic '{query_id}' must be a text, not {text!r}", source="topics")
        seen.add(query_id)
        topics.append(Topic(query_id, text))
    return topics


class _Kind(NamedTuple):
    """What stands beside a query and a document: its name, the names of its column, and a check."""

    what: str
    value: str
    names: tuple[str, ...]
    check: Callable[[Any], Any]


def _as_mapping(source: Any, kind: _Kind) -> Any:
    if isinstance(source, Mapping):
        return source
    if isinstance(source, str | Path):
        raise InputError(
            f"{kind.what}: a value is wanted, not the name of a file: load_{kind.what}({str(source)!r}) reads one"
        )
    if hasattr(source, "columns"):
        names = _columns(source, kind.what, (QUERY_NAMES, DOC_NAMES, kind.names))
        return _gathered(zip(*(_column(source, name) for name in names), strict=True), kind)
    if hasattr(source, "to_dict"):
        return source.to_dict()
    if not isinstance(source, Iterable):
        raise InputError(
            f"{source!r} is no {kind.what}: give {{query: {{document: {kind.value}}}}}, a frame, or records"
        )
    rows = (
        tuple(_attribute(item, kind.what, names, i) for i, names in enumerate((QUERY_NAMES, DOC_NAMES, kind.names)))
        for item in source
    )
    return _gathered(rows, kind)


def _gathered(rows: Iterable[tuple[Any, ...]], kind: _Kind) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, (query, doc, value) in enumerate(rows, 1):
        query_id = _checked(checked_id, query, kind.what, number, "qid")
        doc_id = _checked(checked_id, doc, kind.what, number, "docid")
        grades = found.setdefault(query_id, {})
        if doc_id in grades:
            raise InputError(f"query '{query_id}' has document '{doc_id}' twice", source=kind.what, line=number)
        grades[doc_id] = _checked(kind.check, value, kind.what, number, kind.value)
    return found


def _checked(check: Callable[[Any], Any], value: Any, what: str, number: int, field: str) -> Any:
    if isinstance(value, Real) and not isinstance(value, bool) and hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    try:
        return check(value)
    except ValueError as error:
        raise InputError(str(error), source=what, line=number, field=field) from None


def _columns(frame: Any, what: str, wanted: tuple[tuple[str, ...], ...]) -> list[str]:
    """The frame's own names of the columns wanted, each the first of its possible names that is there."""
    there = {str(name).lower(): name for name in frame.columns}
    found = []
    for names in wanted:
        name = next((there[name] for name in names if name in there), None)
        if name is None:
            raise InputError(
                f"the frame needs a column {' or '.join(names)}; it has {', '.join(map(str, frame.columns))}",
                source=what,
            )
        found.append(name)
    return found


def _column(frame: Any, name: str) -> list[Any]:
    values: list[Any] = list(frame[name])
    return values


def _attribute(item: Any, what: str, names: tuple[str, ...], place: int) -> Any:
    """A record's member by any of its names; of a plain tuple, by its place."""
    for name in names:
        if hasattr(item, name):
            return getattr(item, name)
    if type(item) in (tuple, list) and len(item) > place:
        return item[place]
    raise InputError(f"{item!r} has no {names[0]}", source=what)

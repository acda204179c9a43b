"""Data sets of the ir_datasets catalogue, written `irds:NAME`, for example `irds:vaswani`."""

from collections.abc import Iterator
from typing import Any

from germane.data.bad_records import OnBad, stop
from germane.data.catalog import VARIABLE
from germane.data.fields import field_value
from germane.errors import InputError
from germane.lazy import optional
from germane.types import Document, FieldValue, Judgement, Topic

PREFIX = "irds:"


def _load(source: str, what: str) -> Any:
    ir_datasets = optional("ir_datasets", f"Reading '{source}'")
    try:
        dataset = ir_datasets.load(source.removeprefix(PREFIX))
    except KeyError:
        raise InputError("ir_datasets knows no data set of this name", source=source) from None
    if not getattr(dataset, f"has_{what}")():
        raise InputError(f"this data set has no {what}", source=source)
    return dataset


def _each(source: str, what: str) -> Iterator[Any]:
    """The records of one kind. Fetching them is the package's affair: whatever it raises is an `InputError`."""
    dataset = _load(source, what)
    try:
        yield from getattr(dataset, f"{what}_iter")()
    except Exception as error:
        reason = str(error.args[0]) if error.args else type(error).__name__
        raise InputError(
            f"ir_datasets cannot give the {what} ({reason}): is there a network? A copy on disk is found by its name "
            f"in the folder that {VARIABLE} names",
            source=source,
        ) from error


def read_irds(source: str, *, on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of `irds:NAME`. Without a field `text`, that is their `default_text()`; raw bytes are left out."""
    for record in _each(source, "docs"):
        values = record._asdict()
        identifier = str(values.pop("doc_id", "")).strip()
        if not identifier:
            on_bad(InputError("the document has no id", source=source, field="doc_id"))
            continue
        fields: dict[str, FieldValue] = {
            name: _plain(value) for name, value in values.items() if not isinstance(value, bytes)
        }
        if "text" not in fields and hasattr(record, "default_text"):
            fields["text"] = record.default_text()
        yield Document(identifier, fields)


def read_irds_topics(source: str) -> Iterator[Topic]:
    """Queries of `irds:NAME`."""
    for query in _each(source, "queries"):
        text = query.default_text() if hasattr(query, "default_text") else query[1]
        yield Topic(query.query_id, text)


def read_irds_qrels(source: str) -> Iterator[Judgement]:
    """Judgements of `irds:NAME`."""
    for judgement in _each(source, "qrels"):
        yield Judgement(judgement.query_id, judgement.doc_id, int(judgement.relevance))


def _plain(value: object) -> FieldValue:
    """Tuples, plain and named, as lists and objects."""
    return field_value(_tuples(value))


def _tuples(value: object) -> object:
    if isinstance(value, tuple):
        named = getattr(value, "_asdict", None)
        return _tuples(named()) if named else [_tuples(item) for item in value]
    if isinstance(value, list):
        return [_tuples(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _tuples(item) for name, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)

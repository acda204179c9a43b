"""Documents with their labels, as the command line names the columns; and predictions, written and read again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from germane.cli.documents import tell_skipped
from germane.cli.progress import watched
from germane.cli.streams import tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.types import DEFAULT_FIELDS, text_of
from germane.wording import counted

with on_first_use(__name__):
    import orjson

    from germane import data
    from germane.data import atomic

if TYPE_CHECKING:
    from germane.types import Document

"""The columns that hold the words, unless --text names others."""
JSON_LINES = (".jsonl", ".ndjson")

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Documents: JSON Lines, CSV, TSV, a folder with a sub-folder for each class, or a data set's name.",
        show_default=False,
    ),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="The column of the label.", show_default=False)
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="COLUMN", help="A column of words; repeatable.", show_default="title and text"),
]
TextColumnsAsTrained = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="COLUMN", help="A column of words; repeatable.", show_default="as in training"),
]
FolderLabels = Annotated[
    bool, typer.Option("--folder-labels", help="DATA is a folder: the name of a file's own folder is its label.")
]


@dataclass
class Labelled:
    """Documents that were read: ids, texts and, if they were asked for, the labels of each."""

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)

    def check_ids(self, source: str) -> None:
        """Raise where an id comes twice: predictions are told apart by it."""
        repeated = [doc_id for doc_id, n in Counter(self.ids).items() if n > 1]
        if repeated:
            raise InputError(f"the id '{repeated[0]}' comes more than once", source=source)


@dataclass(frozen=True, slots=True)
class Reading:
    """Which columns to read, and how. Without a label column or `folder_labels`, labels are not read.

    `separator` cuts the label column into several labels; None says that a document has one.
    """

    source: str
    label: str | None
    text: Sequence[str]
    folder_labels: bool
    separator: str | None
    format: str | None
    encoding: str
    on_error: Literal["stop", "skip"]

    def read(self, *, progress: bool) -> Labelled:
        """All documents; `InputError` when there is none, or a column is in none of them."""
        report = data.SkipReport()
        folder = self.folder_labels or self.format == "folder"
        documents = data.read_documents(
            self.source,
            format="folder" if self.folder_labels else self.format,
            mapping={"label": "folder"} if folder else None,
            on_error=self.on_error,
            report=report,
            encoding=self.encoding,
            number=True,
        )
        columns = _Columns(self)
        labelled = Labelled()
        for document in watched(documents, "reading", always=progress):
            columns.see(document)
            try:
                text = columns.text(document)
                labels = columns.labels(document) if columns.label is not None else []
            except InputError as error:
                if self.on_error == "stop":
                    raise
                report.note(error)
                continue
            labelled.ids.append(document.id)
            labelled.texts.append(text)
            labelled.labels.append(labels)
        columns.check()
        tell_skipped(report)
        if not labelled.ids:
            skipped = f" ({counted(report.count, 'record')} skipped)" if report.count else ""
            raise InputError(f"there are no documents in it{skipped}", source=self.source)
        return labelled


class _Columns:
    """Takes the named columns out of documents, and remembers which of them were never there."""

    def __init__(self, reading: Reading) -> None:
        self._source = reading.source
        self._separator = reading.separator
        self.label = "label" if reading.folder_labels else reading.label
        self._text = tuple(reading.text) or DEFAULT_FIELDS
        self._named = bool(reading.text)
        self._unseen = {*self._text, *([self.label] if self.label is not None else [])}
        self._found: list[str] = []

    def see(self, document: "Document") -> None:
        """Note which columns the document has."""
        if not self._found:
            self._found = list(document.fields)
        if self._unseen:
            self._unseen = {name for name in self._unseen if _column(name, document) is None}

    def text(self, document: "Document") -> str:
        """The words of a document."""
        return text_of(document.fields, (_column(name, document) or name for name in self._text))

    def labels(self, document: "Document") -> list[str]:
        """The labels of a document, each once."""
        assert self.label is not None
        value = document.fields.get(_column(self.label, document) or self.label)
        if isinstance(value, list):
            several = [_written(item).strip() for item in value]
        elif self._separator is not None:
            several = [part.strip() for part in _written(value).split(self._separator)]
        else:
            several = [_written(value).strip()]
        labels = list(dict.fromkeys(label for label in several if label))
        if self._separator is None and len(labels) != 1:
            if self.label in self._unseen:
                self.check()
            what = (
                "no label" if not labels else "several labels, where the classifier gives one (train has --multi-label)"
            )
            raise InputError(f"the document '{document.id}' has {what}", source=self._source, field=self.label)
        return labels

    def check(self) -> None:
        """Raise where a column that was named is in none of the documents."""
        if not self._found:
            return
        missing = [name for name in self._text if name in self._unseen]
        listed = ", ".join(f"'{name}'" for name in self._found)
        if self.label is not None and self.label in self._unseen:
            raise InputError(f"there is no column '{self.label}' for --label; found: {listed}", source=self._source)
        if self._named and missing:
            raise InputError(f"there is no column '{missing[0]}' for --text; found: {listed}", source=self._source)
        if len(missing) == len(self._text):
            raise InputError(
                f"there is no column 'title' or 'text'; name the column of the words with --text; found: {listed}",
                source=self._source,
            )


def _column(name: str, document: "Document") -> str | None:
    """The field that a column became: the reader writes Title, Text and Year in small letters."""
    if name in document.fields:
        return name
    lower = name.lower()
    return lower if lower in (*DEFAULT_FIELDS, "year") and lower in document.fields else None


def _written(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_written(item) for item in value)
    return "" if value is None else str(value)


# -- predictions -------------------------------------------------------------------------------------------------------


def joined(labels: Iterable[str], separator: str) -> str:
    """The labels of one document in one cell of a table."""
    cell = separator.join(labels)
    if any(mark in cell for mark in "\t\r\n"):
        raise InputError(f"the label {cell!r} holds a tab or a line break, which TSV cannot; choose JSON")
    return cell


def write_predictions(path: Path, ids: Sequence[str], labels: Sequence[Sequence[str]], separator: str) -> None:
    """One document a line: TSV with the columns id and label, or JSON Lines if the name says so."""
    with atomic.open_for_writing(path) as file:
        if path.name.endswith(JSON_LINES):
            for doc_id, found in zip(ids, labels, strict=True):
                file.write(orjson.dumps({"id": doc_id, "label": list(found)}).decode() + "\n")
            return
        file.write("id\tlabel\n")
        for doc_id, found in zip(ids, labels, strict=True):
            file.write(f"{doc_id}\t{joined(found, separator)}\n")


def read_predictions(path: str, ids: Sequence[str], separator: str | None) -> list[list[str]]:
    """The labels that a file of predictions gives these documents; `InputError` if one is missing."""
    given: dict[str, list[str]] = {}
    for document in data.read_documents(path, format="tsv" if path.endswith(".txt") else None):
        value = document.fields.get("label")
        if "label" not in document.fields:
            raise InputError("predictions need the columns 'id' and 'label'", source=path)
        if isinstance(value, list):
            given[document.id] = [_written(label) for label in value]
        else:
            parts = [_written(value)] if separator is None else _written(value).split(separator)
            given[document.id] = [part.strip() for part in parts if part.strip()]
    missing = [doc_id for doc_id in ids if doc_id not in given]
    if missing:
        raise InputError(
            f"{counted(len(missing), 'document')} of {len(ids):,} have no prediction in it, '{missing[0]}' first",
            source=path,
        )
    return [given[doc_id] for doc_id in ids]


def tell_empty(n: int) -> None:
    """Say how many texts were judged by nothing but how common the classes are."""
    if n:
        tell(f"{counted(n, 'document')} without a known word: labelled by how common the classes were in training")


def labels_wanted(label: str | None, folder_labels: bool) -> None:
    """Raise unless the command line says where the labels are."""
    if label is None and not folder_labels:
        raise ParameterError("say where the labels are: --label COLUMN, or --folder-labels for a folder of each class")
    if label is not None and folder_labels:
        raise ParameterError("choose one of --label and --folder-labels")

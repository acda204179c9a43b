"""Decisions on disk: which documents were included and which excluded, in the order they were read.

`.csv`, `.tsv`, `.jsonl` and `.ris`, by the file's ending. A file is replaced whole, or stays as it was: the new one is
written beside it, brought to disk (fsync) and renamed.
"""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import orjson

from germane.data import read_documents
from germane.data.atomic import open_for_writing
from germane.errors import InputError, ParameterError
from germane.types import Document

COLUMN = "included"
COLUMNS = (COLUMN, "decision", "label", "label_included", "relevant")
"""Where a decision is looked for, in any case."""
RIS_NOTE = "germane: "
"""What an RIS note (N1) that holds a decision begins with."""
YES = frozenset({"1", "true", "yes", "y", "include", "included", "relevant"})
NO = frozenset({"0", "false", "no", "n", "exclude", "excluded", "irrelevant", "not relevant"})
ENDINGS = (".csv", ".tsv", ".jsonl", ".ris")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


def decision_of(value: object) -> bool | None:
    """True for included, False for excluded, None for not yet decided (empty); `ParameterError` for anything else.

    >>> decision_of("Included"), decision_of(0), decision_of("")
    (True, False, None)
    """
    if value is None:
        return None
    text = str(value).strip().lower().removesuffix(".0")  # a column with gaps becomes 1.0 and 0.0 in many programs
    if text in YES:
        return True
    if text in NO:
        return False
    if not text:
        return None
    raise ParameterError(f"'{value}' is no decision: 1 or 0, yes or no, included or excluded, or empty for unread")


def read_decisions(path: str | Path) -> dict[str, bool]:
    """The decisions of a file, in its order. An id that is both included and excluded is an `InputError`."""
    source = str(path)
    ending = _ending(path)
    found: dict[str, bool] = {}
    if not Path(path).exists():
        raise InputError("there is no such file of decisions", source=source)
    if not Path(path).stat().st_size:
        return found
    for document in read_documents(path, format=ending.removeprefix(".")):
        doc_id, value = _ris_decision(document) if ending == ".ris" else (document.id, _value(document, source))
        if ending in (".csv", ".tsv") and _QUOTED_FORMULA.match(doc_id):
            doc_id = doc_id[1:]
        try:
            decision = decision_of(value)
        except ParameterError as error:
            raise InputError(f"document '{doc_id}': {error}", source=source) from None
        if decision is None:
            continue
        if found.setdefault(doc_id, decision) is not decision:
            raise InputError(f"document '{doc_id}' is both included and excluded", source=source)
    return found


def write_decisions(
    path: str | Path, decisions: Mapping[str, bool], documents: Mapping[str, Document] | None = None
) -> None:
    """Replace the file by these decisions, in their order. RIS records get titles where `documents` has them."""
    ending = _ending(path)
    with open_for_writing(path) as file:
        if ending in (".csv", ".tsv"):
            tabs = ending == ".tsv"
            if tabs and (unfit := next((i for i in decisions if any(mark in i for mark in "\t\r\n")), None)):
                raise ParameterError(f"the id {unfit!r} holds a tab or a line break, which TSV cannot; choose .jsonl")
            settings = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None} if tabs else {}
            writer = csv.writer(file, lineterminator="\n", **settings)  # type: ignore[arg-type]
            writer.writerow(["id", COLUMN])
            writer.writerows([_no_formula(doc_id), int(included)] for doc_id, included in decisions.items())
            return
        for doc_id, included in decisions.items():
            if ending == ".jsonl":
                file.write(orjson.dumps({"id": doc_id, COLUMN: included}).decode() + "\n")
            else:
                document = (documents or {}).get(doc_id)
                title = " ".join(str(document.fields.get("title") or "").split()) if document else ""
                lines = [f"ID  - {_one_line(doc_id)}", *([f"TI  - {title}"] if title else [])]
                note = f"N1  - {RIS_NOTE}{'included' if included else 'excluded'}"
                file.write("\n".join(["TY  - GEN", *lines, note, "ER  - \n\n"]))


def with_decision(document: Document, included: bool, format: str) -> Document:
    """The whole record with its decision, as `read_decisions` reads it: a note in RIS, else the field `included`."""
    if format != "ris":
        return Document(document.id, {**document.fields, COLUMN: int(included)})
    note = f"{RIS_NOTE}{'included' if included else 'excluded'}"
    name = "n1" if document.fields.get("record_format") == "ris" else "note"
    notes = document.fields.get(name) or []
    return Document(document.id, {**document.fields, name: [*(notes if isinstance(notes, list) else [notes]), note]})


def _no_formula(doc_id: str) -> str:
    """The id as a cell that no spreadsheet computes: one that begins as a formula does gets an apostrophe before it."""
    return f"'{doc_id}" if _FORMULA.match(doc_id) else doc_id


def _ending(path: str | Path) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(f"'{path}' must end in {', '.join(ENDINGS)} to say how decisions are written")
    return ending


def _value(document: Document, source: str) -> object:
    by_name = {name.lower(): value for name, value in document.fields.items()}
    column = next((name for name in COLUMNS if name in by_name), None)
    if column is None:
        found = ", ".join(f"'{name}'" for name in document.fields) or "none"
        raise InputError(f"there is no column '{COLUMN}' for the decisions; found: {found}", source=source)
    return by_name[column]


def _ris_decision(document: Document) -> tuple[str, object]:
    """The id, and the decision in the notes, if there is one."""
    notes = document.fields.get("n1")
    for note in notes if isinstance(notes, list) else [notes]:
        text = str(note or "").strip()
        if text.startswith(RIS_NOTE):
            return document.id, text.removeprefix(RIS_NOTE)
    return document.id, None


def _one_line(doc_id: str) -> str:
    if doc_id != " ".join(doc_id.split()):
        raise ParameterError(f"the id {doc_id!r} has white space that RIS cannot hold; choose .csv or .jsonl")
    return doc_id

"""Decisions on disk: which documents were included and which excluded, in the order of reading; and remarks on them.

`.csv`, `.tsv`, `.jsonl` and `.ris`, by the file's ending. A file is replaced whole, or stays as it was: the new one is
written beside it, brought to disk (fsync) and renamed.
"""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from germane.data import read_documents
from germane.data.atomic import open_for_writing
from germane.errors import InputError, ParameterError
from germane.refine.screening.remarks import MAYBE, NO_REMARK, NOTE, REASON, Remark
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
    return read_remarked(path)[0]


def read_remarked(path: str | Path) -> tuple[dict[str, bool], dict[str, Remark]]:
    """The decisions of a file, and the remarks in it: reasons, notes, and which records wait for a decision."""
    source = str(path)
    ending = _ending(path)
    found: dict[str, bool] = {}
    remarks: dict[str, Remark] = {}
    if not Path(path).exists():
        raise InputError("there is no such file of decisions", source=source)
    if not Path(path).stat().st_size:
        return found, remarks
    for document in read_documents(path, format=ending.removeprefix(".")):
        doc_id = document.id
        if ending == ".ris":
            value, reason, note = (_ris_note(document, name) for name in ("", REASON, NOTE))
        else:
            value, reason, note = _value(document, source), document.fields.get(REASON), document.fields.get(NOTE)
        if ending in (".csv", ".tsv"):
            doc_id, reason, note = (_without_apostrophe(cell) for cell in (doc_id, reason, note))
        maybe = str(value).strip().lower() == MAYBE
        remark = Remark.of(reason, note, maybe)
        if remark != NO_REMARK:
            remarks[doc_id] = remark
        if maybe:
            continue
        try:
            decision = decision_of(value)
        except ParameterError as error:
            raise InputError(f"document '{doc_id}': {error}", source=source) from None
        if decision is None:
            continue
        if found.setdefault(doc_id, decision) is not decision:
            raise InputError(f"document '{doc_id}' is both included and excluded", source=source)
    return found, remarks


def write_decisions(
    path: str | Path,
    decisions: Mapping[str, bool],
    documents: Mapping[str, Document] | None = None,
    remarks: Mapping[str, Remark] | None = None,
) -> None:
    """Replace the file by these decisions, in their order, then what waits for one, each with its remark.

    RIS records get titles where `documents` has them.
    """
    ending, remarks = _ending(path), remarks or {}
    written: dict[str, bool | str] = {
        **decisions,
        **{doc_id: MAYBE if remark.maybe else "" for doc_id, remark in remarks.items() if doc_id not in decisions},
    }
    with open_for_writing(path) as file:
        if ending in (".csv", ".tsv"):
            tabs = ending == ".tsv"
            if tabs and (unfit := next((i for i in written if any(mark in i for mark in "\t\r\n")), None)):
                raise ParameterError(f"the id {unfit!r} holds a tab or a line break, which TSV cannot; choose .jsonl")
            settings = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None} if tabs else {}
            writer = csv.writer(file, lineterminator="\n", **settings)  # type: ignore[arg-type]
            names = [name for name in (REASON, NOTE) if any(name in remark.texts for remark in remarks.values())]
            writer.writerow(["id", COLUMN, *names])
            for doc_id, included in written.items():
                cells = [remarks.get(doc_id, NO_REMARK).texts.get(name, "") for name in names]
                value = included if isinstance(included, str) else int(included)
                writer.writerow([_no_formula(doc_id), value, *map(_no_formula, cells)])
            return
        for doc_id, included in written.items():
            texts = remarks.get(doc_id, NO_REMARK).texts
            if ending == ".jsonl":
                file.write(orjson.dumps({"id": doc_id, COLUMN: included, **texts}).decode() + "\n")
            else:
                document = (documents or {}).get(doc_id)
                title = " ".join(str(document.fields.get("title") or "").split()) if document else ""
                lines = [f"ID  - {_one_line(doc_id)}", *([f"TI  - {title}"] if title else [])]
                notes = [f"N1  - {note}" for note in _ris_notes(included, texts)]
                file.write("\n".join(["TY  - GEN", *lines, *notes, "ER  - \n\n"]))


def with_decision(document: Document, included: bool, format: str, remark: Remark = NO_REMARK) -> Document:
    """The whole record with its decision and remark, as `read_remarked` reads them: notes in RIS, fields elsewhere."""
    if format != "ris":
        return Document(document.id, {**document.fields, COLUMN: int(included), **remark.texts})
    name = "n1" if document.fields.get("record_format") == "ris" else "note"
    notes = document.fields.get(name) or []
    own = notes if isinstance(notes, list) else [notes]
    return Document(document.id, {**document.fields, name: [*own, *_ris_notes(included, remark.texts)]})


def _ris_notes(included: bool | str, texts: Mapping[str, str]) -> list[str]:
    said = included if isinstance(included, str) else "included" if included else "excluded"
    return [f"{RIS_NOTE}{said}", *(f"{RIS_NOTE}{name}: {text}" for name, text in texts.items())]


def _no_formula(text: str) -> str:
    """The text as a cell that no spreadsheet computes: an apostrophe before one that begins as a formula does."""
    return f"'{text}" if _FORMULA.match(text) else text


def _without_apostrophe(cell: object) -> Any:
    """The cell as it was before `_no_formula`."""
    return cell[1:] if isinstance(cell, str) and _QUOTED_FORMULA.match(cell) else cell


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


def _ris_note(document: Document, name: str) -> object:
    """The decision in the notes, or, with a name, the remark of that name; None where there is none."""
    notes = document.fields.get("n1")
    for note in notes if isinstance(notes, list) else [notes]:
        text = str(note or "").strip()
        if not text.startswith(RIS_NOTE.strip()):
            continue
        text = text.removeprefix(RIS_NOTE.strip()).strip()
        found = next((known for known in (REASON, NOTE) if text.startswith(f"{known}: ")), "")
        if found == name:
            return text.removeprefix(f"{name}: ") if name else text
    return None


def _one_line(doc_id: str) -> str:
    if doc_id != " ".join(doc_id.split()):
        raise ParameterError(f"the id {doc_id!r} has white space that RIS cannot hold; choose .csv or .jsonl")
    return doc_id

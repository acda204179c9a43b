"""Decisions on disk: which documents were included and which excluded, in the order of reading; with annotations.

`.csv`, `.tsv`, `.jsonl` and `.ris`, by the file's ending. A file is replaced whole, or stays as it was: the new one is
written beside it, brought to disk (fsync) and renamed.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import orjson

from germane.data import read_documents
from germane.data.atomic import open_for_writing
from germane.data.formulas import no_formula, without_apostrophe
from germane.errors import InputError, ParameterError
from germane.refine.screening.annotations import NO_ANNOTATION, Annotation
from germane.refine.screening.verdicts import (
    COLUMN,
    NO_VERDICT,
    TEXTS,
    Verdict,
    columns_of,
    from_columns,
    from_notes,
    notes_of,
)
from germane.types import Document

ENDINGS = (".csv", ".tsv", ".jsonl", ".ris")


def read_decisions(path: str | Path) -> dict[str, bool]:
    """The decisions of a file, in its order. An id that is both included and excluded is an `InputError`."""
    return {doc_id: said.included for doc_id, said in read_verdicts(path).items() if said.included is not None}


def read_verdicts(path: str | Path) -> dict[str, Verdict]:
    """What a file says of each document: decision, annotation, who decided and when. Unread ones are left out."""
    source = str(path)
    ending = _ending(path)
    found: dict[str, Verdict] = {}
    if not Path(path).exists():
        raise InputError("there is no such file of decisions", source=source)
    if not Path(path).stat().st_size:
        return found
    table = ending in (".csv", ".tsv")
    for document in read_documents(path, format=ending.removeprefix(".")):
        doc_id = without_apostrophe(document.id) if table else document.id
        try:
            column = None if ending == ".ris" else from_columns(document.fields, table=table)
            said = [column] if column is not None else from_notes(document.fields)
        except ParameterError as error:
            raise InputError(f"document '{doc_id}': {error}", source=source) from None
        if not said and ending != ".ris":
            names = ", ".join(f"'{name}'" for name in document.fields) or "none"
            raise InputError(f"there is no column '{COLUMN}' for the decisions; found: {names}", source=source)
        for verdict in said:
            before = found.get(doc_id, NO_VERDICT)
            if {before.included, verdict.included} == {True, False}:
                raise InputError(f"document '{doc_id}' is both included and excluded", source=source)
            if verdict.word or verdict.annotation != NO_ANNOTATION:
                found[doc_id] = before if verdict.included is None and before.included is not None else verdict
    return found


def write_decisions(
    path: str | Path,
    decisions: Mapping[str, bool],
    documents: Mapping[str, Document] | None = None,
    annotations: Mapping[str, Annotation] | None = None,
) -> None:
    """Replace the file by these decisions, in their order, then what waits for one, each with its annotation.

    RIS records get titles where `documents` has them.
    """
    write_verdicts(path, verdicts(decisions, annotations or {}), documents)


def verdicts(decisions: Mapping[str, bool], annotations: Mapping[str, Annotation]) -> dict[str, Verdict]:
    """The decisions with their annotations, in their order, then the annotations on what is not decided."""
    return {
        doc_id: Verdict(decisions.get(doc_id), annotations.get(doc_id, NO_ANNOTATION))
        for doc_id in dict.fromkeys([*decisions, *annotations])
    }


def write_verdicts(
    path: str | Path, said: Mapping[str, Verdict], documents: Mapping[str, Document] | None = None
) -> None:
    """Replace the file by these verdicts, in their order."""
    ending = _ending(path)
    with open_for_writing(path) as file:
        if ending in (".csv", ".tsv"):
            tabs = ending == ".tsv"
            if tabs and (unfit := next((i for i in said if any(mark in i for mark in "\t\r\n")), None)):
                raise ParameterError(f"the id {unfit!r} holds a tab or a line break, which TSV cannot; choose .jsonl")
            settings = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None} if tabs else {}
            writer = csv.writer(file, lineterminator="\n", **settings)  # type: ignore[arg-type]
            names = [name for name in TEXTS if any(name in verdict.texts for verdict in said.values())]
            writer.writerow(["id", COLUMN, *names])
            for doc_id, verdict in said.items():
                cells = [verdict.texts.get(name, "") for name in names]
                writer.writerow([no_formula(doc_id), columns_of(verdict)[COLUMN], *map(no_formula, cells)])
            return
        for doc_id, verdict in said.items():
            if ending == ".jsonl":
                file.write(orjson.dumps({"id": doc_id, **columns_of(verdict)}).decode() + "\n")
            else:
                document = (documents or {}).get(doc_id)
                title = " ".join(str(document.fields.get("title") or "").split()) if document else ""
                lines = [f"ID  - {_one_line(doc_id)}", *([f"TI  - {title}"] if title else [])]
                notes = [f"N1  - {note}" for note in notes_of(verdict)]
                file.write("\n".join(["TY  - GEN", *lines, *notes, "ER  - \n\n"]))


def _ending(path: str | Path) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(f"'{path}' must end in {', '.join(ENDINGS)} to say how decisions are written")
    return ending


def _one_line(doc_id: str) -> str:
    if doc_id != " ".join(doc_id.split()):
        raise ParameterError(f"the id {doc_id!r} has white space that RIS cannot hold; choose .csv or .jsonl")
    return doc_id

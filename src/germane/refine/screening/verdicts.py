"""A person's verdict on a record, carried with the record: written so that other tools read it, and read from theirs.

RIS, MEDLINE and EndNote XML hold it in notes: our own (`germane: included`, `germane: exclusion_reason: ...`), then
ASReview's label (`ASReview_relevant`) and, where the reviewer has a name, Rayyan's line
(`RAYYAN-INCLUSION: {"ann"=>"Included"}`). Tables, JSON Lines and BibTeX hold it in the columns `included` (1, 0 or
"maybe"), `exclusion_reason`, `screening_note`, `decided_by` and `decided_at`.

Read are these, ASReview's columns (`asreview_label`, `label_included`, ...) and notes, and Rayyan's notes, which hold
the verdicts of several reviewers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from germane.data.bibliographic import FORMAT_FIELD, listed
from germane.data.formulas import without_apostrophe
from germane.data.writing import MEANINGS
from germane.errors import ParameterError
from germane.refine.screening.annotations import MAYBE, NO_ANNOTATION, NOTE, REASON, Annotation
from germane.types import Document, FieldValue

COLUMN = "included"
COLUMNS = (COLUMN, "decision", "label", "label_included", "relevant", "asreview_label", "asreview_included")
"""Where a decision is looked for, in any case; the first that has one counts."""
BY, AT = "decided_by", "decided_at"
TEXTS = (REASON, NOTE, BY, AT)
OWN_COLUMNS = (COLUMN, *TEXTS)
OWN_NOTE = "germane: "
"""What a note of ours begins with."""
YES = frozenset({"1", "true", "yes", "y", "include", "included", "relevant"})
NO = frozenset({"0", "false", "no", "n", "exclude", "excluded", "irrelevant", "not relevant"})
UNREAD = frozenset({"", "-1"})
NOTED = ("ris", "medline", "endnote-xml")
"""Formats that have a verdict in notes."""

_NOTE_FIELDS = ("note", *(tag for tags in MEANINGS.values() for tag, meaning in tags.items() if meaning == "note"))
_ASREVIEW = re.compile(r"\bASReview_(relevant|irrelevant|not_seen)\b")
_ASREVIEW_WORDS = {True: "ASReview_relevant", False: "ASReview_irrelevant"}
_INCLUSION = re.compile(r"RAYYAN-INCLUSION:\s*+\{([^{}]*+)\}")
_VOTE = re.compile(r'"([^"]++)"\s*+=>\s*+"(Included|Excluded|Maybe)"')
_REASONS = re.compile(r"RAYYAN-EXCLUSION-REASONS:\s*+([^|]*+)")
_USER_NOTES = re.compile(r"USER-NOTES:\s*+\{([^{}]*+)\}")
_USER_NOTE = re.compile(r'"([^"]++)"\s*+=>\s*+\[([^\[\]]*+)\]')
_RAYYAN_WORDS = {"included": "Included", "excluded": "Excluded", MAYBE: "Maybe"}


class Verdict(NamedTuple):
    """What somebody said of a record: included, excluded or neither (None), a annotation, who said it, and when."""

    included: bool | None = None
    annotation: Annotation = NO_ANNOTATION
    by: str = ""
    at: str = ""

    @property
    def word(self) -> str:
        """The decision in a word: included, excluded, maybe, or nothing."""
        if self.included is None:
            return MAYBE if self.annotation.maybe else ""
        return "included" if self.included else "excluded"

    @property
    def texts(self) -> Mapping[str, str]:
        """All but the decision, under the names of the columns; what is not said is left out."""
        said = {**self.annotation.texts, BY: self.by, AT: self.at}
        return {name: text for name, text in said.items() if text}


NO_VERDICT = Verdict()


def decision_of(value: object) -> bool | None:
    """True for included, False for excluded, None for not yet decided (empty, -1); else a `ParameterError`.

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
    if text in UNREAD:
        return None
    raise ParameterError(f"'{value}' is no decision: 1 or 0, yes or no, included or excluded, or empty for unread")


# -- writing -----------------------------------------------------------------------------------------------------------


def with_verdict(document: Document, verdict: Verdict, format: str) -> Document:
    """The whole record with the verdict, as `verdicts_of` reads it; it stands instead of those the record came with."""
    if verdict.word == "" and verdict.annotation == NO_ANNOTATION:
        return document
    fields = {name: value for name, value in _without_notes(document.fields).items() if name not in OWN_COLUMNS}
    if format not in NOTED:
        return Document(document.id, {**fields, **columns_of(verdict)})
    name = _note_field(document.fields)
    return Document(document.id, {**fields, name: [*listed(fields.get(name)), *notes_of(verdict)]})


def columns_of(verdict: Verdict) -> dict[str, FieldValue]:
    """The verdict as columns of a table."""
    return {COLUMN: verdict.word if verdict.included is None else int(verdict.included), **verdict.texts}


def notes_of(verdict: Verdict) -> list[str]:
    """The verdict as notes: ours, ASReview's and Rayyan's."""
    notes = [f"{OWN_NOTE}{verdict.word}", *(f"{OWN_NOTE}{name}: {text}" for name, text in verdict.texts.items())]
    if verdict.included is not None:
        notes.append(_ASREVIEW_WORDS[verdict.included])
    if verdict.by and verdict.word:
        parts = [f'RAYYAN-INCLUSION: {{"{_quotable(verdict.by)}"=>"{_RAYYAN_WORDS[verdict.word]}"}}']
        if verdict.annotation.reason:
            parts.append(f"RAYYAN-EXCLUSION-REASONS: {verdict.annotation.reason.replace('|', '/')}")
        if verdict.annotation.note:
            parts.append(f'USER-NOTES: {{"{_quotable(verdict.by)}"=>["{_quotable(verdict.annotation.note)}"]}}')
        notes.append(" | ".join(parts))
    return notes


def _quotable(text: str) -> str:
    """The text without the signs that Rayyan's notes are built of."""
    return text.translate(str.maketrans('"{}[]|', "'()()/"))


def _note_field(fields: Mapping[str, FieldValue]) -> str:
    """The field of a record that its format has its notes in."""
    meanings = MEANINGS.get(str(fields.get(FORMAT_FIELD)), {})
    return next((tag for tag, meaning in meanings.items() if meaning == "note"), "note")


def _without_notes(fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields without notes that are verdicts."""
    kept: dict[str, FieldValue] = {}
    for name, value in fields.items():
        if name in _NOTE_FIELDS and any(map(_is_verdict, listed(value))):
            notes: list[Any] = [note for note in listed(value) if not _is_verdict(note)]
            if notes:
                kept[name] = notes[0] if len(notes) == 1 else notes
        else:
            kept[name] = value
    return kept


def _is_verdict(note: str) -> bool:
    return note.startswith(OWN_NOTE.strip()) or bool(_ASREVIEW.fullmatch(note.strip()) or _INCLUSION.match(note))


# -- reading -----------------------------------------------------------------------------------------------------------


def verdicts_of(document: Document, *, table: bool = False) -> list[Verdict]:
    """The verdicts that a record came with, one for each reviewer; what is no verdict is passed over.

    `table`: it comes from CSV or TSV, where an apostrophe keeps a text from being a formula.
    """
    column, notes = None, list[Verdict]()
    with suppress(ParameterError):  # a column or note of that name which says something else
        column = from_columns(document.fields, table=table)
    with suppress(ParameterError):
        notes = [verdict for verdict in from_notes(document.fields) if verdict.word]
    return [column] if column is not None and column.word else notes


def from_columns(fields: Mapping[str, FieldValue], *, table: bool) -> Verdict | None:
    """The verdict in the columns of a record; None where there is no column for one, `ParameterError` for another."""
    by_name = {name.lower(): value for name, value in fields.items()}
    columns = [name for name in COLUMNS if name in by_name]
    if not columns:
        return None
    value = next((by_name[name] for name in columns if str(by_name[name] or "").strip()), by_name[columns[0]])
    read = without_apostrophe if table else str
    said = {name: read(str(by_name.get(name) or "")) for name in TEXTS}
    maybe = str(value).strip().lower() == MAYBE
    annotation = Annotation.of(said[REASON], said[NOTE] or by_name.get("asreview_note"), maybe)
    return Verdict(None if maybe else decision_of(value), annotation, said[BY], said[AT])


def from_notes(fields: Mapping[str, FieldValue]) -> list[Verdict]:
    """The verdicts in a record's notes: ours, else Rayyan's, else ASReview's."""
    notes = _notes(fields)
    return [*_ours(notes)] or [*_rayyans(notes)] or [*_asreviews(notes)]


def _notes(fields: Mapping[str, FieldValue]) -> list[str]:
    return [note.strip() for name in _NOTE_FIELDS for note in listed(fields.get(name))]


def _said_by_us(note: str) -> bool:
    return note.startswith(OWN_NOTE.strip())


def _ours(notes: Iterable[str]) -> Iterator[Verdict]:
    said = [note.removeprefix(OWN_NOTE.strip()).strip() for note in notes if _said_by_us(note)]
    named = [next((name for name in TEXTS if text.startswith(f"{name}: ")), "") for text in said]
    begins = [place for place, name in enumerate(named) if not name]
    for begin, end in pairwise([*begins, len(said)]):
        texts = {name: text.removeprefix(f"{name}: ") for name, text in zip(named[begin:end], said[begin:end],
                                                                            strict=True)}  # fmt: skip
        annotation = Annotation.of(texts.get(REASON), texts.get(NOTE), said[begin].lower() == MAYBE)
        decision = None if annotation.maybe else decision_of(said[begin])
        yield Verdict(decision, annotation, texts.get(BY, ""), texts.get(AT, ""))


def _rayyans(notes: Iterable[str]) -> Iterator[Verdict]:
    for note in notes:
        votes = _INCLUSION.search(note)
        if votes is None:
            continue
        reasons, users = _REASONS.search(note), _USER_NOTES.search(note)
        written = {name: text.replace('"', "") for name, text in _USER_NOTE.findall(users[1] if users else "")}
        for name, word in _VOTE.findall(votes[1]):
            included = {"Included": True, "Excluded": False}.get(word)
            reason = reasons[1] if reasons and included is False else ""
            yield Verdict(included, Annotation.of(reason, written.get(name), word == "Maybe"), name)


def _asreviews(notes: Iterable[str]) -> Iterator[Verdict]:
    for note in notes:
        for word in _ASREVIEW.findall(note):
            if word != "not_seen":
                yield Verdict(word == "relevant")
                return

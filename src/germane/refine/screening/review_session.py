"""A review session: records are read one at a time, each is decided, and what was done can be undone.

The records come in the order that the screening proposes after each decision. Those that wait (maybe) come when nothing
else is left.
"""

from typing import NamedTuple

from germane.refine.screening.annotations import NO_ANNOTATION, Annotation
from germane.refine.screening.session import Screening, Suggestion


class Step(NamedTuple):
    """One change: the document, and what was said of it before and after."""

    id: str
    before: tuple[bool | None, Annotation]
    after: tuple[bool | None, Annotation]


class ReviewSession:
    """One record at a time: `record` is the one to read; each call that decides it goes on to the next.

    Nothing is kept here but the way back: every change is the screening's own, and on disk if that has a store.

    >>> from germane.types import Document
    >>> documents = [Document("a", {"title": "copper in the liver"}), Document("b", {"title": "copper wires"})]
    >>> session = ReviewSession(Screening(documents, first=["b"]))
    >>> session.exclude("no patients")
    >>> session.record.id, session.screening.annotations["b"].reason
    ('a', 'no patients')
    >>> session.undo(), session.record.id
    ('b', 'b')
    """

    def __init__(self, screening: Screening) -> None:
        self.screening = screening
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._ahead = 0
        """Records passed over since the last decision."""
        self._pinned: str | None = None
        """A record that undoing or redoing brought back before the reader."""

    @property
    def record(self) -> Suggestion | None:
        """The record to read; None when every one is decided."""
        return self._proposed(self._ahead)

    def _proposed(self, ahead: int) -> Suggestion | None:
        """The record so many places on."""
        waiting = {doc_id for doc_id, annotation in self.screening.annotations.items() if annotation.maybe}
        wanted = ahead + 1 + len(waiting) + (self._pinned is not None)
        found = self.screening.next(len(self.screening.documents) if self._pinned else wanted)
        others = [one for one in found if one.id not in waiting and one.id != self._pinned]
        kept = [one for one in found if one.id == self._pinned] + others
        if ahead >= len(kept):
            kept += [one for one in found if one.id in waiting and one.id != self._pinned]
        return kept[ahead] if ahead < len(kept) else None

    # -- deciding ------------------------------------------------------------------------------------------------------

    def include(self) -> None:
        """Yes."""
        self._decide(True, "")

    def exclude(self, reason: str = "") -> None:
        """No, and why."""
        self._decide(False, reason)

    def postpone(self) -> None:
        """Maybe: it comes again when nothing else is left."""
        record = self.record
        if record is not None:
            self._do(record.id, (None, Annotation.of("", self._annotation(record.id).note, maybe=True)))

    def note(self, text: str) -> None:
        """Put a note on the record, instead of the one it has; an empty text takes it off. The record stays."""
        record = self.record
        if record is not None:
            pinned, ahead = self._pinned, self._ahead
            known = self._annotation(record.id)
            self._do(record.id, (None, Annotation.of(known.reason, text, known.maybe)))
            self._pinned, self._ahead = pinned, ahead

    def _decide(self, relevant: bool, reason: str) -> None:
        record = self.record
        if record is not None:
            self._do(record.id, (relevant, Annotation.of(reason, self._annotation(record.id).note)))

    def _do(self, doc_id: str, after: tuple[bool | None, Annotation]) -> None:
        step = Step(doc_id, self._said(doc_id), after)
        self.screening.put(doc_id, *after)
        self._done.append(step)
        self._undone.clear()
        self._ahead, self._pinned = 0, None

    # -- moving --------------------------------------------------------------------------------------------------------

    def forward(self) -> bool:
        """Pass the record over for now; False where no other is left."""
        if self._proposed(self._ahead + 1) is None:
            return False
        self._ahead += 1
        return True

    def back(self) -> bool:
        """Back to the record before this one that was passed over; False where there is none."""
        if not self._ahead:
            return False
        self._ahead -= 1
        return True

    def undo(self) -> str | None:
        """Take the last change back, also the last decision of an earlier session; the document's id, None of nothing.

        Its record is before the reader again.
        """
        if self._done:
            step = self._done.pop()
        elif self.screening.decisions:
            doc_id = next(reversed(list(self.screening.decisions)))
            step = Step(doc_id, (None, Annotation(note=self._annotation(doc_id).note)), self._said(doc_id))
        else:
            return None
        self.screening.put(step.id, *step.before)
        self._undone.append(step)
        self._ahead, self._pinned = 0, step.id
        return step.id

    def redo(self) -> str | None:
        """Do again what was undone last; the document's id, None if nothing was."""
        if not self._undone:
            return None
        step = self._undone.pop()
        self.screening.put(step.id, *step.after)
        self._done.append(step)
        self._ahead, self._pinned = 0, None
        return step.id

    def _annotation(self, doc_id: str) -> Annotation:
        return self.screening.annotations.get(doc_id, NO_ANNOTATION)

    def _said(self, doc_id: str) -> tuple[bool | None, Annotation]:
        return self.screening.decisions.get(doc_id), self._annotation(doc_id)

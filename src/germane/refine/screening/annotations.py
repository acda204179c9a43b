"""What a reader says of a record beside yes and no: that it waits, why it was excluded, and a note."""

from collections.abc import Mapping
from typing import NamedTuple

REASON, NOTE = "exclusion_reason", "screening_note"
"""The columns of a file of decisions, and the fields of a record, that hold them."""
MAYBE = "maybe"
"""What stands in the place of a decision on a record that waits for one."""


class Annotation(NamedTuple):
    """Why a record was excluded, a note on it, and whether it waits: to be read again when all others are read."""

    reason: str = ""
    note: str = ""
    maybe: bool = False

    @classmethod
    def of(cls, reason: object, note: object, maybe: bool = False) -> "Annotation":
        """Each text in one line, as every format can hold it."""
        return cls(_one_line(reason), _one_line(note), maybe)

    @property
    def texts(self) -> Mapping[str, str]:
        """What is said, under the names of the columns; what is not said is left out."""
        return {name: text for name, text in ((REASON, self.reason), (NOTE, self.note)) if text}


NO_ANNOTATION = Annotation()


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())

"""What is answered of documents and of files of them, as every door prints it: frozen values with `to_dict()`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from germane.data.duplicates import Duplicate
from germane.schema import Response
from germane.types import Document, FieldValue


@dataclass(frozen=True, slots=True)
class DocumentResponse(Response):
    """A document as it was added."""

    id: str
    fields: Mapping[str, FieldValue]


@dataclass(frozen=True, slots=True)
class DuplicateResponse(Response):
    """A record left out: its place in the input, from 1, the record kept for it, what they share (`doi`, `pmid`,
    `title`), and how alike their titles are."""

    id: str
    place: int
    kept: str
    kept_place: int
    reason: str
    similarity: float
    title: str


@dataclass(frozen=True, slots=True)
class DedupeResponse(Response):
    """How many records there were, how many works they describe, and which were left out."""

    records: int
    unique: int
    duplicates: tuple[DuplicateResponse, ...]

    @classmethod
    def of(cls, records: Sequence[Document], found: Sequence[Duplicate]) -> "DedupeResponse":
        """The duplicates under the ids of their records."""
        left_out = tuple(
            DuplicateResponse(
                records[one.place].id,
                one.place + 1,
                records[one.kept].id,
                one.kept + 1,
                one.reason,
                one.similarity,
                " ".join(str(records[one.place].fields.get("title") or "").split()),
            )
            for one in found
        )
        return cls(len(records), len(records) - len(found), left_out)

"""Which version of a learnt model made the vectors of a field."""

from typing import NamedTuple

from germane.engine.models.values import ModelVersion
from germane.index.vector_fields import VectorField


class FieldSource(NamedTuple):
    """The version of a model, and the SHA-256 of its file."""

    name: str
    version: int
    digest: str

    @classmethod
    def of(cls, version: ModelVersion) -> "FieldSource":
        """As the store has it."""
        return cls(version.name, version.version, version.file)

    @classmethod
    def read(cls, field: VectorField | None) -> "FieldSource | None":
        """As a field has it; None where the field is not a model's."""
        reference, _, digest = (field.source if field is not None else "").partition(" ")
        name, _, number = reference.partition("@")
        return cls(name, int(number), digest) if number.isdigit() else None

    @property
    def reference(self) -> str:
        """clicks@3"""
        return f"{self.name}@{self.version}"

    def __str__(self) -> str:
        return f"{self.reference} {self.digest}"

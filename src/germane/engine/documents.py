"""What callers hand over as documents: `Document`s, or mappings with an id."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Literal, TypeAlias

import orjson

from germane.data.fields import VECTORS, document_id, field_value
from germane.errors import ParameterError
from germane.index.writer import OnDuplicate
from germane.types import Document, FieldValue

OnKnown: TypeAlias = OnDuplicate | Literal["merge"]
"""What becomes of a document whose id is there."""


def as_documents(documents: Iterable[Document | Mapping[str, Any]]) -> Iterator[Document]:
    """Each as a `Document`; `ParameterError` for what cannot be one, with its place in the list."""
    if isinstance(documents, Document | Mapping | str | bytes) or not isinstance(documents, Iterable):
        raise ParameterError(f"documents come in a list, or another iterable, not as one {type(documents).__name__}")
    return _each(documents)


def _each(documents: Iterable[Document | Mapping[str, Any]]) -> Iterator[Document]:
    for place, document in enumerate(documents):
        if not isinstance(document, Document):
            yield _from_mapping(document, place)
        elif isinstance(document.id, int) and document_id(document.id):
            yield Document(str(document.id), document.fields, document.vectors)
        else:
            yield document


def _from_mapping(given: object, place: int) -> Document:
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"documents[{place}] is a {type(given).__name__}: a document is a Document, or a mapping with an 'id'"
        )
    identifier = document_id(given.get("id"))
    if identifier is None:
        found = ", ".join(f"{name!r}" for name in given) or "nothing"
        raise ParameterError(
            f"documents[{place}] has no usable 'id': a string that is not empty, or a whole number; it has {found}"
        )
    vectors = given.get(VECTORS)
    apart = ("id", VECTORS) if isinstance(vectors, Mapping) else ("id",)
    fields = {str(name): _field(value, place, name) for name, value in given.items() if name not in apart}
    return Document(identifier, fields, vectors if isinstance(vectors, Mapping) else {})


def _field(value: object, place: int, name: object) -> FieldValue:
    """Scalars and lists as they are, dates as ISO writes them, whatever is nested as JSON text."""
    if isinstance(value, date):
        return value.isoformat()
    try:
        return field_value([*value] if isinstance(value, tuple | set | frozenset) else value)
    except orjson.JSONEncodeError as error:
        raise ParameterError(f"documents[{place}]: the field {name!r} cannot be stored: {error}") from None

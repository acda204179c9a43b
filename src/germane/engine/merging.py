"""Documents that change some of their fields and keep the others."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from germane.errors import ParameterError
from germane.index.snapshot import Snapshot
from germane.types import DocId, Document, id_text


def change_of(doc_id: DocId, fields: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is to change of one document, as a mapping with its id."""
    if not isinstance(fields, Mapping):
        raise ParameterError(f"update({doc_id!r}, {{...}}) takes the fields to change as a mapping, not {fields!r:.60}")
    if "id" in fields and id_text(fields["id"]) != id_text(doc_id):
        raise ParameterError(
            f"an id cannot be changed: add {fields['id']!r:.60} as a document, and delete {doc_id!r:.60}"
        )
    return {**fields, "id": doc_id}


def merged_with(snapshot: Snapshot, changes: Iterable[Document], *, known: bool) -> Iterator[Document]:
    """Each document as the snapshot has it, with these fields and vectors put in place; None removes one.

    One that is not there is as it comes; with `known` it is an error. One that comes twice is changed twice.
    """
    made: dict[str, Document] = {}
    for change in changes:
        before = made.get(change.id)
        if before is None and (known or snapshot.locate(change.id) is not None):
            before = snapshot.document(change.id, vectors=True)
        if before is None:
            before = Document(change.id)
        if not isinstance(change.fields, Mapping) or not isinstance(change.vectors, Mapping):
            raise ParameterError(f"document '{change.id}': fields and vectors are mappings from names to values")
        made[change.id] = after = Document(
            change.id, _changed(before.fields, change.fields), _changed(before.vectors, change.vectors)
        )
        yield after


def _changed(before: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    kept = {**before, **change}
    return {name: value for name, value in kept.items() if name not in change or value is not None}

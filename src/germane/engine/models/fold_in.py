"""Vector fields whose vectors a learnt model makes: folded in with the documents, all of one version of the model.

The field has the name of the model, and its `source` names the version and the SHA-256 of its file (`source.py`). It
stands in the manifest and in every file of vectors, so that vectors of two versions never lie in one field.

- A promotion folds all documents in anew, in one commit; a model that keeps nothing of documents (WTM) has no field.
- Documents that are added bring their vectors with them, in the commit of their segment; deleted ones take theirs away.
- Where another version serves than the field is of (a promotion while another process was writing), a second stage
  leaves the field alone and folds in for itself, and the next change of the index begins with the field.
"""

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from germane.arrays import AnyArray, Integers
from germane.engine.models.model_store import ModelStore
from germane.engine.models.source import FieldSource
from germane.errors import InputError, ParameterError
from germane.index.live_segment import LiveSegment
from germane.index.vector_fields import VectorField
from germane.index.writer import IndexWriter
from germane.latent.saving import LatentModel
from germane.rank.retrievers.learnt import titles_of
from germane.types import Document, title_of

BATCH = 512
"""Documents that are folded in at a time."""


def sources_of(fields: Mapping[str, VectorField]) -> dict[str, FieldSource]:
    """The fields that models make, and which."""
    return {name: source for name, field in fields.items() if (source := FieldSource.read(field)) is not None}


def is_behind(store: ModelStore, name: str, fields: Mapping[str, VectorField]) -> bool:
    """Whether the field of a model is not what the version that serves would make it."""
    serving, source = store.serving(name), FieldSource.read(fields.get(name))
    if serving is None:
        return source is not None
    if source == FieldSource.of(serving):
        return False
    return source is not None or (name not in fields and store.stage(name).model.width > 0)


def removed_sources(store: ModelStore, fields: Mapping[str, VectorField]) -> list[str]:
    """The fields whose vectors a version made that is no longer there."""
    return [name for name, source in sources_of(fields).items() if source.reference not in store]


def follow(store: ModelStore, name: str, writer: IndexWriter, *, anew: bool = False) -> int:
    """Make the field of a model that of the version that serves, `anew` even if it is; how many documents were
    folded in."""
    fields, serving = writer.snapshot.manifest.vector_fields, store.serving(name)
    if not (anew or is_behind(store, name, fields)):
        return 0
    try:
        model = None if serving is None else store.stage(f"{name}@{serving.version}").model
    except InputError:
        if name in removed_sources(store, fields):  # what was removed goes, though nothing can take its place
            writer.vectors.drop(name)
        raise
    if serving is None or model is None or not model.width:
        writer.vectors.drop(name)
        return 0
    field = VectorField(model.width, "float32", "dot", str(FieldSource.of(serving)))
    snapshot = writer.snapshot

    def rows_of(live: LiveSegment, docs: Integers) -> AnyArray:
        return model.encode(titles_of(snapshot, live, docs))

    return writer.vectors.fill(name, field, rows_of)


def folding_in(store: ModelStore, writer: IndexWriter, documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with their vectors in each field that a model makes, once all these fields are up to date.

    A damaged model makes none, of which a warning tells: documents are not kept out by it, and a second stage folds in
    for itself where vectors are missing.
    """
    for name in sources_of(writer.snapshot.manifest.vector_fields):
        try:
            follow(store, name, writer)
        except InputError as error:
            warnings.warn(f"the vectors '{name}' are not renewed: {error}", stacklevel=3)
    manifest = writer.snapshot.manifest
    models: dict[str, LatentModel] = {}
    for name, source in sources_of(manifest.vector_fields).items():
        try:
            models[name] = store.stage(source.reference).model
        except InputError as error:
            warnings.warn(f"documents are added without vectors '{name}': {error}", stacklevel=3)
    return _with_vectors(documents, models, manifest.text_fields) if models else iter(documents)


def _with_vectors(
    documents: Iterable[Document], models: Mapping[str, LatentModel], text_fields: tuple[str, ...]
) -> Iterator[Document]:
    reading = iter(documents)
    while batch := list(itertools.islice(reading, BATCH)):
        titles = [title_of(document.fields, text_fields) for document in batch]
        made = {name: model.encode(titles) for name, model in models.items()}
        for row, document in enumerate(batch):
            own = document.vectors or {}
            if not isinstance(own, Mapping):  # which the writer has words for
                yield document
                continue
            given = next((name for name in own if name in models), None)
            if given is not None:
                raise InputError(
                    f"document '{document.id}': the vectors '{given}' are made by the model of that name: leave them "
                    "out, or give yours in another field"
                )
            yield replace(document, vectors={**own, **{name: rows[row] for name, rows in made.items()}})


def encoder_of(store: ModelStore, name: str, field: VectorField) -> LatentModel | None:
    """The model that made the vectors of a field, to encode queries by; None where callers bring them."""
    source = FieldSource.read(field)
    if source is None:
        return None
    stage = store.stage(source.reference)
    if stage.source != str(source):
        raise ParameterError(
            f"the vectors '{name}' were made by another model than '{source.reference}' is now: germane vectors fold "
            "makes them anew"
        )
    return stage.model

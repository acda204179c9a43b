"""The documents of an index that an older version made, to be indexed anew: ids and stored fields never changed.

An index of this version that does not keep the order of words is taken for one: it was made before that was kept.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from germane.errors import IndexFormatError
from germane.index.container import Container
from germane.index.deletions import read_bitmap
from germane.index.manifest import UPGRADED, Manifest, read_manifest
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import Vectors
from germane.types import Document, text_of


def old_manifest(folder: Path) -> Manifest:
    """The manifest of an index of a format that is not read as it is, or of one that is without the order of words."""
    try:
        manifest = read_manifest(folder)
    except IndexFormatError:
        return read_manifest(folder, UPGRADED[-1])
    if manifest.positions:
        raise IndexFormatError(f"{folder} is read as it is and keeps the order of words: there is nothing to upgrade")
    return manifest


def old_vectors(folder: Path, manifest: Manifest) -> Iterator[tuple[str, list[str], Vectors]]:
    """The vectors of its documents that are not deleted: field, ids, and a row for each."""
    if not manifest.vector_fields:
        return
    for live in Snapshot.open(folder).segments:
        for name, file in live.vectors.items():
            if file.field.source:  # of a learnt model, which stays with the old index
                continue
            rows = np.flatnonzero(~live.deletions.deleted[file.docs])
            yield name, live.segment.doc_ids(file.docs[rows].astype(np.int64)), file.floats(rows)


def old_documents(folder: Path, manifest: Manifest) -> Iterator[Document]:
    """Its documents that are not deleted; an error if their text was never stored."""
    for entry in manifest.segments:
        segment = Segment(folder / entry.name)  # of which only the documents are as they are now
        ids = segment.doc_ids(np.arange(segment.n_docs))
        gone: set[int] = set()
        if entry.deletions:
            gone.update(read_bitmap(Container(folder / entry.deletions), len(ids)).nonzero()[0].tolist())
        lost = bool(segment.n_tokens)
        for doc, fields in enumerate(segment.stored.all_fields()):
            if doc not in gone:
                lost &= not text_of(fields, manifest.text_fields)
                yield Document(ids[doc], fields)
        if lost:
            raise IndexFormatError(f"{folder / entry.name} was made without its text: import that collection again")

"""Make a new index of one that an older version of Germane made."""

import os
from pathlib import Path

from germane.engine.engine import Engine
from germane.index.upgrade import old_documents, old_manifest, old_vectors


def upgraded(kind: type[Engine], old: Path, new: str | os.PathLike[str]) -> Engine:
    """Copy all documents and the vectors that callers gave; the old index stays as it is."""
    manifest = old_manifest(old)
    vectors = {name: field for name, field in manifest.vector_fields.items() if not field.source}
    engine = kind.create(new, analyzer=manifest.analyzer, fields=manifest.text_fields, vectors=vectors)
    try:
        engine.add(old_documents(old, manifest))
        for name, ids, matrix in old_vectors(old, manifest):
            engine.set_vectors(name, ids, matrix)
    except BaseException:
        engine.close()
        raise
    return engine

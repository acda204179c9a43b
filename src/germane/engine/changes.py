"""What an engine changes: documents and their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from germane.engine import changing
from germane.engine.documents import OnKnown, as_documents
from germane.engine.merging import change_of
from germane.engine.open_collections import OpenCollections
from germane.engine.open_index import OpenIndex
from germane.engine.searching import Searching
from germane.errors import ParameterError
from germane.index.ingest import DEFAULT_MEMORY
from germane.index.writer import AddReport
from germane.types import DocId, Document


class EngineChanges:
    """The methods of an `Engine` that write the index."""

    _index: OpenIndex | OpenCollections
    _searching: Searching

    def add(
        self,
        documents: Iterable[Document | Mapping[str, Any]],
        *,
        on_duplicate: OnKnown = "error",
        threads: int | None = None,
        memory_mb: int = DEFAULT_MEMORY >> 20,
    ) -> AddReport:
        """Add documents in one atomic commit: durable and searchable on return, or nothing happened.

        A document is a `Document`, or a mapping with its `id` among its fields: `{"id": "1", "title": "Copper"}`. Its
        vectors, if it has any, are a mapping too: `"vectors": {"title": [0.1, 0.7]}`. Those of a learnt model that the
        index keeps (`promote`) are made as documents are added. Ids are texts: a whole number is kept as its digits.

        `on_duplicate`: what becomes of an id that is there: an "error", "replace" the old document, "skip" the new one,
        or "merge": the old document keeps its vectors and the fields that the new one lacks (`update`).
        """
        return changing.add(self._searching, as_documents(documents), on_duplicate, threads, memory_mb << 20)

    @overload
    def update(self, doc_id: DocId, fields: Mapping[str, Any], /) -> AddReport: ...

    @overload
    def update(self, documents: Iterable[Document | Mapping[str, Any]]) -> AddReport: ...

    def update(
        self, documents: DocId | Iterable[Document | Mapping[str, Any]], fields: Mapping[str, Any] | None = None
    ) -> AddReport:
        """Change some fields of a document, and keep its others and its vectors; or replace whole documents.

        `update("7", {"year": 2020, "draft": None})` sets a field and removes one (None); `"vectors": {...}` likewise.
        An id that is not there is an error. `update([...])` adds documents, replacing those of the same id as a whole;
        `add([...], on_duplicate="merge")` changes many documents in one commit.

        >>> from germane import Engine
        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": 7, "title": "Copper", "year": 1912, "draft": True}])
        ...     changed = engine.update(7, {"year": 1913, "draft": None})
        ...     engine.document(7).fields
        {'title': 'Copper', 'year': 1913}
        """
        if isinstance(documents, str | int | Integral):
            change = as_documents([change_of(documents, fields)])
            return changing.add(self._searching, change, "merge", None, DEFAULT_MEMORY, known=True)
        if fields is not None:
            raise ParameterError("update takes an id and the fields to change, or a list of whole documents")
        return self.add(documents, on_duplicate="replace")

    def delete(self, ids: Sequence[DocId], *, missing: Literal["error", "ignore"] = "error") -> int:
        """Delete documents by id; returns how many."""
        with self._index.changing() as writer:
            return writer.delete(ids, missing=missing)

    def set_vectors(
        self,
        field: str,
        ids: Sequence[DocId],
        matrix: npt.ArrayLike,
        *,
        dtype: str | None = None,
        similarity: str | None = None,
        replace: bool = False,
    ) -> int:
        """Give documents vectors in a field, one row of `matrix` for each id, in one atomic commit; how many.

        A new field is made as `dtype` (float32, float16, int8) and `similarity` (cosine, dot) say. Documents not named
        keep their vectors, unless `replace`: then the field begins anew, as for the vectors of a new model.
        """
        rows = np.asarray(matrix)
        return changing.set_vectors(self._index, field, ids, rows, dtype=dtype, similarity=similarity, replace=replace)

    def build_graphs(self, field: str | None = None, *, threads: int = 1) -> int:
        """Make the graphs by which `vector_search(..., approximate=True)` goes; how many vectors they hold now.

        A segment of LEAST vectors or more has one, beside its vectors, if it has none yet. Documents that are added
        later are searched exactly until this is asked for again. By more threads a graph is made faster, and is not
        the same each time.
        """
        return changing.build_graphs(self._index, field, threads)

    def drop_vectors(self, field: str) -> None:
        """Remove a vector field with all its vectors."""
        with self._index.changing() as writer:
            writer.vectors.drop(field)

    def merge(self) -> None:
        """Merge all segments into one and drop deleted documents for good."""
        with self._index.changing() as writer:
            writer.merges.merge_all()

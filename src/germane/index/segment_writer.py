"""The one writer of segments, whether their documents come from a collection, other segments or another engine.

The parts come in the order in which they lie in the file (`index.sections`):

    with SegmentWriter(path, doc_len) as segment:
        segment.postings(starts, docs, counts)        # as many pieces as there are
        segment.dictionary(terms, surfaces, surface_counts)
        segment.forward(starts, terms, counts)        # as many pieces as there are
        segment.documents(ids)
        segment.sequences(pieces, field_len, several) # where the order of words is known
        segment.fields(stored, columns)
        segment.finish(recovery_meta(...))

Strings come packed (`index.strings`). Lists in pieces need not fit in memory. Nothing is visible under the final name
before `finish`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.blocks import PADDING
from germane.index.columns import ColumnsWriter
from germane.index.container import ContainerWriter
from germane.index.lists import ForwardWriter, PostingsWriter
from germane.index.sections import check_layout
from germane.index.stored_fields import StoredWriter
from germane.index.strings import Packed, narrow, sort_packed

Words = npt.NDArray[np.uint32]


class SegmentWriter:
    """Writes the segment of documents whose lengths are `doc_len`."""

    def __init__(self, path: Path, doc_len: Words) -> None:
        self._container = ContainerWriter(path)
        self._doc_len = doc_len
        self._postings = PostingsWriter(self._container)
        self._forward = ForwardWriter(self._container)
        self._counted: dict[str, Any] = {}

    def postings(self, starts: Integers, docs: Words, counts: Words) -> None:
        """The next posting lists, `docs[starts[t]:starts[t + 1]]` with `counts`, none of them empty."""
        self._postings.write(starts, docs, counts)

    def dictionary(self, terms: Packed, surfaces: Packed, surface_counts: Integers) -> None:
        """The sorted terms of the lists; the commonest written form of each, empty where that is the term itself."""
        df, _ = self._postings.finish()
        self._strings("term", terms)
        self._strings("surface", surfaces)
        self._container.section("surface_count", surface_counts.astype(np.uint32))
        n_tokens = int(self._doc_len.sum(dtype=np.int64))
        self._counted = {
            "n_docs": len(self._doc_len),
            "n_terms": len(terms[1]) - 1,
            "n_tokens": n_tokens,
            "n_postings": int(df.sum()),
        }

    def forward(self, starts: Integers, terms: Words, counts: Words) -> None:
        """The lists of the next documents, `terms[starts[d]:starts[d + 1]]` ascending, with `counts`."""
        self._forward.write(starts, terms, counts)

    def documents(self, ids: Packed) -> None:
        """The documents' ids, by number."""
        self._forward.finish()
        self._container.section("doc_len", self._doc_len)
        self._strings("id", ids)
        order = sort_packed(ids, np.arange(len(ids[1]) - 1))
        self._container.section("id_order", order.astype(np.uint32))

    def sequences(self, pieces: Iterable[Words], field_len: Integers, several: Integers) -> None:
        """The order of words: packed sequences (`index.sequence_kernels`), the tokens of each field by document, and
        the documents that have a field of several values."""
        for piece in pieces:
            self._container.append("seq_words", piece)
        self._container.append("seq_words", np.zeros(PADDING, np.uint32))
        narrowest = np.min_scalar_type(field_len.max(initial=0))
        self._container.section("field_len", field_len.astype(narrowest).reshape(-1))
        self._container.section("seq_several", several.astype(np.uint32))

    def open_stored(self) -> StoredWriter:
        """Takes stored fields straight to the file, after `documents`; to be closed by `fields`."""
        return StoredWriter(self._container)

    def fields(self, stored: StoredWriter, columns: ColumnsWriter) -> None:
        """The stored fields, and those that can be filtered on once more in columns."""
        stored.write(self._container)
        self._counted["columns"] = columns.write(self._container)
        if mixed := columns.mixed():
            self._counted["numbers"] = mixed

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Flush to disk and give the file its name; `meta` says where the segment comes from."""
        check_layout(self._container.types)
        self._container.finish({**self._counted, **meta})

    def _strings(self, kind: str, strings: Packed) -> None:
        data, offsets = strings
        self._container.section(f"{kind}_bytes", data)
        self._container.section(f"{kind}_offsets", narrow(offsets.astype(np.int64, copy=False)))

    def __enter__(self) -> "SegmentWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.__exit__(kind, error, trace)

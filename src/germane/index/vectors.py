"""Vectors on disk: for each segment and vector field one more immutable file, behind the same commit.

A container of the sections `docs`, the documents that have a vector, ascending; `values`, their vectors, padded
(`index.vector_fields`); of int8 `rest`, what it leaves of each number, and `scales`, a factor for each vector.

Being files of their own, the vectors of a new model come and go without the segment being written again. A merge joins
them as it joins the segments; a deleted document's vector is never found, and goes with the next merge. The meta data
name the segment, the field and the commit, for a lost manifest, and `longest`, the largest length of a vector, by which
a search bounds its rounding.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from germane.arrays import AnyArray, Integers, Words
from germane.errors import InputError, ParameterError
from germane.index.container import Container, ContainerWriter
from germane.index.durable import discard, new_temporary, storage_errors
from germane.index.manifest import whole_number
from germane.index.vector_fields import (
    NO_PARTS,
    TYPES,
    Stored,
    VectorField,
    Vectors,
    VectorSource,
    field_named,
    largest_length,
    sorted_blocks,
)
from germane.types import Document

BLOCK = 1 << 13
"""Vectors written at a time."""
TOLERANCE = 0.02
"""How far from 1 the length of a vector may be where cosines are wanted: int8 rounds that much of few numbers."""


class VectorFile:
    """The vectors of one field of a segment, opened read-only; nothing is used before it was verified."""

    def __init__(self, path: Path, *, segment: str, n_docs: int, name: str, field: VectorField) -> None:
        self.path, self.name, self.field = path, name, field
        self.n_docs = n_docs
        self.container = Container(path)
        meta = self.container.meta
        if (meta.get("segment"), meta.get("name")) != (segment, name) or field_in(meta) != field:
            raise self.container.damage(f"not the vectors '{name}' of {segment}")
        longest = meta.get("longest")
        if not isinstance(longest, float) or not math.isfinite(longest) or longest < 0:
            raise self.container.damage("the length of its longest vector is not a number")
        self.longest = longest
        self.graph: object = None
        """What `index.graphs` opened for these vectors."""

    def __len__(self) -> int:
        return self.container.length("docs")

    @cached_property
    def docs(self) -> Words:
        """The documents that have a vector, ascending."""
        docs = self.container["docs"]
        if docs.dtype != np.uint32 or (len(docs) and (docs[-1] >= self.n_docs or np.any(docs[1:] <= docs[:-1]))):
            raise self.container.damage("the documents of the vectors do not ascend")
        return docs

    @cached_property
    def values(self) -> AnyArray:
        """The padded vectors, one a row."""
        values = self.container["values"]
        if values.dtype != TYPES[self.field.dtype] or len(values) != len(self.docs) * self.field.stride:
            raise self.container.damage("section of the wrong size: values")
        return values.reshape(len(self.docs), self.field.stride)

    @cached_property
    def _rest(self) -> AnyArray:
        """Of int8 the rest of each number; else none."""
        if self.field.dtype != "int8":
            return NO_PARTS[0]
        rest = self.container.lazily("rest")
        if rest.dtype != np.int8 or len(rest) != len(self.docs) * self.field.stride:
            raise self.container.damage("section of the wrong size: rest")
        return rest.reshape(len(self.docs), self.field.stride)

    @cached_property
    def scales(self) -> Vectors:
        """Of int8 the factor of each vector; else none."""
        if self.field.dtype != "int8":
            return NO_PARTS[1]
        scales = self.container["scales"]
        if scales.dtype != np.float32 or len(scales) != len(self.docs):
            raise self.container.damage("section of the wrong size: scales")
        return scales

    def fetch(self, rows: Integers) -> Stored:
        """Some of the vectors, as they are stored."""
        if self.field.dtype != "int8":
            return Stored(self.values[rows], *NO_PARTS)
        rest, stride = self._rest, self.field.stride
        self.container.verify("rest", rows * stride, (rows + 1) * stride)
        return Stored(self.values[rows], rest[rows], self.scales[rows])

    def floats(self, rows: Integers) -> Vectors:
        """Some of the vectors, as float32."""
        return self.field.floats(self.fetch(rows))

    def row_of(self, doc: int) -> int:
        """The row of a document's vector, -1 where it has none."""
        row = int(np.searchsorted(self.docs, doc))
        return row if row < len(self.docs) and self.docs[row] == doc else -1

    def of(self, doc: int) -> Vectors | None:
        """The vector of a document; None where it has none."""
        row = self.row_of(doc)
        return None if row < 0 else self.floats(np.array([row]))[0]

    def source(self, remap: Integers) -> VectorSource:
        """All vectors for a new file; `remap`: old document number -> new one, -1 for those left out."""
        docs = remap[self.docs]
        rows = np.flatnonzero(docs >= 0)
        return VectorSource(docs[rows], rows, self.fetch)

    def contradictions(self) -> Iterator[str]:
        """What does not fit together in a file whose checksums are right."""
        longest = 0.0
        for begin in range(0, len(self.docs), BLOCK):
            stored = self.fetch(np.arange(begin, min(begin + BLOCK, len(self.docs))))
            if not np.isfinite(self.field.floats(stored)).all():
                yield "a vector holds what is not a finite number"
                return
            if stored.values[:, self.field.dimension :].any() or stored.rest[:, self.field.dimension :].any():
                yield "the padding of vectors is not zero"
                return
            longest = max(longest, largest_length(self.field, stored))
        if longest > self.longest * (1 + 1e-6) or (self.field.similarity == "cosine" and longest > 1 + TOLERANCE):
            yield "a vector is longer than the longest"


def field_in(meta: Mapping[str, Any]) -> VectorField | None:
    """The field that the meta data of a file describe; None where they do not."""
    try:
        return VectorField.from_dict(meta)
    except (KeyError, TypeError, ParameterError):
        return None


def generation_in(meta: Mapping[str, Any]) -> int:
    """The commit that a file came with; 0 where it does not say."""
    try:
        return whole_number(meta.get("generation"), "generation")
    except ValueError:
        return 0


def write_vectors(
    path: Path, sources: Sequence[VectorSource], *, name: str, field: VectorField, segment: str, generation: int
) -> None:
    """Write the file of a segment's vectors; those of int8 are copied from other files as they are."""
    docs, scales, longest = [np.empty(0, np.int64)], [np.empty(0, np.float32)], 0.0
    blocks = sorted_blocks(sources, BLOCK)
    with ContainerWriter(path) as container:
        for homes, places in blocks:
            block = _block(sources, homes, places, field)
            longest = max(longest, largest_length(field, block))
            container.append("values", block.values)
            docs.append(_taken(sources, homes, places))
            scales.append(block.scales)
        if field.dtype == "int8":
            for homes, places in blocks:  # once more: sections lie one behind the other
                container.append("rest", _block(sources, homes, places, field).rest)
            container.section("scales", np.concatenate(scales))
        container.section("docs", np.concatenate(docs).astype(np.uint32))
        named = {"name": name, "segment": segment, "generation": generation, "longest": longest}
        container.finish({**field.to_dict(), **named})


def _taken(sources: Sequence[VectorSource], homes: Integers, places: Integers) -> Integers:
    """The documents of a block."""
    docs = np.empty(len(homes), np.int64)
    for home in np.unique(homes).tolist():
        own = homes == home
        docs[own] = sources[home].docs[places[own]]
    return docs


def _block(sources: Sequence[VectorSource], homes: Integers, places: Integers, field: VectorField) -> Stored:
    """The vectors of a block, each from its source."""
    values = np.empty((len(homes), field.stride), TYPES[field.dtype])
    rest, scales = NO_PARTS
    if field.dtype == "int8":
        rest, scales = np.empty_like(values), np.empty(len(homes), np.float32)
    for home in np.unique(homes).tolist():
        own = homes == home
        stored = sources[home].fetch(sources[home].rows[places[own]])
        values[own] = stored.values
        if field.dtype == "int8":
            rest[own], scales[own] = stored.rest, stored.scales
    return Stored(values, rest, scales)


class Arriving:
    """The vectors of documents that are being added, kept in a file a field until their segment is there."""

    def __init__(self, fields: Mapping[str, VectorField], folder: Path) -> None:
        self.fields, self._folder = fields, folder
        self._spools: dict[str, _Spool] = {}

    def through(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents; their vectors are checked and taken on the way."""
        for place, document in enumerate(documents):
            if document.vectors:
                self._take(place, document)
            yield document

    def _take(self, place: int, document: Document) -> None:
        whose = f"document '{document.id}'"
        if not isinstance(document.vectors, Mapping):
            raise InputError(f"{whose}: vectors are a mapping from names of fields to lists of numbers")
        for name, vector in document.vectors.items():
            if vector is None:
                continue
            try:
                _, field = field_named(self.fields, str(name))
            except ParameterError as error:
                raise InputError(f"{whose}: {error}") from None
            row = field.checked([vector], name, lambda _: whose)
            if name not in self._spools:
                self._spools[name] = _Spool(self._folder, field)
            self._spools[name].add(place, row)

    def sources(self, sequence: Integers) -> dict[str, VectorSource]:
        """By field the vectors of the new segment, `sequence` being the place of each of its documents in the input."""
        return {name: spool.source(sequence) for name, spool in self._spools.items()}

    def close(self) -> None:
        """Remove the files."""
        for spool in self._spools.values():
            spool.close()


class _Spool:
    """Rows of float32 in a temporary file, with the place in the input of each."""

    def __init__(self, folder: Path, field: VectorField) -> None:
        self._field = field
        self._places: list[int] = []
        with storage_errors(folder):
            self._file, self._path = new_temporary(folder)

    def add(self, place: int, row: Vectors) -> None:
        self._places.append(place)
        with storage_errors(self._path):
            self._file.write(row.data)

    def source(self, sequence: Integers) -> VectorSource:
        with storage_errors(self._path):
            self._file.flush()
        rows = np.memmap(self._path, np.float32, "r", shape=(len(self._places), self._field.dimension))
        places = np.array(self._places, np.int64)
        at = np.minimum(np.searchsorted(places, sequence), len(places) - 1)
        docs = np.flatnonzero(places[at] == sequence)
        return VectorSource(docs, at[docs], lambda chosen: self._field.stored(np.asarray(rows[chosen])))

    def close(self) -> None:
        discard(self._file, self._path)

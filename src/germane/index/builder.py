"""From documents to one segment, within a memory budget.

Documents are analysed in batches; each document's terms with their counts are kept as numbers (8 bytes a posting) and
inverted by counting sorts when the segment is written. Python sees a batch at a time wherever it can.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import NamedTuple

import numpy as np
import orjson

from germane.arrays import Integers, Words
from germane.errors import InputError
from germane.index import kernels
from germane.index.columns import ColumnsWriter
from germane.index.lists import transposed
from germane.index.manifest import recovery_meta
from germane.index.segment_writer import SegmentWriter
from germane.index.stored_fields import StoredWriter
from germane.index.string_kernels import drop_equal
from germane.index.strings import Packed, choose_packed, join_packed, pack_strings, sort_packed
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer
from germane.text.kernels import count_terms
from germane.types import Document, FieldValue, text_of

BATCH_CHARACTERS = 1 << 20
BYTES_PER_POSTING = 16
"""What inverting takes at its peak: document or term and count, before and behind."""
BYTES_PER_DOCUMENT = 80
_SOUND = frozenset({str, int, bool, NoneType})
"""Types whose every value a field can hold."""
MAX_ID_BYTES = 512


def check_id(doc_id: str) -> str:
    """An id must be a non-empty string of at most MAX_ID_BYTES bytes without control characters."""
    if not isinstance(doc_id, str) or not doc_id:
        raise InputError("a document needs a non-empty id", field="id")
    if not (doc_id.isprintable() or not any(ord(c) < 32 or ord(c) == 127 for c in doc_id)):
        raise InputError(f"id {doc_id!r} contains control characters", field="id")
    try:
        size = len(doc_id.encode())
    except UnicodeEncodeError:
        raise InputError(f"id {doc_id!r} is not valid Unicode", field="id") from None
    if size > MAX_ID_BYTES:
        raise InputError(f"id {doc_id[:40]!r}... is longer than {MAX_ID_BYTES} bytes", field="id")
    return doc_id


def check_fields(doc_id: str, fields: Mapping[str, FieldValue]) -> None:
    """A field holds text, a finite number, true, false, None (no value), or a list of these."""
    for name, value in fields.items():
        if type(value) is str:
            continue
        for item in value if isinstance(value, list) else (value,):
            if item is None or isinstance(item, (str, int)) or (isinstance(item, float) and math.isfinite(item)):
                continue
            raise InputError(
                f"document '{doc_id}': {str(item)[:40]} ({type(item).__name__}) is not a value that a field can hold: "
                "text, a finite number, true, false, None for no value, or a list of these",
                field=str(name),
            )


class _Batch(NamedTuple):
    """The lists of some documents: distinct terms in order of appearance, their counts, where each document's end."""

    terms: Words
    counts: Words
    ends: Integers


class SegmentBuilder:
    """Collects documents; `write` makes the segment file.

    `bulk` may have served earlier builders: then words they met are known already.
    """

    def __init__(self, analyzer: Analyzer, text_fields: Sequence[str], bulk: BulkAnalyzer | None = None) -> None:
        self._analyzer = analyzer
        self._order_of_fields = tuple(text_fields)
        self._text_fields = frozenset(text_fields)
        self._bulk = bulk if bulk is not None else BulkAnalyzer(analyzer)
        self._stored = StoredWriter()
        self._columns = ColumnsWriter(self._text_fields)
        self._ids: list[Packed] = []
        self._sequence: list[Integers] = []
        self._texts: list[str] = []
        self._characters = 0
        self._batches: list[_Batch] = []
        self._lengths: list[Integers] = []
        self._n_docs = 0
        self._held = 0
        # For each term the last document that held it, and where that was written (`text.kernels.count_terms`).
        self._stamps, self._places = np.empty(0, np.int64), np.empty(0, np.int64)

    def __len__(self) -> int:
        return self._n_docs

    @property
    def sequence(self) -> Integers:
        """For each document its place in the input, which decides between two of the same id."""
        return np.concatenate([np.empty(0, np.int64), *self._sequence])

    def add(self, documents: Sequence[Document], first: int) -> None:
        """Take documents in, which stand in the input from place `first` on."""
        fields = [document.fields for document in documents]
        ids = self._checked(documents, fields)
        try:
            lines = list(map(orjson.dumps, fields))
        except (TypeError, ValueError):
            lines = [_stored(document) for document in documents]
        self._stored.add_all(lines)
        self._ids.append(ids)
        self._columns.add_all(fields)
        texts = self._texts_of(fields)
        self._texts += texts
        self._characters += sum(map(len, texts))
        self._sequence.append(np.arange(first, first + len(documents)))
        self._n_docs += len(documents)
        if self._characters >= BATCH_CHARACTERS:
            self._analyze()

    @staticmethod
    def _checked(documents: Sequence[Document], fields: Sequence[Mapping[str, FieldValue]]) -> Packed:
        """The ids, packed; checked all at once, and where one may be wrong, one by one for the error that says so."""
        try:
            ids = [document.id for document in documents]
            plain = "".join(ids).isprintable() and all(ids) and max(map(len, ids)) * 4 <= MAX_ID_BYTES
        except TypeError:
            plain = False
        kinds = set(map(type, chain.from_iterable([named.values() for named in fields])))
        if not plain or not kinds <= _SOUND:
            for document in documents:
                check_id(document.id)
                check_fields(document.id, document.fields)
        return pack_strings([doc_id.encode() for doc_id in ids])

    def _texts_of(self, fields: Sequence[Mapping[str, FieldValue]]) -> list[str]:
        """Each document's text, its fields in the document's order."""
        text_fields, texts = self._text_fields, []
        for named in fields:
            values = [value for name, value in named.items() if name in text_fields]
            if len(values) == 1 and type(values[0]) is str:
                texts.append(values[0])
            else:
                texts.append(text_of(named, [name for name in named if name in text_fields]))
        return texts

    def _analyze(self) -> None:
        if not self._texts:
            return
        ids, ends = self._bulk.analyze(self._texts)
        while len(self._stamps) < self._bulk.n_terms:
            room = max(len(self._stamps), 1 << 12)
            self._stamps = np.concatenate([self._stamps, np.full(room, -1, np.int64)])
            self._places = np.concatenate([self._places, np.empty(room, np.int64)])
        terms, counts, own_ends = np.empty(len(ids), np.uint32), np.empty(len(ids), np.uint32), np.empty_like(ends)
        first = self._n_docs - len(self._texts)
        n = count_terms(ids, ends, first, self._stamps, self._places, terms, counts, own_ends)
        self._batches.append(_Batch(terms[:n].copy(), counts[:n].copy(), own_ends))
        self._held += n
        self._lengths.append(np.diff(ends, prepend=0))
        self._texts.clear()
        self._characters = 0

    @property
    def memory(self) -> int:
        """Bytes that building takes by now, writing included."""
        return (
            self._held * BYTES_PER_POSTING
            + self._characters * 6
            + self._bulk.memory
            + len(self._stamps) * 16
            + self._n_docs * BYTES_PER_DOCUMENT
            + self._stored.memory
        )

    def write(self, path: Path, generation: int = 0) -> None:
        """Invert, encode and write the segment; the builder is empty afterwards."""
        self._analyze()
        lengths = np.concatenate([np.empty(0, np.int64), *self._lengths])
        with SegmentWriter(path, lengths.astype(np.uint32)) as segment:
            self._write_lists(segment)
            segment.documents(join_packed(self._ids))
            segment.fields(self._stored, self._columns)
            segment.finish(recovery_meta(self._analyzer, self._order_of_fields, generation))

    def _write_lists(self, segment: SegmentWriter) -> None:
        df = np.zeros(self._bulk.n_terms, np.int64)
        for batch in self._batches:
            df += np.bincount(batch.terms, minlength=len(df))
        terms = self._bulk.packed_terms
        order = sort_packed(terms, np.flatnonzero(df))
        starts = np.zeros(len(order) + 1, np.int64)
        np.cumsum(df[order], out=starts[1:])
        docs, counts = self._inverted(order, starts)
        segment.postings(starts, docs, counts)
        tokens, commonest, form_counts = self._bulk.packed_surfaces()
        forms = commonest[order]
        drop_equal(*terms, *tokens, order, forms)
        segment.dictionary(choose_packed(terms, order), choose_packed(tokens, forms), form_counts[order])
        forward = transposed(starts, docs, counts, self._n_docs)
        del docs, counts
        segment.forward(*forward)

    def _inverted(self, order: Integers, starts: Integers) -> tuple[Words, Words]:
        """The posting lists of the terms in `order`: documents and counts; the batches are given up on the way."""
        at = np.empty(self._bulk.n_terms, np.int64)
        at[order] = starts[:-1]
        docs, counts = np.empty(self._held, np.uint32), np.empty(self._held, np.uint32)
        first = 0
        self._batches.reverse()
        while self._batches:
            batch = self._batches.pop()
            kernels.invert(*batch, first, at, docs, counts)
            first += len(batch.ends)
        return docs, counts


def _stored(document: Document) -> bytes:
    try:
        return orjson.dumps(document.fields)
    except (TypeError, ValueError) as error:
        raise InputError(f"document '{document.id}' cannot be stored: {error}") from None

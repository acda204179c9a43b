"""From documents to one segment, within a memory budget.

Documents are analysed in batches; their token stream is kept as numbers (4 bytes a token) and inverted by counting
sorts when the budget is reached (`full`) and the segment is written.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from germane.errors import InputError
from germane.index import kernels
from germane.index.columns import ColumnsWriter
from germane.index.lists import transposed
from germane.index.manifest import recovery_meta
from germane.index.segment_writer import SegmentWriter
from germane.index.stored_fields import StoredWriter
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer
from germane.types import Document, FieldValue, text_of

BATCH_CHARACTERS = 1 << 20
BYTES_PER_TOKEN = 14
"""What inverting takes at its peak: token, document and count (4 each), and part of the forward lists."""
BYTES_PER_TERM = 200
"""What a distinct word costs while building: its strings, table entries and list objects."""
BYTES_PER_DOCUMENT = 160
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
        self._ids: list[bytes] = []
        self._texts: list[str] = []
        self._characters = 0
        self._tokens: list[npt.NDArray[np.uint32]] = []
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._n_tokens = 0
        self.sequence: list[int] = []
        """For each document its place in the input, which decides between two of the same id."""

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, document: Document, sequence: int) -> None:
        """Take one document in."""
        fields = document.fields
        encoded = check_id(document.id).encode()
        check_fields(document.id, fields)
        try:
            self._stored.add(fields)
        except (TypeError, ValueError) as error:
            raise InputError(f"document '{document.id}' cannot be stored: {error}") from None
        self._ids.append(encoded)
        self._columns.add(fields)
        text = text_of(fields, [name for name in fields if name in self._text_fields])  # in the document's order
        self._texts.append(text)
        self._characters += len(text)
        self.sequence.append(sequence)
        if self._characters >= BATCH_CHARACTERS:
            self._analyze()

    def _analyze(self) -> None:
        if not self._texts:
            return
        tokens, ends = self._bulk.analyze(self._texts)
        self._tokens.append(tokens)
        self._lengths.append(np.diff(ends, prepend=0))
        self._n_tokens += len(tokens)
        self._texts.clear()
        self._characters = 0

    @property
    def memory(self) -> int:
        """Bytes that building takes by now, writing included."""
        return (
            self._n_tokens * BYTES_PER_TOKEN
            + self._characters * 6
            + len(self._bulk.terms) * BYTES_PER_TERM
            + len(self._ids) * BYTES_PER_DOCUMENT
            + self._stored.memory
        )

    def write(self, path: Path, generation: int = 0) -> None:
        """Invert, encode and write the segment; the builder is empty afterwards."""
        self._analyze()
        lengths = np.concatenate([np.empty(0, np.int64), *self._lengths])
        with SegmentWriter(path, lengths.astype(np.uint32)) as segment:
            self._write_lists(segment, lengths)
            segment.documents(self._ids)
            segment.fields(self._stored, self._columns)
            segment.finish(recovery_meta(self._analyzer, self._order_of_fields, generation))

    def _write_lists(self, segment: SegmentWriter, lengths: npt.NDArray[np.int64]) -> None:
        tokens = np.concatenate([np.empty(0, np.uint32), *self._tokens])
        self._tokens.clear()
        used = np.flatnonzero(np.bincount(tokens, minlength=len(self._bulk.terms)))
        vocabulary = self._bulk.terms
        numbers = sorted(used.tolist(), key=vocabulary.__getitem__)  # code points sort as UTF-8 bytes do
        terms = [vocabulary[i] for i in numbers]
        order = np.array(numbers, np.int64)
        rank = np.full(len(vocabulary), -1, np.int64)
        rank[order] = np.arange(len(order))
        cf, starts = np.zeros(len(terms), np.int64), np.zeros(len(terms) + 1, np.int64)
        docs, counts = np.empty(len(tokens), np.uint32), np.empty(len(tokens), np.uint32)
        kernels.invert(tokens, np.cumsum(lengths), rank, cf, docs, counts, starts)
        del tokens
        segment.postings(starts, docs, counts)
        forms, form_counts = self._bulk.surfaces()
        surfaces = [b"" if forms[i] == term else forms[i].encode() for i, term in zip(numbers, terms, strict=True)]
        segment.dictionary([term.encode() for term in terms], surfaces, form_counts[order])
        forward = transposed(starts, docs, counts, len(lengths))
        del docs, counts
        segment.forward(*forward)

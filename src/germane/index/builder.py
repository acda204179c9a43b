"""From documents to one segment, within a memory budget.

Documents are analysed in batches; each document's terms with their counts are kept as numbers (8 bytes a posting) and
inverted by a counting sort when the segment is written. The order of its words is kept in a few bits a token, which say
the token's term among the document's own. Python sees a batch at a time wherever it can. A few documents are kept as
their tokens until the segment is written, and need no kernel (`index.packing`).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from germane.arrays import Integers, Words
from germane.errors import InputError
from germane.index.columns import ColumnsWriter
from germane.index.heap import give_back
from germane.index.lists import pieces_of
from germane.index.packing import lists_of, pack_sequences, places_of
from germane.index.segment_writer import SegmentWriter
from germane.index.stored_fields import MAX_DOCUMENT, StoredWriter
from germane.index.strings import Packed, choose_packed, drop_equal, join_packed, pack_strings, sort_packed
from germane.lazy import LazyModule, is_few
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer
from germane.types import Document, FieldValue, text_of

if TYPE_CHECKING:
    from germane.index import inversion_kernels, sequence_kernels
    from germane.text import kernels as text_kernels
else:
    inversion_kernels = LazyModule("germane.index.inversion_kernels")
    sequence_kernels = LazyModule("germane.index.sequence_kernels")
    text_kernels = LazyModule("germane.text.kernels")


BATCH_CHARACTERS = 1 << 20
BYTES_PER_POSTING = 16
"""What inverting takes at its peak: term and count, and document and count."""
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


class _Inverted(NamedTuple):
    """The terms in the order of their strings, where the list of each begins, and `document << 32 | count` in it."""

    order: Integers
    starts: Integers
    postings: npt.NDArray[np.uint64]


class SegmentBuilder:
    """Collects documents; `write` makes the segment file.

    `bulk` may have served earlier builders: then words they met are known already. `positions`: whether the order of
    words is kept.
    """

    def __init__(
        self,
        analyzer: Analyzer,
        text_fields: Sequence[str],
        bulk: BulkAnalyzer | None = None,
        *,
        positions: bool = True,
    ) -> None:
        self._text_fields = tuple(text_fields)
        self._positions = positions
        self._bulk = bulk if bulk is not None else BulkAnalyzer(analyzer)
        self._stored = StoredWriter()
        self._columns = ColumnsWriter(frozenset(text_fields))
        self._ids: list[Packed] = []
        self._sequence: list[Integers] = []
        self._texts: list[str] = []
        self._characters = 0
        self._batches: list[_Batch] = []
        self._sequences: list[Words] = []
        """With positions, each batch's order of words, packed (`index.sequence_kernels`)."""
        self._several: list[int] = []
        """The documents that have a text field of several values."""
        self._lengths: list[Integers] = []
        """Each batch's tokens by document and field."""
        self._n_docs = 0
        self._held = 0
        self._places = np.empty(0, np.int64)
        """Where each term was last written (`text.kernels.count_terms`)."""

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
        if max(map(len, lines), default=0) > MAX_DOCUMENT:
            longest = max(range(len(lines)), key=lambda i: len(lines[i]))
            raise InputError(
                f"document '{documents[longest].id}' takes {len(lines[longest])} bytes; {MAX_DOCUMENT} can be stored"
            )
        self._stored.add_all(lines)
        self._ids.append(ids)
        self._columns.add_all(fields)
        texts = self._texts_of(fields)
        self._texts += texts
        self._characters += sum(map(len, texts))
        self._sequence.append(np.arange(first, first + len(documents)))
        self._n_docs += len(documents)
        if self._characters >= BATCH_CHARACTERS and not is_few(self._characters):
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
        """The texts of each document, one for each text field; notes the documents of several values."""
        names, texts = self._text_fields, []
        for doc, named in enumerate(fields, self._n_docs):
            for name in names:
                value = named.get(name, "")
                if type(value) is str:
                    texts.append(value)
                    continue
                texts.append(text_of(named, (name,)))
                if isinstance(value, list) and len(value) > 1 and self._several[-1:] != [doc]:
                    self._several.append(doc)
        return texts

    def _tokens(self) -> tuple[Words, Integers]:
        """The terms of the texts that wait, and where each document's end."""
        ids, ends = self._bulk.analyze(self._texts)
        n_fields = len(self._text_fields)
        self._lengths.append(np.diff(ends, prepend=0).reshape(-1, n_fields))
        self._texts.clear()
        self._characters = 0
        return ids, ends[n_fields - 1 :: n_fields]

    def _analyze(self) -> None:
        """Make a batch of the texts that wait."""
        if not self._texts:
            return
        ids, ends = self._tokens()
        if len(self._places) < self._bulk.n_terms:
            places = np.full(self._bulk.n_terms * 5 // 4, -1, np.int64)
            places[: len(self._places)] = self._places
            self._places = places
        (terms, counts, order), own_ends = np.empty((3, len(ids)), np.uint32), np.empty(len(ends), np.int64)
        n = text_kernels.count_terms(ids, ends, self._held, self._places, terms, counts, own_ends, order)
        self._batches.append(_Batch(terms[:n].copy(), counts[:n].copy(), own_ends))
        if self._positions:
            n_unique = np.diff(own_ends, prepend=0)
            size = sequence_kernels.pack_sequences(order, ends, n_unique, terms)  # a place takes a word at most
            self._sequences.append(terms[: size + 1].copy())  # and one more, which is looked at
        self._held += n

    @property
    def memory(self) -> int:
        """Bytes that building takes by now, writing included."""
        return (
            self._held * BYTES_PER_POSTING
            + self._characters * 6
            + self._bulk.memory
            + self._places.nbytes
            + self._n_docs * BYTES_PER_DOCUMENT
            + self._stored.memory
            + sum(words.nbytes for words in self._sequences)
        )

    def write(self, path: Path, origin: Mapping[str, Any]) -> None:
        """Invert, encode and write the segment, with `origin` in its meta data; the builder is empty afterwards."""
        few = self._tokens() if not self._batches and self._texts and is_few(self._characters) else None
        self._analyze()
        self._places = np.empty(0, np.int64)
        if len(self._batches) > 1:
            give_back()
        field_len = np.concatenate([np.empty((0, len(self._text_fields)), np.int64), *self._lengths])
        with SegmentWriter(path, field_len.sum(axis=1).astype(np.uint32)) as segment:
            order = self._write_postings(segment, few)
            self._write_dictionary(segment, order)
            self._batches.reverse()
            while self._batches:  # given up on the way
                batch = self._batches.pop()
                segment.forward(np.concatenate([[0], batch.ends]), batch.terms, batch.counts)
            segment.documents(join_packed(self._ids))
            if self._positions:
                several = np.array(self._several, np.int64)
                segment.sequences((words[:-1] for words in self._sequences), field_len, several)
            segment.fields(self._stored, self._columns)
            segment.finish(origin)

    def _write_postings(self, segment: SegmentWriter, few: tuple[Words, Integers] | None) -> Integers:
        """The posting lists; the terms in their order. `few`: the tokens of a few documents."""
        order, starts, postings = self._inverted() if few is None else self._inverted_few(*few)
        for begin, end in pieces_of(starts):
            piece = postings[starts[begin] : starts[end]]
            docs, counts = (piece >> 32).astype(np.uint32), piece.astype(np.uint32)
            segment.postings(starts[begin : end + 1] - starts[begin], docs, counts)
        return order

    def _write_dictionary(self, segment: SegmentWriter, order: Integers) -> None:
        terms = self._bulk.packed_terms
        tokens, commonest, form_counts = self._bulk.packed_surfaces()
        forms = commonest[order]
        if tokens[0] is terms[0]:  # the same words in the same order
            forms[forms == order] = -1
        else:
            drop_equal(terms, tokens, order, forms)
        segment.dictionary(choose_packed(terms, order), choose_packed(tokens, forms), form_counts[order])

    def _ranks(self, order: Integers) -> Words:
        """For each term its place in `order`."""
        rank = np.empty(self._bulk.n_terms, np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        return rank

    def _inverted_few(self, ids: Words, ends: Integers) -> _Inverted:
        """`_inverted` and `_analyze` without kernels: terms are renumbered before they are counted."""
        order = sort_packed(self._bulk.packed_terms, np.unique(ids).astype(np.int64))
        lists = lists_of(self._ranks(order)[ids], ends)
        self._batches.append(_Batch(lists.terms, lists.counts, lists.ends))
        if self._positions:
            packed = pack_sequences(lists.places, ends, np.diff(lists.ends, prepend=0))
            self._sequences.append(np.append(packed, np.uint32(0)))
        return _Inverted(order, places_of(np.bincount(lists.terms, minlength=len(order))), lists.postings)

    def _inverted(self) -> _Inverted:
        """All batches as posting lists."""
        df = np.zeros(self._bulk.n_terms, np.int64)
        for batch in self._batches:
            inversion_kernels.count_lists(batch.terms, df)
        order = sort_packed(self._bulk.packed_terms, np.flatnonzero(df))
        self._renumber(order)
        starts, first = places_of(df[order]), 0
        at, postings = starts[:-1].copy(), np.empty(self._held, np.uint64)
        for batch in self._batches:
            inversion_kernels.invert(*batch, first, at, postings)
            first += len(batch.ends)
        return _Inverted(order, starts, postings)

    def _renumber(self, order: Integers) -> None:
        """Number the terms by their place in `order`, and sort each document's; its sequence follows."""
        rank = self._ranks(order)
        longest = max((int(np.diff(batch.ends, prepend=0).max()) for batch in self._batches), default=0)
        keys, spare = np.empty((2, longest), np.uint64)
        places = np.empty(256, np.int64)
        for i, batch in enumerate(self._batches):
            moved = np.empty(len(batch.terms), np.uint32)
            inversion_kernels.sort_lists(*batch, moved, rank, len(order), keys, spare, places)
            if self._positions:
                lengths = self._lengths[i].sum(axis=1)
                sequence_kernels.renumber_sequences(self._sequences[i], lengths, batch.ends, moved)


def _stored(document: Document) -> bytes:
    try:
        return orjson.dumps(document.fields)
    except (TypeError, ValueError) as error:
        raise InputError(f"document '{document.id}' cannot be stored: {error}") from None

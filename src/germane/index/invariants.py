"""What must hold inside a segment whose checksums are right: do its parts say the same of the same thing?

Postings and forward lists, frequencies, block maxima, lengths, ids, stored fields and columns are compared with one
another. Nothing here raises on damage that passes the shapes' test; `index.check` guards the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Integers
from germane.errors import DamagedIndexError
from germane.index import block_kernels, sequence_kernels, verify_kernels
from germane.index.blocks import BLOCK, TF_CAP
from germane.index.columns import KeywordColumn
from germane.index.lists import PIECE, block_sizes, pieces_of
from germane.index.sections import SECTIONS
from germane.index.segment import Segment, place_bits

Hashes = npt.NDArray[np.uint64]


def contradictions(segment: Segment) -> Iterator[str]:
    """What does not fit together in a segment whose checksums are right."""
    shapes = list(_wrong_shapes(segment))
    yield from shapes
    if shapes:
        return
    yield from _dictionary_problems(segment)
    yield from _id_problems(segment)
    by_term = _Collected(segment.n_docs)
    yield from _postings_problems(segment, by_term)
    by_document = _Collected(segment.n_docs)
    yield from _forward_problems(segment, by_document)
    if by_term.hash != by_document.hash or by_term.postings != by_document.postings:
        yield "the forward lists are not the posting lists turned round"
    if not np.array_equal(by_term.tokens, segment.doc_len):
        yield "document lengths differ from the sums of counts"
    if not np.array_equal(by_term.unique, segment.n_unique):
        yield "numbers of distinct terms differ from the posting lists"
    if segment.n_tokens != int(by_term.tokens.sum()) or segment.n_postings != by_term.postings:
        yield "the totals of tokens and postings are wrong"
    if segment.keeps_order:
        yield from _sequence_problems(segment)
    yield from _stored_problems(segment)
    yield from _column_problems(segment)


def _wrong_shapes(segment: Segment) -> Iterator[str]:
    """Lengths, widths and offsets: after this, every list can be decoded without leaving its array."""
    found: dict[str, None] = {}
    for section in SECTIONS:
        if section.part == "order" and section.name not in segment.container and not segment.keeps_order:
            continue
        try:
            segment.container[section.name]
        except DamagedIndexError as error:
            found[error.what] = None
    yield from found
    if not found and np.any(segment.blocks.table.doc_bits[block_sizes(segment.df, segment.first_block) == 1]):
        yield "a block of one posting with gaps"


def _dictionary_problems(segment: Segment) -> Iterator[str]:
    terms = segment.all_strings("term")
    if any(a >= b for a, b in pairwise(terms)):
        yield "the terms are not sorted"
    for text in (*terms, *segment.all_strings("surface")):
        try:
            text.decode()
        except UnicodeDecodeError:
            yield f"the term {text!r} is not valid Unicode"


def _id_problems(segment: Segment) -> Iterator[str]:
    ids = segment.all_strings("id")
    order = segment.container["id_order"]
    if not np.array_equal(np.sort(order), np.arange(segment.n_docs)):
        yield "the order of ids is not a permutation"
        return
    ordered = [ids[i] for i in order.tolist()]
    if any(a > b for a, b in pairwise(ordered)):
        yield "the ids are not sorted"
    if any(not doc_id for doc_id in ids):
        yield "an empty id"
    try:
        b"\n".join(ids).decode()
    except UnicodeDecodeError:
        yield "an id is not valid Unicode"


@dataclass(slots=True)
class _Collected:
    """What a pass over all (term, document, count) finds, whichever way it goes."""

    n_docs: int
    postings: int = 0
    hash: int = 0
    tokens: npt.NDArray[np.int64] = field(init=False)
    unique: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.unique = np.zeros(self.n_docs, np.int64), np.zeros(self.n_docs, np.int64)

    def add(self, terms: AnyArray, docs: AnyArray, counts: AnyArray) -> None:
        """Take in triples. The sum of their hashes does not depend on their order."""
        self.postings += len(docs)
        self.unique += np.bincount(docs, minlength=self.n_docs)
        self.tokens += np.bincount(docs, counts, self.n_docs).astype(np.int64)
        pairs = (terms.astype(np.uint64) << np.uint64(32)) | docs.astype(np.uint64)
        mixed = _mix(_mix(pairs) + counts.astype(np.uint64))
        self.hash = (self.hash + int(mixed.sum(dtype=np.uint64))) % 2**64


def _mix(x: Hashes) -> Hashes:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _postings_problems(segment: Segment, collected: _Collected) -> Iterator[str]:
    starts = np.zeros(segment.n_terms + 1, np.int64)
    np.cumsum(segment.df, dtype=np.int64, out=starts[1:])
    found: set[str] = set()
    for first, last in pieces_of(starts):
        fresh = [sentence for sentence in _piece_problems(segment, first, last, collected) if sentence not in found]
        found.update(fresh)
        yield from fresh
        if "postings name documents that are not there" in found:
            return


def _decode(segment: Segment, first: int, last: int) -> tuple[Integers, AnyArray, AnyArray]:
    """The posting lists of terms [first, last): starts, documents, counts."""
    df = segment.df[first:last].tolist()
    starts = np.zeros(len(df) + 1, np.int64)
    np.cumsum(df, out=starts[1:])
    room = int(starts[-1]) + BLOCK
    docs, counts = np.empty(room, np.uint32), np.empty(room, np.uint32)
    blocks = segment.first_block[first:last].tolist()
    for at, block, n in zip(starts.tolist(), blocks, df, strict=False):
        block_kernels.decode_list(*segment.blocks, block, n, docs[at:], counts[at:])
    return starts, docs[: starts[-1]], counts[: starts[-1]]


def _piece_problems(segment: Segment, first: int, last: int, collected: _Collected) -> Iterator[str]:
    starts, docs, counts = _decode(segment, first, last)
    if docs.max(initial=0) >= max(segment.n_docs, 1):
        yield "postings name documents that are not there"
        return
    rising = np.diff(docs.astype(np.int64)) > 0
    rising[starts[1:-1] - 1] = True  # from one list to the next
    if not rising.all():
        yield "the documents of a posting list do not ascend"
    if np.any(counts == 0):
        yield "a posting with a count of 0"
    if not np.array_equal(np.add.reduceat(counts, starts[:-1], dtype=np.int64), segment.cf[first:last]):
        yield "collection frequencies differ from the sums of counts"
    room = np.empty((2, BLOCK), np.uint32)
    if not verify_kernels.lists_are_packed(*segment.blocks, segment.first_block[first], starts, docs, counts, *room):
        yield "the packed words of a posting list contradict the table of blocks"
    blocks = slice(int(segment.first_block[first]), int(segment.first_block[last]))
    sizes = block_sizes(segment.df, segment.first_block)[blocks]
    ends = np.cumsum(sizes)
    begins, table = ends - sizes, segment.blocks.table
    if not np.array_equal(docs[ends - 1], table.last[blocks]):
        yield "the last document of a block is wrong"
    if not np.array_equal(np.minimum(np.maximum.reduceat(counts, begins), TF_CAP), table.max_tf[blocks]):
        yield "the largest count of a block is wrong"
    collected.add(np.repeat(np.arange(first, last), np.diff(starts)), docs, counts)


def _forward_problems(segment: Segment, collected: _Collected) -> Iterator[str]:
    starts = np.zeros(segment.n_docs + 1, np.int64)
    np.cumsum(segment.n_unique, dtype=np.int64, out=starts[1:])
    for first, last in pieces_of(starts, PIECE):
        try:
            own, terms, counts = segment.forward_of(slice(first, last))
        except DamagedIndexError as error:
            yield error.what
            return
        collected.add(terms, np.repeat(np.arange(first, last), np.diff(own)), counts)


def _sequence_problems(segment: Segment) -> Iterator[str]:
    starts = np.zeros(segment.n_docs + 1, np.int64)
    np.cumsum(segment.n_unique, dtype=np.int64, out=starts[1:])
    bits, left = place_bits(segment.n_unique), np.empty(int(segment.n_unique.max(initial=0)), np.uint32)
    for first, last in pieces_of(starts, PIECE):
        own, _, counts = segment.forward_of(slice(first, last))
        words, at = segment.sequence_words(slice(first, last)), segment.sequence_at[first:last]
        lengths = segment.sequence_len[first:last]
        if sequence_kernels.first_bad_sequence(words, at, bits[first:last], lengths, own, counts, left) >= 0:
            yield "a sequence of words is not made of its document's terms"
            return


def _stored_problems(segment: Segment) -> Iterator[str]:
    try:
        for _ in segment.stored.all_fields():
            pass
    except DamagedIndexError as error:
        yield error.what


def _column_problems(segment: Segment) -> Iterator[str]:
    for name in segment.column_kinds:
        try:
            column = segment.column(name)
        except DamagedIndexError as error:
            yield error.what
            continue
        if isinstance(column, KeywordColumn) and any(a >= b for a, b in pairwise(column.values)):
            yield f"the column of field '{name}' is damaged"

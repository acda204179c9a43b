"""What must hold of a section of a segment before anything relies on it, beside its checksum.

Kernels index arrays by what other arrays say, without looking: a checksum guards them against damage, but not against
a file that somebody made. So each section is held against its rule when it is used first: lengths, widths, offsets and
numbers are such that no list leaves its array. RULES has one for each section that needs more than the right type and
length; a rule is given the segment, whose other sections it may use, and says what is wrong. The table of blocks is
verified as a whole (`table_problem`); decoding keeps to it, whatever the packed words say
(`index.block_kernels.decode_block`). Forward lists and strings are bounded as they are read (`index.segment`). Nothing
is decoded only to verify it. Whether the parts say the same of the same thing is the question of `index.invariants`.
"""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Integers
from germane.index.blocks import BLOCK, PADDING, BlockTable
from germane.index.columns import Column, NumericColumn
from germane.index.container import Container
from germane.index.lists import sizes_of_last
from germane.index.sections import SECTIONS
from germane.index.strings import Packed
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.index import verify_kernels
else:
    verify_kernels = LazyModule("germane.index.verify_kernels")


class Verifiable(Protocol):
    """What rules ask of a segment."""

    container: Container
    n_docs: int
    n_terms: int
    n_tokens: int

    @property
    def first_block(self) -> Integers: ...

    @property
    def n_words(self) -> int: ...

    @property
    def df(self) -> Integers: ...

    @property
    def doc_len(self) -> npt.NDArray[np.uint32]: ...

    @property
    def forward_at(self) -> Integers: ...

    @property
    def sequence_at(self) -> Integers: ...

    def packed(self, kind: Literal["term", "surface", "id"]) -> Packed: ...


SegmentRule = Callable[[Verifiable], str | None]
WIDEST = 32
"""Bits of a packed number at most."""

_BY_NAME = {section.name: section for section in SECTIONS}


def problem_of(segment: Verifiable, name: str) -> str | None:
    """What is wrong with a section; None where it can be relied on if its checksum is right."""
    section = _BY_NAME.get(name)
    if section is None:
        return None  # a column, which is looked at as a whole
    array = segment.container.raw(name)
    if array.dtype.str not in section.types:
        return f"section '{name}' holds numbers of the wrong type"
    if section.per is not None and len(array) != _length(segment, section.per):
        return "the block table has the wrong size" if section.per == "block" else f"section of the wrong size: {name}"
    rule = RULES.get(name)
    return rule(segment) if rule is not None else None


def rule_of(segment: "weakref.ref[Verifiable]") -> Callable[[str], str | None]:
    """`problem_of` for the container of a segment, which must not keep the segment alive."""

    def rule(name: str) -> str | None:
        alive = segment()
        assert alive is not None
        return problem_of(alive, name)

    return rule


def _length(segment: Verifiable, per: str) -> int:
    if per == "block":
        return int(segment.first_block[-1])
    return segment.n_terms if per == "term" else segment.n_docs


def good_offsets(offsets: AnyArray, n: int, end: int) -> bool:
    """Whether n strings or lists lie one behind the other, up to `end`."""
    if len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != end:
        return False
    return bool(np.all(offsets[1:] >= offsets[:-1]))


def _strings(kind: str) -> SegmentRule:
    name = f"{kind}_offsets"

    def rule(segment: Verifiable) -> str | None:
        container = segment.container
        n = segment.n_docs if kind == "id" else segment.n_terms
        fits = good_offsets(container.raw(name), n, container.length(f"{kind}_bytes"))
        return None if fits else f"section of the wrong size: {name}"

    return rule


def _df(segment: Verifiable) -> str | None:
    df = segment.container.raw("df")
    if len(df) and df.min() == 0:
        return "a term without documents"
    if segment.n_docs < 255 and df.max(initial=0) > segment.n_docs:
        return "a term of more documents than there are"
    return None


def _large(name: str, limit: Callable[[Verifiable], int]) -> SegmentRule:
    def rule(segment: Verifiable) -> str | None:
        values = segment.container.raw(name)
        if len(values) and (values.min() < 255 or values.max() > limit(segment)):
            return f"a frequency in '{name}' is out of range"
        return None

    return rule


def _widths(name: str, what: str) -> SegmentRule:
    def rule(segment: Verifiable) -> str | None:
        return f"{what} of more than 32 bits" if segment.container.raw(name).max(initial=0) > WIDEST else None

    return rule


def _max_tf(segment: Verifiable) -> str | None:
    return "a block without counts" if segment.container.raw("blk_max_tf").min(initial=1) == 0 else None


def _below(name: str, limit: Callable[[Verifiable], int], what: str) -> SegmentRule:
    def rule(segment: Verifiable) -> str | None:
        values = segment.container.raw(name)
        return what if len(values) and values.max() >= limit(segment) else None

    return rule


def _words(segment: Verifiable) -> str | None:
    good = segment.container.length("words") == segment.n_words + PADDING
    return None if good else "blocks of postings do not follow one another"


def _forward_words(segment: Verifiable) -> str | None:
    good = segment.container.length("fwd_words") == int(segment.forward_at[-1]) + PADDING
    return None if good else "forward lists do not follow one another"


def _doc_len(segment: Verifiable) -> str | None:
    total = int(segment.container.raw("doc_len").sum(dtype=np.int64))
    return None if total == segment.n_tokens else "document lengths do not add up to the number of tokens"


def _field_len(segment: Verifiable) -> str | None:
    values, n = segment.container.raw("field_len"), segment.n_docs
    if n == 0 or len(values) < n or len(values) % n:
        return "section of the wrong size: field_len"
    total = values.reshape(n, -1).sum(axis=1, dtype=np.int64)
    good = np.all((total == 0) | (total == segment.doc_len))
    return None if good else "the lengths of fields do not add up to those of documents"


def _several(segment: Verifiable) -> str | None:
    docs = segment.container.raw("seq_several").astype(np.int64)
    good = not len(docs) or (docs[-1] < segment.n_docs and np.all(docs[1:] > docs[:-1]))
    return None if good else "documents of several values do not ascend"


def _sequence_words(segment: Verifiable) -> str | None:
    good = segment.container.length("seq_words") == int(segment.sequence_at[-1]) + PADDING
    return None if good else "sequences of words do not follow one another"


def _stored_at(segment: Verifiable) -> str | None:
    c = segment.container
    good = good_offsets(c.raw("stored_at"), c.length("stored_last"), c.length("stored"))
    return None if good else "the table of stored blocks is wrong"


def _stored_last(segment: Verifiable) -> str | None:
    last = segment.container.raw("stored_last")
    if np.any(np.diff(last, prepend=0) <= 0):
        return "the table of stored blocks is wrong"
    return None if (int(last[-1]) if len(last) else 0) == segment.n_docs else "stored documents are missing"


RULES: dict[str, SegmentRule] = {
    "words": _words,
    "blk_last": _below("blk_last", lambda s: s.n_docs, "postings name documents that are not there"),
    "blk_doc_bits": _widths("blk_doc_bits", "a block"),
    "blk_tf_bits": _widths("blk_tf_bits", "a block"),
    "blk_max_tf": _max_tf,
    "df": _df,
    "df_large": _large("df_large", lambda s: s.n_docs),
    "cf_large": _large("cf_large", lambda s: s.n_tokens),
    "term_offsets": _strings("term"),
    "surface_offsets": _strings("surface"),
    "fwd_words": _forward_words,
    "fwd_term_bits": _widths("fwd_term_bits", "a forward list"),
    "fwd_tf_bits": _widths("fwd_tf_bits", "a forward list"),
    "n_unique": _below("n_unique", lambda s: s.n_terms + 1, "a document of more distinct terms than there are"),
    "doc_len": _doc_len,
    "id_offsets": _strings("id"),
    "id_order": _below("id_order", lambda s: s.n_docs, "the order of ids is not a permutation"),
    "seq_words": _sequence_words,
    "field_len": _field_len,
    "seq_several": _several,
    "stored_at": _stored_at,
    "stored_last": _stored_last,
}


def table_problem(table: BlockTable, df: Integers, first_block: Integers) -> str | None:
    """What is wrong with the table of blocks.

    The last documents of a list's blocks must ascend, with room between them for the documents of each block.
    """
    last, first = table.last.view(np.int32), first_block[:-1]
    room, needed = np.empty(len(last), np.int32), np.full(len(last), BLOCK, np.uint8)
    np.subtract(last[1:], last[:-1], out=room[1:])
    room[first] = last[first] + np.int32(1)
    needed[first_block[1:] - 1] = sizes_of_last(df)
    return None if np.all(room >= needed) else "the blocks of a posting list do not ascend"


def dictionary_problem(segment: Verifiable) -> str | None:
    """What is wrong with the terms, where one segment's are to be found among another's."""
    ascending = verify_kernels.strings_ascend(*segment.packed("term"))
    return None if ascending else "the terms are not sorted"


def column_problem(name: str, column: Column, n_docs: int) -> str | None:
    """What is wrong with a column."""
    if isinstance(column, NumericColumn):
        good = column.values.dtype == np.float64 and len(column.values) == n_docs
    else:
        good = (
            column.starts.dtype == np.int64
            and column.codes.dtype == np.uint32
            and good_offsets(column.starts, n_docs, len(column.codes))
            and int(column.codes.max(initial=0)) < max(len(column.values), 1)
        )
    return None if good else f"the column of field '{name}' is damaged"

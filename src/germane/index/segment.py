"""An immutable segment: the questions a ranking asks of it, answered from memory-mapped arrays.

| question | answer |
|---|---|
| which number has this term? | `find_terms` |
| which documents hold it, how often? | `postings`, or the raw block arrays for a kernel |
| which terms does this document hold? | `forward` |
| what is this document called, what did it say? | `doc_id`, `stored` |
| where is the document with this id? | `find_ids` |
| in which order do its words stand? | `sequence_arrays`, where the index keeps it |
| what value has it in this field? | `column` |
"""

import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index import verify
from germane.index.blocks import BLOCK, BlockTable, PostingBlocks, bits_needed
from germane.index.columns import Column, KeywordColumn, NumericColumn, as_words, numbers_in, read_column
from germane.index.container import Container
from germane.index.durable import Identity
from germane.index.lists import read_small, read_table
from germane.index.manifest import whole_number
from germane.index.sections import names_of
from germane.index.segment_arrays import ForwardArrays, SequenceArrays
from germane.index.stored_fields import StoredReader
from germane.index.strings import Packed, decoded, find_all_packed, find_packed, string_at, unpack_strings
from germane.index.unpacking import unpack_forward, unpack_list
from germane.lazy import LazyModule, compiler_is_loaded, is_few

if TYPE_CHECKING:
    from germane.index import block_kernels, kernels, string_kernels
else:
    block_kernels, kernels, string_kernels = (
        LazyModule(f"germane.index.{name}") for name in ("block_kernels", "kernels", "string_kernels")
    )

_IDENTITY = np.empty(0, np.uint32)

_BLOCK_BITS = BLOCK.bit_length() - 1

MOST_DOCS = 2**31 - 1
"""Documents, or terms, of a segment."""
_AT_A_TIME = 1024
"""Ids that `all_ids` reads at once."""
SMALL = 1024
"""Documents of a segment that is read as a whole when it is first asked: its dictionary, its posting lists, its ids.
Each commit of a few documents brings such a segment, and the searches after it ask for most of what it holds."""
SMALL_TOKENS = 1 << 24
"""Tokens that such a segment may have: counts of many together fit 31 bits."""

DICTIONARY_SECTIONS = names_of("dictionary")
POSTINGS_SECTIONS = names_of("postings")


def place_bits(n_unique: npt.NDArray[np.integer]) -> Integers:
    """Bits of a place among so many distinct terms: `int(n - 1).bit_length()`, 0 of none."""
    return bits_needed(np.maximum(n_unique.astype(np.int64) - 1, 0))


class Unpacked(NamedTuple):
    """Posting lists one behind the other: documents, counts, and where each begins and the last one ends."""

    docs: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint32]
    starts: Integers


class Segment:
    """One file of the index, opened read-only; costs little until it is asked.

    Nothing is used before it was verified (`index.verify`), unless this process has just written it: `trusted`.
    """

    n_docs: int
    n_terms: int
    n_tokens: int
    n_postings: int

    def __init__(self, path: Path, *, trusted: bool = False) -> None:
        self.path = path
        self.container = Container(path, verify.rule_of(weakref.ref(self)), trusted=trusted)
        self._trusted = trusted
        self._ids_are_sound = trusted
        meta = self.container.meta
        try:
            self.n_docs, self.n_terms, self.n_tokens, self.n_postings = (
                whole_number(meta[key], key) for key in ("n_docs", "n_terms", "n_tokens", "n_postings")
            )
            self.column_kinds: dict[str, str] = dict(meta["columns"])
            """Field -> 'numeric' or 'keyword'."""
            self._mixed = frozenset(map(str, meta.get("numbers", ())))
        except (KeyError, TypeError, ValueError):
            raise self.container.damage("not a segment of an index") from None
        if any(kind not in ("numeric", "keyword") for kind in self.column_kinds.values()):
            raise self.container.damage("a column of an unknown kind")
        most = min(self.container.size, MOST_DOCS)
        if max(self.n_docs, self.n_terms) > most or (self.n_terms and not self.n_tokens):
            raise self.container.damage("its numbers of documents, terms and tokens are impossible")

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def identity(self) -> Identity:
        """Which file it is: another index in the same folder may have one of the same name."""
        return self.container.identity

    def all_strings(self, kind: Literal["term", "surface", "id"]) -> list[bytes]:
        """All terms, written forms or ids, by number."""
        return unpack_strings(*self.packed(kind))

    def packed(self, kind: Literal["term", "surface", "id"]) -> Packed:
        """The same as they lie in the file."""
        return self.container[f"{kind}_bytes"], self.container[f"{kind}_offsets"]

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self.container.damage(f"{data[:40]!r} is not valid Unicode") from None

    def _decoded(self, strings: Packed, chosen: Integers) -> list[str]:
        """Some of the strings."""
        try:
            found = decoded(strings, chosen)
        except UnicodeDecodeError:
            raise self.container.damage("a term or an id is not valid Unicode") from None
        if len(found) != len(chosen):
            raise self.container.damage("a term or an id with a zero byte")
        return found

    # -- terms ---------------------------------------------------------------------------------------------------

    def find_terms(self, terms: Sequence[str]) -> Integers:
        """Number of each term, -1 where the segment does not hold it."""
        if self.is_small:
            return np.array([self._dictionary.get(term, -1) for term in terms], np.int64)
        return find_packed(self._terms, _IDENTITY, terms)

    def numbers_of(self, terms: Sequence[str]) -> list[int]:
        """Number of each term as a list, -1 where the segment does not hold it."""
        numbers: list[int] = self.find_terms(terms).tolist()
        return numbers

    @cached_property
    def is_small(self) -> bool:
        """Whether it is read as a whole when it is first asked."""
        return self.n_docs <= SMALL and self.n_tokens <= SMALL_TOKENS

    @cached_property
    def _dictionary(self) -> dict[str, int]:
        """The number of each term of a small segment."""
        return dict(zip(map(self._text, self.all_strings("term")), range(self.n_terms), strict=True))

    def verify_dictionary(self) -> None:
        """Verify that the terms ascend, which a merge relies on."""
        problem = None if self._trusted else verify.dictionary_problem(self)
        if problem is not None:
            raise self.container.damage(problem)

    def find_terms_of(self, other: "Segment") -> Integers:
        """Number of each term of another segment, -1 where this one does not hold it."""
        if other is self:
            return np.arange(self.n_terms)
        return find_all_packed(self._terms, other._terms)

    @cached_property
    def _terms(self) -> Packed:
        return self.packed("term")

    def term(self, number: int) -> str:
        """The term with this number."""
        return self._text(string_at(*self._terms, number))

    def terms(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """The terms with these numbers, in one pass."""
        return self._decoded(self._terms, numbers)

    def surface(self, number: int) -> str:
        """The commonest form in which the term was written."""
        form = string_at(self.container["surface_bytes"], self.container["surface_offsets"], number)
        return self._text(form) or self.term(number)

    @cached_property
    def df(self) -> Integers:
        """Documents that hold each term, deleted ones included."""
        df = read_small(self.container, "df")
        self._require_total(df, self.n_postings, "postings")
        return df

    @cached_property
    def cf(self) -> Integers:
        """Occurrences of each term, deleted documents included; stored as what exceeds df."""
        cf = read_small(self.container, "cf")
        cf += self.df
        self._require_total(cf, self.n_tokens, "tokens")
        return cf

    def _require_total(self, frequencies: Integers, total: int, what: str) -> None:
        if not self._trusted and int(frequencies.sum()) != total:
            raise self.container.damage(f"the totals of {what} are wrong")

    @cached_property
    def first_block(self) -> Integers:
        """Position of each term's first block in the block table; one more entry than terms."""
        first = np.zeros(self.n_terms + 1, np.int64)
        blocks = np.add(self.df, BLOCK - 1, out=first[1:])  # in place: untouched memory costs more than the sums
        blocks >>= _BLOCK_BITS
        np.cumsum(blocks, out=blocks)
        return first

    # -- postings ------------------------------------------------------------------------------------------------

    @cached_property
    def _table(self) -> BlockTable:
        """The table of blocks; the last entry of `at` is where the last one ends."""
        table = read_table(self.container, self.df, self.first_block)
        if not self._trusted:
            problem = verify.table_problem(table, self.df, self.first_block)
            if problem is not None:
                raise self.container.damage(problem)
        return table

    @property
    def n_words(self) -> int:
        """Words that the blocks take."""
        return int(self._table.at[-1])

    @cached_property
    def blocks(self) -> PostingBlocks:
        """The packed lists and the table of their blocks; verify a list (`verify_lists`) before decoding it."""
        return PostingBlocks(self.container.lazily("words"), tuple(self._table))

    def verify_lists(self, terms: Sequence[int] | None = None) -> None:
        """Verify the checksums of the posting lists of some terms, -1 being none; by default of all lists.

        The table of blocks is verified as a whole with the first list. Decoding keeps to the table
        (`index.block_kernels.decode_block`), so that no other look at a list is needed.
        """
        if self._trusted:
            return
        at = self._table.at  # verifies the table
        self.container.lazily("words")
        if terms is None or self.is_small:
            self.container["words"]
        else:
            numbers = np.array(terms, np.int64)
            numbers = numbers[numbers >= 0]
            self.container.verify("words", at[self.first_block[numbers]], at[self.first_block[numbers + 1]])

    def postings(self, term: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Documents (ascending, deleted ones included) and counts of one term; not to be changed."""
        self.verify_lists((term,))
        if self.is_small and compiler_is_loaded():
            docs, counts, starts = self.unpacked
            return docs[starts[term] : starts[term + 1]], counts[starts[term] : starts[term + 1]]
        first, df = int(self.first_block[term]), int(self.df[term])
        if is_few(df):
            return unpack_list(self.blocks, first, df)
        room = -(-df // BLOCK) * BLOCK
        docs, counts = np.empty(room, np.uint32), np.empty(room, np.uint32)
        block_kernels.decode_list(*self.blocks, first, df, docs, counts)
        return docs[:df], counts[:df]

    @cached_property
    def unpacked(self) -> Unpacked:
        """The posting lists of a small segment."""
        self.verify_lists()
        starts = np.zeros(self.n_terms + 1, np.int64)
        np.cumsum(self.df, out=starts[1:])  # first: it is refused where there are not so many postings
        docs, counts = np.empty((2, self.n_postings + BLOCK), np.uint32)
        block_kernels.decode_lists(*self.blocks, self.first_block, self.df, docs, counts)
        return Unpacked(docs[: self.n_postings], counts[: self.n_postings], starts)

    # -- documents -----------------------------------------------------------------------------------------------

    @cached_property
    def doc_len(self) -> npt.NDArray[np.uint32]:
        """Tokens of each document."""
        return self.container["doc_len"]

    @cached_property
    def n_unique(self) -> npt.NDArray[np.uint32]:
        """Distinct terms of each document."""
        return self.container["n_unique"]

    @cached_property
    def forward_at(self) -> Integers:
        """Where each document's forward list begins, and the last one's end."""
        n = self.n_unique.astype(np.int64)
        size = ((n * self.container["fwd_term_bits"] + 31) >> 5) + ((n * self.container["fwd_tf_bits"] + 31) >> 5)
        at = np.zeros(self.n_docs + 1, np.int64)
        np.cumsum(size, out=at[1:])
        return at

    @cached_property
    def forward_arrays(self) -> ForwardArrays:
        """The forward index as a kernel reads it, which asks for a list to be verified or looks whether it was.

        Term numbers in them are bounded by nothing: a kernel compares them, and does not index with them.
        """
        bits = self.container["fwd_term_bits"], self.container["fwd_tf_bits"]
        pieces = self.container.pieces("fwd_words")
        return ForwardArrays(self.container.lazily("fwd_words"), self.forward_at, *bits, self.n_unique, *pieces)

    def verify_forward(self, docs: Integers) -> None:
        """Verify the forward lists of documents."""
        self.container.verify("fwd_words", self.forward_at[docs], self.forward_at[docs + 1])

    def forward(self, doc: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Terms (ascending numbers) and counts of one document."""
        _, terms, counts = self.forward_of(np.array([doc]))
        return terms, counts

    def forward_of(
        self, docs: npt.NDArray[np.int64] | slice
    ) -> tuple[Integers, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """The forward lists of any documents, one behind the other: starts, terms, counts."""
        if isinstance(docs, slice):
            docs = np.arange(*docs.indices(self.n_docs))
        forward, starts = self.forward_arrays, np.zeros(len(docs) + 1, np.int64)
        n = int(forward.n_unique[docs].sum())
        if is_few(n):
            self.verify_forward(docs)
            np.cumsum(forward.n_unique[docs], out=starts[1:])
            lists = forward.words, forward.at[docs], forward.term_bits[docs], forward.tf_bits[docs], starts
            terms, counts = unpack_forward(*lists)
            most = terms.max(initial=0)
        else:
            terms, counts = np.empty((2, n), np.uint32)
            asked = tuple(forward), docs, starts, terms, counts
            most = kernels.decode_forward_many(*asked)
            if most == kernels.UNVERIFIED:
                self.verify_forward(docs)
                most = kernels.decode_forward_many(*asked)
        if n and most >= self.n_terms:
            raise self.container.damage("forward lists name terms that are not there")
        return starts, terms, counts

    @property
    def keeps_order(self) -> bool:
        """Whether the order of words is known, of some documents at least."""
        return "seq_words" in self.container

    @cached_property
    def field_len(self) -> npt.NDArray[np.uint32]:
        """Tokens of each text field (document × field); all 0 of a document whose order of words is not known."""
        return self.container["field_len"].astype(np.uint32).reshape(self.n_docs, -1)

    @property
    def several_values(self) -> npt.NDArray[np.uint32]:
        """The documents, ascending, that have a text field of several values."""
        return self.container["seq_several"]

    @cached_property
    def sequence_len(self) -> Integers:
        """Tokens of each document whose order is known: all of them, or none."""
        lengths: Integers = self.field_len.sum(axis=1, dtype=np.int64)
        return lengths

    @cached_property
    def sequence_at(self) -> Integers:
        """Where each document's sequence begins, and the last one's end."""
        at = np.zeros(self.n_docs + 1, np.int64)
        np.cumsum((self.sequence_len * place_bits(self.n_unique) + 31) >> 5, out=at[1:])
        return at

    def sequence_words(self, docs: Integers | slice) -> npt.NDArray[np.uint32]:
        """The packed sequences, those of these documents verified."""
        words, at = self.container.lazily("seq_words"), self.sequence_at
        self.container.verify("seq_words", at[:-1][docs], at[1:][docs])
        return words

    def sequence_arrays(self, docs: Integers) -> SequenceArrays:
        """The order of words as a kernel reads it, the sequences of these documents verified.

        Places in them are bounded by nothing: a kernel compares them, and does not index with them.
        """
        words, field_len = self.sequence_words(docs), self.field_len
        return SequenceArrays(words, words.view(np.uint8), self.sequence_at, field_len.reshape(-1), field_len.shape[1])

    def doc_id(self, doc: int) -> str:
        """The id under which document `doc` was added."""
        return self.doc_ids(np.array([doc]))[0]

    def doc_ids(self, docs: Integers) -> list[str]:
        """The ids of many documents, in one pass."""
        if not self._ids_are_sound:
            offsets = self._ids[1]
            self.container.verify("id_bytes", offsets[docs], offsets[docs + 1])
            self._ids_are_sound = self.container.verified("id_bytes")
        return self._decoded(self._ids, docs)

    def all_ids(self) -> Iterator[str]:
        """All ids, by document number; read without a kernel, and some at a time."""
        data, offsets = self.packed("id")
        for first in range(0, self.n_docs, _AT_A_TIME):
            some = offsets[first : first + _AT_A_TIME + 1]
            for doc_id in unpack_strings(data[some[0] : some[-1]], some - some[0]):
                yield self._text(doc_id)

    @cached_property
    def _ids(self) -> Packed:
        """The ids, to be verified before they are read."""
        return self.container.lazily("id_bytes"), self.container["id_offsets"]

    def find_ids(self, ids: Sequence[str]) -> Integers:
        """Document number of each id, -1 where absent; a deleted document is still found."""
        if self.n_docs <= SMALL:
            return np.fromiter(map(self._number_of.get, ids, repeat(-1)), np.int64, len(ids))
        order = self.container["id_order"]
        found = find_packed(self.packed("id"), order, ids)
        known = found >= 0
        found[known] = order[found[known]]
        return found

    @cached_property
    def _number_of(self) -> dict[str, int]:
        """Each document's number by its id: every add asks each segment, and there are many small ones."""
        return {doc_id: doc for doc, doc_id in enumerate(self.doc_ids(np.arange(self.n_docs)))}

    @cached_property
    def id_rank(self) -> npt.NDArray[np.uint32]:
        """Rank of each document's id among the segment's, for breaking ties."""
        rank = np.full(self.n_docs, 2**32 - 1, np.uint32)
        rank[self.container["id_order"]] = np.arange(self.n_docs, dtype=np.uint32)
        if not self._trusted and rank.max(initial=0) >= max(self.n_docs, 1):
            raise self.container.damage("the order of ids is not a permutation")
        return rank

    @cached_property
    def stored(self) -> StoredReader:
        """The stored fields."""
        return StoredReader(self.container)

    # -- fields --------------------------------------------------------------------------------------------------

    def column(self, name: str) -> Column | None:
        """The column of a field; None where no document of the segment has it."""
        if name not in self.column_kinds:
            return None
        if name not in self._columns:
            column = read_column(self.container, name, self.column_kinds[name])
            problem = None if self._trusted else verify.column_problem(name, column, self.n_docs)
            if problem is not None:
                raise self.container.damage(problem)
            self._columns[name] = column
        return self._columns[name]

    def holds_numbers(self, name: str) -> bool:
        """Whether a document of the segment has a number in the field, and not only texts."""
        return name in self._mixed or self.column_kinds.get(name) == "numeric"

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """The field's number in each document, NaN where it has none."""
        column = self.column(name)
        if column is None:
            return np.full(self.n_docs, np.nan)
        if isinstance(column, NumericColumn):
            return column.values
        if name not in self._read_numbers:
            self._read_numbers[name] = numbers_in(column)
        return self._read_numbers[name]

    def words(self, name: str) -> KeywordColumn | None:
        """The field's values as texts; None where no document of the segment has it."""
        column = self.column(name)
        if not isinstance(column, NumericColumn):
            return column
        if name not in self._read_words:
            self._read_words[name] = as_words(column)
        return self._read_words[name]

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {}

    @cached_property
    def _read_words(self) -> dict[str, KeywordColumn]:
        return {}

    @cached_property
    def _read_numbers(self) -> dict[str, npt.NDArray[np.float64]]:
        return {}

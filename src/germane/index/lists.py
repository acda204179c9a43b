"""Writing of posting lists and forward lists, in pieces, so that neither has to fit in memory."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Words
from germane.errors import StorageError
from germane.index import packing
from germane.index.blocks import BLOCK, PADDING, STORED, BlockTable, PostingBlocks
from germane.index.container import Container, ContainerWriter
from germane.lazy import LazyModule, is_few

if TYPE_CHECKING:
    from germane.index import block_kernels, inversion_kernels, kernels
else:
    block_kernels, inversion_kernels, kernels = (
        LazyModule(f"germane.index.{name}") for name in ("block_kernels", "inversion_kernels", "kernels")
    )

PIECE = 1 << 18
"""Postings encoded at a time (about 8 MB of buffers)."""

ESCAPE = 255


def pieces_of(starts: Integers, limit: int = PIECE) -> list[tuple[int, int]]:
    """Cut lists into runs [i, j) of at most `limit` postings (one list at least)."""
    cuts, i = [], 0
    while i < len(starts) - 1:
        j = int(np.searchsorted(starts, starts[i] + limit, side="right")) - 1
        j = max(j, i + 1)
        cuts.append((i, j))
        i = j
    return cuts


def write_small(container: ContainerWriter, name: str, values: Integers) -> None:
    """Write numbers that are mostly small: one byte each, ESCAPE standing for the next of section `name`_large."""
    container.section(name, np.minimum(values, ESCAPE).astype(np.uint8))
    container.section(f"{name}_large", values[values >= ESCAPE])


def read_small(container: Container, name: str) -> Integers:
    """Read what `write_small` wrote."""
    stored, large = container[name], container[f"{name}_large"]
    values, escaped = stored.astype(np.int64), np.flatnonzero(stored == ESCAPE)
    if len(escaped) != len(large):
        raise container.damage(f"sections '{name}' and '{name}_large' do not fit together")
    values[escaped] = large
    return values


def block_sizes(df: Integers, first_block: Integers) -> Integers:
    """Postings in each block: full ones, and the rest of each list."""
    n = np.full(int(first_block[-1]), BLOCK, np.int64)
    filled = df > 0
    n[first_block[1:][filled] - 1] = (df[filled] - 1) % BLOCK + 1
    return n


def read_table(container: Container, df: Integers, first_block: Integers, before: int = 0) -> BlockTable:
    """The table of blocks; `at` has one entry more, which is where the last block ends: blocks follow one another.

    The first search waits for this, hence the narrow numbers. With `before`, the table of some lists, whose blocks lie
    behind that many others.
    """
    own = slice(before, before + int(first_block[-1]))
    last, doc_bits, tf_bits, max_tf = (container[f"blk_{name}"][own] for name in STORED)
    size = np.zeros(len(last) + 1, np.uint16)  # of the block before
    np.add(doc_bits, tf_bits, out=size[1:], dtype=np.uint16)
    size *= np.uint16(BLOCK // 32)
    n = sizes_of_last(df).astype(np.uint16)  # the last block of each list may be shorter than the others
    at_end = first_block[1:] - 1
    gaps = (n * doc_bits[at_end] + np.uint16(31)) >> 5
    gaps *= n > 1
    size[1:][at_end] = gaps + ((n * tf_bits[at_end] + np.uint16(31)) >> 5)
    if int(size.sum(dtype=np.int64)) >= 2**32:
        raise container.damage("blocks of postings of more than 16 GiB")
    return BlockTable(last, np.cumsum(size, dtype=np.uint32), doc_bits, tf_bits, max_tf)


def sizes_of_last(df: Integers) -> npt.NDArray[np.uint8]:
    """Postings in the last block of each list."""
    sizes = df.astype(np.uint8)
    sizes -= np.uint8(1)
    sizes &= np.uint8(BLOCK - 1)
    sizes += np.uint8(1)
    return sizes


class PostingsReader:
    """Reads sound posting lists from the first to the last, some at a time, and keeps nothing of those read before."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.lists = self._large = self._blocks = self._words = 0
        """How many lists were read."""

    def read(self, n: int) -> tuple[PostingBlocks, Integers, Integers]:
        """The blocks of the next n lists, the first block of each list, and how many postings it has."""
        df = self._container["df"][self.lists : self.lists + n].astype(np.int64)
        escaped = np.flatnonzero(df == ESCAPE)
        df[escaped] = self._container["df_large"][self._large : self._large + len(escaped)]
        first_block = np.zeros(n + 1, np.int64)
        np.cumsum((df + (BLOCK - 1)) // BLOCK, out=first_block[1:])
        table = read_table(self._container, df, first_block, self._blocks)
        blocks = PostingBlocks(self._container.lazily("words")[self._words :], tuple(table))
        self.lists += n
        self._large += len(escaped)
        self._blocks += len(table.last)
        self._words += int(table.at[-1])
        return blocks, first_block[:-1], df


def transposed(starts: Integers, docs: Words, counts: Words, n_docs: int) -> tuple[Integers, Words, Words]:
    """Posting lists turned round: for each document its terms, ascending, and their counts."""
    doc_starts = np.zeros(n_docs + 1, np.int64)
    terms, term_counts = np.empty(int(starts[-1]), np.uint32), np.empty(int(starts[-1]), np.uint32)
    inversion_kernels.transpose(starts, docs, counts, n_docs, doc_starts, terms, term_counts)
    return doc_starts, terms, term_counts


class PostingsWriter:
    """Streams encoded posting lists into section `words`; `finish` writes the block table and `df`, `cf`."""

    def __init__(self, container: ContainerWriter) -> None:
        self._container = container
        self._tables: list[BlockTable] = []
        self._df: list[Integers] = []
        self._cf: list[Integers] = []
        self._words = 0

    def write(self, starts: Integers, docs: Words, counts: Words) -> None:
        """Append the lists `docs[starts[i]:starts[i + 1]]`; every list holds at least one posting."""
        for i, j in pieces_of(starts):
            self._write_piece(starts[i : j + 1], docs, counts)

    def _write_piece(self, starts: Integers, docs: Words, counts: Words) -> None:
        df = np.diff(starts)
        begin, end = int(starts[0]), int(starts[-1])
        if is_few(end - begin):
            blocks = packing.encode_lists(starts - begin, docs[begin:end], counts[begin:end])
            words = blocks.words
        else:
            n_blocks = int(((df + BLOCK - 1) // BLOCK).sum())
            blocks = PostingBlocks.empty(2 * (int(df.sum()) + n_blocks), n_blocks)
            size, _ = block_kernels.encode_lists(starts, docs, counts, *blocks, np.empty(BLOCK, np.uint32))
            words = blocks.words[:size]
        if self._words + len(words) >= 2**32:
            raise StorageError("a segment's postings would exceed 16 GiB: build with less memory, merge less")
        self._tables.append(blocks.table)
        self._container.append("words", words)
        self._words += len(words)
        self._df.append(df)
        self._cf.append(np.add.reduceat(counts[begin:end].astype(np.int64), starts[:-1] - begin))

    def finish(self) -> tuple[Integers, Integers]:
        """Write the block table, df and cf; return the latter two."""
        self._container.append("words", np.zeros(PADDING, np.uint32))
        for name in STORED:
            for table in (PostingBlocks.empty(0, 0).table, *self._tables):
                self._container.append(f"blk_{name}", getattr(table, name))
        df = np.concatenate([np.empty(0, np.int64), *self._df])
        cf = np.concatenate([np.empty(0, np.int64), *self._cf])
        write_small(self._container, "df", df)
        write_small(self._container, "cf", cf - df)
        return df, cf


class ForwardWriter:
    """Streams the documents' own lists (term, count) into section `fwd_words`."""

    def __init__(self, container: ContainerWriter) -> None:
        self._container = container
        self._term_bits: list[npt.NDArray[np.uint8]] = []
        self._tf_bits: list[npt.NDArray[np.uint8]] = []
        self._n_unique: list[npt.NDArray[np.uint32]] = []

    def write(self, starts: Integers, terms: Words, counts: Words) -> None:
        """Append documents whose lists are `terms[starts[d]:starts[d + 1]]`, terms ascending."""
        for i, j in pieces_of(starts):
            piece = starts[i : j + 1]
            begin, end = int(piece[0]), int(piece[-1])
            if is_few(end - begin):
                words, *bits = packing.encode_forward(piece - begin, terms[begin:end], counts[begin:end])
                term_bits, tf_bits = (widths.astype(np.uint8) for widths in bits)
            else:
                room = np.empty(2 * (end - begin + (j - i)), np.uint32)
                term_bits, tf_bits = np.empty(j - i, np.uint8), np.empty(j - i, np.uint8)
                words = room[: kernels.encode_forward(piece, terms, counts, room, term_bits, tf_bits)]
            self._container.append("fwd_words", words)
            self._term_bits.append(term_bits)
            self._tf_bits.append(tf_bits)
            self._n_unique.append(np.diff(piece).astype(np.uint32))

    def finish(self) -> None:
        """Write the widths and the numbers of distinct terms."""
        self._container.append("fwd_words", np.zeros(PADDING, np.uint32))
        self._container.section("fwd_term_bits", np.concatenate([np.empty(0, np.uint8), *self._term_bits]))
        self._container.section("fwd_tf_bits", np.concatenate([np.empty(0, np.uint8), *self._tf_bits]))
        self._container.section("n_unique", np.concatenate([np.empty(0, np.uint32), *self._n_unique]))

"""Each kernel against NumPy or plain Python."""

import bisect
import random

import numpy as np
import pytest
from numba import njit

from germane.arrays import Words
from germane.index import block_kernels, kernels, string_kernels
from germane.index.blocks import PADDING, PostingBlocks
from germane.index.simd_kernels import unpack_documents, unpack_values
from germane.index.strings import decoded, narrow, pack_strings, string_at


@njit
def vertical(words, at, bits, out):  # type: ignore[no-untyped-def]
    unpack_values(words, at, bits, out, 0, 0)


@njit
def horizontal(words, at, bits, n, out):  # type: ignore[no-untyped-def]
    block_kernels.unpack_short(words, at, bits, n, out, 0)


@njit
def vertical_documents(words, at, bits, out, previous):  # type: ignore[no-untyped-def]
    unpack_documents(words, at, bits, out, 0, previous)


def plain_unpack(words: Words, at: int, bits: int, n: int, lanes: int) -> list[int]:
    """Bit by bit: value i lies in lane i % lanes, `bits` bits a row."""
    values = []
    for i in range(n):
        row, lane = divmod(i, lanes)
        value = 0
        for bit in range(bits):
            word, shift = divmod(row * bits + bit, 32)
            value |= ((int(words[at + word * lanes + lane]) >> shift) & 1) << bit
        values.append(value)
    return values


@pytest.mark.parametrize("bits", range(33))
def test_pack_and_unpack(bits: int) -> None:
    rng = np.random.default_rng(bits)
    for n in (1, 2, 31, 127, 128):
        values = rng.integers(0, 1 << bits, n, dtype=np.uint64).astype(np.uint32)
        values[: n // 2] = (1 << bits) - 1
        words = np.full(200, 0xDEADBEEF, np.uint32)
        end = block_kernels.pack(values, n, bits, words, 5)
        assert end == 5 + -(-n * bits // 32) == 5 + block_kernels.words_needed.py_func(n, bits)
        lanes = 4 if n == 128 else 1
        assert plain_unpack(words, 5, bits, n, lanes) == values.tolist()
        out = np.empty(n, np.uint32)
        if n == 128:
            vertical(words, 5, bits, out)
        else:
            horizontal(words, 5, bits, n, out)
        assert out.tolist() == values.tolist()


@pytest.mark.parametrize("bits", range(26))
def test_vertical_documents(bits: int) -> None:
    gaps = np.random.default_rng(bits).integers(0, 1 << bits, 128).astype(np.uint32)
    words = np.empty(200, np.uint32)
    block_kernels.pack(gaps, 128, bits, words, 0)
    for previous in (-1, 0, 1000):
        out = np.empty(128, np.uint32)
        vertical_documents(words, 0, bits, out, previous)
        assert out.tolist() == (previous + np.cumsum(gaps.astype(np.int64) + 1)).tolist()


def test_bits_needed() -> None:
    for value in (0, 1, 2, 3, 255, 256, 2**31, 2**32 - 1):
        assert block_kernels.bits_needed.py_func(value) == value.bit_length()


def encode(lists: list[tuple[Words, Words]]) -> tuple[PostingBlocks, np.ndarray]:
    df = np.array([len(docs) for docs, _ in lists])
    starts = np.concatenate([[0], np.cumsum(df)])
    n_blocks = int(sum(-(-df // 128)))
    blocks = PostingBlocks.empty(2 * (int(df.sum()) + n_blocks), n_blocks)
    docs, counts = (np.concatenate(part) for part in zip(*lists, strict=True))
    buffer = np.empty(128, np.uint32)
    size, written = block_kernels.encode_lists(starts, docs, counts, *blocks, buffer)
    assert written == n_blocks
    words = np.append(blocks.words[:size], np.zeros(PADDING, np.uint32))
    return blocks._replace(words=words), np.concatenate([[0], np.cumsum(-(-df // 128))])


@pytest.mark.parametrize("kind", ["ones", "small", "mixed", "huge", "alike", "alike and huge"])
def test_lists_come_back(kind: str) -> None:
    rng = np.random.default_rng(7)
    n_docs = 3000
    lists = []
    for df in (1, 2, 127, 128, 129, 255, 256, 257, 1000, n_docs):
        docs = np.sort(rng.choice(n_docs, df, replace=False)).astype(np.uint32)
        counts = {
            "ones": np.ones(df),
            "small": rng.integers(1, 5, df),
            "mixed": rng.integers(1, 1 << rng.integers(1, 17), df),
            "huge": rng.integers(65_530, 1 << 32, df),
            "alike": np.full(df, 65_534),
            "alike and huge": np.full(df, 65_535 + df % 3),
        }[kind].astype(np.uint32)
        lists.append((docs, counts))
    blocks, first = encode(lists)
    for i, (docs, counts) in enumerate(lists):
        room = -(-len(docs) // 128) * 128
        got_docs, got_counts = np.empty(room, np.uint32), np.empty(room, np.uint32)
        block_kernels.decode_list(*blocks, first[i], len(docs), got_docs, got_counts)
        assert np.array_equal(got_docs[: len(docs)], docs)
        assert np.array_equal(got_counts[: len(docs)], counts)
        for block, begin in enumerate(range(0, len(docs), 128)):
            at, end = first[i] + block, min(begin + 128, len(docs))
            assert blocks.table.last[at] == docs[end - 1]
            assert blocks.table.max_tf[at] == min(counts[begin:end].max(), 255)


def test_forward_lists_come_back() -> None:
    rng = np.random.default_rng(3)
    sizes = [0, 1, 2, 0, 127, 128, 129, 700, 1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    terms = np.concatenate([np.sort(rng.choice(10_000, n, replace=False)) for n in sizes]).astype(np.uint32)
    terms[-1] = 2**32 - 2
    counts = rng.integers(1, 100, len(terms)).astype(np.uint32)
    counts[starts[5] : starts[6]] = rng.integers(60_000, 1 << 32, 128)
    words = np.empty(2 * (len(terms) + len(sizes)) + 4, np.uint32)
    term_bits, tf_bits = np.empty(len(sizes), np.uint8), np.empty(len(sizes), np.uint8)
    size = kernels.encode_forward(starts, terms, counts, words, term_bits, tf_bits)
    n = np.array(sizes)
    used = ((n * term_bits + 31) >> 5) + ((n * tf_bits + 31) >> 5)
    assert size == used.sum()
    ats = np.concatenate([[0], np.cumsum(used)])
    got_terms, got_counts = np.empty_like(terms), np.empty_like(counts)
    right = np.ones(-(-4 * size // 64), np.uint8)
    forward = words, ats, term_bits, tf_bits, n.astype(np.uint32), right, 64
    asked = forward, np.arange(len(sizes)), np.empty_like(starts), got_terms, got_counts
    assert kernels.decode_forward_many(*asked) == 2**32 - 2
    assert np.array_equal(asked[2], starts)
    assert np.array_equal(got_terms, terms)
    assert np.array_equal(got_counts, counts)
    for piece in range(len(right)):
        right[:] = 1
        right[piece] = 0
        assert kernels.decode_forward_many(*asked) == kernels.UNVERIFIED


def some_strings(seed: int) -> list[bytes]:
    rng = random.Random(seed)
    return sorted({bytes(rng.choices(b"ab\x80\xff", k=rng.randrange(6))) for _ in range(200)})


@pytest.mark.parametrize("narrowed", [False, True])
def test_find_strings(narrowed: bool) -> None:
    strings = some_strings(0)
    queries = some_strings(1) + some_strings(0)[::7] + [b"", b"zzz"]
    order = np.random.default_rng(0).permutation(len(strings)).astype(np.uint32)
    for permuted in (False, True):
        held = strings
        if permuted:
            held = [b""] * len(strings)
            for position, number in enumerate(order.tolist()):
                held[number] = strings[position]
        data, offsets = pack_strings(held)
        query_data, query_offsets = pack_strings(queries)
        found = np.empty(len(queries), np.int64)
        string_kernels.find_strings(
            data, narrow(offsets) if narrowed else offsets, order if permuted else order[:0], query_data, query_offsets,
            found,
        )  # fmt: skip
        for query, position in zip(queries, found.tolist(), strict=True):
            expected = bisect.bisect_left(strings, query)
            present = expected < len(strings) and strings[expected] == query
            assert position == (expected if present else -1)


def test_find_strings_in_nothing() -> None:
    data, offsets = pack_strings([])
    query_data, query_offsets = pack_strings([b"a", b""])
    found = np.empty(2, np.int64)
    string_kernels.find_strings(data, offsets, np.empty(0, np.uint32), query_data, query_offsets, found)
    assert found.tolist() == [-1, -1]


def test_gather() -> None:
    strings = [b"b", b"a", b"b", b"", b"a", b"b"]
    data, offsets = pack_strings(strings)
    assert [string_at(data, offsets, i) for i in range(6)] == strings
    out = np.empty(100, np.uint8)
    size = string_kernels.gather_strings(data, offsets, np.array([2, 3, 1]), out)
    assert out[:size].tobytes() == b"b\0\0a\0"


@pytest.mark.parametrize("lengths", [[7, 8, 9, 0, 16, 17, 3], [1] * 20, [40, 1], [8]])
def test_gather_copies_eight_bytes_at_once_and_not_beyond_the_end(lengths: list[int]) -> None:
    strings = [bytes([97 + i % 26]) * length for i, length in enumerate(lengths)]
    data, offsets = pack_strings(strings)
    chosen = np.arange(len(strings))[::-1].copy()
    out = np.full(sum(lengths) + len(lengths) + string_kernels.PREFIX, 255, np.uint8)
    size = string_kernels.gather_strings(data, offsets, chosen, out)
    assert out[:size].tobytes() == b"".join(string + b"\0" for string in reversed(strings))
    small = np.full(len(out) - 1, 255, np.uint8)
    assert string_kernels.gather_strings(data, offsets, chosen, small) == size  # and nothing is written behind its end
    longest = int(np.argmax(lengths))
    assert decoded((data, offsets), np.full(9, longest)) == 9 * [strings[longest].decode()]


@pytest.mark.parametrize("most", [1, 2000, 1 << 11, 1 << 25, 1 << 32])
def test_number_anew(most: int) -> None:
    numbers = np.random.default_rng(most).integers(0, most, 500, np.uint32)
    (words, distinct), orders = np.empty((2, 500), np.int64), np.empty((2, 500), np.uint64)
    n = kernels.number_anew(numbers, orders, np.empty(1 << kernels.DIGIT, np.int64), words, distinct)
    expected = np.unique(numbers, return_inverse=True)
    assert (distinct[:n].tolist(), words.tolist()) == tuple(array.tolist() for array in expected)


def test_close_gaps() -> None:
    docs = np.arange(10, dtype=np.uint32)
    counts = docs + 100
    kernels.close_gaps(np.array([0, 4, 6]), np.array([2, 4, 9]), docs, counts)
    assert docs[:5].tolist() == [0, 1, 6, 7, 8]
    assert counts[:5].tolist() == [100, 101, 106, 107, 108]

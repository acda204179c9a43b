"""Lists unpacked by NumPy are those that the kernels unpack, and what one finds damaged the other does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.index import block_kernels, verify_kernels
from germane.index.blocks import BLOCK, PADDING, PostingBlocks
from germane.index.unpacking import list_is_sound, unpack_list

SIZES = (1, 2, 3, 127, 128, 129, 255, 256, 257, 700)


def packed(sizes: list[int], seed: int, widest: int, most: int) -> tuple[PostingBlocks, np.ndarray, np.ndarray, list]:
    """Random lists, packed: the blocks, where each begins, the documents' lengths, and the lists."""
    rng = np.random.default_rng(seed)
    lists = []
    for size in sizes:
        gaps = rng.integers(1, 1 << int(rng.integers(1, widest)), size)
        counts = rng.integers(1, 1 + int(rng.integers(1, most)), size)
        lists.append(((np.cumsum(gaps) - 1).astype(np.uint32), counts.astype(np.uint32)))
    n_docs = max(int(docs[-1]) for docs, _ in lists) + 1
    doc_len = np.full(n_docs, most, np.uint32)
    doc_len[rng.integers(0, n_docs, n_docs // 3)] = 4 * most
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_blocks = sum(-(-size // BLOCK) for size in sizes)
    blocks = PostingBlocks.empty(64 * BLOCK * n_blocks // 32 + PADDING + 1000, n_blocks)
    docs, counts = (np.concatenate([own[i] for own in lists]) for i in range(2))
    block_kernels.encode_lists(starts, docs, counts, *blocks, np.empty(BLOCK, np.uint32))
    first = np.concatenate([[0], np.cumsum([-(-size // BLOCK) for size in sizes])])
    return blocks, first, doc_len, lists


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(SIZES), min_size=1, max_size=4),
    st.integers(0, 10_000),
    st.integers(2, 14),
    st.sampled_from((2, 3, 40, 300, 100_000)),
)
def test_lists_are_unpacked(sizes: list[int], seed: int, widest: int, most: int) -> None:
    blocks, first, doc_len, lists = packed(sizes, seed, widest, most)
    for i, (docs, counts) in enumerate(lists):
        found = unpack_list(blocks, int(first[i]), sizes[i])
        assert found[0].tolist() == docs.tolist()
        assert found[1].tolist() == counts.tolist()
        assert list_is_sound(blocks, int(first[i]), sizes[i], int(counts.sum()), doc_len)
        assert not list_is_sound(blocks, int(first[i]), sizes[i], int(counts.sum()) + 1, doc_len)


@pytest.mark.parametrize("name", ["last", "doc_bits", "tf_bits", "max_tf", "words"])
def test_damage_is_found_by_both(name: str) -> None:
    rng = np.random.default_rng(5)
    for turn in range(60):
        size = int(rng.choice(SIZES))
        blocks, first, doc_len, [(_, counts)] = packed([size], turn, 6, 9)
        n = len(doc_len)
        if name == "words":
            blocks.words[rng.integers(0, 8 * -(-size // BLOCK))] ^= np.uint32(1 << rng.integers(0, 32))
        else:
            block = int(rng.integers(0, len(blocks.table)))
            most = {"last": n, "doc_bits": 13, "tf_bits": 6}.get(name, 256)  # what the table's own rules let pass
            blocks.table[name][block] = rng.integers(0, most)
        bad = verify_kernels.first_bad_list(
            *blocks, first, np.array([size]), np.array([counts.sum()]), doc_len, np.array([0]),
            *np.empty((2, BLOCK), np.uint32),
        )  # fmt: skip
        assert list_is_sound(blocks, 0, size, int(counts.sum()), doc_len) == (bad < 0), turn

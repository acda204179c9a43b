"""Lists unpacked by NumPy are those that the kernels unpack; forged ones keep to the table of blocks in both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.index import block_kernels
from germane.index.blocks import BLOCK, MOST_EXTRA, PADDING, TF_CAP, PostingBlocks
from germane.index.unpacking import unpack_list
from germane.index.verify import table_problem

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
    blocks, first, _, lists = packed(sizes, seed, widest, most)
    for i, (docs, counts) in enumerate(lists):
        found = unpack_list(blocks, int(first[i]), sizes[i])
        assert found[0].tolist() == docs.tolist()
        assert found[1].tolist() == counts.tolist()


def decoded(blocks: PostingBlocks, size: int) -> tuple[np.ndarray, np.ndarray]:
    docs, counts = np.empty((2, -(-size // BLOCK) * BLOCK), np.uint32)
    block_kernels.decode_list(*blocks, 0, size, docs, counts)
    return docs[:size], counts[:size]


@pytest.mark.parametrize("name", ["last", "doc_bits", "tf_bits", "max_tf", "words"])
def test_a_forged_list_keeps_to_the_table(name: str) -> None:
    """Both read the same from it: documents that ascend to the last one of each block, counts up to its largest."""
    rng, refused = np.random.default_rng(5), 0
    for turn in range(400):
        size = int(rng.choice(SIZES))
        blocks, first, doc_len, _ = packed([size], turn, 6, int(rng.choice((9, 1000))))
        if name == "words":
            blocks.words[rng.integers(0, 8 * -(-size // BLOCK), 3)] = rng.integers(0, 1 << 32, 3)
        else:
            block = int(rng.integers(0, len(blocks.table.last)))
            low, high = {"last": (0, len(doc_len)), "max_tf": (1, 256)}.get(
                name, (0, 33)
            )  # what its own rule lets pass
            getattr(blocks.table, name)[block] = rng.integers(low, high)
        if table_problem(blocks.table, np.array([size]), first) is not None:
            refused += 1
            continue
        docs, counts = decoded(blocks, size)
        again = unpack_list(blocks, 0, size)
        assert [own.tolist() for own in again] == [docs.tolist(), counts.tolist()], turn
        ends = np.minimum(np.arange(1, len(blocks.table.last) + 1) * BLOCK, size) - 1
        assert (np.diff(docs.astype(np.int64), prepend=-1) > 0).all()
        assert docs[ends].tolist() == blocks.table.last.tolist()
        largest = blocks.table.max_tf.astype(np.int64)
        most = np.where((largest < TF_CAP) | (blocks.table.tf_bits == 0), largest, MOST_EXTRA + 1)
        assert (counts >= 1).all()
        assert (counts <= np.repeat(most, BLOCK)[:size]).all()
    assert (refused > 0) == (name == "last")


def test_blocks_that_do_not_ascend_are_refused() -> None:
    blocks, first, _, _ = packed([300, 1, 128], 3, 4, 5)
    df = np.array([300, 1, 128])
    assert table_problem(blocks.table, df, first) is None
    for block, last in ((0, 126), (1, 0), (2, int(blocks.table.last[1]) + 43), (4, 126)):
        table = blocks.table._replace(last=blocks.table.last.copy())
        table.last[block] = last
        assert table_problem(table, df, first) is not None, block

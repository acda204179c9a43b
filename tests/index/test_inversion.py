"""Turning lists round, against NumPy."""

import numpy as np
import pytest

from germane.index.inversion_kernels import SHORT, count_lists, invert, sort_lists, transpose


def test_invert_and_transpose() -> None:
    lengths = [0, 5, 0, 300, 1, 1, 77, 0]
    rng = np.random.default_rng(0)
    tokens = np.minimum(rng.geometric(0.05, sum(lengths)) - 1, 39)
    pairs = np.stack([tokens, np.repeat(np.arange(len(lengths)), lengths)])
    expected, expected_counts = np.unique(pairs, axis=1, return_counts=True)
    order = np.lexsort((rng.random(len(expected[0])), expected[1]))  # documents ascend, their terms come in any order
    starts = np.concatenate([[0], np.cumsum(np.bincount(expected[0], minlength=40))])
    postings = np.empty(len(order), np.uint64)
    at = starts[:-1].copy()
    ends = np.cumsum(np.bincount(expected[1], minlength=len(lengths)))
    cut = int(ends[3])  # two calls
    own, own_counts = expected[0][order].astype(np.uint32), expected_counts[order].astype(np.uint32)
    invert(own[:cut], own_counts[:cut], ends[:4], 0, at, postings)
    invert(own[cut:], own_counts[cut:], ends[4:] - cut, 4, at, postings)
    docs, counts = (postings >> 32).astype(np.uint32), postings.astype(np.uint32)
    assert np.array_equal(at, starts[1:])
    assert np.array_equal(docs, expected[1])
    assert np.array_equal(counts, expected_counts)

    doc_starts = np.zeros(len(lengths) + 1, np.int64)
    terms, term_counts = np.empty(len(docs), np.uint32), np.empty(len(docs), np.uint32)
    transpose(starts, docs, counts, len(lengths), doc_starts, terms, term_counts)
    order = np.lexsort((expected[0], expected[1]))
    assert np.array_equal(terms, expected[0][order])
    assert np.array_equal(term_counts, expected_counts[order])
    assert np.array_equal(np.diff(doc_starts), np.bincount(expected[1], minlength=len(lengths)))


def test_count_lists() -> None:
    terms, df = np.random.default_rng(1).integers(0, 9, 100).astype(np.uint32), np.ones(10, np.int64)
    count_lists(terms, df)
    assert np.array_equal(df, 1 + np.bincount(terms, minlength=10))


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("n_terms", [1, 2, 256, 257, 65_536, 65_537, (1 << 24) + 1])
def test_sort_lists(n_terms: int, near: bool) -> None:
    """Short lists and long ones; of terms that are far from each other, or `near`: with the same highest byte."""
    rng = np.random.default_rng(n_terms)
    held = min(n_terms, 700)
    rank = (np.arange(held) if near else np.sort(rng.choice(n_terms, held, replace=False))).astype(np.uint32)
    rank[-1] = n_terms - 1
    rng.shuffle(rank)
    lists = [rng.permutation(held)[:n] for n in (0, 1, held, 3, 0, held // 2, SHORT, SHORT + 1)]
    terms = np.concatenate(lists).astype(np.uint32)
    counts = rng.integers(1, 1 << 32, len(terms)).astype(np.uint32)
    ends = np.cumsum([len(own) for own in lists])
    expected = [(rank[own][order := rank[own].argsort()], order) for own in lists]
    expected_counts = [part[order] for part, (_, order) in zip(np.split(counts, ends[:-1]), expected, strict=True)]

    (keys, spare), moved = np.empty((2, held), np.uint64), np.empty(len(terms), np.uint32)
    sort_lists(terms, counts, ends, moved, rank, n_terms, keys, spare, np.empty(256, np.int64))
    assert np.array_equal(terms, np.concatenate([own for own, _ in expected]))
    assert np.array_equal(counts, np.concatenate(expected_counts))
    assert np.array_equal(moved, np.concatenate([order.argsort() for _, order in expected]))

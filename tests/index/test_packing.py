"""Lists packed by NumPy are, bit for bit, those that the kernels pack; so is a whole segment."""

from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import lazy
from germane.index import block_kernels, kernels, packing, sequence_kernels
from germane.index.blocks import BLOCK, PADDING, TF_CAP, PostingBlocks
from germane.index.builder import SegmentBuilder
from germane.index.segment import Segment
from germane.index.unpacking import unpack_forward
from germane.text import Analyzer
from germane.types import Document

SIZES = st.lists(st.sampled_from((1, 2, 3, 31, 127, 128, 129, 256, 300)), max_size=5)
MOST = st.sampled_from((1, 2, 7, TF_CAP - 1, TF_CAP, TF_CAP + 1, 1 << 20))


def ascending(rng: np.random.Generator, size: int) -> list[int]:
    """Numbers with gaps of some width."""
    return (np.cumsum(rng.integers(1, 2 << int(rng.integers(0, 12)), size)) - 1).tolist()


@settings(max_examples=80, deadline=None)
@given(SIZES, MOST, st.integers(0, 9999))
def test_posting_lists(sizes: list[int], most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    docs = np.array([*chain(*(ascending(rng, size) for size in sizes))], np.uint32)
    counts = np.where(rng.random(len(docs)) < 0.5, most, rng.integers(1, most + 1, len(docs))).astype(np.uint32)
    starts = packing.places_of(np.array(sizes, np.int64))
    room = PostingBlocks.empty(64 * (len(docs) + 8), sum(-(-size // BLOCK) for size in sizes))
    n, _ = block_kernels.encode_lists(starts, docs, counts, *room, np.empty(BLOCK, np.uint32))
    blocks = packing.encode_lists(starts, docs, counts)
    assert blocks.words.tolist() == room.words[:n].tolist()
    assert [own.tolist() for own in blocks.table] == [own.tolist() for own in room.table]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from((0, 1, 2, 40, 300)), max_size=5), MOST, st.integers(0, 9999))
def test_forward_lists_there_and_back(sizes: list[int], most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    terms = np.array([*chain(*(ascending(rng, size) for size in sizes))], np.uint32)
    counts = rng.integers(1, most + 1, len(terms)).astype(np.uint32)
    starts = packing.places_of(np.array(sizes, np.int64))
    room, bits = np.empty(2 * len(terms) + 2 * len(sizes), np.uint32), np.empty((2, len(sizes)), np.uint8)
    n = kernels.encode_forward(starts, terms, counts, room, *bits)
    words, term_bits, tf_bits = packing.encode_forward(starts, terms, counts)
    assert words.tolist() == room[:n].tolist()
    assert np.array_equal([term_bits, tf_bits], bits)
    at = packing.places_of(sum(packing.words_needed(np.diff(starts), own) for own in (term_bits, tf_bits)))
    found = unpack_forward(np.append(words, np.zeros(PADDING, np.uint32)), at[:-1], *bits, starts)
    assert [own.tolist() for own in found] == [terms.tolist(), counts.tolist()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=90), max_size=6))
def test_lists_and_sequences_of_documents(texts: list[list[int]]) -> None:
    """Against Counters, and the kernel that packs sequences."""
    ids, ends = np.array([*chain(*texts)], np.uint32), np.cumsum([0, *map(len, texts)])[1:]
    lists = packing.lists_of(ids, ends)
    own = [sorted(Counter(text).items()) for text in texts]
    assert list(zip(lists.terms.tolist(), lists.counts.tolist(), strict=True)) == [*chain(*own)]
    assert lists.ends.tolist() == np.cumsum([0, *map(len, own)])[1:].tolist()
    postings = sorted((term, doc, n) for doc, held in enumerate(own) for term, n in held)
    assert lists.postings.tolist() == [doc << 32 | n for _, doc, n in postings]
    places = [[term for term, _ in held].index(token) for text, held in zip(texts, own, strict=True) for token in text]
    assert lists.places.tolist() == places
    n_unique, room = np.array([*map(len, own)], np.int64), np.empty(len(ids) + 1, np.uint32)
    n = sequence_kernels.pack_sequences(lists.places.astype(np.uint32), ends, n_unique, room)
    assert packing.pack_sequences(lists.places, ends, n_unique).tolist() == room[:n].tolist()


@pytest.mark.parametrize("positions", [True, False])
def test_a_few_documents_make_the_same_segment(positions: bool, tmp_path: Path) -> None:
    """By kernels and without them: the same bytes, and what is read from them."""
    words = ["naïve", "Cafés", "the", "cats", "cat", "東京都", "don't", "1,000", "x-ray", "rank", "ranking", "ranked"]
    rng = np.random.default_rng(1)
    words += [f"w{i}" for i in range(300)]
    chosen = (len(words) * rng.random((300, 40)) ** 3).astype(np.int64)
    documents = [
        Document(
            f"d{i % 290}",
            {
                "title": " ".join(words[j] for j in own[:4]),
                "text": [" ".join(words[j] for j in own[4 : i % 40]), "cat"],
            },
        )
        for i, own in enumerate(chosen.tolist())
    ]
    documents[7] = Document("much", {"title": "cat " * 400})
    documents[8] = Document("nothing", {"text": "the"})
    found = []
    for compiled in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lazy, "compiler_is_loaded", lambda compiled=compiled: compiled)
            builder = SegmentBuilder(Analyzer(), ("title", "text"), positions=positions)
            builder.add(documents[:100], 0)
            builder.add(documents[100:], 100)
            path = tmp_path / f"compiled-{compiled}"
            builder.write(path, {})
            found.append((path.read_bytes(), *(own.tobytes() for own in Segment(path).forward_of(slice(None)))))
    assert found[0] == found[1]

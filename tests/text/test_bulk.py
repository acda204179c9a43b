"""The bulk road against `Analyzer.terms`, its oracle, and its kernels against plain Python."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from germane import lazy
from germane.errors import ParameterError
from germane.text import Analyzer, kernels, word_table
from germane.text.bulk import BulkAnalyzer
from germane.text.tokenizer import tokenize

PLAIN = Analyzer("none", "none")

AWKWARD = "aAsSzé9 05..,,''’’´-_\x00\n東京カ한\u0301\u00ad\u200b\ufe0f\u20e3\ud800٣ßİŉΣ…½¨😀\U00020000"
LONG = st.builds(
    lambda head, n, tail: head + "x" * n + tail,
    st.text("aé東1.'", max_size=4),
    st.integers(245, 260),
    st.text("é'sx1,", max_size=9),
)
TEXT = st.one_of(
    st.text(AWKWARD, max_size=30),
    st.text("abs'.,-09 S", max_size=30),
    st.text(st.characters(), max_size=30),
    st.text(st.characters(codec="ascii"), max_size=30),
    st.lists(st.sampled_from(["the", "The", "cat", "cats", "cat's", "don't", "1,000", "2.5"]), max_size=9).map(
        " ".join
    ),
    LONG,
)


def terms_of(analyzer: BulkAnalyzer, texts: list[str]) -> list[list[str]]:
    ids, ends = analyzer.analyze(texts)
    assert ids.dtype == np.uint32
    assert ends.dtype == np.int64
    assert ends.shape == (len(texts),)
    starts = [0, *ends.tolist()]
    assert starts[-1] == len(ids)
    return [[analyzer.terms[i] for i in ids[a:b]] for a, b in zip(starts, ends.tolist(), strict=False)]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(TEXT, max_size=4), max_size=3), st.sampled_from([PLAIN, Analyzer()]))
@example([["a", "'s"], ["1", ".5"], ["don't", "x's's"]], PLAIN)
@example([["é" * 127 + "aé", "a" * 255 + "é", "a" * 254 + "é", "😀" + "𠀀" * 70]], PLAIN)
def test_equals_the_analyzer_text_by_text(batches: list[list[str]], analyzer: Analyzer) -> None:
    fast = BulkAnalyzer(analyzer)
    for batch in batches:
        assert terms_of(fast, batch) == [analyzer.terms(text) for text in batch]
    seen = [term for batch in batches for text in batch for term in analyzer.terms(text)]
    assert fast.terms == list(dict.fromkeys(seen))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXT, max_size=4), max_size=3), st.sampled_from([PLAIN, Analyzer()]))
@example([["Ranking the rank"], ["documents DOCUMENT documents", "rank document"], ["ranked"]], Analyzer())
def test_a_few_texts_without_kernels_and_more_with_them(batches: list[list[str]], analyzer: Analyzer) -> None:
    """Text by text, by kernels, and by kernels after the first 20 characters."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy, "compiler_is_loaded", lambda: False)
        for few in (-1, 20, lazy.FEW):
            patch.setattr(lazy, "FEW", few)
            bulk = BulkAnalyzer(analyzer)
            analysed = [tuple(array.tolist() for array in bulk.analyze(batch)) for batch in batches]
            found.append((analysed, bulk.terms, _surfaces(bulk), bulk.n_terms))
    assert found[0] == found[1] == found[2]


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, max_size=6))
def test_growing_from_almost_nothing_changes_nothing(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_table, "FIRST_WORDS", 1)
        small = BulkAnalyzer(PLAIN)
    assert terms_of(small, texts) == [tokenize(text) for text in texts]


def test_many_tokens() -> None:
    words = [f"w{i * 7919 % 100_003}" for i in range(100_003)]
    fast = BulkAnalyzer(PLAIN)
    texts = [" ".join(words[i : i + 1000]) for i in range(0, len(words), 1000)]
    ids, _ = fast.analyze(texts)
    assert ids.tolist() == list(range(len(words)))
    assert fast.terms == words
    again, _ = fast.analyze(texts)
    assert np.array_equal(ids, again)


def test_a_text_of_a_million_words() -> None:
    fast = BulkAnalyzer(Analyzer())
    ids, ends = fast.analyze(["the cats sat, " * 333_334])
    assert ends.tolist() == [666_668]
    assert np.array_equal(ids, np.tile(np.array([0, 1], dtype=np.uint32), 333_334))
    assert fast.terms == ["cat", "sat"]


def test_huge_tokens() -> None:
    fast = BulkAnalyzer(PLAIN)
    ids, _ = fast.analyze(["a" * 3_000_000, "é" * 1_000_000, "a'" * 1_000_000 + "a"])
    assert [fast.terms[i] for i in ids] == ["a" * 255, "é" * 127, "a" * 255]


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["the"], ["...", "the of", "\ud800"]])
def test_texts_without_terms(texts: list[str]) -> None:
    ids, ends = BulkAnalyzer(Analyzer()).analyze(texts)
    assert ids.size == 0
    assert ends.tolist() == [0] * len(texts)


def test_one_text_is_not_a_batch() -> None:
    with pytest.raises(ParameterError, match="sequence of texts"):
        BulkAnalyzer(PLAIN).analyze("one text")


def _surfaces(bulk: BulkAnalyzer) -> tuple[list[str], list[int]]:
    forms, counts = bulk.surfaces()
    return forms, counts.tolist()


def test_surfaces() -> None:
    fast = BulkAnalyzer(Analyzer())
    fast.analyze(["Ranking the rank", "documents DOCUMENT documents"])
    assert fast.terms == ["rank", "document"]
    assert _surfaces(fast) == (["ranking", "documents"], [1, 2])  # of equals, the first seen
    fast.analyze(["rank document", "document"])
    assert _surfaces(fast) == (["rank", "document"], [2, 3])


@settings(max_examples=50, deadline=None)
@given(st.lists(TEXT, max_size=6))
def test_surfaces_are_the_most_frequent_tokens(texts: list[str]) -> None:
    analyzer = Analyzer()
    fast = BulkAnalyzer(analyzer)
    fast.analyze(texts)
    tokens = Counter(token for text in texts for token in tokenize(text))
    for term, surface, count in zip(fast.terms, *fast.surfaces(), strict=True):
        rivals = [token for token in tokens if analyzer.term_of(token) == term]
        assert surface == max(rivals, key=tokens.__getitem__)  # max keeps the first of equals
        assert count == tokens[surface]


def test_no_surfaces_without_texts() -> None:
    assert _surfaces(BulkAnalyzer(Analyzer())) == ([], [])


def test_threads_with_their_own_analyzers() -> None:
    texts = [f"alpha{i} beta{i % 50} the gammas" for i in range(3000)]
    expected = BulkAnalyzer(Analyzer()).analyze(texts)[0]
    with ThreadPoolExecutor(4) as pool:
        for ids, _ in pool.map(lambda _: BulkAnalyzer(Analyzer()).analyze(texts), range(4)):
            assert np.array_equal(ids, expected)


def test_an_interrupt_leaves_the_vocabulary_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = BulkAnalyzer(Analyzer())
    fast.analyze([])

    def interrupted(tokens: object) -> list[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fast._numbered, "_stem_all", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fast.analyze(["cats sat"])
    assert terms_of(fast, ["sat dogs"]) == [["sat", "dog"]]
    assert fast.terms == ["cat", "sat", "dog"]


def test_tokens_to_terms_equals_its_numpy() -> None:
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 20, 500).astype(np.uint32)
    ends = np.sort(rng.integers(0, 501, 9)).astype(np.int64)
    ends[-1] = 500
    term_of = rng.integers(-1, 7, 20)
    counts = rng.integers(0, 5, 20)

    expected_counts = counts + np.bincount(ids, minlength=20)
    kept = term_of[ids] >= 0
    expected_ends = np.concatenate([[0], np.cumsum(kept)])[ends]
    expected_ids = term_of[ids][kept]

    n = kernels.tokens_to_terms(ids, ends, term_of, counts)
    assert np.array_equal(ids[:n], expected_ids)
    assert np.array_equal(ends, expected_ends)
    assert np.array_equal(counts, expected_counts)


def test_count_terms_equals_counters() -> None:
    rng = np.random.default_rng(4)
    lengths = [0, 7, 1, 0, 40, 3]
    ids = rng.integers(0, 9, sum(lengths)).astype(np.uint32)
    ends = np.cumsum(lengths)
    places = np.full(9, -1)
    before = 0
    terms, counts = np.empty(len(ids), np.uint32), np.empty(len(ids), np.uint32)
    for _ in range(2):  # the table is used again for the next documents
        own_ends = np.empty(len(ends), np.int64)
        order = np.empty(len(ids), np.uint32)
        n = kernels.count_terms(ids, ends, before, places, terms, counts, own_ends, order)
        assert n == own_ends[-1]
        before += n
        for d, (begin, end) in enumerate(zip([0, *own_ends], own_ends, strict=False)):
            held = Counter(ids[ends[d] - lengths[d] : ends[d]].tolist())
            assert list(zip(terms[begin:end].tolist(), counts[begin:end].tolist(), strict=True)) == list(held.items())
            text = slice(ends[d] - lengths[d], ends[d])
            assert np.array_equal(terms[begin:end][order[text]], ids[text])

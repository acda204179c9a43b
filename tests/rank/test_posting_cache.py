"""The memory that decoded lists may take."""

from collections.abc import Callable

import pytest

from germane.index.segment import Segment
from germane.rank import BM25, RankingModel, model_named
from germane.rank.maxscore import posting_cache as decoded
from germane.rank.maxscore.posting_cache import COUNTS_ALONE, DecodedLists, PostingCache, usual_megabytes


@pytest.mark.parametrize(
    ("gigabytes", "processes", "expected"),
    [(0, 1, 256), (2, 1, 256), (24, 1, 1536), (24, 2, 768), (24, 16, 256), (64, 1, 4096), (1024, 1, 4096)],
)
def test_processes_share_a_sixteenth_of_the_memory(
    gigabytes: int, processes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded, "memory_limit", lambda: gigabytes << 30)
    assert usual_megabytes(processes) == expected


def searched(build, n: int) -> tuple[Segment, Callable[..., None], PostingCache]:
    """A segment, and what keeps the list of one of its words for a model: "b" is half as frequent as "a"."""
    searcher = build({f"{i:04}": ["a"] * (1 + i % 3) + ["b"] * (i % 2) for i in range(n)}).retriever._searcher
    segment, cache = searcher.snapshot.segments[0].segment, PostingCache()

    def search(model: RankingModel, word: str = "a") -> None:
        terms = searcher.terms_in(0, searcher.plan({word: 1.0}, model))
        cache.postings(segment, terms.plan, terms.numbers)

    return segment, search, cache


def test_so_many_codings_are_kept(build) -> None:
    segment, search, cache = searched(build, 1100)
    for i in range(2 * decoded.MOST_CODINGS):
        search(BM25(1.0 + i))
        kept = [lists.coding.x0 for lists in cache.kept[segment]]
        first = max(i + 1 - decoded.MOST_CODINGS, 0)
        assert kept == [0.25 * (1.0 + j) for j in range(first, i + 1)]


def test_a_list_that_never_fits_evicts_nothing(build, monkeypatch: pytest.MonkeyPatch) -> None:
    segment, search, cache = searched(build, 1100)
    room = DecodedLists(segment, COUNTS_ALONE).bytes_of(segment.df[segment.find_terms(["b"])])
    decoded.keep_decoded(1)
    try:
        monkeypatch.setattr(decoded, "_room", room)
        for word in ("b", "a"):
            search(model_named("dce"), word)
            [lists] = cache.kept[segment]
            assert lists.bytes == room
    finally:
        monkeypatch.undo()
        decoded.keep_decoded(usual_megabytes())

import pytest

from germane.errors import ParameterError
from germane.lm import CollectionStats


def test_collection_model() -> None:
    stats = CollectionStats(2, 4, [3, 0, 1], [2, 0, 1])
    assert stats.p_C.tolist() == [0.75, 0, 0.25]
    assert stats.mean_len_d == 2
    assert stats.is_complete


def test_view_of_a_few_terms() -> None:
    stats = CollectionStats(1000, 100_000, [50], [20])
    assert stats.p_C.tolist() == [0.0005]
    assert not stats.is_complete


def test_empty_collection_has_no_model() -> None:
    empty = CollectionStats(0, 0, [], [])
    assert empty.mean_len_d == 0
    with pytest.raises(ParameterError, match="empty collection"):
        _ = empty.p_C


def test_statistics_cannot_be_changed() -> None:
    given = [1, 2]
    stats = CollectionStats(2, 3, given, [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        stats.cf[0] = 7
    assert given == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((-1, 3, [3], [1]), "n_docs"),
        ((1.5, 3, [3], [1]), "n_docs"),
        ((1, -3, [3], [1]), "n_tokens"),
        ((True, 3, [3], [1]), "n_docs"),
        ((1, 3, [-3], [1]), "cf must not be negative"),
        ((1, 3, [3.0], [1]), "cf must be whole"),
        ((1, 3, [[3]], [1]), "one dimension"),
        ((1, 3, [3], [1, 1]), "but df has"),
        ((5, 3, [3], [4]), "more documents"),
        ((5, 3, [3], [0]), "in no document"),
        ((1, 3, [3], [2]), "of only 1"),
        ((2, 3, [4], [2]), "only 3 tokens"),
    ],
)
def test_bad_statistics(arguments: tuple[object, ...], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        CollectionStats(*arguments)  # type: ignore[arg-type]

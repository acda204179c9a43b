"""When unpacked lists are given up for others."""

import pytest

from germane.rank.maxscore import posting_cache as decoded
from germane.rank.maxscore.posting_cache import PATIENCE, Use, usual_megabytes


@pytest.mark.parametrize(
    ("gigabytes", "processes", "expected"),
    [(0, 1, 256), (2, 1, 256), (24, 1, 1536), (24, 2, 768), (24, 16, 256), (64, 1, 4096), (1024, 1, 4096)],
)
def test_processes_share_a_sixteenth_of_the_memory(
    gigabytes: int, processes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded, "memory_limit", lambda: gigabytes << 30)
    assert usual_megabytes(processes) == expected


def test_lists_that_serve_every_second_query_stay() -> None:
    use = Use()
    for turn in range(20 * PATIENCE):
        use.note(served=turn % 2 == 0)
        assert not use.is_poor


def test_lists_that_serve_nobody_are_given_up_after_enough_queries() -> None:
    use = Use()
    for _ in range(PATIENCE - 1):
        use.note(served=False)
    assert not use.is_poor
    use.note(served=False)
    assert use.is_poor
    use.forget()
    assert not use.is_poor


def test_former_use_fades() -> None:
    use = Use()
    for _ in range(100 * PATIENCE):
        use.note(served=True)
    turns = 0
    while not use.is_poor:
        use.note(served=False)
        turns += 1
    assert turns <= 8 * PATIENCE

"""The memory that decoded lists may take."""

import pytest

from germane.rank.maxscore import posting_cache as decoded
from germane.rank.maxscore.posting_cache import usual_megabytes


@pytest.mark.parametrize(
    ("gigabytes", "processes", "expected"),
    [(0, 1, 256), (2, 1, 256), (24, 1, 1536), (24, 2, 768), (24, 16, 256), (64, 1, 4096), (1024, 1, 4096)],
)
def test_processes_share_a_sixteenth_of_the_memory(
    gigabytes: int, processes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded, "memory_limit", lambda: gigabytes << 30)
    assert usual_megabytes(processes) == expected

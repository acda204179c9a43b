"""What holds for all tests.

No test depends on how fast the machine is: Hypothesis gets no deadline, and may be slow to draw its examples. A few
documents that are added together make a segment of their own: much of what is tested happens between segments.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from germane.index import writer

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True, scope="session")
def small_segments_stay_apart() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "TAIL", 0)
        yield

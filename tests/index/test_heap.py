"""What is free goes back to the system."""

import os
import sys

import numpy as np
import pytest

from germane.index import heap
from germane.index.heap import give_back, memory_limit


def resident() -> int:
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's own account of memory")
def test_freed_arrays_go_back() -> None:
    np.ones(31 << 20, np.uint8)[:1].copy()  # from now on glibc keeps arrays up to this size
    arrays = [np.ones(4 << 20, np.uint8) for _ in range(16)]
    last = arrays.pop()  # lies behind the others, so that the heap cannot simply end earlier
    del arrays
    before = resident()
    give_back()
    assert last.all()
    assert resident() <= before


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.index.heap._trim", lambda: None)
    give_back()


def test_a_container_may_take_less_than_the_machine_has(tmp_path, monkeypatch) -> None:
    limit, open_ended = tmp_path / "limit", tmp_path / "max"
    limit.write_text("268435456\n")
    open_ended.write_text("max\n")
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(limit), str(open_ended), str(tmp_path / "none")))
    assert memory_limit() == 256 << 20
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(open_ended),))
    assert memory_limit() > 256 << 20

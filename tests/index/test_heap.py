"""How much memory there is, and what is free goes back to the system."""

import os
import sys

import numpy as np
import pytest

from germane.index import heap
from germane.index.heap import give_back, memory_limit

MB = 1 << 20


def resident() -> int:
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(heap._trim() is None, reason="the C library has no malloc_trim")
def test_freed_arrays_go_back() -> None:
    np.ones(31 * MB, np.uint8)[:1].copy()  # from now on glibc keeps arrays up to this size
    arrays = [np.ones(4 * MB, np.uint8) for _ in range(16)]
    last = arrays.pop()  # lies behind the others, so that the heap cannot simply end earlier
    held = resident()
    del arrays
    assert resident() > held - 30 * MB  # freed, and kept
    give_back()
    assert resident() < held - 30 * MB  # most of the 60 are the system's again
    assert last.all()


def test_elsewhere_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert heap._trim.__wrapped__() is None
    monkeypatch.setattr(heap, "_trim", lambda: None)
    assert give_back() is None


def test_a_container_may_take_less_than_the_machine_has(tmp_path, monkeypatch) -> None:
    limit, larger, open_ended = tmp_path / "limit", tmp_path / "larger", tmp_path / "max"
    limit.write_text("268435456\n")
    larger.write_text("9223372036854771712\n")  # how the first kind of control groups says that there is none
    open_ended.write_text("max\n")
    pages = {"SC_PHYS_PAGES": 1 << 20, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(limit), str(open_ended), str(tmp_path / "none")))
    assert memory_limit() == 256 * MB
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(larger), str(open_ended)))
    assert memory_limit() == 4096 * MB


def test_where_the_machine_does_not_tell(tmp_path, monkeypatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(f"unrecognized configuration name: {name}")

    monkeypatch.setattr(os, "sysconf", unknown)
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(tmp_path / "none"),))
    assert memory_limit() == 0
    (tmp_path / "limit").write_text("268435456\n")
    monkeypatch.setattr(heap, "CONTAINER_LIMITS", (str(tmp_path / "limit"),))
    assert memory_limit() == 256 * MB

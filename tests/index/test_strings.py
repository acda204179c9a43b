"""Packed strings against Python's own lists of bytes, by kernels and without them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from germane import lazy
from germane.index.strings import (
    choose_packed,
    decoded,
    drop_equal,
    join_packed,
    pack_strings,
    repeated_packed,
    sort_packed,
    unpack_strings,
)

STRINGS = st.lists(
    st.one_of(st.binary(max_size=12), st.builds(lambda tail: b"common prefix " + tail, st.binary(max_size=3))),
    max_size=40,
)


@pytest.fixture(params=[False, True], ids=["by Python", "by kernels"], autouse=True)
def compiled(request: pytest.FixtureRequest) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy, "compiler_is_loaded", lambda: request.param)
        yield


@settings(max_examples=100, deadline=None)
@given(STRINGS)
@example([b"", b"a\0", b"a", b"", b"a\0\0b"])
def test_sorting_is_by_bytes_and_then_by_number(strings: list[bytes]) -> None:
    found = sort_packed(pack_strings(strings), np.arange(len(strings)))
    assert found.tolist() == sorted(range(len(strings)), key=strings.__getitem__)


@settings(max_examples=50, deadline=None)
@given(STRINGS, STRINGS, st.data())
def test_joining_and_choosing(first: list[bytes], second: list[bytes], data: st.DataObject) -> None:
    joined = join_packed([pack_strings(first), pack_strings(second)])
    assert unpack_strings(*joined) == first + second
    chosen = data.draw(st.lists(st.integers(-1, len(first + second) - 1), max_size=9))
    assert unpack_strings(*choose_packed(joined, np.array(chosen, np.int64))) == [
        b"" if i < 0 else (first + second)[i] for i in chosen
    ]


def test_decoding() -> None:
    strings = ["", "x", "é", "東京"] * 20
    assert decoded(pack_strings([string.encode() for string in strings]), np.arange(80)) == strings


def test_equal_strings_are_dropped() -> None:
    numbers = np.array([0, 1, 2])
    left, right = pack_strings([b"a", b"bc", b""]), pack_strings([b"", b"a", b"bd"])
    chosen = np.array([1, 2, 0])
    drop_equal(left, right, numbers, chosen)
    assert chosen.tolist() == [-1, 2, -1]


def test_repeats() -> None:
    strings = [b"b", b"a", b"b", b"", b"a", b"b"]
    order = np.array(sorted(range(6), key=strings.__getitem__), np.uint32)
    pairs = repeated_packed(pack_strings(strings), order, np.array([5, 1, 3, 0, 2, 4]))
    assert sorted(pairs) == [(1, 4), (2, 5), (5, 0)]
    assert repeated_packed(pack_strings([b"a", b"b"]), order[:0], np.arange(0)) == []

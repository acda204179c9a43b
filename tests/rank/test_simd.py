"""The instructions that Numba has no words for, beside NumPy."""

import numpy as np
import pytest
from numba import njit

from germane.jit import kernel
from germane.rank import simd
from germane.rank.simd import add_classes, count_bits, four_at, lowest_bit, reach_mask


@kernel
def _added(acc, at, classes, begin, n, low, high):
    add_classes(acc, at, classes, begin, n, low, high)


@kernel
def _fours(values, out):
    for i in range(len(out)):
        out[i] = four_at(values, i)


@kernel
def _reaching(values, begin, limit):
    mask = reach_mask(values, begin, limit)
    return mask, lowest_bit(mask), count_bits(mask)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_four_at_once(kind):
    values = np.random.default_rng(1).integers(0, np.iinfo(kind).max, 50, endpoint=True).astype(kind)
    out, bits = np.zeros(len(values) - 3, np.uint64), np.iinfo(kind).bits
    _fours(values, out)
    expected = [sum(int(value) << (bits * i) for i, value in enumerate(values[at : at + 4])) for at in range(len(out))]
    assert out.tolist() == expected


def test_those_that_reach_a_limit():
    values = np.random.default_rng(2).integers(0, 1000, 100).astype(np.uint16)
    mask, lowest, count = _reaching(values, 7, np.uint16(700))
    reaching = np.flatnonzero(values[7:71] >= 700)
    assert (mask, lowest, count) == (sum(1 << int(i) for i in reaching), reaching[0], len(reaching))


@pytest.mark.parametrize(("at", "begin", "n"), [(0, 0, 0), (0, 0, 16), (32, 0, 48), (5, 3, 32)])
def test_units_by_class(at, begin, n):
    random = np.random.default_rng(3)
    classes, units = random.integers(0, 16, 100).astype(np.uint8), random.integers(0, 3000, 16).astype(np.uint16)
    before = random.integers(0, 60000, 100).astype(np.uint16)
    expected, acc = before.copy(), before.copy()
    expected[at : at + n] += units[classes[begin : begin + n]]
    _added(acc, at, classes, begin, n, (units & 255).astype(np.uint8), (units >> 8).astype(np.uint8))
    assert acc.tolist() == expected.tolist()


def test_units_by_class_without_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simd, "_PERMUTATION", None)

    @njit
    def added(acc, classes, low, high):
        add_classes(acc, 0, classes, 0, 48, low, high)

    classes, units = np.arange(48).astype(np.uint8) % 16, np.arange(0, 48000, 3000).astype(np.uint16)
    acc = np.ones(48, np.uint16)
    added(acc, classes, (units & 255).astype(np.uint8), (units >> 8).astype(np.uint8))
    assert acc.tolist() == (1 + units[classes]).tolist()


@pytest.mark.parametrize(
    ("machine", "chosen", "features", "expected"),
    [
        ("aarch64", None, None, "llvm.aarch64.neon.tbl1.v16i8"),
        ("arm64", "generic", None, "llvm.aarch64.neon.tbl1.v16i8"),
        ("x86_64", "x86-64-v3", None, "llvm.x86.ssse3.pshuf.b.128"),
        ("AMD64", "skylake", None, "llvm.x86.ssse3.pshuf.b.128"),
        ("x86_64", "x86-64", None, None),
        ("x86_64", "generic", None, None),
        ("x86_64", "skylake", "+sse2,-ssse3", None),
        ("riscv64", "sifive-u74", None, None),
    ],
)
def test_the_instruction_of_each_processor(
    monkeypatch: pytest.MonkeyPatch, machine: str, chosen: str | None, features: str | None, expected: str | None
) -> None:
    monkeypatch.setattr(simd, "machine", lambda: machine)
    monkeypatch.setattr(simd.config, "CPU_NAME", chosen)
    monkeypatch.setattr(simd.config, "CPU_FEATURES", features)
    assert simd._permutation() == expected

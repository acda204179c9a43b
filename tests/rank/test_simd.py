"""The instructions that Numba has no words for, beside NumPy."""

import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from germane.jit import kernel
from germane.rank.maxscore import simd_kernels as simd
from germane.rank.maxscore.simd_kernels import add_classes, count_bits, four_at, lowest_bit, reach_mask


@kernel
def _added(acc, n, begin, lists):
    add_classes(acc, n, begin, lists)


def _class_of(classes, begin, n):
    """The classes of n documents, of which a byte has two, 16 apart."""
    places = np.arange(n)
    return classes[begin + places // 32 * 16 + places % 16] >> np.where(places % 32 < 16, 0, 4) & 15


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


@pytest.mark.parametrize("n_lists", [1, 2, 3, 4])
@pytest.mark.parametrize(("begin", "n"), [(0, 0), (0, 64), (16, 128), (3, 192)])
def test_units_by_class(begin, n, n_lists):
    random = np.random.default_rng(3)
    lists, tables = (random.integers(0, 256, (n_lists, size)).astype(np.uint8) for size in (200, 16))
    factors, acc = np.array([60, 7, 1, 30][:n_lists], np.uint8), random.integers(0, 30000, 250).astype(np.uint16)
    expected = acc.astype(int)
    for classes, table, factor in zip(lists, tables, factors, strict=True):
        expected[:n] += int(factor) * table.astype(int)[_class_of(classes, begin, n)]
    _added(acc, n, begin, tuple(zip(lists, tables, factors, strict=True)))
    assert acc.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["", "llvm.x86.ssse3.pshuf.b.128"])
def test_units_by_class_without_the_widest_instruction(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name and not (simd.machine() == "x86_64" and binding.get_host_cpu_features().get("ssse3")):
        pytest.skip("a processor without this instruction")
    monkeypatch.setattr(simd, "_PERMUTATION", simd.Permutation(name, 16))

    @njit
    def added(acc, one):
        add_classes(acc, 64, 0, (one,))

    classes, table = np.arange(0, 192, 6).astype(np.uint8), np.arange(0, 240, 15).astype(np.uint8)
    acc = np.ones(64, np.uint16)
    added(acc, (classes, table, np.uint8(20)))
    assert acc.tolist() == (1 + 20 * table.astype(int)[_class_of(classes, 0, 64)]).tolist()


@pytest.mark.parametrize(
    ("machine", "chosen", "features", "expected"),
    [
        ("aarch64", None, None, "llvm.aarch64.neon.tbl1.v16i8"),
        ("arm64", "generic", None, "llvm.aarch64.neon.tbl1.v16i8"),
        ("x86_64", None, None, "llvm.x86.avx2.pshuf.b"),
        ("x86_64", None, "-avx2", "llvm.x86.ssse3.pshuf.b.128"),
        ("x86_64", "x86-64-v3", None, "llvm.x86.ssse3.pshuf.b.128"),
        ("AMD64", "skylake", None, "llvm.x86.ssse3.pshuf.b.128"),
        ("x86_64", "x86-64", None, ""),
        ("x86_64", "generic", None, ""),
        ("x86_64", "skylake", "+sse2,-ssse3", ""),
        ("riscv64", "sifive-u74", None, ""),
    ],
)
def test_the_instruction_of_each_processor(
    monkeypatch: pytest.MonkeyPatch, machine: str, chosen: str | None, features: str | None, expected: str
) -> None:
    monkeypatch.setattr(simd, "machine", lambda: machine)
    monkeypatch.setattr(simd.config, "CPU_NAME", chosen)
    monkeypatch.setattr(simd.config, "CPU_FEATURES", features)
    monkeypatch.setattr(simd.binding, "get_host_cpu_features", lambda: {"ssse3": True, "avx2": True})
    name, n = simd._permutation()
    assert name == expected
    assert n == (32 if "avx2" in name else 16)

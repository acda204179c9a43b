"""The instructions that Numba has no words for, beside NumPy."""

import numpy as np
import pytest

from germane.jit import kernel
from germane.rank.maxscore.simd_kernels import count_bits, four_at, lowest_bit, reach_mask


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

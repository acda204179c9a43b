# mypy: ignore-errors
"""Numba kernels of packed strings (`index.strings`): finding, sorting and copying without a Python object for each."""

import numpy as np

from germane.index.simd_kernels import copy_eight, prefetch
from germane.jit import kernel

PREFIX = 8
AHEAD = 16
"""Strings between asking where one begins and reading that, and between asking for it and reading it."""


@kernel
def prefixes(data, offsets, chosen, keys):
    """The first PREFIX bytes of each chosen string as one number that sorts as they do; zeros where it is shorter."""
    for i in range(len(chosen)):
        begin = np.int64(offsets[chosen[i]])
        size = min(np.int64(offsets[chosen[i] + 1]) - begin, PREFIX)
        key = np.uint64(0)
        for k in range(size):
            key |= np.uint64(data[begin + k]) << np.uint64(8 * (PREFIX - 1 - k))
        keys[i] = key


@kernel
def less(data, offsets, a, b):
    """Whether string a comes before string b; of equal ones, the lower number."""
    begin_a, begin_b = np.int64(offsets[a]), np.int64(offsets[b])
    size_a, size_b = np.int64(offsets[a + 1]) - begin_a, np.int64(offsets[b + 1]) - begin_b
    for k in range(min(size_a, size_b)):
        if data[begin_a + k] != data[begin_b + k]:
            return data[begin_a + k] < data[begin_b + k]
    return size_a < size_b if size_a != size_b else a < b


@kernel
def sort_ties(data, offsets, keys, order, spare):
    """Sort `order` by its strings, given that it is sorted by their `keys`: a merge sort of each run of equal keys.

    `spare`: room for as many numbers.
    """
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and keys[end] == keys[begin]:
            end += 1
        width = 1
        while width < end - begin:
            for low in range(begin, end, 2 * width):
                _merge(data, offsets, order, low, min(low + width, end), min(low + 2 * width, end), spare)
            width *= 2
        begin = end


@kernel
def _merge(data, offsets, order, low, middle, high, spare):
    """Merge the sorted `order[low:middle]` and `order[middle:high]`."""
    a, b = low, middle
    for k in range(low, high):
        if b >= high or (a < middle and less(data, offsets, order[a], order[b])):
            spare[k] = order[a]
            a += 1
        else:
            spare[k] = order[b]
            b += 1
    for k in range(low, high):
        order[k] = spare[k]


@kernel
def copy_strings(data, offsets, chosen, out):
    """Copy the chosen strings one behind the other; -1 copies nothing."""
    at = 0
    for i in range(len(chosen)):
        if chosen[i] >= 0:
            for k in range(np.int64(offsets[chosen[i]]), np.int64(offsets[chosen[i] + 1])):
                out[at] = data[k]
                at += 1


@kernel
def drop_equal(data_a, offsets_a, data_b, offsets_b, chosen_a, chosen_b):
    """Set `chosen_b[i]` to -1 where its string equals that of `chosen_a[i]`."""
    for i in range(len(chosen_a)):
        a, b = chosen_a[i], chosen_b[i]
        size = np.int64(offsets_a[a + 1]) - np.int64(offsets_a[a])
        same = size == np.int64(offsets_b[b + 1]) - np.int64(offsets_b[b])
        k = 0
        while same and k < size:
            same = data_a[np.int64(offsets_a[a]) + k] == data_b[np.int64(offsets_b[b]) + k]
            k += 1
        if same:
            chosen_b[i] = -1


@kernel
def find_strings(data, offsets, order, query_data, query_offsets, found):
    """found[i] = position p with string(order[p]) == query i, or -1; strings ascend along `order`.

    An empty `order` stands for the identity. Equivalent: `bisect` over the byte strings.
    """
    n = len(offsets) - 1
    direct = len(order) == 0
    for q in range(len(query_offsets) - 1):
        begin = query_offsets[q]
        length = query_offsets[q + 1] - begin
        low = np.int64(0)
        high = np.int64(n)
        found[q] = -1
        while low < high:
            middle = (low + high) >> 1
            s = middle if direct else np.int64(order[middle])
            at = np.int64(offsets[s])
            size = np.int64(offsets[s + 1]) - at
            common = min(size, length)
            i = 0
            while i < common and data[at + i] == query_data[begin + i]:
                i += 1
            if i == common and size == length:
                found[q] = middle
                break
            if i < common:
                smaller = data[at + i] < query_data[begin + i]
            else:
                smaller = size < length
            if smaller:
                low = middle + 1
            else:
                high = middle


@kernel
def gather_strings(data, offsets, wanted, out):
    """Copy the wanted strings into `out`, each followed by a zero byte, as far as they fit; the bytes that all take.

    They are short: eight bytes at once, and some that do not belong to them. `out` has room for PREFIX more.
    """
    at, last, room = np.int64(0), len(data) - PREFIX, len(out) - PREFIX
    for i in range(len(wanted)):
        if i + 2 * AHEAD < len(wanted):
            prefetch(offsets, np.int64(wanted[i + 2 * AHEAD]))
        if i + AHEAD < len(wanted):
            prefetch(data, np.int64(offsets[wanted[i + AHEAD]]))
        begin, end = np.int64(offsets[wanted[i]]), np.int64(offsets[wanted[i] + 1])
        if at + end - begin < room:
            j = begin
            while j < end and j <= last:
                copy_eight(data, j, out, at + j - begin)
                j += PREFIX
            while j < end:
                out[at + j - begin] = data[j]
                j += 1
            out[at + end - begin] = np.uint8(0)
        at += end - begin + 1
    return at


@kernel
def same_string(data, offsets, a, b):
    """`string(a) == string(b)`."""
    size = np.int64(offsets[a + 1]) - np.int64(offsets[a])
    if size != np.int64(offsets[b + 1]) - np.int64(offsets[b]):
        return False
    for j in range(size):
        if data[np.int64(offsets[a]) + j] != data[np.int64(offsets[b]) + j]:
            return False
    return True


@kernel
def mark_repeated(data, offsets, order, repeated):
    """repeated[i] = whether the string before it along `order` is the same."""
    for i in range(1, len(order)):
        repeated[i] = same_string(data, offsets, np.int64(order[i - 1]), np.int64(order[i]))

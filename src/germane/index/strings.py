"""Lists of strings as two arrays: all bytes one after the other, and where each begins."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Mask
from germane.lazy import LazyModule, is_few

if TYPE_CHECKING:
    from germane.index import string_kernels
else:
    string_kernels = LazyModule("germane.index.string_kernels")

Packed: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[np.integer]]
"""String i is `data[offsets[i]:offsets[i + 1]]`."""
VERY_FEW = 4
"""Strings that are read faster without a kernel."""
COSTLY = 16
"""Finding a string without a kernel takes as long as reading so many."""
_AS_THEY_ARE = np.empty(0, np.uint32)
"""The order of strings that ascend."""


def pack_strings(strings: Iterable[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Concatenate: string i is `data[offsets[i]:offsets[i + 1]]`."""
    items = list(strings)
    offsets = np.zeros(len(items) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, items), np.int64, len(items)), out=offsets[1:])
    return np.frombuffer(b"".join(items), np.uint8), offsets


def narrow(offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32] | npt.NDArray[np.int64]:
    """Half the room for offsets, where they fit."""
    return offsets.astype(np.uint32) if int(offsets[-1]) < 2**32 else offsets


def unpack_strings(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]) -> list[bytes]:
    """All the strings that `pack_strings` packed."""
    text = data.tobytes()
    return [text[begin:end] for begin, end in pairwise(offsets.tolist())]


def string_at(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer], i: int) -> bytes:
    """String number i."""
    return data[int(offsets[i]) : int(offsets[i + 1])].tobytes()


def join_packed(parts: Sequence[Packed]) -> tuple[npt.NDArray[np.uint8], Integers]:
    """Several lists of strings as one."""
    data = np.concatenate([np.empty(0, np.uint8), *(part for part, _ in parts)])
    sizes = np.concatenate([np.empty(0, np.uint32), *(np.diff(offsets).astype(np.uint32) for _, offsets in parts)])
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return data, offsets


def choose_packed(strings: Packed, chosen: Integers) -> tuple[npt.NDArray[np.uint8], Integers]:
    """The strings with these numbers, packed in this order; -1 stands for an empty one."""
    if is_few(len(chosen)):
        return pack_strings(_chosen(strings, chosen))
    data, offsets = strings
    out_offsets = np.zeros(len(chosen) + 1, np.int64)
    sizes = np.where(chosen >= 0, offsets[chosen + 1].astype(np.int64) - offsets[chosen], 0) if len(chosen) else chosen
    np.cumsum(sizes, out=out_offsets[1:])
    out = np.empty(int(out_offsets[-1]), np.uint8)
    string_kernels.copy_strings(data, offsets, chosen, out)
    return out, out_offsets


def sort_packed(strings: Packed, chosen: Integers) -> Integers:
    """The numbers `chosen` in the order of their strings, byte by byte; equal strings by number."""
    if is_few(len(chosen)):
        ascending = np.sort(chosen)
        known = _chosen(strings, ascending)
        return ascending[sorted(range(len(known)), key=known.__getitem__)]
    data, offsets = strings
    keys = np.empty(len(chosen), np.uint64)
    string_kernels.prefixes(data, offsets, chosen, keys)
    order = np.argsort(keys)
    found, keys = chosen[order], keys[order]
    string_kernels.sort_ties(data, offsets, keys, found, np.empty_like(found))
    return found


def _chosen(strings: Packed, chosen: npt.NDArray[np.integer]) -> list[bytes]:
    """The strings with these numbers; an empty one for -1."""
    data, offsets = memoryview(strings[0]), strings[1].astype(np.int64)  # type: ignore[arg-type]
    begins, ends = offsets[chosen], np.where(chosen >= 0, offsets[chosen + 1], 0)
    return [bytes(data[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def drop_equal(strings: Packed, others: Packed, numbers: Integers, chosen: Integers) -> None:
    """Set `chosen[i]`, a number among the others, to -1 where its string equals the one with `numbers[i]`."""
    if not is_few(len(chosen)):
        string_kernels.drop_equal(*strings, *others, numbers, chosen)
        return
    for i, (one, other) in enumerate(zip(_chosen(strings, numbers), _chosen(others, chosen), strict=True)):
        if one == other:
            chosen[i] = -1


def repeated_packed(strings: Packed, order: npt.NDArray[np.uint32], sequence: Integers) -> list[tuple[int, int]]:
    """Among equal strings, each with the next one by `sequence`. Strings ascend along `order`."""
    repeated = mark_repeated(strings, order)
    if not repeated.any():
        return []
    along = order[np.lexsort((sequence[order], np.cumsum(~repeated)))].tolist()
    return [(along[i - 1], along[i]) for i in np.flatnonzero(repeated).tolist()]


def mark_repeated(strings: Packed, order: npt.NDArray[np.uint32]) -> Mask:
    """Whether each string along `order`, in which they ascend, equals the one before it."""
    repeated = np.zeros(len(order), np.bool_)
    if is_few(len(order)):
        repeated[1:] = [one == other for one, other in pairwise(_chosen(strings, order))]
    else:
        string_kernels.mark_repeated(*strings, order, repeated)
    return repeated


def find_all_packed(strings: Packed, wanted: Packed) -> Integers:
    """Where each wanted string lies among some that ascend, -1 where nowhere."""
    if is_few(len(wanted[1])):
        place = {string: i for i, string in enumerate(unpack_strings(*strings))}
        return np.array([place.get(string, -1) for string in unpack_strings(*wanted)], np.int64)
    data, offsets = wanted
    found = np.empty(len(offsets) - 1, np.int64)
    string_kernels.find_strings(*strings, _AS_THEY_ARE, data, offsets.astype(np.int64), found)
    return found


def find_packed(strings: Packed, order: npt.NDArray[np.uint32], wanted: Sequence[str]) -> Integers:
    """Where each wanted string lies among those that ascend along `order` (empty: as they are), -1 where nowhere."""
    data, offsets = strings
    encoded = [string.encode("utf-8", "surrogatepass") for string in wanted]
    if is_few(COSTLY * len(wanted)):
        return np.array([_find_one(strings, order, string) for string in encoded], np.int64)
    found = np.empty(len(wanted), np.int64)
    string_kernels.find_strings(data, offsets, order, *pack_strings(encoded), found)
    return found


def _find_one(strings: Packed, order: npt.NDArray[np.uint32], wanted: bytes) -> int:
    data, ends = memoryview(strings[0]), memoryview(strings[1])  # type: ignore[arg-type]
    low, n, found = 0, len(ends) - 1, b""
    high = n
    while low < high:
        middle = (low + high) >> 1
        at = int(order[middle]) if len(order) else middle
        string = bytes(data[ends[at] : ends[at + 1]])
        if string < wanted:
            low = middle + 1
        else:
            high, found = middle, string
    return low if low < n and found == wanted else -1


def decoded(strings: Packed, chosen: Integers) -> list[str]:
    """The strings with these numbers."""
    data, offsets = strings
    if len(chosen) == 0:
        return []
    if len(chosen) < VERY_FEW or is_few(len(chosen)):
        view, ends = memoryview(data), memoryview(offsets)  # type: ignore[arg-type]
        return [str(view[ends[number] : ends[number + 1]], "utf-8") for number in chosen.tolist()]
    size = len(chosen) * (2 * len(data) // len(offsets) + 2)  # if they are twice as long as others, at most
    while True:
        buffer = np.empty(size + string_kernels.PREFIX, np.uint8)
        size = string_kernels.gather_strings(data, offsets, chosen, buffer)
        if size + string_kernels.PREFIX <= len(buffer):
            break
    return buffer[: size - 1].tobytes().decode().split("\0")

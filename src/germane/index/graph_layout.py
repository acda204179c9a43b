"""What usearch writes of a graph, looked through before it is used: the library believes every number in it.

    rows, columns (u32)   the vectors as bytes, rows × columns of them
    header, 64 bytes      "usearch", its version, the kinds of numbers, how many vectors there are, their dimension
    five u64              vectors, neighbours of one (M), at the bottom (2 M), highest level, where a search begins
    levels                i16 for each vector
    nodes                 for each vector its key (u64), its level (i16), then for each of its levels, the bottom
                          first, how many neighbours it has (u32), and room for as many (u32) as it may have

A forged count or neighbour would be read beyond the file's end. A graph is a cache: one that is not as it should be is
as if it were not there.
"""

import struct

import numpy as np

from germane.arrays import AnyArray, Integers

_SHAPE, _SIZES = struct.Struct("<II"), struct.Struct("<5Q")
_HEADER, _PRESENT = 64, slice(17, 25)
_KEY_AND_LEVEL, _WIDTH = 10, 4
_F16, _F32 = 12, 11
"""How the header calls them."""
_AT_ONCE = 1 << 14


def problem(graph: AnyArray, empty: bytes, n: int) -> str | None:
    """What is wrong with a graph of n vectors, None where nothing is; `empty`: one without any, of its settings."""
    content = np.ascontiguousarray(graph, np.uint8).data
    begin = _SHAPE.size + _HEADER + _SIZES.size
    if len(content) < begin:
        return "cut off"
    rows, columns = _SHAPE.unpack_from(content)
    at = _SHAPE.size + rows * columns
    if rows != n or len(content) < at + _HEADER + _SIZES.size + 2 * n:
        return "of another number of vectors"
    header, expected = bytearray(content[at : at + _HEADER]), bytearray(empty[_SHAPE.size :][:_HEADER])
    if int.from_bytes(header[_PRESENT], "little") != n:
        return "of another number of vectors"
    header[_PRESENT] = expected[_PRESENT] = bytes(8)
    if header != expected or columns != _vector_bytes(expected):
        return "of other settings, or of another version of the library"
    size, few, many, highest, entry = _SIZES.unpack_from(content, at + _HEADER)
    if (size, few, many) != (n, *_SIZES.unpack_from(empty, _SHAPE.size + _HEADER)[1:3]) or (n and entry >= n):
        return "of other settings"
    at += _HEADER + _SIZES.size
    levels = np.frombuffer(content, "<i2", n, at).astype(np.int64)
    if n and (levels.min() < 0 or levels.max() != highest or levels[entry] != highest):
        return "its levels do not fit together"
    return _nodes_problem(np.frombuffer(content, np.uint8)[at + 2 * n :], levels, few, many)


def _vector_bytes(header: bytearray) -> int:
    """Bytes of a vector: float16 or float32."""
    (dimension,) = struct.unpack_from("<Q", header, 33)
    return int(dimension) * {_F16: 2, _F32: 4}.get(header[14], 0)


def _nodes_problem(nodes: AnyArray, levels: Integers, few: int, many: int) -> str | None:
    bottom, upper = _WIDTH * (1 + many), _WIDTH * (1 + few)
    sizes = _KEY_AND_LEVEL + bottom + levels * upper
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    if starts[-1] != len(nodes):
        return "its nodes end elsewhere"
    starts = starts[:-1]
    seen = np.zeros(len(levels), bool)
    for some in _blocks(starts):
        keys = _gathered(nodes, starts[some], 8, "<u8")[:, 0]
        told = _gathered(nodes, starts[some] + 8, 2, "<i2")[:, 0]
        if (keys >= len(levels)).any() or (told != levels[some]).any():
            return "its nodes do not fit together"
        seen[keys.astype(np.int64)] = True
    if not seen.all():
        return "two of its nodes are one vector"
    for level in range(int(levels.max(initial=-1)) + 1):
        whose = np.flatnonzero(levels >= level)
        place = _KEY_AND_LEVEL + (bottom + (level - 1) * upper if level else 0)
        for some in _blocks(whose):
            links = _gathered(nodes, starts[whose[some]] + place, upper if level else bottom, "<u4").astype(np.int64)
            counts, neighbours = links[:, 0], links[:, 1:]
            if (counts > neighbours.shape[1]).any():
                return "a node has more neighbours than there is room for"
            used = neighbours[np.arange(neighbours.shape[1]) < counts[:, None]]
            if (used >= len(levels)).any() or (levels[used] < level).any():
                return "a node has a neighbour that is not there"
    return None


def _blocks(rows: Integers) -> list[slice]:
    return [slice(begin, begin + _AT_ONCE) for begin in range(0, len(rows), _AT_ONCE)]


def _gathered(nodes: AnyArray, starts: Integers, width: int, kind: str) -> AnyArray:
    """The numbers of so many bytes at each place, one row each."""
    found: AnyArray = nodes[starts[:, None] + np.arange(width)].view(kind)
    return found

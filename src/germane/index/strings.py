"""Lists of strings as two arrays: all bytes one after the other, and where each begins."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt


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

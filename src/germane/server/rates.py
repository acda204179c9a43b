"""How many requests an address may send: a bucket of tokens each, in memory that several processes may share."""

import hashlib
import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

from germane.data.atomic import write_bytes
from germane.data.owned import open_owned

SLOTS, PROBES = 4096, 8
_SLOT = struct.Struct("<Qdd")
"""Whose it is, tokens left, and when that was."""
_BYTES = SLOTS * _SLOT.size


def make_shared(path: Path) -> None:
    """A file with empty buckets, for the processes of one server."""
    write_bytes(path, bytes(_BYTES), owned=True)


class Rates:
    """For each address `per_minute` tokens in store, refilled evenly. Of more addresses than there is room for, the one
    that was not seen for longest is forgotten. Two processes that count at the same instant may count once."""

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, *, shared: Path | None = None
    ) -> None:
        self._per_minute, self._clock = per_minute, clock
        if shared is None:
            self._slots = mmap.mmap(-1, _BYTES)
        else:
            with open(open_owned(shared, os.O_RDWR), "r+b") as file:
                self._slots = mmap.mmap(file.fileno(), _BYTES)

    def allow(self, client: str) -> bool:
        """Whether one more request is let through now; always, without a limit."""
        if not self._per_minute:
            return True
        now = self._clock()
        key = int.from_bytes(hashlib.blake2b(client.encode(), digest_size=8).digest(), "little") or 1
        at, left, since = self._find(key, now)
        left = min(float(self._per_minute), left + max(now - since, 0.0) * self._per_minute / 60.0)
        _SLOT.pack_into(self._slots, at, key, max(left - 1.0, 0.0), now)
        return left >= 1.0

    def _find(self, key: int, now: float) -> tuple[int, float, float]:
        """The place of an address, and what it says; a new one where the address is not known."""
        oldest, place = float("inf"), 0
        for probe in range(PROBES):
            at = (key + probe) % SLOTS * _SLOT.size
            whose, left, since = _SLOT.unpack_from(self._slots, at)
            if whose == key:
                return at, left, since
            if since < oldest:
                oldest, place = since, at
        return place, float(self._per_minute), now

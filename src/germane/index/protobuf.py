"""A stream of protobuf messages: single ones in plain Python, and a window for kernels that read many at a time.

The wire format is told in `index.wire_kernels`.
"""

import bz2
import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

import numpy as np
import zstandard

from germane.arrays import Integers
from germane.data.compression import check_ratio, compression_of
from germane.errors import InputError
from germane.index import wire_kernels

WINDOW = 1 << 22
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Value = int | float | bytes

FAULTS = {
    wire_kernels.CUT: "a field runs past the end of its message",
    wire_kernels.LONG_VARINT: "a number of more than ten bytes",
    wire_kernels.TOO_LONG: "a message that is too long",
    wire_kernels.BAD_TAG: "an impossible field number",
    wire_kernels.WIRE_TYPE: "a field of the wrong type",
}
"""What the kernels' negative numbers say of any message."""


class WireError(Exception):
    """What is wrong with a message; the caller knows which one it is."""

    def __init__(self, fault: int) -> None:
        super().__init__(FAULTS[fault])


class Field(NamedTuple):
    """One field of a message as it stands on the wire."""

    number: int
    wire: int
    value: Value


def varint(n: int) -> bytes:
    """A non-negative number, seven bits a byte."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number: int, value: int | float | str) -> bytes:
    """One field; nothing where the value is the default (0 or empty)."""
    if not value:
        return b""
    if isinstance(value, str):
        return varint(number << 3 | BYTES) + varint(len(value.encode())) + value.encode()
    if isinstance(value, float):
        return varint(number << 3 | FIXED64) + struct.pack("<d", value)
    return varint(number << 3 | VARINT) + varint(value)


def delimited(body: bytes) -> bytes:
    """A message after its length."""
    return varint(len(body)) + body


def _varint_at(body: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i, byte in enumerate(body[at : at + 10]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            value &= 2**64 - 1
            return value - 2**64 * (value >> 63), at + i + 1
    raise WireError(wire_kernels.LONG_VARINT if len(body) - at >= 10 else wire_kernels.CUT)


def fields(body: bytes) -> Iterator[Field]:
    """The fields of a message in their order; WireError where there is none."""
    at = 0
    while at < len(body):
        tag, at = _varint_at(body, at)
        number, wire = tag >> 3, tag & 7
        value: Value
        if not 1 <= number < 2**29:
            raise WireError(wire_kernels.BAD_TAG)
        if wire == VARINT:
            value, at = _varint_at(body, at)
            yield Field(number, wire, value)
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(wire, -1)
        if wire == BYTES:
            size, at = _varint_at(body, at)
        elif size < 0:
            raise WireError(wire_kernels.WIRE_TYPE)
        if not 0 <= size <= len(body) - at:
            raise WireError(wire_kernels.CUT)
        value = body[at : at + size]
        at += size
        yield Field(number, wire, struct.unpack("<d", value)[0] if wire == FIXED64 else value)


class _Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class MessageStream:
    """A file, plain or compressed, seen through a window: `data[begin:end]` is read and not yet consumed."""

    def __init__(self, path: Path) -> None:
        self.source = str(path)
        self.data = np.empty(WINDOW, np.uint8)
        self.begin = 0
        self.end = 0
        try:
            self._file = open(path, "rb")  # noqa: SIM115 - closed by __exit__
            head = self._file.read(16)
            self._file.seek(0)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"cannot be opened: {reason}", source=self.source) from error
        self._kind = compression_of(head)
        self._n_bytes = 0
        self._stream = _decompressed(self._file, self._kind)

    def fill(self, need: int) -> bool:
        """Read on until `need` bytes are in the window; False where the file ends before that."""
        if self.begin:
            self.data[: self.end - self.begin] = self.data[self.begin : self.end].copy()
            self.begin, self.end = 0, self.end - self.begin
        while self.end < need:
            if self.end == len(self.data):
                self.data = np.concatenate([self.data, np.empty(len(self.data), np.uint8)])
            size = self._read()
            if size == 0:
                return False
            self.end += size
        return True

    def _read(self) -> int:
        try:
            size = self._stream.readinto(self.data[self.end :].data) or 0
            self._n_bytes += size
            if self._kind is not None:
                check_ratio(self._file, self._n_bytes, self.source)
            return size
        except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
            what = f"a damaged or truncated {self._kind} file" if self._kind else "cannot be read"
            raise InputError(f"{what} ({error})", source=self.source) from error

    def message(self, limit: int) -> bytes | None:
        """The next message of at most `limit` bytes; None at the end of the file, WireError if it ends too early."""
        while True:
            begin, end = map(int, wire_kernels.next_message(self.data, self.begin, self.end))
            if begin >= 0:
                self.begin = end
                return self.data[begin:end].tobytes()
            if begin != wire_kernels.CUT:
                raise WireError(begin)
            if end > limit:
                raise WireError(wire_kernels.TOO_LONG)
            if not self.fill(end):
                if self.end == 0:
                    return None
                raise WireError(wire_kernels.CUT)

    def strings(self, begins: Integers, ends: Integers) -> list[bytes]:
        """The strings at these places of the window."""
        if len(begins) == 0:
            return []
        first = int(begins[0])
        text = self.data[first : int(ends[-1])].tobytes()
        places = zip((begins - first).tolist(), (ends - first).tolist(), strict=True)
        return [text[begin:end] for begin, end in places]

    @property
    def at_end(self) -> bool:
        """Nothing is left."""
        return self.begin == self.end and not self.fill(1)

    def __enter__(self) -> "MessageStream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _decompressed(file: io.BufferedReader, kind: str | None) -> _Readable:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if kind == "bzip2":
        return bz2.BZ2File(file)
    if kind == "zstd":
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return file

"""One file of named, checksummed, memory-mapped arrays: the form of every binary file of the index.

    magic (8) | version (u32) | zero (u32) | section | padding | section | ... | contents (JSON) | trailer (24)

Sections are aligned to 64 bytes. The contents list, for each section, its offset, length, type and CRC-32; the trailer
gives the contents' offset, length and CRC-32 and repeats the magic. Opening maps the file and reads the contents only;
`problems` reads everything. Each bit of the file is covered: by a checksum, or by the rule that padding is zero.
"""

import contextlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import orjson

from germane.arrays import AnyArray
from germane.errors import IndexFormatError
from germane.index.durable import fsync_folder, remove_quietly, storage_errors

MAGIC = b"GERMANE\n"
VERSION = 1
ALIGNMENT = 64
_HEADER = struct.Struct("<8sII")
_TRAILER = struct.Struct("<QII8s")


class ContainerWriter:
    """Writes sections one after the other; nothing is visible under the final name before `finish`.

    A section may be appended to in pieces (`append`), so that it need not fit in memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._temporary = path.with_name(path.name + ".tmp")
        self._sections: dict[str, dict[str, Any]] = {}
        self._open: str | None = None
        with storage_errors(path):
            self._file = open(self._temporary, "wb")  # noqa: SIM115 - closed by finish or abort
        self._position = 0
        self._write(_HEADER.pack(MAGIC, VERSION, 0))

    def _write(self, data: bytes | memoryview) -> None:
        with storage_errors(self.path):
            self._file.write(data)
        self._position += len(data)

    def _pad(self) -> None:
        self._write(b"\0" * (-self._position % ALIGNMENT))

    def append(self, name: str, piece: AnyArray) -> None:
        """Add `piece` to section `name`; the pieces of one section must follow each other."""
        if self._open != name:
            if name in self._sections:
                raise AssertionError(f"section {name} was already closed")
            self._pad()
            self._open = name
            self._sections[name] = {"offset": self._position, "bytes": 0, "dtype": piece.dtype.str, "crc": 0}
        section = self._sections[name]
        data: bytes | memoryview = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data if piece.size else b""
        section["crc"] = zlib.crc32(data, section["crc"])
        section["bytes"] += len(data)
        self._write(data)

    def section(self, name: str, array: AnyArray) -> None:
        """Write a whole section."""
        self.append(name, array)

    @property
    def types(self) -> dict[str, str]:
        """The sections begun by now, each with the type of its numbers."""
        return {name: section["dtype"] for name, section in self._sections.items()}

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the contents, flush to disk, give the file its name."""
        self._pad()
        contents = orjson.dumps({"meta": dict(meta), "sections": self._sections})
        offset = self._position
        self._write(contents)
        self._write(_TRAILER.pack(offset, len(contents), zlib.crc32(contents), MAGIC))
        with storage_errors(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._temporary, self.path)
            fsync_folder(self.path.parent)

    def abort(self) -> None:
        """Forget everything written."""
        with contextlib.suppress(OSError):  # closing writes what is left in the buffer: a full disk refuses again
            self._file.close()
        remove_quietly(self._temporary)

    def __enter__(self) -> "ContainerWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None or not self._file.closed:
            self.abort()


def _lies_within(section: dict[str, Any], begin: int, end: int) -> bool:
    offset, size = int(section["offset"]), int(section["bytes"])
    return begin <= offset <= offset + size <= end and size >= 0 and size % np.dtype(section["dtype"]).itemsize == 0


class Container:
    """A finished file, mapped read-only: `container[name]` is an array that costs nothing until it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise IndexFormatError(f"{path} is missing") from None
        except (ValueError, OSError) as error:
            raise IndexFormatError(f"{path} cannot be read: {error}") from error
        self.size = len(self._map)
        self.meta, self._sections, self._contents_at = self._read_contents()

    def _read_contents(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]], int]:
        if self.size < _HEADER.size + _TRAILER.size:
            raise IndexFormatError(f"{self.path} is truncated ({self.size} bytes)")
        magic, version, zero = _HEADER.unpack_from(self._map, 0)
        if magic != MAGIC or zero != 0:
            raise IndexFormatError(f"{self.path} is not a Germane index file")
        if version != VERSION:
            raise IndexFormatError(
                f"{self.path} has format version {version}, this program reads {VERSION}: upgrade germane"
            )
        offset, length, crc, magic = _TRAILER.unpack_from(self._map, self.size - _TRAILER.size)
        if magic != MAGIC or offset + length + _TRAILER.size != self.size:
            raise IndexFormatError(f"{self.path} is truncated or its trailer is damaged")
        contents = self._map[offset : offset + length]
        if zlib.crc32(contents) != crc:
            raise IndexFormatError(f"{self.path}: the table of contents is damaged")
        try:
            parsed = orjson.loads(contents)
            meta, sections = dict(parsed["meta"]), dict(parsed["sections"])
            sound = all(_lies_within(section, _HEADER.size, offset) for section in sections.values())
        except (KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise IndexFormatError(f"{self.path}: the table of contents is damaged")
        return meta, sections, offset

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __getitem__(self, name: str) -> AnyArray:
        section = self._sections.get(name)
        if section is None:
            raise IndexFormatError(f"{self.path}: section '{name}' is missing")
        dtype = np.dtype(section["dtype"])
        return np.frombuffer(self._map, dtype, section["bytes"] // dtype.itemsize, section["offset"])

    def release(self) -> None:
        """Let the system take back the pages read so far; they come again from the disk when they are needed."""
        self._map.madvise(mmap.MADV_DONTNEED)

    def bytes_of(self, *names: str) -> int:
        """Bytes on disk of the named sections."""
        return sum(int(self._sections[name]["bytes"]) for name in names if name in self._sections)

    def intact(self, name: str) -> bool:
        """Whether the section is there and its checksum is right."""
        section = self._sections.get(name)
        if section is None:
            return False
        begin, end = section["offset"], section["offset"] + section["bytes"]
        with memoryview(self._map) as view, view[begin:end] as data:
            return zlib.crc32(data) == int(section["crc"])

    def problems(self) -> list[str]:
        """Read the whole file; one sentence for each damage, none when it is intact."""
        found = []
        position = _HEADER.size
        for name, section in self._sections.items():
            begin, end = section["offset"], section["offset"] + section["bytes"]
            if begin < position or end > self._contents_at:
                found.append(f"{self.path}: section '{name}' lies outside its place")
                continue
            if any(self._map[position:begin]):
                found.append(f"{self.path}: padding before section '{name}' is damaged")
            if not self.intact(name):
                found.append(f"{self.path}: section '{name}' is damaged (checksum differs)")
            position = end
        if any(self._map[position : self._contents_at]):
            found.append(f"{self.path}: padding before the table of contents is damaged")
        return found

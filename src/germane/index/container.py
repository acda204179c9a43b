"""One file of named, checksummed, memory-mapped arrays: the form of every binary file of the index.

    magic (8) | version (u32) | zero (u32) | section | padding | section | ... | contents (JSON) | trailer (24)

Sections are aligned to 64 bytes. The contents list, for each section, its offset, length, type and CRC-32, or for one
of several pieces (PIECE bytes) the CRC-32 of each, in hexadecimal; the trailer gives the contents' offset, length and
CRC-32 and repeats the magic. Each bit of the file is covered: by a checksum, or by the rule that padding is zero.

Opening maps the file and reads the contents only. Nothing else is used before its checksum was found right:
`container[name]` verifies a section when it is asked for first; of a section read here and there (`lazily`) the reader
names each range before it looks (`verify`), and only the pieces that hold it are read. `problems` reads everything.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from germane.arrays import AnyArray
from germane.data.owned import open_regular
from germane.errors import DamagedIndexError, IndexFormatError
from germane.index.durable import discard, identity_of, keep, new_temporary, storage_errors

MAGIC = b"GERMANE\n"
VERSION = 1
ALIGNMENT = 64
PIECE = 1 << 14
UNWRITTEN = 1 << 16
"""Bytes that a writer collects before it hands them to the system: most sections of a small segment are tiny."""
IN_MEMORY = 1 << 20
"""A file of at most so many bytes is read, not mapped: mapping a small one, and letting it go when it was replaced,
takes longer than reading it."""
FEW = 64
"""So many ranges are looked at without NumPy."""
SOON_WHOLE = 1024
"""A section of so many pieces, 16 MiB, is verified whole when it is read for the second time: then once and for all."""
_HEADER = struct.Struct("<8sII")
_TRAILER = struct.Struct("<QII8s")


class ContainerWriter:
    """Writes sections one after the other; nothing is visible under the final name before `finish`.

    A section may be appended to in pieces (`append`), so that it need not fit in memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sections: dict[str, dict[str, Any]] = {}
        self._open: str | None = None
        self._pieces = _PieceSums()
        self._unwritten = bytearray()
        with storage_errors(path):
            self._file, self._temporary = new_temporary(path.parent)
        self._position = 0
        self._write(_HEADER.pack(MAGIC, VERSION, 0))

    def _write(self, data: bytes | memoryview) -> None:
        size = len(data)
        self._position += size
        if size < UNWRITTEN:
            self._unwritten += data
            size, data = len(self._unwritten), b""
        if size >= UNWRITTEN:
            self._hand_over(data)

    def _hand_over(self, data: bytes | memoryview) -> None:
        """Write what was collected, and the data behind it."""
        with storage_errors(self.path):
            self._file.write(self._unwritten)
            self._file.write(data)
        self._unwritten.clear()

    def _pad(self) -> None:
        if self._position % ALIGNMENT:
            self._write(b"\0" * (-self._position % ALIGNMENT))

    def append(self, name: str, piece: AnyArray) -> None:
        """Add `piece` to section `name`; the pieces of one section must follow each other."""
        if self._open != name:
            if name in self._sections:
                raise AssertionError(f"section {name} was already closed")
            self._close_section()
            self._pad()
            self._open = name
            self._sections[name] = {"offset": self._position, "bytes": 0, "dtype": piece.dtype.str}
        section = self._sections[name]
        if piece.size:
            data = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
            section["bytes"] += len(data)
            self._pieces.add(data)
            self._write(data)

    def _close_section(self) -> None:
        sums, section = self._pieces.finish(), self._sections.get(self._open or "")
        if section is not None and len(sums) > 1:
            section["step"], section["pieces"] = PIECE, "".join(f"{crc:08x}" for crc in sums)
        elif section is not None:
            section["crc"] = sum(sums)

    def section(self, name: str, array: AnyArray) -> None:
        """Write a whole section."""
        self.append(name, array)

    @property
    def types(self) -> dict[str, str]:
        """The sections begun by now, each with the type of its numbers."""
        return {name: section["dtype"] for name, section in self._sections.items()}

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the contents, flush to disk, give the file its name."""
        self._close_section()
        self._pad()
        contents = orjson.dumps({"meta": dict(meta), "sections": self._sections})
        offset = self._position
        self._write(contents)
        self._hand_over(_TRAILER.pack(offset, len(contents), zlib.crc32(contents), MAGIC))
        with storage_errors(self.path):
            keep(self._file, self._temporary, self.path)

    def abort(self) -> None:
        """Forget everything written; after `finish` this does nothing."""
        discard(self._file, self._temporary)

    def __enter__(self) -> "ContainerWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()


class _PieceSums:
    """The CRC-32 of each PIECE bytes of a stream."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._room = 0

    def add(self, data: bytes | memoryview) -> None:
        """The next bytes, of any number."""
        at = 0
        while at < len(data):
            if self._room == 0:
                self._sums.append(0)
                self._room = PIECE
            step = data[at : at + self._room]
            self._sums[-1] = zlib.crc32(step, self._sums[-1])
            self._room -= len(step)
            at += len(step)

    def finish(self) -> list[int]:
        """The sums; the next stream begins."""
        sums, self._sums, self._room = self._sums, [], 0
        return sums


class _Section:
    """Where a section lies, what its numbers are, its checksums, and which of them were found right."""

    def __init__(self, parsed: dict[str, Any], begin: int, end: int) -> None:
        self.offset, self.size = _number(parsed["offset"]), _number(parsed["bytes"])
        self.dtype = _TYPES[parsed["dtype"]]
        if not begin <= self.offset <= self.offset + self.size <= end or self.offset % ALIGNMENT:
            raise ValueError("a section outside its place")
        if self.size % self.dtype.itemsize:
            raise ValueError("a section that ends within a number")
        if "pieces" in parsed:
            self.step = _number(parsed["step"])
            self.sums: Sequence[int] | AnyArray = np.frombuffer(bytes.fromhex(parsed["pieces"]), ">u4")
        else:
            self.step, self.sums = max(self.size, 1), [_number(parsed["crc"])]
        if self.step < 1:
            raise ValueError("pieces without bytes")
        if len(self.sums) != max(-(-self.size // self.step), 1):
            raise ValueError("the wrong number of checksums")
        self.right = bytearray(len(self.sums))


_TYPES = {
    name: np.dtype(name) for name in ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")
}
"""What the numbers of a section can be. Objects are not among them."""


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _content(file: BufferedReader, size: int) -> memoryview | mmap.mmap:
    """What a file holds, aligned; one that is empty cannot be mapped, and is no container either."""
    if not 0 < size <= IN_MEMORY:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    room = np.empty(size + ALIGNMENT, np.uint8)
    begin = -room.__array_interface__["data"][0] % ALIGNMENT
    aligned = room.data[begin : begin + size]
    return aligned[: file.readinto(aligned)].toreadonly()


Rule = Callable[[str], str | None]
"""Says what is wrong with a section, whose checksums may or may not be right; None where it has the shape it should."""


class Container:
    """A finished file, read-only and, unless it is small, mapped: `container[name]` is an array that is read when it is
    asked for first.

    `rule`: what must hold of each section beside its checksum. `trusted`: this process has just written the file.
    """

    def __init__(self, path: Path, rule: Rule | None = None, *, trusted: bool = False) -> None:
        self.path = path
        self._rule = rule
        self._trusted = trusted
        self._obeyed: set[str] = set()
        self._arrays: dict[str, AnyArray] = {}
        self._ready: dict[str, AnyArray] = {}
        """Sections that were verified as a whole."""
        try:
            with open(open_regular(path), "rb") as file:
                self.identity = identity_of(os.fstat(file.fileno()))
                self._map = _content(file, self.identity[2])
        except FileNotFoundError:
            raise DamagedIndexError(path, "the file is missing") from None
        except (ValueError, OSError) as error:
            raise DamagedIndexError(path, f"cannot be read: {error}") from error
        self._view = memoryview(self._map)
        self.size = len(self._map)
        self.meta, self._told, self._contents_at = self._read_contents()
        self._made: dict[str, _Section] = {}

    def _read_contents(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]], int]:
        """The meta data, what is told of each section, and where the contents begin."""
        if self.size < _HEADER.size + _TRAILER.size:
            raise self.damage(f"truncated ({self.size} bytes)")
        magic, version, zero = _HEADER.unpack_from(self._map, 0)
        if magic != MAGIC or zero != 0:
            raise self.damage("not a Germane index file")
        if version != VERSION:
            raise IndexFormatError(
                f"{self.path} has format version {version}, this program reads {VERSION}: upgrade germane"
            )
        offset, length, crc, magic = _TRAILER.unpack_from(self._map, self.size - _TRAILER.size)
        if magic != MAGIC or offset + length + _TRAILER.size != self.size:
            raise self.damage("truncated or its trailer is damaged")
        contents = self._map[offset : offset + length]
        self.checksum = int(crc)
        """That of the table of contents, with the checksums of all sections in it."""
        if zlib.crc32(contents) != crc:
            raise self.damage("the table of contents is damaged")
        try:
            parsed = orjson.loads(contents)
            meta, sections = parsed["meta"], parsed["sections"]
        except (KeyError, TypeError, ValueError):
            meta = sections = None
        if not isinstance(meta, dict) or not isinstance(sections, dict):
            raise self.damage("the table of contents is damaged")
        return meta, sections, offset

    def _section(self, name: str) -> _Section:
        """A section that is there, made when it is first asked for: a reader uses some, and opens many files."""
        section = self._made.get(name)
        if section is None:
            try:
                section = self._made[name] = _Section(self._told[name], _HEADER.size, self._contents_at)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
                raise self.damage("the table of contents is damaged") from None
        return section

    def damage(self, what: str) -> DamagedIndexError:
        """An error that names the file and says what to do."""
        return DamagedIndexError(self.path, what)

    def __contains__(self, name: str) -> bool:
        return name in self._told

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __getitem__(self, name: str) -> AnyArray:
        """The whole section, verified."""
        array = self._ready.get(name)
        if array is None:
            array = self.raw(name)
            if not self._trusted:
                self._verify_pieces(name, range(len(self._section(name).right)))
                self._obey(name)
            self._ready[name] = array
        return array

    def lazily(self, name: str) -> AnyArray:
        """The section, of the right shape; what it holds must be verified before it is used."""
        array = self.raw(name)
        if not self._trusted:
            self._obey(name)
        return array

    def _obey(self, name: str) -> None:
        if self._rule is None or name in self._obeyed:
            return
        problem = self._rule(name)
        if problem is not None:
            raise self.damage(problem)
        self._obeyed.add(name)

    def raw(self, name: str) -> AnyArray:
        """The section as it lies there: nothing is known of what it holds."""
        array = self._arrays.get(name)
        if array is None:
            if name not in self._told:
                raise self.damage(f"section '{name}' is missing")
            section = self._section(name)
            n = section.size // section.dtype.itemsize
            array = self._arrays[name] = np.frombuffer(self._map, section.dtype, n, section.offset)
        return array

    def length(self, name: str) -> int:
        """Numbers in the section; -1 where there is none of that name."""
        if name not in self._told:
            return -1
        section = self._section(name)
        return section.size // section.dtype.itemsize

    def verify(self, name: str, begins: npt.NDArray[np.integer], ends: npt.NDArray[np.integer]) -> None:
        """Verify the numbers [begins[i], ends[i]) of a section."""
        if self.verified(name):
            return
        section = self._section(name)
        width, n, step = section.dtype.itemsize, len(section.right), section.step
        if n <= SOON_WHOLE and 1 in section.right:
            self._verify_pieces(name, range(n))
        elif len(begins) <= FEW:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                first, behind = begin * width // step, (end * width + step - 1) // step
                if section.right.find(0, first, behind) >= 0:
                    self._verify_pieces(name, range(first, behind))
        else:
            self._verify_many(name, begins, ends)

    def _verify_many(self, name: str, begins: npt.NDArray[np.integer], ends: npt.NDArray[np.integer]) -> None:
        section = self._section(name)
        width, n, step = section.dtype.itemsize, len(section.right), section.step
        first = begins.astype(np.int64) * width // step
        behind = (ends.astype(np.int64) * width + (step - 1)) // step
        right = np.frombuffer(section.right, np.uint8)
        if right[np.minimum(first, n - 1)].all() and right[behind - 1].all() and (behind - first).max() < 3:
            return
        covered = np.cumsum(np.bincount(first, minlength=n + 1) - np.bincount(behind, minlength=n + 1))[:n] > 0
        self._verify_pieces(name, np.flatnonzero(covered).tolist())

    def pieces(self, name: str) -> tuple[npt.NDArray[np.uint8], int]:
        """Which pieces of a section were verified (not 0), as it is known at any time, and their bytes."""
        section = self._section(name)
        right = np.frombuffer(b"\1" * len(section.right) if self._trusted else section.right, np.uint8)
        right.flags.writeable = False
        return right, section.step

    def verified(self, name: str) -> bool:
        """Whether the whole section was verified."""
        return self._trusted or 0 not in self._section(name).right

    def _verify_pieces(self, name: str, pieces: Iterable[int]) -> None:
        section = self._section(name)
        for piece in pieces:
            if section.right[piece]:
                continue
            if not self._piece_right(section, piece):
                raise self.damage(f"section '{name}' is damaged (checksum differs)")
            section.right[piece] = 1

    def _piece_right(self, section: _Section, piece: int) -> bool:
        begin = section.offset + piece * section.step
        end = min(begin + section.step, section.offset + section.size)
        return bool(zlib.crc32(self._view[begin:end]) == section.sums[piece])

    def release(self) -> None:
        """Let the system take back the pages read so far; they come again from the disk when they are needed."""
        if isinstance(self._map, mmap.mmap):
            self._map.madvise(mmap.MADV_DONTNEED)

    def bytes_of(self, *names: str) -> int:
        """Bytes on disk of the named sections."""
        return sum(self._section(name).size for name in names if name in self._told)

    def place_of(self, name: str) -> tuple[int, int]:
        """Where the section begins and ends in the file."""
        section = self._section(name)
        return section.offset, section.offset + section.size

    def intact(self, name: str) -> bool:
        """Whether the section is there and its checksums are right."""
        if name not in self._told:
            return False
        section = self._section(name)
        return all(self._piece_right(section, piece) for piece in range(len(section.sums)))

    def problems(self) -> list[str]:
        """Read the whole file; one sentence for each damage, none when it is intact."""
        found = []
        position = _HEADER.size
        for name in self._told:
            begin, end = self.place_of(name)
            if begin < position:
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

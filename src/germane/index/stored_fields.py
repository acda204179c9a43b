"""Stored documents: JSON lines in Zstandard blocks. "Here is a document number, give me its fields."

A block closes once it holds BLOCK_BYTES of JSON; one document costs the decompression of one block. Not meant for
scanning the collection word by word: that is what the forward index is for. Each block carries its own checksum, so
that in a damaged file the documents of the other blocks are known to be intact (`index.check`).
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import zstandard

from germane.errors import IndexFormatError
from germane.index.container import Container, ContainerWriter

BLOCK_BYTES = 4 * 1024
"""The ten documents of an answer take .2 ms, .7 ms with blocks of 32 KiB, which need a tenth less room."""
LEVEL = 1
MAX_BLOCK = 1 << 30
"""What a block may become when it is decompressed."""
MAX_DOCUMENT = MAX_BLOCK // 2
"""Bytes of a document's fields in JSON."""


class StoredWriter:
    """Collects documents; `memory` is what it holds by now.

    Given a container, finished blocks go there at once, and no other section may be written before `write`.
    """

    def __init__(self, container: ContainerWriter | None = None) -> None:
        self._container = container
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._lines: list[bytes] = []
        self._pending = 0
        self._blocks: list[bytes] = []
        self._sizes: list[int] = []
        self._last: list[int] = []
        self._count = 0
        self.memory = 0

    def add_all(self, lines: list[bytes]) -> None:
        """Store documents as JSON; a document's number is the count of those before it."""
        ends = list(accumulate(map(len, lines)))
        begin, before = 0, 0
        while self._pending + (ends[-1] if ends else 0) - before >= BLOCK_BYTES:
            end = bisect_left(ends, BLOCK_BYTES - self._pending + before, begin) + 1
            self._lines += lines[begin:end]
            self._count += end - begin
            begin, before = end, ends[end - 1]
            self._close_block()
        self._lines += lines[begin:]
        self._count += len(lines) - begin
        self._pending += ends[-1] - before if begin < len(lines) else 0

    def add_json(self, line: bytes) -> None:
        """Store one document as JSON."""
        self._lines.append(line)
        self._pending += len(line)
        self._count += 1
        if self._pending >= BLOCK_BYTES:
            self._close_block()

    def _close_block(self) -> None:
        block = self._compressor.compress(b"\n".join(self._lines))
        self._lines.clear()
        self._pending = 0
        self._keep(block)

    def add_block(self, block: bytes, n_docs: int) -> None:
        """Store a finished block of another segment."""
        if self._lines:
            self._close_block()
        self._count += n_docs
        self._keep(block)

    def _keep(self, block: bytes) -> None:
        self._last.append(self._count)
        self._sizes.append(len(block))
        if self._container is not None:
            self._container.append("stored", np.frombuffer(block, np.uint8))
        else:
            self._blocks.append(block)
            self.memory += len(block)

    def write(self, container: ContainerWriter) -> None:
        """Write sections `stored` (bytes), `stored_at` (block offsets), `stored_last` (documents up to each block)."""
        if self._lines:
            self._close_block()
        offsets = np.zeros(len(self._sizes) + 1, np.int64)
        np.cumsum(self._sizes, out=offsets[1:])
        container.append("stored", np.empty(0, np.uint8))
        for block in self._blocks:
            container.append("stored", np.frombuffer(block, np.uint8))
        container.section("stored_at", offsets)
        container.section("stored_last", np.array(self._last, np.int64))


class StoredReader:
    """Reads documents back by number."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._bytes: npt.NDArray[np.uint8] = container.lazily("stored")
        self._at: npt.NDArray[np.int64] = container["stored_at"]
        self._last: npt.NDArray[np.int64] = container["stored_last"]

    def _lines_of(self, block: int) -> list[bytes]:
        """The documents of a block, known to be intact by the block's own checksum or else by the section's.

        A damaged block is refused, its neighbours are not.
        """
        data = self._data(block)
        frame = self._frame(data)
        if frame is None or not frame.has_checksum:
            self._verify(block)
        return self._decompressed(block, data, frame)

    @staticmethod
    def _frame(data: bytes) -> zstandard.FrameParameters | None:
        try:
            return zstandard.get_frame_parameters(data)
        except zstandard.ZstdError:
            return None

    def _verify(self, block: int) -> None:
        self._container.verify("stored", self._at[block : block + 1], self._at[block + 1 : block + 2])

    def _data(self, block: int) -> bytes:
        return self._bytes[int(self._at[block]) : int(self._at[block + 1])].tobytes()

    def _decompressed(self, block: int, data: bytes, frame: zstandard.FrameParameters | None) -> list[bytes]:
        first = int(self._last[block - 1]) if block else 0
        n_docs = int(self._last[block]) - first
        try:
            if frame is None or frame.content_size > MAX_BLOCK:
                raise MemoryError
            content = zstandard.ZstdDecompressor().decompress(data)
        except (zstandard.ZstdError, MemoryError):
            content = None
        # A block that has far more lines than documents is not to become a list of them.
        lines = [] if content is None else content.split(b"\n", n_docs)
        if len(lines) != n_docs:
            raise self._container.damage(f"stored documents {first} to {self._last[block] - 1} are damaged")
        return lines

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Each block as it lies on the disk, and how many documents it holds."""
        for block, n_docs in enumerate(np.diff(self._last, prepend=0).tolist()):
            self._verify(block)
            yield self._data(block), n_docs

    def json(self, doc: int) -> bytes:
        """The stored JSON of document `doc`."""
        block = int(np.searchsorted(self._last, doc, side="right"))
        first = int(self._last[block - 1]) if block else 0
        return self._lines_of(block)[doc - first]

    def fields(self, doc: int) -> dict[str, Any]:
        """The stored fields of document `doc`."""
        return self._parsed(doc, self.json(doc))

    def fields_of(self, docs: Sequence[int]) -> list[dict[str, Any]]:
        """The stored fields of some documents; a block is read once for neighbours in it."""
        found: list[dict[str, Any]] = []
        read, lines, first = -1, [b""], 0
        for doc, block in zip(docs, np.searchsorted(self._last, docs, side="right").tolist(), strict=True):
            if block != read:
                read, lines, first = block, self._lines_of(block), int(self._last[block - 1]) if block else 0
            found.append(self._parsed(doc, lines[doc - first]))
        return found

    def all_json(self) -> Iterator[bytes]:
        """Every document's JSON in order of number."""
        for block in range(len(self._last)):
            yield from self._lines_of(block)

    def all_fields(self) -> Iterator[dict[str, Any]]:
        """Every document's fields in order of number."""
        for doc, line in enumerate(self.all_json()):
            yield self._parsed(doc, line)

    def _parsed(self, doc: int, line: bytes) -> dict[str, Any]:
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            fields = None
        if not isinstance(fields, dict):
            raise self._container.damage(f"stored document {doc} is damaged")
        return fields

    def intact_blocks(self, *, trusted: bool) -> Iterator[tuple[int, list[bytes]]]:
        """The first document and the JSON lines of each block that is intact by its own checksum.

        `trusted`: the whole section is known to be intact, so that a block without a checksum will do.
        """
        for block in range(len(self._last)):
            data = self._data(block)
            frame = self._frame(data)
            if not trusted and (frame is None or not frame.has_checksum):
                continue
            try:
                lines = self._decompressed(block, data, frame)
            except IndexFormatError:
                continue
            yield (int(self._last[block - 1]) if block else 0), lines

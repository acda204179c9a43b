"""Open a file for reading, whatever it is compressed with and encoded in, as a stream of UTF-8 bytes.

The first bytes decide between gzip, zstd, bzip2, xz and plain; the file's name does not. Whatever goes wrong while
reading is an `InputError` that names the file.
"""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO

import zstandard

from germane.data.transcoding import Read, Transcoder, decoder_of
from germane.errors import InputError

ENDINGS = (".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz")
BUFFER_BYTES = 1 << 18
MAX_RATIO = 200
FREE_BYTES = 1 << 24
"""How many times as long as the file its text may be, and the bytes that are not counted: text becomes some 3 to 30
times as long, a file made to exhaust its reader a thousand times or more."""
# Zstandard can turn four bytes into 128 KiB: feeding it little at a time bounds what one step can produce.
_INPUT_BYTES = 1 << 12
_XZ_MEMORY = 128 << 20
"""What unpacking an xz file may take: its highest setting needs 65 MiB, a file made for it could ask for 4 GiB."""
_UNREADABLE = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF file",
    b"PAR1": "a Parquet file",
    b"SQLite format 3\x00": "an SQLite database",
    b"\xff\xfe": "perhaps UTF-16 text, which needs encoding='utf-16'",
    b"\xfe\xff": "perhaps UTF-16 text, which needs encoding='utf-16'",
}


def compression_of(head: bytes) -> str | None:
    """The compression whose magic bytes `head` starts with: "gzip", "zstd", "xz", "bzip2" or None."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"BZh") and head[3:4].isdigit():
        block = head[4:10]
        if any(magic.startswith(block) for magic in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")):
            return "bzip2"
    return None


def open_binary(path: str | Path, encoding: str = "utf-8", *, text: bool = True) -> io.BufferedReader:
    """Open `path` for reading, decompressed, and as UTF-8 bytes where it is in another encoding.

    Bytes said to be UTF-8 are passed on unchecked: whoever decodes them knows the line. NUL bytes are refused here,
    unless `text` is False.
    """
    decoder = decoder_of(encoding)
    source = str(path)
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed by _Checked)
        head = file.read(16)
        file.seek(0)
    except FileNotFoundError:
        raise InputError("no such file", source=source) from None
    except IsADirectoryError:
        raise InputError("a folder, where a file is needed", source=source) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {error}", source=source) from error
    kind = compression_of(head)
    read: Read
    if kind == "gzip":
        read = gzip.GzipFile(fileobj=file, mode="rb").read1
    elif kind == "bzip2":
        read = bz2.BZ2File(file).read1
    elif kind == "zstd":
        read = _Zstd(file).read
    elif kind == "xz":
        read = _Xz(file).read
    else:
        read = file.read1
    if decoder is not None:
        read = Transcoder(read, decoder, encoding, source).read
    hint = next((f": {what}" for magic, what in _UNREADABLE.items() if head.startswith(magic)), "")
    return io.BufferedReader(_Checked(file, read, source, kind, hint, text), BUFFER_BYTES)


def check_ratio(file: BinaryIO, n_bytes: int, source: str) -> None:
    """Raise if a compressed file gave more bytes than text can: `file` is open, and read to where they came from."""
    if n_bytes > FREE_BYTES and n_bytes > MAX_RATIO * file.tell() + FREE_BYTES:
        raise InputError(
            f"unpacks to more than {MAX_RATIO} times its size, as no text does; unpack it first, if that is meant",
            source=source,
        )


class _Checked(io.RawIOBase):
    """Turns every failure into an InputError, after handing out all that was good before it."""

    def __init__(self, file: BinaryIO, read: Read, source: str, kind: str | None, hint: str, text: bool) -> None:
        self._file = file
        self._read = read
        self._source = source
        self._kind = kind
        self._hint = hint
        self._text = text
        self._failure: InputError | None = None
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._failure is not None:
            raise self._failure
        try:
            data = self._read(len(buffer))
        except (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
            what = f"a damaged or truncated {self._kind} file" if self._kind else "cannot be read"
            raise InputError(f"{what} ({error})", source=self._source) from error
        self._n_bytes += len(data)
        if self._kind is not None:
            check_ratio(self._file, self._n_bytes, self._source)
        nul = data.find(b"\0") if self._text else -1
        if nul >= 0:
            self._failure = InputError(f"holds NUL bytes, so it is not text{self._hint}", source=self._source)
            data = data[:nul]
            if not data:
                raise self._failure
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Zstd:
    """Reads any number of zstd frames and, unlike the library's own reader, notices a truncated one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._inside = False
        self._rest = b""
        self._ready = io.BytesIO()

    def read(self, size: int) -> bytes:
        while not (piece := self._ready.read(size)):
            data = self._rest or self._file.read(_INPUT_BYTES)
            if not data:
                if self._inside:
                    raise EOFError("the last frame is not complete")
                return b""
            self._ready = io.BytesIO(self._frame.decompress(data))
            self._inside, self._rest = True, b""
            if self._frame.eof:
                self._inside, self._rest = False, self._frame.unused_data
                self._frame = zstandard.ZstdDecompressor().decompressobj()
        return piece


class _Xz:
    """Reads any number of xz streams within a bound of memory, which the library's own reader does not have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = self._new()
        self._inside = False
        self._rest = b""

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read(self, size: int) -> bytes:
        while True:
            data = self._rest
            if not data and self._stream.needs_input:
                data = self._file.read(_INPUT_BYTES)
                if not self._inside:
                    data = data.lstrip(b"\0")  # padding between streams
                if not data:
                    if self._inside:
                        raise EOFError("the last stream is not complete")
                    return b""
            self._inside, self._rest = True, b""
            piece = self._stream.decompress(data, size)
            if self._stream.eof:
                self._inside, self._rest = False, self._stream.unused_data.lstrip(b"\0")
                self._stream = self._new()
            if piece:
                return piece

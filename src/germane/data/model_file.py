"""A fitted model as one file, without pickle: plain numbers and text that cannot run anything when they are read.

    <MAGIC> <version> <SHA-256 of what follows>\n
    an .npz archive: `settings`, UTF-8 JSON, and the arrays that it names

The file is written whole or not at all, and one flipped bit or a missing end is noticed before anything is read. The
same model gives the same bytes.
"""

import hashlib
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from germane.arrays import AnyArray
from germane.data.atomic import write_bytes
from germane.data.owned import open_regular
from germane.errors import InputError

_LONGEST_HEADER = 100
MAX_RATIO = 100
FREE_BYTES = 1 << 26
"""How many times as long as the file its arrays may be, and the bytes that are not counted."""
KINDS = "biufU"
"""The arrays that are kept: truth values, numbers and text."""
_SETTINGS = "settings"

Arrays: TypeAlias = dict[str, AnyArray]


@dataclass(frozen=True)
class ModelFile:
    """A format: how its files begin, its version, what messages call such a file, and what writes one."""

    magic: bytes
    version: int
    what: str
    written_by: str

    def write(self, path: str | Path, settings: Any, arrays: Mapping[str, AnyArray]) -> None:
        """Write JSON values and arrays, all or nothing."""
        text = json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()
        archive = io.BytesIO()
        held = {**arrays, _SETTINGS: np.frombuffer(text, np.uint8)}
        np.savez_compressed(archive, allow_pickle=False, **held)
        body = archive.getvalue()
        header = b"%s %d %s\n" % (self.magic, self.version, hashlib.sha256(body).hexdigest().encode())
        write_bytes(path, header + body, private=True)

    def begins(self, path: str | Path) -> bool:
        """Whether the file begins as one of this format does; what comes then may still be damaged."""
        try:
            with self._open(path) as file:
                return file.read(len(self.magic)) == self.magic
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None

    @contextmanager
    def reading(self, path: str | Path, content: bytes | None = None) -> Iterator[tuple[Any, Arrays, int]]:
        """The settings, the arrays and the length of what was read; `InputError` for what is missing, damaged, of a
        newer version or something else, and for whatever fails within. `content`: what the file holds, if it was read
        already."""
        body = self._body(path, content)
        with self.refusing_what_is_forged(path):
            arrays = self._read_arrays(body, str(path))
            settings = json.loads(arrays.pop(_SETTINGS).tobytes())
            yield settings, arrays, len(body)

    @staticmethod
    def _open(path: str | Path) -> BinaryIO:
        return open(open_regular(Path(path), follow=True), "rb")

    def _body(self, path: str | Path, content: bytes | None) -> bytes:
        pattern = re.compile(re.escape(self.magic) + rb" (\d{1,9}) ([0-9a-f]{64})\n")
        try:
            with io.BytesIO(content) if content is not None else self._open(path) as file:
                head = file.readline(_LONGEST_HEADER)
                header = pattern.fullmatch(head)
                body = file.read() if header is not None else b""  # else it may be anything, of any length
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
        except MemoryError:
            raise InputError(f"the {self.what} needs more memory than there is", source=str(path)) from None
        if header is None:
            if head.startswith(self.magic) or (head and self.magic.startswith(head)):
                raise InputError(f"the {self.what} is damaged or cut off at its beginning", source=str(path))
            raise InputError(f"not a {self.what}: {self.written_by}", source=str(path))
        version, digest = int(header[1]), header[2].decode()
        if version != self.version:
            raise InputError(
                f"has format version {version}, this program reads {self.version}: upgrade germane", source=str(path)
            )
        if hashlib.sha256(body).hexdigest() != digest:
            raise InputError(f"the {self.what} is damaged or cut off (its checksum differs)", source=str(path))
        return body

    @contextmanager
    def refusing_what_is_forged(self, path: str | Path) -> Iterator[None]:
        """Any failure within is the file's: with a right checksum, it was never written by `write`."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        except InputError:
            raise
        except MemoryError:
            raise InputError(f"the {self.what} needs more memory than there is", source=str(path)) from None
        except Exception:
            raise InputError(f"the {self.what} holds something this program cannot read", source=str(path)) from None

    def _read_arrays(self, body: bytes, source: str) -> Arrays:
        """The arrays of the archive, none larger than the archive says, all together no larger than is likely."""
        arrays: Arrays = {}
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > FREE_BYTES + MAX_RATIO * len(body):
                raise InputError(
                    f"the {self.what} unpacks to {size:,} bytes, more than {MAX_RATIO} times its size: refused",
                    source=source,
                )
            for member in archive.infolist():
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError
                arrays[member.filename.removesuffix(".npy")] = _array(archive.read(member))
        return arrays


def _array(data: bytes) -> AnyArray:
    """An array in NumPy's format, and nothing else."""
    file = io.BytesIO(data)
    array = read_array(file)
    if file.tell() != len(data):
        raise ValueError("something follows the array")
    return array


def read_array(file: io.BytesIO) -> AnyArray:
    """The array in NumPy's format that comes next. Its numbers are counted before room is made for them."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not an array")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    n, at = math.prod(shape), file.tell()
    size = n * dtype.itemsize
    if dtype.kind not in KINDS or min(shape, default=0) < 0 or len(file.getbuffer()) - at < size:
        raise ValueError("an array that is not there")
    flat = np.frombuffer(file.read(size), dtype, n)
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")

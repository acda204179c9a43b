"""Text files of a folder: one document per file, its id the path inside the folder.

Files may be compressed. Hidden files and folders are skipped, so are pipes, sockets and devices, which could block the
reader for ever. Links to folders are not followed.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.compression import BUFFER_BYTES, open_binary
from germane.data.lines import Block
from germane.errors import InputError
from germane.types import Document, FieldValue


def files_in(folder: str | Path) -> Iterator[Path]:
    """Every regular file below the folder, in the order of its path, links to such files too."""

    def refuse(error: OSError) -> None:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(error.filename or folder))

    for here, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            if not name.startswith(".") and (path.is_file() or not path.exists()):  # who reads a broken link says so
                yield path


def read_folder(
    folder: str | Path, *, label: bool = False, encoding: str = "utf-8", on_bad: OnBad = stop
) -> Iterator[Document]:
    """Documents with the field `text` and, with `label`, the name of the file's own folder as the field `label`.

    A file is a record here: one that is binary, damaged or in another encoding goes to `on_bad`.
    """
    if not Path(folder).is_dir():
        raise InputError("no such folder", source=str(folder))
    for path in files_in(folder):
        yield from read_text(path, folder, label=label, encoding=encoding, on_bad=on_bad)


def read_text(
    path: Path, folder: str | Path, *, label: bool = False, encoding: str = "utf-8", on_bad: OnBad = stop
) -> Iterator[Document]:
    """The document that one file of a folder is."""
    try:
        text = _text(path, encoding)
        identifier = relative_name(path, folder)
    except InputError as error:
        on_bad(error)
        return
    fields: dict[str, FieldValue] = {"text": text}
    if label:
        fields["label"] = path.parent.name
    yield Document(identifier, fields)


def relative_name(path: Path, folder: str | Path) -> str:
    """The path inside the folder, with slashes."""
    identifier = path.relative_to(folder).as_posix()
    if not identifier.isascii():
        try:
            identifier.encode()
        except UnicodeEncodeError:
            raise InputError("the file's name is not valid UTF-8", source=ascii(str(path))) from None
    return identifier


def _text(path: Path, encoding: str) -> str:
    block = Block(str(path), 1)
    with open_binary(path, encoding) as stream:
        for piece in iter(partial(stream.read1, BUFFER_BYTES), b""):
            block.add(piece)
    return block.text().removeprefix("\ufeff")

"""The manifest: which segments, with which deletions, make up the index now.

One small text file, replaced atomically: its first line is the CRC-32 of the rest, the rest is JSON. What the manifest
does not name does not exist; a commit is the replacement of this file.
"""

import uuid
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from germane.errors import IndexFormatError
from germane.index.durable import write_atomic
from germane.text import Analyzer

NAME = "MANIFEST"
FORMAT = 2
"""2: blocks of postings are bounded by lengths at three counts. `index.upgrade` makes one of the other."""
UPGRADED = (1,)


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A live segment: its file, the file's size, and the file of its deletions, if any."""

    name: str
    size: int
    deletions: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of an index after one commit."""

    analyzer: Analyzer
    text_fields: tuple[str, ...]
    generation: int = 0
    segments: tuple[SegmentEntry, ...] = field(default_factory=tuple)

    def next(self, segments: tuple[SegmentEntry, ...]) -> "Manifest":
        """The state after a commit that leaves these segments."""
        return replace(self, generation=self.generation + 1, segments=segments)

    def files(self) -> set[str]:
        """Names of all files that belong to this state."""
        named = {entry.name for entry in self.segments} | {NAME}
        return named | {entry.deletions for entry in self.segments if entry.deletions}

    def write(self, folder: Path) -> None:
        """Commit."""
        body = orjson.dumps(
            {
                "format": FORMAT,
                "generation": self.generation,
                "analyzer": self.analyzer.to_dict(),
                "fingerprint": self.analyzer.fingerprint,
                "text_fields": list(self.text_fields),
                "segments": [
                    {"name": entry.name, "size": entry.size, "deletions": entry.deletions} for entry in self.segments
                ],
            },
            option=orjson.OPT_INDENT_2,
        )
        write_atomic(folder / NAME, b"%08x\n" % zlib.crc32(body) + body)


def new_file(folder: Path, kind: Literal["segment", "deletions"]) -> Path:
    """A name for a new file of the index, which no other has."""
    return folder / f"{kind}-{uuid.uuid4().hex}.germane"


def recovery_meta(analyzer: Analyzer, text_fields: tuple[str, ...], generation: int) -> dict[str, Any]:
    """What each segment repeats of the manifest, so that a lost manifest can be rebuilt.

    `generation` is the commit its youngest documents came with.
    """
    return {
        "analyzer": analyzer.to_dict(),
        "fingerprint": analyzer.fingerprint,
        "text_fields": list(text_fields),
        "generation": generation,
    }


def read_manifest(folder: Path, format: int = FORMAT) -> Manifest:
    """Read and verify the manifest of the index in `folder`, whose segments are of this format."""
    path = folder / NAME
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        what = "does not exist" if not folder.exists() else f"is not a Germane index (it holds no {NAME})"
        raise IndexFormatError(f"{folder} {what}; 'germane index SRC --into {folder}' would make one") from None
    except OSError as error:
        raise IndexFormatError(f"{path} cannot be read: {error.strerror}") from error
    checksum, _, body = content.partition(b"\n")
    if checksum != b"%08x" % zlib.crc32(body):
        raise IndexFormatError(f"{path} is damaged (checksum differs); try 'germane repair {folder}'")
    try:
        parsed = orjson.loads(body)
        if parsed["format"] != format:
            raise IndexFormatError(_other_format(folder, parsed["format"]))
        return _parse(path, parsed)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IndexFormatError(f"{path} is not a manifest this program understands ({error!r})") from None


def _other_format(folder: Path, found: object) -> str:
    if found in UPGRADED:
        return (
            f"{folder} was made by an older version of germane (format {found}): 'germane upgrade {folder} --into NEW' "
            "makes a new index of its stored documents"
        )
    return f"{folder} has format {found}, this program reads {FORMAT}: upgrade germane to open this index"


def _parse(path: Path, parsed: dict[str, Any]) -> Manifest:
    analyzer = Analyzer.from_dict(parsed["analyzer"])
    if analyzer.fingerprint != parsed["fingerprint"]:
        raise IndexFormatError(
            f"{path}: the index was analysed by other rules (fingerprint {parsed['fingerprint']}, this program's is "
            f"{analyzer.fingerprint}): queries would not match; index the collection again"
        )
    entries = tuple(SegmentEntry(entry["name"], entry["size"], entry["deletions"]) for entry in parsed["segments"])
    return Manifest(analyzer, tuple(parsed["text_fields"]), parsed["generation"], entries)

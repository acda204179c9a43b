"""The manifest: which segments, with which deletions, make up the index now.

One small text file, replaced atomically: its first line is the CRC-32 of the rest, the rest is JSON. What the manifest
does not name does not exist; a commit is the replacement of this file.
"""

import os
import re
import secrets
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from germane.data.owned import open_regular, read_whole
from germane.errors import IndexFormatError
from germane.index.durable import (
    TEMPORARY,
    CommitCount,
    Identity,
    identity_of,
    is_unfinished,
    write_atomic,
)
from germane.index.vector_fields import VectorField, check_name
from germane.text import Analyzer

NAME = "MANIFEST"
FORMAT = 5
"""That of an index without vectors."""
WITH_VECTORS = 6
"""The same with vector fields: a program that knows nothing of them would remove their files, and must refuse."""
WITH_SOURCES = 7
"""The same with fields whose vectors a model makes: a program that knows nothing of it would add documents without."""
BOUNDED = (2, 3, 4)
"""The three of earlier programs, which tell more of each block of postings and look for it: read as they are."""
UPGRADED = (1,)
"""`index.upgrade` makes a new index of such a one."""
MAX_BYTES = 1 << 26
MAX_NUMBER = 2**63
BETWEEN_LOOKS = 0.02
"""Seconds after which it is looked up again what the manifest's name means."""

Kind = Literal["segment", "deletions", "vectors"]
_FILE = re.compile(r"(segment|deletions|vectors|graph)-([0-9a-f]{16}|[0-9a-f]{32})\.germane")
"""Names of an index's files. 16 digits are a number (`FileNames`); 32 are the random names of earlier programs."""


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A live segment: its file, the file's size, that of its deletions, if any, and by field those of its vectors."""

    name: str
    size: int
    deletions: str | None = None
    vectors: tuple[tuple[str, str], ...] = ()

    def files(self) -> list[str]:
        """The names of its files."""
        named = [self.name, *(file for _, file in self.vectors)]
        return named if self.deletions is None else [*named, self.deletions]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of an index after one commit."""

    analyzer: Analyzer
    text_fields: tuple[str, ...]
    generation: int = 0
    segments: tuple[SegmentEntry, ...] = field(default_factory=tuple)
    next_file: int = 1
    """The number of the next new file: no number is given twice, so no name ever means another file."""
    positions: bool = True
    """Whether new segments keep the order of words; those of earlier programs do not."""
    vector_fields: Mapping[str, VectorField] = field(default_factory=dict)

    def next(
        self,
        segments: tuple[SegmentEntry, ...],
        next_file: int,
        vector_fields: Mapping[str, VectorField] | None = None,
    ) -> "Manifest":
        """The state after a commit that leaves these segments, and these vector fields unless they are as before."""
        fields = self.vector_fields if vector_fields is None else vector_fields
        return replace(
            self, generation=self.generation + 1, segments=segments, next_file=next_file, vector_fields=fields
        )

    @property
    def format(self) -> int:
        """The least that a program must know to change this index."""
        if any(field.source for field in self.vector_fields.values()):
            return WITH_SOURCES
        return WITH_VECTORS if self.vector_fields else FORMAT

    def files(self) -> set[str]:
        """Names of all files that belong to this state."""
        return {NAME, *(name for entry in self.segments for name in entry.files())}

    def write(self, folder: Path) -> "ManifestFile":
        """Commit."""
        if self.generation >= MAX_NUMBER or self.next_file >= MAX_NUMBER:
            raise IndexFormatError(f"{folder / NAME}: the numbers of commits or files are used up; index again")
        body = orjson.dumps(
            {
                "format": self.format,
                "generation": self.generation,
                "next_file": self.next_file,
                "analyzer": self.analyzer.to_dict(),
                "fingerprint": self.analyzer.fingerprint,
                "text_fields": list(self.text_fields),
                "positions": self.positions,
                "segments": [_written(entry) for entry in self.segments],
                **({"vector_fields": named_fields(self.vector_fields)} if self.vector_fields else {}),
            },
            option=orjson.OPT_INDENT_2,
        )
        content = b"%08x\n" % zlib.crc32(body) + body
        return ManifestFile(folder / NAME, write_atomic(folder / NAME, content, later=True), content)


def _written(entry: SegmentEntry) -> dict[str, Any]:
    parts = {"name": entry.name, "size": entry.size, "deletions": entry.deletions}
    return parts | ({"vectors": dict(entry.vectors)} if entry.vectors else {})


def named_fields(fields: Mapping[str, VectorField]) -> dict[str, Any]:
    """Vector fields by name, as JSON has them."""
    return {name: field.to_dict() for name, field in fields.items()}


class FileNames:
    """Names for the new files of an index: numbers that go up, so that the same work gives the same names."""

    def __init__(self, folder: Path, first: int) -> None:
        self._folder = folder
        named = (_FILE.fullmatch(path.name) for path in folder.iterdir())
        numbers = [int(match[2], 16) for match in named if match and len(match[2]) == 16]
        self.next = max([first, *(number + 1 for number in numbers if number < MAX_NUMBER)])
        """The number that the next file will get."""

    def new(self, kind: Kind) -> Path:
        """A name that no file has or had."""
        number, self.next = self.next, self.next + 1
        return self._folder / f"{kind}-{number:016x}.germane"

    def part(self) -> Path:
        """A name for a file that will be joined with others, and does not outlive the making of the index's own."""
        return self._folder / f"part-{secrets.token_hex(16)}.tmp"


def stray_files(folder: Path, needed: set[str]) -> list[Path]:
    """Files by names that only an index gives, but not in `needed`, nor being written by this process."""
    needed = with_graphs(needed)
    others = [folder / name for name in sorted(os.listdir(folder)) if name not in needed]
    return [
        path
        for path in others
        if (_FILE.fullmatch(path.name) or (TEMPORARY.fullmatch(path.name) and not is_unfinished(path)))
        and (path.is_file() or path.is_symlink())
    ]


def with_graphs(names: set[str]) -> set[str]:
    """With each file of vectors its graph (`index.graphs`), which no manifest names."""
    return names | {name.replace("vectors-", "graph-", 1) for name in names if name.startswith("vectors-")}


def is_temporary(name: str) -> bool:
    """Whether a file of that name is what an interrupted writer leaves behind."""
    return TEMPORARY.fullmatch(name) is not None


def files_of(folder: Path, kind: Kind) -> list[Path]:
    """The files of one kind in a folder, by name, whether or not a manifest names them."""
    return sorted(path for path in folder.iterdir() if (match := _FILE.fullmatch(path.name)) and match[1] == kind)


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
    return parse_manifest(folder, find_file(folder).content, format)


def find_file(folder: Path, before: "ManifestFile | None" = None) -> "ManifestFile":
    """The manifest as it lies there, of a folder that may be no index. `before`: one of the same index."""
    try:
        return ManifestFile.read(folder / NAME, before)
    except (FileNotFoundError, NotADirectoryError):
        what = "does not exist" if not folder.exists() else f"is not a Germane index (it holds no {NAME})"
        raise IndexFormatError(f"{folder} {what}; Engine.create({str(folder)!r}) would make one") from None
    except OSError as error:
        raise IndexFormatError(f"{folder / NAME} cannot be read: {error.strerror}") from error


class ManifestFile:
    """A manifest that was read or written. Whether another commit has replaced it is asked before each search, so that
    it has to be told soon: by the commits that were counted before it was read (`CommitCount`). What its name means now
    is looked up from time to time, for somebody may put another folder in place of this one, and each time where there
    is no count. That is one question to the system: each commit's manifest has a time of its own (`Manifest.write`).
    """

    def __init__(
        self, path: Path, identity: Identity, content: bytes, counter: CommitCount | None = None, commits: bytes = b""
    ) -> None:
        self._path, self._identity, self.content = os.fspath(path), identity, content
        self.counter, self._commits = counter, commits
        self._looked_up = 0.0

    @classmethod
    def read(cls, path: Path, before: "ManifestFile | None" = None) -> "ManifestFile":
        """The manifest as it lies there, whatever it says. `before`: one of the same index."""
        counter = CommitCount.of(path.parent, before.counter if before else None)
        commits = counter.now() if counter is not None else b""  # first: what is committed from here on is news
        descriptor = open_regular(path)
        try:
            identity = identity_of(os.fstat(descriptor))
            return cls(path, identity, read_whole(descriptor, path, MAX_BYTES), counter, commits)
        finally:
            os.close(descriptor)

    def is_there(self) -> bool:
        """Whether the file by that name is still this one, as it was."""
        now, counter = time.monotonic(), self.counter
        commits = counter.now() if counter is not None else b""
        if commits and commits == self._commits and now - self._looked_up < BETWEEN_LOOKS:
            return True
        try:
            same = identity_of(os.lstat(self._path)) == self._identity
        except OSError:
            return False
        if same:
            self._commits, self._looked_up = commits, now
        elif commits == self._commits:  # who has committed counts elsewhere: the file has to be found again
            self.counter = None
        return same


def parse_manifest(folder: Path, content: bytes, format: int = FORMAT, before: Manifest | None = None) -> Manifest:
    """Verify what `find_file` found. `before`: one of the same index, whose analyser this one is likely to have."""
    if not checksum_right(content):
        raise IndexFormatError(f"{folder / NAME} is damaged (checksum differs); 'germane repair {folder}' may help")
    try:
        parsed = orjson.loads(content.partition(b"\n")[2])
        read = (FORMAT, WITH_VECTORS, WITH_SOURCES, *BOUNDED) if format == FORMAT else (format,)
        if parsed["format"] not in read:
            raise IndexFormatError(_other_format(folder, parsed["format"]))
        same = before is not None and before.analyzer.to_dict() == parsed["analyzer"]
        analyzer = before.analyzer if same and before else Analyzer.from_dict(parsed["analyzer"])
        return _parse(folder, parsed, analyzer, {entry.name: entry for entry in before.segments} if before else {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IndexFormatError(f"{folder / NAME} is not a manifest this program understands ({error!r})") from None


def _other_format(folder: Path, found: object) -> str:
    if found in UPGRADED:
        return (
            f"{folder} was made by an older version of germane (format {found}): Engine.upgrade({str(folder)!r}, new) "
            "makes a new index of its stored documents"
        )
    return f"{folder} has format {found}, this program reads {WITH_SOURCES}: upgrade germane to open this index"


def checksum_right(content: bytes) -> bool:
    """Whether the first line of a manifest is the checksum of the rest."""
    checksum, _, body = content.partition(b"\n")
    return checksum == b"%08x" % zlib.crc32(body)


def _parse(folder: Path, parsed: dict[str, Any], analyzer: Analyzer, known: Mapping[str, SegmentEntry]) -> Manifest:
    if analyzer.fingerprint != parsed["fingerprint"]:
        raise IndexFormatError(
            f"{folder / NAME}: the index was analysed by other rules (fingerprint {parsed['fingerprint']}, this "
            f"program's is {analyzer.fingerprint}): queries would not match; index the collection again"
        )
    if not isinstance(parsed["segments"], list):
        raise ValueError("segments is not a list")
    entries = tuple(_entry(entry, known) for entry in parsed["segments"])
    names = [name for entry in entries for name in entry.files()]
    if len(set(names)) < len(names):
        raise ValueError("a file is named twice")
    text_fields = parsed["text_fields"]
    if not isinstance(text_fields, list) or not text_fields or not all(isinstance(name, str) for name in text_fields):
        raise ValueError("text_fields is not a list of names")
    next_file = whole_number(parsed.get("next_file", 1), "next_file")
    positions = parsed.get("positions", False)
    if not isinstance(positions, bool):
        raise ValueError("positions is neither true nor false")
    generation = whole_number(parsed["generation"], "generation")
    fields = {check_name(name): VectorField.from_dict(told) for name, told in parsed.get("vector_fields", {}).items()}
    if any(name not in fields for entry in entries for name, _ in entry.vectors):
        raise ValueError("vectors of a field that is not there")
    return Manifest(analyzer, tuple(text_fields), generation, entries, next_file, positions, fields)


def _entry(parsed: dict[str, Any], known: Mapping[str, SegmentEntry]) -> SegmentEntry:
    before, deletions = known.get(parsed["name"]), parsed["deletions"]
    if before is not None and deletions is None and "vectors" not in parsed:  # most are as they were
        plain = SegmentEntry(before.name, parsed["size"])
        if before == plain:
            return before
    if deletions is not None:
        deletions = _file_name(deletions, "deletions")
    vectors = tuple((name, _file_name(file, "vectors")) for name, file in parsed.get("vectors", {}).items())
    return SegmentEntry(_file_name(parsed["name"], "segment"), whole_number(parsed["size"], "size"), deletions, vectors)


def _file_name(value: Any, kind: Kind) -> str:
    """A name that an index gives: never a path, so that nothing outside the folder is read, moved or removed."""
    match = _FILE.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] != kind:
        raise ValueError(f"{value!r} is not the name of a {kind} file")
    return str(value)


def whole_number(value: Any, name: str) -> int:
    """A non-negative integer below 2^63, or ValueError."""
    if type(value) is not int or not 0 <= value < MAX_NUMBER:
        raise ValueError(f"{name} is {value!r}, not a whole number")
    return value

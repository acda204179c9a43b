"""Is the index intact? `check_index` reads everything: checksums first, then what `index.invariants` compares."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from germane.arrays import Integers
from germane.errors import DamagedIndexError, GermaneError
from germane.index.container import Container
from germane.index.deletions import Deletions, delete, no_deletions, read_deletions
from germane.index.invariants import contradictions
from germane.index.manifest import Manifest, SegmentEntry, read_manifest, stray_files
from germane.index.segment import Segment
from germane.index.snapshot import open_vectors
from germane.index.vector_fields import VectorField
from germane.index.vectors import VectorFile
from germane.schema import Response


@dataclass(frozen=True, slots=True)
class CheckReport(Response):
    """`problems`: a sentence for each damage, naming the file. `notes`: what is odd but harmless, as stray files."""

    ok: bool
    problems: list[str]
    segments: int
    documents: int
    notes: list[str] = field(default_factory=list)


def check_index(folder: Path) -> CheckReport:
    """Verify the index in `folder`, every byte of it. Damage never raises: it is reported."""
    problems: list[str] = []
    documents = 0
    try:
        manifest = read_manifest(folder)
    except GermaneError as error:
        return CheckReport(False, [str(error)], 0, 0)
    live_ids: list[bytes] = []
    for entry in manifest.segments:
        found, ids = _entry_problems(folder, entry, manifest.vector_fields)
        problems += found
        documents += len(ids)
        live_ids += ids
    live_ids.sort()
    repeated = next((a for a, b in pairwise(live_ids) if a == b), None)
    if repeated is not None:
        problems.append(f"{folder}: the id '{repeated.decode(errors='replace')}' belongs to several live documents")
    notes = [f"{path} belongs to no commit: the next writer removes it" for path in _strays(folder, manifest)]
    return CheckReport(not problems, problems, len(manifest.segments), documents, notes)


def _strays(folder: Path, manifest: Manifest) -> list[Path]:
    with contextlib.suppress(OSError):
        return stray_files(folder, manifest.files())
    return []


def _entry_problems(
    folder: Path, entry: SegmentEntry, fields: Mapping[str, VectorField]
) -> tuple[list[str], list[bytes]]:
    """What is wrong with a segment, its deletions and vectors; the ids of its live documents, as far as readable."""
    segment, problems = checked_segment(folder / entry.name, entry.size)
    if segment is None:
        return problems, []
    deletions, more = checked_deletions(folder, entry, segment, deep=not problems)
    problems += more
    for name, file in entry.vectors:
        problems += checked_vectors(folder / file, segment, name, fields[name])[1]
    ids = ids_of(segment)
    deleted = deletions.deleted if deletions is not None else np.zeros(len(ids), np.bool_)
    return problems, [doc_id for doc_id, gone in zip(ids, deleted.tolist(), strict=False) if not gone]


def ids_of(segment: Segment) -> list[bytes]:
    """The ids by document number; none where they are damaged."""
    try:
        return segment.all_strings("id")
    except DamagedIndexError:
        return []


def checked_segment(path: Path, size: int | None = None) -> tuple[Segment | None, list[str]]:
    """Open and verify one segment; None where it cannot even be opened, or says where nothing lies."""
    try:
        segment = Segment(path)
        problems = segment.container.problems()
    except GermaneError as error:
        return None, [sentence_of(error)]
    if size is not None and segment.container.size != size:
        problems.append(f"{path} has {segment.container.size} bytes, the manifest says {size}")
    if not problems:  # with a wrong checksum the lists are not worth decoding
        try:
            problems = [f"{path}: {sentence}" for sentence in contradictions(segment)]
        except GermaneError as error:
            problems = [sentence_of(error)]
    return segment, problems


def sentence_of(error: GermaneError) -> str:
    """What is wrong, without the advice to check and repair."""
    return f"{error.path}: {error.what}" if isinstance(error, DamagedIndexError) else str(error)


def checked_deletions(
    folder: Path, entry: SegmentEntry, segment: Segment, *, deep: bool
) -> tuple[Deletions | None, list[str]]:
    """Read and verify the deletions of a segment; `deep`: against what the deleted documents held."""
    if entry.deletions is None:
        return no_deletions(segment), []
    path = folder / entry.deletions
    try:
        problems = Container(path).problems()
        if problems:
            return None, problems
        deletions = read_deletions(path, segment)
        if deep and not _same_deletions(deletions, delete(segment, no_deletions(segment), deleted(deletions))):
            return None, [f"{path}: the frequencies of deleted documents differ from what these hold"]
        return deletions, []
    except GermaneError as error:
        return None, [sentence_of(error)]


def checked_vectors(path: Path, segment: Segment, name: str, field: VectorField) -> tuple[VectorFile | None, list[str]]:
    """Open and verify the vectors of a segment in one field; None where they are damaged."""
    try:
        file = open_vectors(path, segment, name, field)
        problems = file.container.problems() or [f"{path}: {sentence}" for sentence in file.contradictions()]
    except GermaneError as error:
        problems = [sentence_of(error)]
    return (None, problems) if problems else (file, [])


def deleted(deletions: Deletions) -> Integers:
    return np.flatnonzero(deletions.deleted)


def _same_deletions(a: Deletions, b: Deletions) -> bool:
    return a.n_tokens == b.n_tokens and all(
        np.array_equal(x, y) for x, y in ((a.terms, b.terms), (a.df, b.df), (a.cf, b.cf))
    )

"""What a reader sees: the segments of one commit, unchanged for as long as it looks at them."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.data.fields import is_of_numbers
from germane.errors import IndexFormatError, UnknownDocumentError
from germane.index.columns import KeywordColumn
from germane.index.deletions import no_deletions, read_deletions
from germane.index.durable import identity_of
from germane.index.live_segment import LiveSegment
from germane.index.manifest import Manifest, ManifestFile, SegmentEntry, find_file, parse_manifest, read_manifest
from germane.index.segment import Segment
from germane.index.vector_fields import VectorField, Vectors
from germane.index.vectors import VectorFile
from germane.types import DocId, Document, id_text


class TermStats(NamedTuple):
    """A term's frequencies over live documents."""

    df: int
    cf: int


class DocumentPlace(NamedTuple):
    """Where a document lies."""

    segment: int
    doc: int


class Readings(NamedTuple):
    """What live documents hold in a field: whether a number, and not only texts; how many something that can be read as
    a number, and how many only something else."""

    holds_numbers: bool
    readable: int
    others: int

    @property
    def numeric(self) -> bool:
        """Whether the field is one of numbers."""
        return self.holds_numbers and is_of_numbers(self.readable, self.others)

    @classmethod
    def merged(cls, parts: Iterable["Readings"]) -> "Readings":
        """Those of several parts of a collection together."""
        holding, readable, others = zip(*parts, strict=True)
        return cls(any(holding), sum(readable), sum(others))


class Snapshot:
    """One committed state of an index; opening another reuses the segments they share.

    `file`: the manifest as it was read or written.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        segments: list[LiveSegment],
        file: ManifestFile,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.file = file
        self.segments = segments
        self.n_docs = sum(live.n_docs for live in segments)
        self.n_tokens = sum(live.segment.n_tokens - live.deletions.n_tokens for live in segments)
        self._entropy: float | None = None

    @classmethod
    def open(cls, folder: Path, previous: "Snapshot | None" = None, *, surely: bool = False) -> "Snapshot":
        """Open the last commit; `previous` itself if it is that one. `surely`: read the manifest to tell.

        A writer may replace files meanwhile: then look at the manifest again.
        """
        if previous is not None and not surely and previous.file.is_there():
            return previous
        known = {live.entry.name: live for live in previous.segments} if previous else {}
        for attempt in range(100):
            file = find_file(folder, previous.file if previous else None)
            manifest = parse_manifest(folder, file.content, before=previous.manifest if previous else None)
            try:
                fields = manifest.vector_fields
                opened = [_open_segment(folder, entry, known, fields) for entry in manifest.segments]
            except IndexFormatError:
                if attempt == 99 or read_manifest(folder).generation == manifest.generation:
                    raise
                continue
            if previous is None or file.content != previous.file.content or not same(opened, previous.segments):
                if previous is not None:
                    previous.file.counter = None  # results that somebody keeps hold the snapshot that they are of
                return cls(folder, manifest, opened, file)
            previous.file = file  # the same state, in a file that somebody made anew
            return previous
        raise AssertionError("unreachable")

    def term_stats(self, terms: Collection[str]) -> list[TermStats]:
        """Statistics of terms."""
        return count_in(self.segments, terms)

    def frequencies_of(self, segment: int, numbers: npt.NDArray[np.integer]) -> tuple[Integers, Integers]:
        """df and cf among the live documents of the whole index, of some terms of a segment."""
        live = self.segments[segment]
        if len(self.segments) == 1:
            return live.frequencies_of(numbers)
        stats = self.term_stats(live.segment.terms(numbers.astype(np.int64)))
        return np.array([found.df for found in stats], np.int64), np.array([found.cf for found in stats], np.int64)

    def surface(self, term: str) -> str:
        """The commonest written form of a term, the term itself where it is unknown."""
        return commonest_surface(term, self.surfaces(term))

    def surfaces(self, term: str) -> dict[str, int]:
        """How often each written form of a term was counted; a segment knows its commonest form alone."""
        forms: dict[str, int] = {}
        for live in self.segments:
            number = live.segment.numbers_of((term,))[0]
            if number >= 0:
                form = live.segment.surface(number)
                forms[form] = forms.get(form, 0) + int(live.segment.container["surface_count"][number])
        return forms

    def live_frequencies(self, segment: int) -> tuple[Integers, Integers]:
        """For each term of one segment: df and cf among the live documents of the whole index."""
        own = self.segments[segment].segment
        total_df, total_cf = np.zeros(own.n_terms, np.int64), np.zeros(own.n_terms, np.int64)
        for live in self.segments:
            found = live.segment.find_terms_of(own)
            df, cf = live.frequencies()
            total_df[found >= 0] += df[found[found >= 0]]
            total_cf[found >= 0] += cf[found[found >= 0]]
        return total_df, total_cf

    @cached_property
    def filterable(self) -> frozenset[str]:
        """The fields a query may filter on."""
        return frozenset(name for live in self.segments for name in live.segment.column_kinds)

    @cached_property
    def numeric(self) -> frozenset[str]:
        """The fields that hold numbers: where some documents have another value, most have one that can be read so."""
        return frozenset(name for name in self.filterable if self._holds_numbers(name) and self.readings(name).numeric)

    def _holds_numbers(self, name: str) -> bool:
        return any(live.segment.holds_numbers(name) for live in self.segments)

    def unreadable(self) -> dict[str, int]:
        """For each field of numbers how many live documents have another value there, where there are any."""
        counts = {name: self.readings(name).others for name in sorted(self.numeric)}
        return {name: others for name, others in counts.items() if others}

    def readings(self, name: str) -> Readings:
        """How many live documents have a value in the field that can be read as a number, and how many only others."""
        numbers = others = 0
        for live in self.segments:
            readable = ~np.isnan(live.segment.numbers(name)) & ~live.deletions.deleted
            numbers += int(readable.sum())
            column = live.segment.column(name)
            if isinstance(column, KeywordColumn):
                has = (np.diff(column.starts) > 0) & ~live.deletions.deleted
                others += int((has & ~readable).sum())
        return Readings(self._holds_numbers(name), numbers, others)

    def n_terms(self) -> int:
        """Distinct terms of the live collection."""
        n = 0
        for i, live in enumerate(self.segments):
            df, _ = live.frequencies()
            fresh = df > 0
            for earlier in self.segments[:i]:
                found = earlier.segment.find_terms_of(live.segment)
                fresh[found >= 0] &= earlier.frequencies()[0][found[found >= 0]] == 0
            n += int(fresh.sum())
        return n

    def entropy(self) -> float:
        """H(p_C) of the live collection, in nats."""
        if self._entropy is None:
            frequencies = [np.empty(0, np.int64)]
            for i, live in enumerate(self.segments):
                _, cf = self.live_frequencies(i)
                for earlier in self.segments[:i]:  # a term is counted where it comes first
                    cf[earlier.segment.find_terms_of(live.segment) >= 0] = 0
                frequencies.append(cf[cf > 0])
            self._entropy = entropy_of(np.concatenate(frequencies), self.n_tokens)
        return self._entropy

    def locate(self, doc_id: DocId) -> DocumentPlace | None:
        """Where the live document with this id lies."""
        doc_id = id_text(doc_id)
        for i, live in enumerate(self.segments):
            doc = int(live.segment.find_ids([doc_id])[0])
            if doc >= 0 and not live.deletions.deleted[doc]:
                return DocumentPlace(i, doc)
        return None

    def place_of(self, doc_id: DocId) -> DocumentPlace:
        """Like `locate`, but an unknown id is an error."""
        place = self.locate(doc_id)
        if place is None:
            raise UnknownDocumentError(f"no document with id '{doc_id}' in {self.folder}")
        return place

    def document(self, doc_id: DocId, *, vectors: bool = False) -> Document:
        """The live document with this id, as it was added; with `vectors`, with those that callers gave it."""
        place = self.place_of(doc_id)
        live = self.segments[place.segment]
        own = _own_vectors(live, place.doc) if vectors else {}
        return Document(id_text(doc_id), live.segment.stored.fields(place.doc), own)

    def documents(self, *, vectors: bool = False) -> Iterator[Document]:
        """All live documents, segment by segment; with `vectors`, those that callers gave them, as they are stored."""
        for live in self.segments:
            rows = zip(live.segment.all_ids(), live.deletions.deleted, live.segment.stored.all_fields(), strict=True)
            for doc, (doc_id, deleted, fields) in enumerate(rows):
                if not deleted:
                    yield Document(doc_id, fields, _own_vectors(live, doc) if vectors else {})

    def documents_at(self, segment: int, docs: Sequence[int], *, vectors: bool = False) -> list[Document]:
        """Some documents of a segment, as they were added; `vectors`: see `documents`."""
        live = self.segments[segment]
        rows = zip(docs, live.segment.doc_ids(np.array(docs)), live.segment.stored.fields_of(docs), strict=True)
        return [Document(doc_id, fields, _own_vectors(live, doc) if vectors else {}) for doc, doc_id, fields in rows]

    def live_ids(self) -> list[str]:
        """The ids of all live documents, sorted."""
        ids: list[str] = []
        for live in self.segments:
            ids += live.segment.doc_ids(np.flatnonzero(~live.deletions.deleted))
        return sorted(ids)

    def live_docs(self, segment: int) -> npt.NDArray[np.int64]:
        """Numbers of the live documents of a segment."""
        return np.flatnonzero(~self.segments[segment].deletions.deleted)


def _own_vectors(live: LiveSegment, doc: int) -> dict[str, Vectors]:
    """The vectors of a document that callers gave it, by field, as they are stored."""
    own = (file for file in live.vectors.values() if not file.field.source)
    return {file.name: row for file in own if (row := file.of(doc)) is not None}


def commonest_surface(term: str, forms: Mapping[str, int]) -> str:
    """The form with the largest count, of equal ones the first in the alphabet; the term itself where there is none."""
    return min(forms, key=lambda form: (-forms[form], form), default=term)


def entropy_of(cf: Integers, n_tokens: int) -> float:
    """H(p_C) = -Σ_w p_C(w) log p_C(w), in nats, from the frequencies of all terms of a collection.

    Summed by ascending frequency, so that the last digit does not depend on how the documents lie in segments.
    """
    distinct, terms = np.unique(cf, return_counts=True)
    p_C = distinct / n_tokens if len(distinct) else np.empty(0)
    return -float((terms * p_C * np.log(p_C)).sum())


def count_in(lives: Sequence[LiveSegment], terms: Collection[str]) -> list[TermStats]:
    """The statistics of terms in some segments."""
    names = list(terms)
    df, cf = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    for live in lives:
        numbers = live.segment.find_terms(names)
        held = np.flatnonzero(numbers >= 0)
        live_df, live_cf = live.frequencies_of(numbers[held])
        df[held] += live_df
        cf[held] += live_cf
    return [*map(TermStats, df.tolist(), cf.tolist())]


def _open_segment(
    folder: Path, entry: SegmentEntry, known: dict[str, LiveSegment], fields: Mapping[str, VectorField]
) -> LiveSegment:
    old = known.get(entry.name)
    if old is not None and not _still_there(old.segment):
        old = None
    if old is not None and old.entry == entry:
        return old
    segment = old.segment if old is not None else Segment(folder / entry.name)
    if segment.container.size != entry.size:
        raise segment.container.damage(f"{segment.container.size} bytes, where the manifest says {entry.size}")
    deletions = read_deletions(folder / entry.deletions, segment) if entry.deletions else no_deletions(segment)
    opened = {file.path.name: file for file in old.vectors.values()} if old is not None else {}
    vectors = {
        name: opened[file] if file in opened else open_vectors(folder / file, segment, name, fields[name])
        for name, file in entry.vectors
    }
    return LiveSegment(segment, deletions, entry, vectors)


def open_vectors(path: Path, segment: Segment, name: str, field: VectorField) -> VectorFile:
    """The vectors of a segment's documents."""
    return VectorFile(path, segment=segment.name, n_docs=segment.n_docs, name=name, field=field)


def same(segments: Sequence[LiveSegment], others: Sequence[LiveSegment]) -> bool:
    """Whether these are the same segments with the same deletions."""
    return len(segments) == len(others) and all(
        one.segment is other.segment and one.deletions is other.deletions
        for one, other in zip(segments, others, strict=True)
    )


def _still_there(segment: Segment) -> bool:
    """Whether the file by that name is the one that was opened."""
    try:
        return segment.identity == identity_of(os.lstat(segment.path))
    except OSError:
        return False

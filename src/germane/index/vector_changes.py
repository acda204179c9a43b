"""The vectors of documents: new files of them for whole segments, a commit for each change of a field."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from germane.arrays import AnyArray, Integers
from germane.errors import ParameterError, UnknownDocumentError
from germane.index.commits import Commits
from germane.index.graphs import write_graph
from germane.index.ingest import NewPaths
from germane.index.live_segment import LiveSegment
from germane.index.segment import Segment
from germane.index.snapshot import open_vectors
from germane.index.vector_fields import Stored, VectorField, VectorSource, field_named
from germane.index.vectors import VectorFile, write_vectors
from germane.wording import some_of

NO_ROWS = np.empty(0, np.int64)


class VectorChanges:
    """Changes the vector fields of an index. `unmerged`: holds the mutex while no merge is under way."""

    def __init__(self, commits: Commits, unmerged: Callable[[], AbstractContextManager[None]]) -> None:
        self._commits, self._unmerged = commits, unmerged

    def set(self, name: str, field: VectorField, ids: Sequence[str], matrix: AnyArray, *, replace: bool = False) -> int:
        """Give documents vectors, one row of the matrix each; how many. All or nothing.

        A field that the index does not have is made. Documents that are not among `ids` keep the vectors they have,
        unless `replace`: then the field begins anew, and may be another one by the same name.
        """
        known = self._commits.snapshot.manifest.vector_fields.get(name)
        if known is not None and known != field and not replace:
            raise ParameterError(f"the vector field '{name}' is {known}, not {field}: replace=True begins it anew")
        if len(ids) != len(matrix):
            raise ParameterError(f"{len(ids)} ids and {len(matrix)} vectors: there must be as many of each")
        twice = next((doc_id for doc_id, n in Counter(ids).items() if n > 1), None)
        if twice is not None:
            raise ParameterError(f"the id '{twice}' is given twice: nothing was changed")
        with self._unmerged(), self._commits.new_files() as paths:
            changed, found = [], np.zeros(len(ids), np.bool_)
            for live in self._commits.snapshot.segments:
                docs, rows = live_rows(live, ids)
                found[rows] = True
                files = dict(live.vectors)
                before = files.pop(name, None)
                sources = [given_vectors(docs, rows, matrix, name, field, ids)]
                if before is not None and not replace:
                    kept = np.arange(live.segment.n_docs)
                    kept[docs] = -1
                    sources.append(before.source(kept))
                if before is not None and not replace and not len(docs):
                    files[name] = before
                elif any(len(source.docs) for source in sources):
                    files[name] = written_vectors(self._commits, live.segment, name, field, sources, paths)
                changed.append(replace_vectors(live, files))
            if not found.all():
                absent = [ids[i] for i in np.flatnonzero(~found).tolist()]
                raise UnknownDocumentError(
                    f"no document with id {some_of(absent)} in {self._commits.folder}: nothing was changed"
                )
            self._commits.commit(changed, {**self._commits.snapshot.manifest.vector_fields, name: field})
        return len(ids)

    def fill(self, name: str, field: VectorField, rows_of: Callable[[LiveSegment, Integers], AnyArray]) -> int:
        """Begin a field anew with a vector for every document; how many. All or nothing.

        `rows_of`: the vectors of a segment's live documents, one a row.
        """
        n = 0
        with self._unmerged(), self._commits.new_files() as paths:
            changed = []
            for live in self._commits.snapshot.segments:
                docs = np.flatnonzero(~live.deletions.deleted)
                rows = np.arange(len(docs))
                given = given_vectors(docs, rows, rows_of(live, docs), name, field, live.segment.doc_ids(docs))
                written = written_vectors(self._commits, live.segment, name, field, [given], paths)
                changed.append(replace_vectors(live, {**live.vectors, name: written}))
                n += len(docs)
            self._commits.commit(changed, {**self._commits.snapshot.manifest.vector_fields, name: field})
        return n

    def add_graph(self, file: VectorFile, content: AnyArray) -> bool:
        """Put a graph beside its vectors; False where these are gone by now."""
        self._commits.lock.require()
        with self._commits.mutex:
            if file.path.name not in self._commits.snapshot.manifest.files():
                return False
            write_graph(file, content)
            return True

    def drop(self, name: str) -> None:
        """Remove a vector field and all its vectors."""
        field_named(self._commits.snapshot.manifest.vector_fields, name)
        with self._unmerged():
            fields = {own: field for own, field in self._commits.snapshot.manifest.vector_fields.items() if own != name}
            changed = [
                replace_vectors(live, {own: file for own, file in live.vectors.items() if own != name})
                for live in self._commits.snapshot.segments
            ]
            self._commits.commit(changed, fields)


def with_vectors(
    commits: Commits, live: LiveSegment, vectors: Mapping[str, Sequence[VectorSource]], paths: NewPaths
) -> LiveSegment:
    """The segment with a new file of vectors for each of these fields; its others stay."""
    files, fields = dict(live.vectors), commits.snapshot.manifest.vector_fields
    for name, sources in vectors.items():
        files.pop(name, None)
        if any(len(source.docs) for source in sources) and name in fields:
            files[name] = written_vectors(commits, live.segment, name, fields[name], sources, paths)
    return replace_vectors(live, files)


def written_vectors(
    commits: Commits, segment: Segment, name: str, field: VectorField, sources: Sequence[VectorSource], paths: NewPaths
) -> VectorFile:
    path, generation = paths.vectors(), commits.snapshot.manifest.generation + 1
    write_vectors(path, sources, name=name, field=field, segment=segment.name, generation=generation)
    return open_vectors(path, segment, name, field)


def replace_vectors(live: LiveSegment, files: Mapping[str, VectorFile]) -> LiveSegment:
    """The segment with these files of vectors."""
    named = tuple((name, files[name].path.name) for name in sorted(files))
    return live._replace(entry=replace(live.entry, vectors=named), vectors=dict(files))


def live_rows(live: LiveSegment, ids: Sequence[str]) -> tuple[Integers, Integers]:
    """The live documents of a segment among `ids`, and the place of each there."""
    found = live.segment.find_ids(ids)
    if found.max(initial=-1) < 0:
        return NO_ROWS, NO_ROWS
    rows = np.flatnonzero(found >= 0)
    rows = rows[~live.deletions.deleted[found[rows]]]
    return found[rows], rows


def given_vectors(
    docs: Integers, rows: Integers, matrix: AnyArray, name: str, field: VectorField, ids: Sequence[str]
) -> VectorSource:
    """Rows of a matrix as the vectors of documents; they are checked as they are fetched."""

    def fetch(chosen: Integers) -> Stored:
        return field.stored(field.checked(matrix[chosen], name, lambda i: f"document '{ids[chosen[i]]}'"))

    return VectorSource(docs, rows, fetch)

"""Learnt models where their documents lie: titles are folded in once for each segment, and scored there.

A model is known by a key: of a version of the index's own models the source of the vector field that it made, from
which its vectors are read; of any other model a name that this process gives it. Of models without stored vectors
titles are folded in segment by segment and kept in memory, 4 bytes for each topic or dimension of a document.
"""

import threading
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.index.durable import Identity
from germane.index.live_segment import LiveSegment
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import Vectors
from germane.types import title_of


class FoldedDocuments(Protocol):
    """What a learnt model keeps of some documents."""

    @property
    def vectors(self) -> Vectors:
        """The numbers of each document, a row each."""

    def take(self, rows: npt.ArrayLike) -> "FoldedDocuments":
        """Some of the documents."""


class LearntModel(Protocol):
    """A model that was learnt from query-title pairs, as a collection uses it."""

    @property
    def width(self) -> int:
        """How many numbers it keeps of a document."""

    def fold_in(self, titles: Sequence[str], vectors: Vectors | None = None) -> FoldedDocuments:
        """Read titles; `vectors`: what it keeps of them, where that is known."""

    def score(self, query: Mapping[str, float], documents: FoldedDocuments) -> Floats:
        """Score documents by the terms of a query."""


_models: WeakValueDictionary[str, LearntModel] = WeakValueDictionary()
_numbers = count(1)


def register(model: Any, source: str = "") -> str:
    """Make a model known to all retrievers of this process; return its key, which is `source` where it has one."""
    key = source or f"memory:{next(_numbers)}"
    made: LearntModel = model
    _models[key] = made
    return key


def registered(key: str) -> LearntModel:
    """Return the model with a key."""
    model = _models.get(key)
    if model is None:
        raise ParameterError(f"the learnt model '{key}' is not loaded in this process")
    return model


class FoldedTitles:
    """The folded-in titles of a snapshot's segments, made when a model first needs them."""

    def __init__(self, previous: "FoldedTitles | None" = None) -> None:
        self._made: WeakKeyDictionary[LearntModel, dict[Identity, FoldedDocuments]] = WeakKeyDictionary()
        self._making: threading.Lock = threading.Lock() if previous is None else previous._making
        if previous is not None:
            self._made.update(previous._made)

    def of(self, key: str, snapshot: Snapshot, i: int) -> FoldedDocuments:
        """Return all documents of segment i as a model sees them, deleted ones too."""
        model, live = registered(key), snapshot.segments[i]
        made = self._made.get(model, {}).get(live.segment.identity)
        if made is not None:
            return made
        with self._making:
            known = self._made.get(model, {})
            if live.segment.identity not in known:
                documents = model.fold_in(titles_of(snapshot, live), stored_vectors(live, key))
                there = {each.segment.identity for each in snapshot.segments}
                kept = {identity: own for identity, own in known.items() if identity in there}
                known = self._made[model] = {**kept, live.segment.identity: documents}
            return known[live.segment.identity]


def titles_of(snapshot: Snapshot, live: LiveSegment, docs: Integers | None = None) -> list[str]:
    """Return the titles of a segment's documents, or of some, ascending."""
    titles = [title_of(fields, snapshot.manifest.text_fields) for fields in live.segment.stored.all_fields()]
    return titles if docs is None else [titles[doc] for doc in docs.tolist()]


def stored_vectors(live: LiveSegment, source: str) -> Vectors | None:
    """Return the vectors that a version made of all documents of a segment; None where one is missing.

    Rows of deleted documents may be zeros.
    """
    file = next((file for file in live.vectors.values() if file.field.source == source), None) if source else None
    if file is None:
        return None
    values: Vectors = file.values[:, : file.field.dimension]
    if len(file) == live.segment.n_docs:
        return values
    there = live.deletions.deleted.copy()
    there[file.docs] = True
    if not there.all():
        return None
    rows = np.zeros((live.segment.n_docs, file.field.dimension), np.float32)
    rows[file.docs] = values
    return rows

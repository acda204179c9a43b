"""What a ranking model says of documents beside their postings, made once for a segment and remembered."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from germane.arrays import Floats
from germane.index.durable import Identity
from germane.index.snapshot import Snapshot
from germane.rank.models.base import Documents, RankingModel, word_weights
from germane.rank.plan import NOTHING, Collection
from germane.rank.scoring.arguments import DocumentPart, DocumentValues, with_extremes
from germane.rank.scoring.local_statistics import LocalStatistics
from germane.rank.scoring.memory import remember
from germane.rank.scoring.scorers import word_sums
from germane.rank.scoring.statistics import CollectionStatistics

Statistics: TypeAlias = LocalStatistics | CollectionStatistics
"""Those of the snapshot itself, or of a larger collection of which it is a part."""
REMEMBERED = 256


class DocumentParts(NamedTuple):
    """What the model says of each document of a segment: its background, norm and base."""

    background: DocumentPart
    norm: DocumentPart
    base: DocumentPart

    def values(self, own: Floats = NOTHING) -> DocumentValues:
        """All that enters a document's score beside its postings; `own`: its log-prior."""
        prior = with_extremes(_sum(self.base.values, own)) if len(own) else self.base
        return DocumentValues(self.norm, self.background, prior)


PartsByModel = dict[tuple[Identity, RankingModel, str], DocumentParts]


class PartsMemory:
    """The parts of the documents of one snapshot. Safe to use from many threads.

    `previous`: that of the snapshot before, whose segments may be among these.
    """

    def __init__(self, snapshot: Snapshot, previous: "PartsMemory | None" = None) -> None:
        self._snapshot = snapshot
        files = {live.segment.identity for live in snapshot.segments}
        known = previous._lasting.copy() if previous else {}  # other threads may add to it
        self._lasting: PartsByModel = {key: parts for key, parts in known.items() if key[0] in files}
        self._passing: PartsByModel = {}

    def of(self, i: int, model: RankingModel, statistics: Statistics) -> DocumentParts:
        """What the model says of the documents of segment i.

        Sums over a document's words depend on the whole collection and are forgotten with the snapshot.
        """
        identity, asked = self._snapshot.segments[i].segment.identity, model.word_sums()
        memory = self._lasting if asked is None else self._passing
        key = identity, model, "" if asked is None else statistics.digest
        parts = memory.get(key)
        if parts is None:
            parts = self._made(i, model, statistics)
            remember(memory, key, parts, REMEMBERED)
        return parts

    def _made(self, i: int, model: RankingModel, statistics: Statistics) -> DocumentParts:
        segment, asked, sums = self._snapshot.segments[i].segment, model.word_sums(), NOTHING
        if asked is not None:
            df, cf = statistics.frequencies_in(segment)
            collection = Collection(statistics.n_docs, statistics.n_tokens)
            weight = word_weights(asked, np.maximum(df, 1), np.maximum(cf, 1), collection)
            sums = word_sums(segment, weight, squared_log=asked.squared_log)
        documents = Documents(segment.doc_len, segment.n_unique, sums)
        return DocumentParts(
            with_extremes(model.document_background(documents)),
            with_extremes(model.document_norm(documents)),
            with_extremes(model.document_base(documents)),
        )


class Values(dict[int, DocumentValues]):
    """What the documents of a segment are given beside their postings, made when it is first asked for.

    `priors`: log-priors, one array a segment.
    """

    def __init__(
        self,
        parts: PartsMemory,
        model: RankingModel,
        statistics: Statistics,
        priors: Sequence[Floats] | None = None,
    ) -> None:
        self._parts, self._statistics = parts, statistics
        self._model, self._priors = model, priors

    def __missing__(self, i: int) -> DocumentValues:
        parts = self._parts.of(i, self._model, self._statistics)
        self[i] = parts.values() if self._priors is None else parts.values(self._priors[i])
        return self[i]


def _sum(base: Floats, own: Floats) -> Floats:
    """The sum of two arrays, either of which may be empty for zero."""
    return base + own if len(base) and len(own) else base if len(base) else own

"""Models that look at more than how often a document holds each word: in which field, beside which other word.

What such a model finds becomes evidence: for each thing it counts (a word, a pair of words) a list of documents with
its own numbers in the place of counts, made for the query. Each list is scored as a posting list is, by the impact of a
plan, and every document that holds a word is scored: nothing is pruned, the result is exact.

score = Σ_plans (Σ_items impact(c_item,D) + constant + mass · background_D) + prior_D
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers, Mask
from germane.errors import IndexFormatError, ParameterError
from germane.index.sequences import PairCounts, TextFields
from germane.index.snapshot import Snapshot
from germane.rank.models.base import RankingModel
from germane.rank.plan import NOTHING, Collection, Plan, QueryTerm
from germane.rank.scoring.document_parts import DocumentParts, Statistics
from germane.rank.scoring.exact import impacts, size_of
from germane.rank.scoring.statistics import Pair


class Counted(NamedTuple):
    """The documents of a segment that hold an item, ascending; its numbers there, and how often it really is there."""

    docs: Integers
    counts: Floats
    occurrences: Integers

    @classmethod
    def of(cls, docs: Integers, occurrences: Integers) -> "Counted":
        """An item that counts as often as it is there, in the documents that hold it."""
        held = occurrences > 0
        return cls(docs[held], occurrences[held].astype(np.float64), occurrences[held])


NONE_COUNTED = Counted(np.empty(0, np.int64), NOTHING, np.empty(0, np.int64))


class Item(NamedTuple):
    """Terms that are counted together, and the operator that says how."""

    operator: str
    terms: tuple[str, ...]

    @property
    def name(self) -> str:
        """As a plan names it."""
        return self.shown(str)

    def shown(self, surface: Callable[[str], str]) -> str:
        """The item with its terms as they are written."""
        return f"{self.operator}({' '.join(map(surface, self.terms))})"


class CountedEvidence(NamedTuple):
    """A plan, and in each segment the lists of its items, in the plan's order, with the background of each document.

    `items`: what each is of; None: the plan's terms. `finds`: a document that holds one of the items is found by it.
    """

    plan: Plan
    counted: Sequence[Sequence[Counted]]
    background: Sequence[Floats]
    items: Sequence["Item"] | None = None
    finds: bool = True


class Scored(NamedTuple):
    """The documents of a segment: the sums of their impacts, what else enters their scores, and which hold a word."""

    impacts: Floats
    rest: Floats
    held: Mask

    def scores(self, priors: Floats | None) -> Floats:
        """The scores, with the documents' priors if there are any; added in the order of `rank.scoring.explain`."""
        return self.impacts + (self.rest if priors is None else self.rest + priors)


class Countable(Protocol):
    """What a model that makes its own counts asks of a searcher."""

    snapshot: Snapshot
    texts: TextFields
    statistics: Statistics
    collection: Collection

    def known_terms(self, weights: Mapping[str, float]) -> list[QueryTerm]:
        """The query's terms that the collection holds, with their statistics."""

    def pair_counts(self, pair: Pair) -> list[PairCounts]:
        """For each segment the documents that hold a pair of terms, deleted ones too."""

    def parts_of(self, i: int, model: RankingModel) -> DocumentParts:
        """What the model says of the documents of segment i."""

    def remembered(self, key: Hashable, make: Callable[[], list[Floats]]) -> list[Floats]:
        """What `make` gives for every document of the snapshot, made once."""


class EvidenceModel(RankingModel):
    """A ranking model that makes its own counts. `looks`: what it costs for each document that holds a word
    (`rank.query.work`); `places`: whether it reads where in the document words are."""

    looks: ClassVar[float] = 3.0
    places: ClassVar[bool] = True

    @abstractmethod
    def evidence(self, searcher: Countable, weights: Mapping[str, float]) -> list[CountedEvidence]:
        """What the query finds in every segment of the snapshot; empty if the collection holds none of its words."""

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        """There is none without the documents."""
        raise ParameterError(f"{type(self).__name__} makes its counts from the documents themselves: it has no plan")


def check_order(searcher: Countable, model: EvidenceModel) -> None:
    """An error if a segment does not keep the order of words."""
    for live in searcher.snapshot.segments:
        if not live.segment.keeps_order:
            raise IndexFormatError(
                f"{type(model).__name__} needs the order of words, which {live.segment.path} does not keep: index the "
                "documents again with positions, or make such an index of this one with 'germane upgrade'"
            )


def score_evidence(searcher: Countable, found: Sequence[CountedEvidence]) -> list[Scored]:
    """Every document of every segment, whether or not it holds a word."""
    everywhere = []
    for i, live in enumerate(searcher.snapshot.segments):
        segment = live.segment
        sums, held = np.zeros(segment.n_docs), np.zeros(segment.n_docs, np.bool_)
        for evidence in found:
            size = size_of(segment, evidence.plan)
            for item, counted in enumerate(evidence.counted[i]):
                sums[counted.docs] += impacts_of(evidence.plan, item, counted.counts, size[counted.docs])
                if evidence.finds:
                    held[counted.docs] = True
        everywhere.append(Scored(sums, constant_of(found) + background_of(found, i, segment.n_docs), held))
    return everywhere


def impacts_of(plan: Plan, item: int, counts: Floats, size: npt.NDArray[np.uint32]) -> Floats:
    """The impacts of an item in documents of these sizes that hold it so often; 0 where it is not there."""
    own, present = np.zeros(len(counts)), np.flatnonzero(counts > 0.0)
    own[present] = impacts(plan, float(plan.weight[item]), float(plan.scale[item]), counts[present], size[present])
    return own


def constant_of(found: Sequence[CountedEvidence]) -> float:
    """What the query gives every document."""
    return math.fsum(evidence.plan.constant for evidence in found)


def background_of(found: Sequence[CountedEvidence], i: int, n_docs: int) -> Floats:
    """Σ mass · background_D for each document of segment i."""
    total = np.zeros(n_docs)
    for evidence in found:
        if len(evidence.background[i]):
            total += evidence.plan.mass * evidence.background[i]
    return total

"""`Retriever`: what a door, feedback, a pipeline or a cluster asks of a collection.

Every argument and every result is plain data: no segment, no array over all documents, no callable. Documents are
named by opaque references, which are valid in the generation that a retriever pins. `messages` writes requests and
answers as bytes; `rank.retrievers.several` asks several collections and answers like one of all their documents.

`statistics` are those of a larger collection of which this one is a part. Without them a retriever uses its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.snapshot import Readings
from germane.index.vector_fields import VectorField
from germane.rank.models.base import RankingModel
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.query.conditions import Condition
from germane.rank.query.expansion import Expanded
from germane.rank.scoring.explain import Explanation
from germane.rank.scoring.facets import Facet, ValueCounts
from germane.rank.scoring.priors import Prior
from germane.rank.scoring.statistics import CollectionStatistics, Need
from germane.rank.snippets import Snippet
from germane.rank.spellings import PairSample
from germane.text import Analyzer
from germane.types import Document, FieldValue

Refs = Integers
"""References to documents, opaque to whoever holds them; -1 stands for a document that is not there."""
NO_REFS: Refs = np.empty(0, np.int64)


class Schema(NamedTuple):
    """What a collection holds, and how its texts became terms.

    `filters`: the fields that conditions can name. `numeric`: those of them that hold nothing but numbers.
    `keeps_order`: whether the order of words is known. `generations`: the commits that are pinned, one for each part.
    """

    name: str
    analyzer: Analyzer
    text_fields: tuple[str, ...]
    filters: frozenset[str]
    numeric: frozenset[str]
    vector_fields: Mapping[str, VectorField]
    n_docs: int
    n_tokens: int
    keeps_order: bool
    generations: tuple[int, ...]


class Hits(NamedTuple):
    """Documents, best first: their scores and references; their ids, where the request asked for them."""

    scores: Floats
    refs: Refs
    ids: Sequence[str] | None = None

    def part(self, begin: int, end: int) -> "Hits":
        """Those from `begin` to before `end`."""
        ids = None if self.ids is None else self.ids[begin:end]
        return Hits(self.scores[begin:end], self.refs[begin:end], ids)

    def chosen(self, at: npt.NDArray[Any]) -> "Hits":
        """Those at the given places, or where a mask is true."""
        ids = None if self.ids is None else np.array(self.ids, object)[at].tolist()
        return Hits(self.scores[at], self.refs[at], ids)


NO_HITS = Hits(np.empty(0), NO_REFS)


class SignedTopic(NamedTuple):
    """What is sought: terms with their weights α, negative ones repelling, and the share of the collection model."""

    weights: Mapping[str, float]
    background: float = 0.0


class Scoring(NamedTuple):
    """How documents are scored: by a model under a topic, with priors."""

    topic: SignedTopic
    model: RankingModel
    priors: tuple[Prior, ...] = ()

    def need(self) -> Need:
        """What the ranking takes from the whole collection."""
        weights, background = self.topic
        need = self.model.need(weights)
        if (
            min(weights.values(), default=0.0) < 0.0
        ):  # words that repel rank all documents (`rank.scoring.signed_topics`)
            need = need.joined(self.model.need({term: -weight for term, weight in weights.items() if weight < 0.0}))
        everywhere = background != 0.0 and isinstance(self.model, QueryLikelihood)
        return need._replace(priors=self.priors, vocabulary=need.vocabulary or everywhere)


class TopRequest(NamedTuple):
    """The best k documents of a ranking that satisfy all conditions.

    `wordless`: documents that hold no term of the topic are found too. `likely`: documents that pass and are probably
    among the best; scored first, they raise the threshold, and the result is the same. `threshold`: a score that k
    documents elsewhere are known to reach. `ids`: whether the answer shall hold the documents' ids.
    """

    scoring: Scoring
    k: int
    conditions: tuple[Condition, ...] = ()
    wordless: bool = False
    likely: Hits | None = None
    threshold: float = -np.inf
    ids: bool = False


class Match(NamedTuple):
    """The documents that a query finds, whatever their order: those that satisfy all conditions and, unless
    `wordless`, hold one of the terms."""

    terms: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    wordless: bool = False


class SortRequest(NamedTuple):
    """The documents of a match by a field's value, then by id; those without a value last. `k`: as many, None: all.

    `numeric`: whether the field is one of numbers; None: as the collection has it. `ids`: as in `TopRequest`.
    """

    match: Match
    field: str
    descending: bool = False
    k: int | None = None
    numeric: bool | None = None
    ids: bool = False


class Counts(NamedTuple):
    """Documents as counts of terms, in compressed rows: document i holds the terms `words[starts[i]:starts[i+1]]`
    (ascending) `counts` times, and `lengths[i]` tokens in all.

    Words are numbered by `terms`, which ascend: those of the documents and, where the collection holds them, those that
    the request named. `df` and `cf` are the terms' frequencies in the whole collection.
    """

    starts: Integers
    words: Integers
    counts: Floats
    lengths: Floats
    terms: Sequence[str]
    df: Integers
    cf: Integers


class NearestRequest(NamedTuple):
    """The k documents nearest to each of some vectors (rows), among those that satisfy all conditions."""

    field: str | None
    vectors: npt.NDArray[np.generic]
    k: int
    conditions: tuple[Condition, ...] | None = None
    approximate: bool = False
    threads: int | None = None


class TermCounts(NamedTuple):
    """Terms with their df and cf."""

    terms: list[str]
    df: Integers
    cf: Integers


class FieldVectors(NamedTuple):
    """A vector field: its live vectors, and the bytes of its files."""

    name: str
    field: VectorField
    documents: int
    bytes: int


class Inspection(NamedTuple):
    """The size of a collection on disk."""

    deleted: int
    terms: int
    postings: int
    segments: int
    bytes: int
    bytes_dictionary: int
    bytes_postings: int
    vectors: tuple[FieldVectors, ...]


class FoldedRequest(NamedTuple):
    """The k documents of which a learnt model keeps numbers with the largest inner products, above 0, with a vector.

    `first`, `last`: the columns of the numbers that the vector belongs to.
    """

    model: str
    vector: npt.NDArray[np.float32]
    first: int
    last: int
    k: int
    conditions: tuple[Condition, ...] = ()


class Retriever(Protocol):
    """A collection in one generation. Safe to use from many threads."""

    # -- the collection --------------------------------------------------------------------------------------------

    def schema(self) -> Schema:
        """What the collection holds."""

    def statistics(self, need: Need) -> CollectionStatistics:
        """The numbers that rankings take from the whole collection; those of several parts merge."""

    def expand(self, prefix: str, most: int | None, also: Sequence[str] = (), edits: int | None = None) -> Expanded:
        """The terms that begin with a prefix or, with `edits`, are at most so many edits away; `most`: as many."""

    def surfaces(self, terms: Sequence[str]) -> list[Mapping[str, int]]:
        """The written forms of terms, with how often each was counted; empty for an unknown term."""

    def vocabulary(self) -> Iterator[TermCounts]:
        """All terms of live documents, ascending, in parts."""

    def scan(self, *, vectors: bool = False) -> Iterator[Document]:
        """All live documents; with `vectors`, those that callers gave them."""

    def sample(self, n: int, random_state: int | None = None) -> Refs:
        """At most n live documents, chosen at random; without a `random_state` evenly spread."""

    def live(self, places: Integers) -> Refs:
        """The live documents with these places in a fixed order, from 0 to `n_docs`."""

    def read(self, refs: Refs, *, vectors: bool = False) -> list[Document]:
        """Documents as they were added; with `vectors`, with those that callers gave them."""

    def readings(self, field: str) -> Readings:
        """What documents hold in a field: numbers, or something else."""

    def unreadable(self) -> Mapping[str, int]:
        """For each field of numbers how many documents have another value there, where there are any."""

    def inspect(self) -> Inspection:
        """What the collection takes on disk."""

    # -- ranking ---------------------------------------------------------------------------------------------------

    def top(self, request: TopRequest, statistics: CollectionStatistics | None = None) -> Hits:
        """The best documents: score descending, then id ascending."""

    def score(self, refs: Refs, scoring: Scoring, statistics: CollectionStatistics | None = None) -> Floats:
        """The scores of given documents, also of those that hold no term of the topic."""

    def sort(self, request: SortRequest) -> Hits:
        """Documents by a field's value. Scores are 0."""

    def explain(
        self,
        ref: int,
        scoring: Scoring,
        *,
        probabilities: bool = False,
        statistics: CollectionStatistics | None = None,
    ) -> Explanation:
        """The parts of a document's score; none, and its prior alone, where the collection holds no term."""

    def nearest(self, request: NearestRequest) -> list[Hits]:
        """For each vector the nearest documents."""

    # -- documents -------------------------------------------------------------------------------------------------

    def locate(self, ids: Sequence[str]) -> Refs:
        """The references of live documents by their ids; -1 for one that is not there."""

    def ids(self, refs: Refs) -> list[str]:
        """The ids of documents."""

    def gather(self, refs: Refs, terms: Sequence[str] = (), statistics: CollectionStatistics | None = None) -> Counts:
        """Documents as counts of their terms."""

    def documents(self, refs: Refs) -> list[dict[str, FieldValue]]:
        """The stored fields of documents."""

    def snippets(self, refs: Refs, terms: Sequence[str], width: int, longest: int) -> list[Snippet]:
        """The piece of each document that shows best where it holds the terms."""

    def values(self, refs: Refs, field: str, numeric: bool | None = None) -> list[str | float | None]:
        """The first value of a field in each document; `numeric`: see `SortRequest`."""

    def vectors(self, refs: Refs, field: str | None) -> list[npt.NDArray[np.float32] | None]:
        """The vector of each document in a field."""

    # -- all documents of a query ----------------------------------------------------------------------------------

    def count(self, match: Match) -> int:
        """How many documents match."""

    def facet(self, match: Match, field: str, size: int) -> Facet:
        """The values of a field among all documents that match."""

    def value_counts(self, match: Match, field: str, *, numeric: bool) -> ValueCounts:
        """All values of a field among the documents that match: a part's share of a facet."""

    def holding(self, match: Match, field: str, texts: Sequence[str]) -> int:
        """How many documents that match hold one of these texts in a field."""

    # -- words -----------------------------------------------------------------------------------------------------

    def suggest(self, words: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
        """The words that are likely mistyped, each with a better one; `runs` are the terms that stand together."""

    def near_terms(self, words: Sequence[tuple[str, int]]) -> list[list[str]]:
        """For each word the terms that are written with at most so many edits somewhere."""

    def sample_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairSample]:
        """For each pair of terms a sample of the documents that hold both."""

    # -- learnt models ---------------------------------------------------------------------------------------------

    def apply(self, model: str, weights: Mapping[str, float], refs: Refs) -> Floats:
        """What a learnt model says of documents, which were folded in where they lie; `model` is its key."""

    def folded(self, model: str, refs: Refs) -> npt.NDArray[np.float32]:
        """What a learnt model keeps of documents, a row each."""

    def nearest_folded(self, request: FoldedRequest) -> Hits:
        """The documents whose folded-in titles are nearest to a query."""

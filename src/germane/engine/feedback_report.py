"""Report of feedback for people: the words it added, their documents, and the results that moved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.deadline import looking
from germane.engine.feedback import Learnt, Passes, model_of, rank_first, signed_weights, topic_of
from germane.errors import GermaneError
from germane.feedback import Drift, FeedbackMethod
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Hits, Retriever, Scoring, SignedTopic
from germane.rank.retrievers.surfaces import written
from germane.rank.scoring.explain import TermPart
from germane.types import Mark

REASONS = 5
"""Words given as reasons for a document's move."""
WORDS = 10
"""Words shown of a report."""


class WordSource(NamedTuple):
    """A document that gave a word, and its share of the word's weighted frequency."""

    id: str
    share: float


class WordImpact(NamedTuple):
    """A word and its impact on a document's score."""

    word: str
    impact: float


@dataclass(frozen=True, slots=True)
class ExpansionWord:
    """A word of the topic model: its weight in the ranking, how much of that is the query's own, and where it is from.

    `sources`: ids of the documents that gave most of it, with their share of the word's weighted frequency; for a
    negative weight, of the documents marked not relevant.
    """

    term: str
    word: str
    weight: float
    query_weight: float
    sources: tuple[WordSource, ...]


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """A document learnt from: its weight (all relevant ones sum to 1; negative: learnt against), and its mark."""

    id: str
    weight: float
    mark: bool | None


@dataclass(frozen=True, slots=True)
class Move:
    """A result's rank with feedback and without (None: not among as many results), and the words that speak for it.

    `words` are those feedback added, with their impact on the score, largest first.
    """

    id: str
    rank: int
    before: int | None
    words: tuple[WordImpact, ...]


@dataclass(frozen=True, slots=True)
class Fallen:
    """A document that was among as many results before feedback and is no longer, and the words that repel it."""

    id: str
    before: int
    words: tuple[WordImpact, ...]


CARRIED = ("method", "weights", "topic", "own_rankings", "drift", "words", "documents")
"""The values of a report without the index."""


@dataclass(frozen=True, eq=False)
class FeedbackReport:
    """Computed when asked for: a search that nobody asks about pays nothing for it."""

    method: FeedbackMethod
    _learnt: Learnt
    _passes: Passes
    _retriever: Retriever
    _query: ParsedQuery
    _hits: Hits

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process go what was learnt, and the moves if they were computed: each takes an explanation."""
        values = {name: getattr(self, name) for name in CARRIED}
        values |= {name: vars(self)[name] for name in ("moves", "fallen") if name in vars(self)}
        return report_from, (type(self), values)

    def with_hits(self, hits: Hits) -> "FeedbackReport":
        """Return the report with other results."""
        return replace(self, _hits=hits)

    def __repr__(self) -> str:
        words = ", ".join(f"{each.word} {each.weight:.3g}" for each in self.words[:WORDS])
        more = ", ..." if len(self.words) > WORDS else ""
        return f"<{type(self).__name__} of {type(self.method).__name__}: {words or 'no words'}{more}>"

    def __getattr__(self, name: str) -> Any:
        if name in type(self).__dataclass_fields__:
            raise GermaneError(
                "what feedback moved is not known in another process: ask for `moves` and `fallen` before it is carried"
            )
        raise AttributeError(name)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The expanded query: index terms with their weights, strongest first; negative ones repel."""
        weights = signed_weights(self._learnt.expansion, self._learnt.terms)
        return dict(sorted(weights.items(), key=lambda item: (-abs(item[1]), item[0])))

    @cached_property
    def topic(self) -> SignedTopic:
        """Return the topic model of the last ranking."""
        return topic_of(self._learnt.expansion, self._learnt.terms)

    @cached_property
    def own_rankings(self) -> bool:
        """Whether the method's own rankings were used, not a model that was named for the search."""
        asked = (*self.method.first_rankings, self.method.final)
        return (*self._passes.firsts, self._passes.final) == tuple(model_of(choice) for choice in asked)

    @cached_property
    def drift(self) -> Drift | None:
        """Return the decision of the guard, if there was one: whether it fell back to the query, and why."""
        return self._learnt.expansion.drift

    @cached_property
    def words(self) -> list[ExpansionWord]:
        """The words of the expanded query, strongest first."""
        evidence, terms = self._learnt.evidence, self._learnt.terms
        query = self.method.query_topic(evidence)
        own = {terms[word]: weight for word, weight in zip(query.ids.tolist(), query.excess.tolist(), strict=True)}
        share = self.method.query_share(evidence) if self._learnt.expansion.learnt else 1.0
        numbers = {term: word for word, term in enumerate(terms)}
        words = written(self._retriever, [*self.weights])
        return [
            ExpansionWord(term, word, weight, share * own.get(term, 0.0), self._sources(numbers[term], weight))
            for (term, weight), word in zip(self.weights.items(), words, strict=True)
        ]

    def _sources(self, word: int, weight: float, most: int = 3) -> tuple[WordSource, ...]:
        evidence = self._learnt.evidence
        at = np.flatnonzero(evidence.ids == word)
        docs = evidence.document_of[at]
        signed = self._learnt.expansion.weights[docs] * (1.0 if weight > 0.0 else -1.0)
        parts = np.maximum(signed, 0.0) * evidence.counts[at] / evidence.lengths[docs]
        total = float(parts.sum())
        if total <= 0.0:
            return ()
        order = [i for i in np.lexsort((docs, -parts))[:most].tolist() if parts[i] > 0.0]
        return tuple(WordSource(self._ids[docs[i]], float(parts[i]) / total) for i in order)

    @cached_property
    def _ids(self) -> list[str]:
        return self._retriever.ids(self._learnt.documents)

    @cached_property
    def documents(self) -> list[EvidenceDocument]:
        """The documents learnt from, weightiest first."""
        known = {Mark.RELEVANT: True, Mark.NOT_RELEVANT: False}
        found = [
            EvidenceDocument(doc_id, weight, known.get(mark))
            for doc_id, weight, mark in zip(
                self._ids,
                self._learnt.expansion.weights.tolist(),
                self._learnt.evidence.marks.tolist(),
                strict=True,
            )
        ]
        return sorted(found, key=lambda document: (-document.weight, document.id))

    @cached_property
    def moves(self) -> list[Move]:
        """For each result: its rank before feedback, and the added words that speak for it."""
        before = self._before
        added = set(self.weights) - set(self._query.weights)
        refs = self._hits.refs
        return [
            Move(doc_id, rank, before.get(doc_id), self._reasons(ref, added))
            for rank, (doc_id, ref) in enumerate(looking(zip(self._retriever.ids(refs), refs.tolist(), strict=True)), 1)
        ]

    @cached_property
    def fallen(self) -> list[Fallen]:
        """The documents that feedback pushed out of the results, by their rank before."""
        now = set(self._retriever.ids(self._hits.refs))
        return [Fallen(i, rank, self._objections(i)) for i, rank in looking(self._before.items()) if i not in now]

    def _objections(self, doc_id: str) -> tuple[WordImpact, ...]:
        """The words that repel a document, with their impact on its score, largest first."""
        repelling = {term: -weight for term, weight in self.weights.items() if weight < 0.0}
        [ref] = self._retriever.locate([doc_id]).tolist()
        return tuple(WordImpact(part.word, -part.impact) for part in self._strongest(ref, repelling))

    @cached_property
    def _before(self) -> dict[str, int]:
        """The ranks without feedback, among as many results."""
        k = max(len(self._hits.refs), 1)
        passes = self._passes
        hits = rank_first(
            self._retriever, self._query.weights, passes.firsts[0], k, self.method, passes, wordless=passes.wordless
        )
        return {doc_id: rank for rank, doc_id in enumerate(self._retriever.ids(hits.refs), start=1)}

    def _reasons(self, ref: int, added: set[str]) -> tuple[WordImpact, ...]:
        attracting = {term: weight for term, weight in self.weights.items() if weight > 0.0}
        return tuple(WordImpact(part.word, part.impact) for part in self._strongest(ref, attracting, added))

    def _strongest(self, ref: int, weights: Mapping[str, float], among: set[str] | None = None) -> list[TermPart]:
        """The parts of a document's score that terms of a topic give, the largest first."""
        found = self._retriever.explain(ref, Scoring(SignedTopic(weights), self._passes.final)).parts if weights else ()
        parts = [part for part in found if part.impact > 0.0 and (among is None or part.term in among)]
        return sorted(parts, key=lambda part: (-part.impact, part.term))[:REASONS]


def report_from(kind: type[FeedbackReport], values: Mapping[str, Any]) -> FeedbackReport:
    """The report that was carried here as its values."""
    made = kind.__new__(kind)
    vars(made).update(values)
    return made

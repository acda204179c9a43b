"""A search in two passes: rank, learn from the best and from what is marked, rank the whole collection again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Floats, Integers, Labels
from germane.engine.candidates import Gathered, Terms, gather
from germane.engine.signed_topic import SignedTopic
from germane.errors import UnknownDocumentError
from germane.feedback import Evidence, Expansion, FeedbackMethod
from germane.feedback.method import RankingChoice
from germane.index.snapshot import DocumentPlace, Snapshot
from germane.lm import Smoothing
from germane.rank.conditions import Condition
from germane.rank.hits import Hits, by_id
from germane.rank.models import QueryLikelihood, RankingModel
from germane.rank.plan import NOTHING
from germane.rank.registry import model_named
from germane.rank.searcher import Searcher
from germane.rank.term_table import NumberedWeights
from germane.types import Mark, Marks


class Passes(NamedTuple):
    """The models that rank before and after learning, and what in both a document must satisfy and is given."""

    firsts: tuple[RankingModel, ...]
    final: RankingModel
    conditions: Sequence[Condition]
    priors: Sequence[Floats] | None
    wordless: bool = False
    """Whether documents that hold no word of the query are found too; there is nothing to learn from those."""


@lru_cache(maxsize=256)
def model_of(choice: RankingChoice) -> RankingModel:
    """The ranking model that a feedback method asks for."""
    return QueryLikelihood(choice) if isinstance(choice, Smoothing) else model_named(choice)


class SearchedEvidence(Evidence):
    """Evidence from an index: frequencies are looked up when a method asks for them.

    What is copied, or made with other values, has them all, and no index any more.
    """

    terms: Terms | None = None
    searcher: Searcher | None = None

    @classmethod
    def of(cls, words: Gathered, searcher: Searcher, marks: Labels, scores: Floats) -> "SearchedEvidence":
        """Of the words of documents that were found."""
        known = dict(zip(("query", "starts", "ids", "counts", "lengths", "terms"), words, strict=True))
        evidence = cls.__new__(cls)
        vars(evidence).update(known, marks=marks, scores=scores, searcher=searcher, n_docs=searcher.collection.n_docs)
        return evidence

    def __reduce__(self) -> tuple[type[Evidence], tuple[Any, ...]]:
        return Evidence, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.terms is not None

    @property
    def n_words(self) -> int:
        return len(self.p_C) if self.terms is None else len(self.terms)

    @cached_property
    def df(self) -> Integers:
        assert self.terms is not None
        return self.terms.df

    @cached_property
    def root_idf(self) -> Floats:
        """As of all evidence, remembered of each term of an only segment."""
        numbers = None if self.terms is None else self.terms.numbers
        if numbers is None or self.searcher is None:
            return self.root_idf_of(self.df)
        segments = self.searcher.snapshot.segments
        [remembered] = self.searcher.remembered("root idf", lambda: [np.zeros(segments[0].segment.n_terms)])
        roots = remembered.take(numbers)
        if roots.min(initial=1.0) == 0.0:
            fresh = np.flatnonzero(roots == 0.0)
            roots[fresh] = remembered[numbers[fresh]] = self.root_idf_of(self.df[fresh])
        return roots

    @cached_property
    def p_C(self) -> Floats:
        assert self.terms is not None
        assert self.searcher is not None
        return np.asarray(self.terms.cf / max(self.searcher.collection.n_tokens, 1))

    def shares_of(self, words: list[int]) -> Floats:
        """As of all evidence; looked up for these words alone."""
        if self.terms is None or self.searcher is None:
            return super().shares_of(words)
        return np.asarray(self.terms.among(words).cf / max(self.searcher.collection.n_tokens, 1))


@dataclass(frozen=True, eq=False)
class Learnt:
    """What the first pass gave the second: the evidence, where its documents lie, and the expansion made of it."""

    evidence: Evidence
    documents: Hits
    terms: Terms
    expansion: Expansion


def search_with_feedback(
    searcher: Searcher, query: dict[str, float], k: int, method: FeedbackMethod, marks: Marks, passes: Passes
) -> tuple[Hits, Learnt]:
    """Rank, learn, rank again."""
    n_first = max(method.n_docs + len(marks.relevant) + len(marks.not_relevant), 1)
    firsts = [rank_first(searcher, query, model, n_first, method, passes) for model in passes.firsts]
    evidence, documents, terms = gather_evidence(searcher, query, firsts, marks, method.n_docs)
    learnt = Learnt(evidence, documents, terms, method.expand(evidence))
    ranked = zip(firsts, passes.firsts, strict=True)
    hint, _ = max(ranked, key=lambda own: (len(own[0].docs), own[1] == passes.final))  # what it likes is likely wanted
    return rank_expansion(searcher, learnt.expansion, terms, k, passes, hint), learnt


def rank_first(
    searcher: Searcher,
    query: Mapping[str, float],
    model: RankingModel,
    k: int,
    method: FeedbackMethod,
    passes: Passes,
    *,
    wordless: bool = False,
) -> Hits:
    """The best k documents before learning: by the query, in contrast with the collection where the method says so."""
    priors = passes.priors
    if method.first_background != 0.0:
        known = {term.term: term.weight for term in searcher.known_terms(query)}
        topic = SignedTopic(known, method.first_background * sum(known.values()))
        _, priors = topic.for_search(searcher, model, priors)
    return searcher.search(query, model, k, filters=passes.conditions, priors=priors, wordless=wordless)


def gather_evidence(
    searcher: Searcher, query: dict[str, float], rankings: Sequence[Hits], marks: Marks, n_docs: int
) -> tuple[Evidence, Hits, Terms]:
    """The marked documents, and the first n_docs unmarked ones of each ranking, as evidence; and where they lie."""
    snapshot = searcher.snapshot
    labelled: dict[tuple[int, int], Mark] = {_marked(snapshot, doc_id): Mark.RELEVANT for doc_id in marks.relevant}
    labelled |= {_marked(snapshot, doc_id): Mark.NOT_RELEVANT for doc_id in marks.not_relevant}
    guessed = [_first_unmarked(hits, labelled, n_docs) for hits in rankings]
    found = guessed[0]
    if labelled or len(guessed) > 1:
        known = [Hits(NOTHING, *np.array([*labelled], np.int64).T)] if labelled else []
        found = Hits(*map(np.concatenate, zip(*known, *guessed, strict=True)))
    # by id: sums must not depend on how the documents lie in segments, or words that tie would be cut differently
    chosen, places = by_id(snapshot, found)
    documents = Hits(NOTHING, found.segments[chosen], found.docs[chosen])
    labels, scores = np.empty(len(chosen), np.int8), np.empty((len(guessed), len(chosen)))
    labels.fill(Mark.UNMARKED)
    scores.fill(-np.inf)
    if labelled:
        labels[places[: len(labelled)]] = [*labelled.values()]
    begin = len(labelled)
    for own, hits in zip(scores, guessed, strict=True):
        own[places[begin : begin + len(hits.docs)]] = hits.scores
        begin += len(hits.docs)
    words = gather(snapshot, documents, query)
    return SearchedEvidence.of(words, searcher, labels, scores), documents, words.terms


def _first_unmarked(hits: Hits, labelled: Mapping[tuple[int, int], Mark], n: int) -> Hits:
    """The first n documents of a ranking that are not marked."""
    if labelled:
        places = zip(hits.segments.tolist(), hits.docs.tolist(), strict=True)
        others = np.array([place not in labelled for place in places], np.bool_)
        hits = Hits(hits.scores[others], hits.segments[others], hits.docs[others])
    return hits.part(0, n)


def _marked(snapshot: Snapshot, doc_id: str) -> DocumentPlace:
    place = snapshot.locate(doc_id)
    if place is None:
        raise UnknownDocumentError(f"marked, but not in {snapshot.folder} (never added, or deleted): '{doc_id}'")
    return place


def rank_expansion(
    searcher: Searcher, expansion: Expansion, terms: Terms, k: int, passes: Passes, hint: Hits | None = None
) -> Hits:
    """The best k documents by -H(topic, θ_D) + w·H(against, θ_D), over the whole collection.

    The words' difference e^R - w·e^N goes to the search where it is positive, and as a prior on every document where it
    is negative; so does the difference of the background shares. Models without smoothing have no background.
    """
    wanted, priors = topic_of(expansion, terms).for_search(searcher, passes.final, passes.priors)
    return searcher.search(
        wanted, passes.final, k, filters=passes.conditions, priors=priors, hint=hint, wordless=passes.wordless
    )


def topic_of(expansion: Expansion, terms: Terms) -> SignedTopic:
    """What the expansion wants, by index terms."""
    background = expansion.topic.background
    if expansion.against is not None:
        background -= expansion.against_weight * expansion.against.background
    return SignedTopic(signed_weights(expansion, terms), background)


def signed_weights(expansion: Expansion, terms: Terms) -> Mapping[str, float]:
    """The words' weights in the ranking: e^R(w) - against_weight·e^N(w)."""
    against = expansion.against
    words, weights = expansion.topic.ids, expansion.topic.excess
    if against is None and terms.numbers is not None:
        return NumberedWeights(terms.numbers[words], weights, partial(terms.of, words))
    if against is not None:
        words = np.union1d(words, against.ids)
        weights = expansion.topic.excess_at(words) - expansion.against_weight * against.excess_at(words)
    return dict(zip(terms.of(words), weights.tolist(), strict=True))

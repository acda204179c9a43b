"""A search in two passes: rank, learn from the best and from what is marked, rank the whole collection again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from germane.engine.candidates import gathered
from germane.errors import UnknownDocumentError
from germane.feedback import Evidence, Expansion, FeedbackMethod
from germane.feedback.method import RankingChoice
from germane.lm import Smoothing
from germane.rank.models.base import RankingModel
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.query.conditions import Condition
from germane.rank.registry import model_named
from germane.rank.retriever import Hits, Refs, Retriever, Scoring, SignedTopic, TopRequest
from germane.rank.scoring.priors import Prior
from germane.rank.scoring.statistics import Need
from germane.types import Mark, Marks


class Passes(NamedTuple):
    """The models that rank before and after learning, and what in both a document must satisfy and is given."""

    firsts: tuple[RankingModel, ...]
    final: RankingModel
    conditions: tuple[Condition, ...]
    priors: tuple[Prior, ...]
    wordless: bool = False
    """Whether documents that hold no word of the query are found too; there is nothing to learn from those."""


@lru_cache(maxsize=256)
def model_of(choice: RankingChoice) -> RankingModel:
    """The ranking model that a feedback method asks for."""
    return QueryLikelihood(choice) if isinstance(choice, Smoothing) else model_named(choice)


@dataclass(frozen=True, eq=False)
class Learnt:
    """Output of the first pass: the evidence, its documents and terms, and the expansion made of it."""

    evidence: Evidence
    documents: Refs
    terms: Sequence[str]
    expansion: Expansion


def search_with_feedback(
    retriever: Retriever, query: Mapping[str, float], k: int, method: FeedbackMethod, marks: Marks, passes: Passes
) -> tuple[Hits, Learnt]:
    """Rank, learn, rank again."""
    n_first = max(method.n_docs + len(marks.relevant) + len(marks.not_relevant), 1)
    firsts = [rank_first(retriever, query, model, n_first, method, passes) for model in passes.firsts]
    evidence, documents, terms = gather_evidence(retriever, query, firsts, marks, method.n_docs)
    learnt = Learnt(evidence, documents, terms, method.expand(evidence))
    ranked = zip(firsts, passes.firsts, strict=True)
    likely, _ = max(ranked, key=lambda own: (len(own[0].refs), own[1] == passes.final))
    return rank_expansion(retriever, learnt.expansion, terms, k, passes, likely), learnt


def rank_first(
    retriever: Retriever,
    query: Mapping[str, float],
    model: RankingModel,
    k: int,
    method: FeedbackMethod,
    passes: Passes,
    *,
    wordless: bool = False,
) -> Hits:
    """The best k documents before learning: by the query, in contrast with the collection where the method says so."""
    topic = SignedTopic(query)
    if method.first_background != 0.0:
        frequencies = retriever.statistics(Need(tuple(query))).terms
        known = {term: weight for term, weight in query.items() if weight > 0.0 and frequencies[term].df > 0}
        topic = SignedTopic(known, method.first_background * sum(known.values()))
    scoring = Scoring(topic, model, passes.priors)
    return retriever.top(TopRequest(scoring, k, passes.conditions, wordless))


def gather_evidence(
    retriever: Retriever, query: Mapping[str, float], rankings: Sequence[Hits], marks: Marks, n_docs: int
) -> tuple[Evidence, Refs, Sequence[str]]:
    """The marked documents, and the first n_docs unmarked ones of each ranking, as evidence; these, and their terms."""
    marked = _located(retriever, [*marks.relevant, *marks.not_relevant])
    guessed = [_first_unmarked(hits, marked, n_docs) for hits in rankings]
    refs = np.concatenate([marked, *(hits.refs for hits in guessed)])
    # by id: sums must not depend on how the documents lie in segments, or words that tie would be cut differently
    documents, places = _by_id(retriever, refs)
    labels, scores = np.empty(len(documents), np.int8), np.empty((len(guessed), len(documents)))
    labels.fill(Mark.UNMARKED)
    scores.fill(-np.inf)
    labels[places[: len(marked)]] = [Mark.RELEVANT] * len(marks.relevant) + [Mark.NOT_RELEVANT] * len(
        marks.not_relevant
    )
    begin = len(marked)
    for own, hits in zip(scores, guessed, strict=True):
        own[places[begin : begin + len(hits.refs)]] = hits.scores
        begin += len(hits.refs)
    numbered, starts, words, counts, lengths, terms, df, cf = gathered(retriever, documents, query)
    schema = retriever.schema()
    p_C = cf / max(schema.n_tokens, 1)
    evidence = Evidence(
        numbered, starts, words, counts, lengths, labels, p_C, df, schema.n_docs, scores, is_counted=True
    )
    return evidence, documents, terms


def _by_id(retriever: Retriever, refs: Refs) -> tuple[Refs, np.ndarray]:
    """The distinct documents in the order of their ids, and for each reference its place in that order."""
    ids = retriever.ids(refs)
    ref_of = dict(zip(ids, refs.tolist(), strict=True))
    place_of = {doc_id: place for place, doc_id in enumerate(sorted(ref_of))}
    return np.array([ref_of[doc_id] for doc_id in place_of], np.int64), np.array([place_of[i] for i in ids], np.int64)


def _first_unmarked(hits: Hits, marked: Refs, n: int) -> Hits:
    """The first n documents of a ranking that are not marked."""
    return (hits.chosen(~np.isin(hits.refs, marked)) if len(marked) else hits).part(0, n)


def _located(retriever: Retriever, ids: Sequence[str]) -> Refs:
    refs = retriever.locate(ids)
    if (refs < 0).any():
        unknown = ids[int(np.flatnonzero(refs < 0)[0])]
        raise UnknownDocumentError(
            f"marked, but not in {retriever.schema().name} (never added, or deleted): '{unknown}'"
        )
    return refs


def rank_expansion(
    retriever: Retriever,
    expansion: Expansion,
    terms: Sequence[str],
    k: int,
    passes: Passes,
    likely: Hits | None = None,
) -> Hits:
    """The best k documents by -H(topic, θ_D) + w·H(against, θ_D), over the whole collection."""
    scoring = Scoring(topic_of(expansion, terms), passes.final, passes.priors)
    return retriever.top(TopRequest(scoring, k, passes.conditions, passes.wordless, likely))


def topic_of(expansion: Expansion, terms: Sequence[str]) -> SignedTopic:
    """Return the weights of the expansion by index terms."""
    background = expansion.topic.background
    if expansion.against is not None:
        background -= expansion.against_weight * expansion.against.background
    return SignedTopic(signed_weights(expansion, terms), background)


def signed_weights(expansion: Expansion, terms: Sequence[str]) -> dict[str, float]:
    """The words' weights in the ranking: e^R(w) - against_weight·e^N(w)."""
    against = expansion.against
    words, weights = expansion.topic.ids, expansion.topic.excess
    if against is not None:
        words = np.union1d(words, against.ids)
        weights = expansion.topic.excess_at(words) - expansion.against_weight * against.excess_at(words)
    return {terms[word]: weight for word, weight in zip(words.tolist(), weights.tolist(), strict=True)}

"""A search in two passes: rank, learn from the best and from what is marked, rank the whole collection again."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import UnknownDocumentError
from germane.feedback import Evidence, Expansion, FeedbackMethod
from germane.feedback.method import RankingChoice
from germane.index.segment import Segment
from germane.index.snapshot import DocumentPlace, Snapshot
from germane.lm import Smoothing
from germane.rank.everywhere import background_everywhere, scores_everywhere
from germane.rank.models import QueryLikelihood, RankingModel
from germane.rank.registry import model_named
from germane.rank.searcher import Hits, Searcher
from germane.types import Mark, Marks

_NONE: Integers = np.empty(0, np.int64)
Condition = Callable[[Segment], npt.NDArray[np.bool_]]


class Passes(NamedTuple):
    """The models that rank before and after learning, and what in both a document must satisfy and is given."""

    firsts: tuple[RankingModel, ...]
    final: RankingModel
    conditions: Sequence[Condition]
    priors: Sequence[Floats] | None


class Terms:
    """The words of the evidence: their numbers there, and their index terms."""

    def __init__(self, snapshot: Snapshot, homes: Integers, numbers: Integers) -> None:
        self._snapshot, self._homes, self._numbers = snapshot, homes, numbers
        self._segments = sorted(set(homes.tolist()))

    def __len__(self) -> int:
        return len(self._numbers)

    def frequencies(self) -> tuple[Integers, Integers]:
        """df and cf of each word in the live collection."""
        df, cf = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        for i in self._segments:
            own = self._homes == i
            df[own], cf[own] = self._snapshot.frequencies_of(i, self._numbers[own])
        return df, cf

    def of(self, words: Integers) -> list[str]:
        """The index terms of words."""
        names = [""] * len(words)
        homes, numbers = self._homes[words], self._numbers[words]
        for i in self._segments:
            own = np.flatnonzero(homes == i)
            for place, name in zip(own.tolist(), self._snapshot.segments[i].segment.terms(numbers[own]), strict=True):
                names[place] = name
        return names


def model_of(choice: RankingChoice) -> RankingModel:
    """The ranking model that a feedback method asks for."""
    return QueryLikelihood(choice) if isinstance(choice, Smoothing) else model_named(choice)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What the first pass gave the second: the evidence, where it lies, and the expansion made of it."""

    evidence: Evidence
    places: tuple[DocumentPlace, ...]
    terms: Terms
    expansion: Expansion


def search_with_feedback(
    searcher: Searcher, query: dict[str, float], k: int, method: FeedbackMethod, marks: Marks, passes: Passes
) -> tuple[Hits, Learnt]:
    """Rank, learn, rank again."""
    n_first = method.n_docs + len(marks.relevant) + len(marks.not_relevant)
    firsts = [
        searcher.search(query, model, max(n_first, 1), filters=passes.conditions, priors=passes.priors)
        for model in passes.firsts
    ]
    evidence, places, terms = gather(searcher.snapshot, query, firsts, marks, method.n_docs)
    learnt = Learnt(evidence, places, terms, method.expand(evidence))
    hint = max(firsts, key=lambda hits: len(hits.docs))
    return rank_expansion(searcher, learnt.expansion, terms, k, passes, hint), learnt


def gather(
    snapshot: Snapshot, query: dict[str, float], rankings: Sequence[Hits], marks: Marks, n_docs: int
) -> tuple[Evidence, tuple[DocumentPlace, ...], Terms]:
    """The marked documents, and the first n_docs unmarked ones of each ranking, as evidence."""
    labelled = {_marked(snapshot, doc_id): Mark.RELEVANT for doc_id in marks.relevant}
    labelled |= {_marked(snapshot, doc_id): Mark.NOT_RELEVANT for doc_id in marks.not_relevant}
    guessed = []
    for hits in rankings:
        ranked = zip(map(DocumentPlace, hits.segments.tolist(), hits.docs.tolist()), hits.scores.tolist(), strict=True)
        guessed.append(dict(itertools.islice((row for row in ranked if row[0] not in labelled), n_docs)))
    unmarked = dict.fromkeys(place for scores in guessed for place in scores)
    # by id: sums must not depend on how the documents lie in segments, or words that tie would be cut differently
    chosen = (*labelled, *unmarked)
    places = tuple(place for _, place in sorted(zip(ids_at(snapshot, chosen), chosen, strict=True)))
    labels = [labelled.get(place, Mark.UNMARKED) for place in places]
    scores = np.array([[scores.get(place, -np.inf) for place in places] for scores in guessed])
    evidence, terms = _evidence(snapshot, query, places, labels, scores)
    return evidence, places, terms


def ids_at(snapshot: Snapshot, places: Sequence[DocumentPlace]) -> list[str]:
    """The ids of the documents that lie there."""
    ids = [""] * len(places)
    for i in {place.segment for place in places}:
        own = [j for j, place in enumerate(places) if place.segment == i]
        docs = np.array([places[j].doc for j in own], np.int64)
        for j, doc_id in zip(own, snapshot.segments[i].segment.doc_ids(docs), strict=True):
            ids[j] = doc_id
    return ids


def _marked(snapshot: Snapshot, doc_id: str) -> DocumentPlace:
    place = snapshot.locate(doc_id)
    if place is None:
        raise UnknownDocumentError(f"marked, but not in {snapshot.folder} (never added, or deleted): '{doc_id}'")
    return place


def _evidence(
    snapshot: Snapshot, query: dict[str, float], places: Sequence[DocumentPlace], labels: Sequence[int], scores: Floats
) -> tuple[Evidence, Terms]:
    """Counts from the forward index, the words numbered anew. Neighbours in one segment are read at once."""
    known = [
        (home, stats.numbers[home], weight)
        for stats, weight in zip(snapshot.term_stats(list(query)), query.values(), strict=True)
        if stats.df > 0 and weight > 0.0
        for home in [next(i for i, number in enumerate(stats.numbers) if number >= 0)]
    ]
    parts = []
    for i, group in itertools.groupby(places, key=lambda place: place.segment):
        segment, docs = snapshot.segments[i].segment, np.array([place.doc for place in group], np.int64)
        parts.append((i, segment.doc_len[docs], *segment.forward_of(docs)))
    homes = [np.array([home for home, _, _ in known], np.int64), *(np.full(len(held), i) for i, _, _, held, _ in parts)]
    numbers = [np.array([number for _, number, _ in known], np.int64), *(held for _, _, _, held, _ in parts)]
    words, terms = _number_anew(snapshot, np.concatenate(homes), np.concatenate(numbers).astype(np.int64))
    df, cf = terms.frequencies()
    evidence = Evidence(
        query=dict(zip(words[: len(known)].tolist(), (weight for _, _, weight in known), strict=True)),
        starts=np.concatenate([[0], np.cumsum(np.concatenate([_NONE, *(np.diff(part[2]) for part in parts)]))]),
        ids=words[len(known) :],
        counts=np.concatenate([_NONE, *(part[4] for part in parts)]).astype(np.float64),
        lengths=np.concatenate([_NONE, *(part[1] for part in parts)]).astype(np.float64),
        marks=np.array(labels, np.int8),
        p_C=cf / max(snapshot.n_tokens, 1),
        df=df,
        n_docs=snapshot.n_docs,
        scores=scores,
    )
    return evidence, terms


def _number_anew(snapshot: Snapshot, homes: Integers, numbers: Integers) -> tuple[Integers, Terms]:
    """For each (segment, term number) a word from 0 on, the same for the same term."""
    if len(snapshot.segments) > 1:  # segments number their terms on their own: go by the terms themselves
        segments = [live.segment for live in snapshot.segments]
        names = [segments[i].term(n) for i, n in zip(homes.tolist(), numbers.tolist(), strict=True)]
        _, first, words = np.unique(np.array(names, object), return_index=True, return_inverse=True)
    else:
        _, first, words = np.unique(numbers, return_index=True, return_inverse=True)
    return words.astype(np.int64), Terms(snapshot, homes[first], numbers[first])


def rank_expansion(
    searcher: Searcher, expansion: Expansion, terms: Terms, k: int, passes: Passes, hint: Hits | None = None
) -> Hits:
    """The best k documents by -H(topic, θ_D) + w·H(against, θ_D), over the whole collection.

    The words' difference e^R - w·e^N goes to the search where it is positive, and as a prior on every document where it
    is negative; so does the difference of the background shares. Models without smoothing have no background.
    """
    difference = signed_weights(expansion, terms)
    wanted = {term: weight for term, weight in difference.items() if weight > 0}
    unwanted = {term: -weight for term, weight in difference.items() if weight < 0}
    if not wanted:  # no document can be found, and a collection without words has no background
        return searcher.search({}, passes.final, k)
    model, priors = passes.final, [passes.priors] if passes.priors is not None else []
    if unwanted:
        priors.append([-scores for scores in scores_everywhere(searcher, unwanted, model)])
    background = expansion.topic.background
    if expansion.against is not None:
        background -= expansion.against_weight * expansion.against.background
    if background != 0.0 and isinstance(model, QueryLikelihood):
        priors.append([background * scores for scores in background_everywhere(searcher, model)])
    total = [np.sum(parts, axis=0) for parts in zip(*priors, strict=True)] if priors else None
    return searcher.search(wanted, model, k, filters=passes.conditions, priors=total, hint=hint)


def signed_weights(expansion: Expansion, terms: Terms) -> dict[str, float]:
    """The words' weights in the ranking: e^R(w) - against_weight·e^N(w)."""
    against = expansion.against
    words = np.union1d(expansion.topic.ids, against.ids) if against is not None else expansion.topic.ids
    weights = expansion.topic.excess_at(words)
    if against is not None:
        weights = weights - expansion.against_weight * against.excess_at(words)
    return dict(zip(terms.of(words), weights.tolist(), strict=True))

"""From a weighted query to its best documents: the plan of the model, the scorer on each segment, one total order."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import ParameterError
from germane.index.segment import Segment
from germane.index.sequences import PairCounts, TextFields, phrase_among
from germane.index.snapshot import Snapshot, TermStats
from germane.rank.maxscore.search import reached
from germane.rank.models.base import RankingModel
from germane.rank.models.evidence import CountedEvidence, EvidenceModel, score_evidence
from germane.rank.plan import Collection, Plan, QueryTerm, checked, query_term
from germane.rank.query.conditions import Condition, HoldsAny, Phrase, mask_of
from germane.rank.scoring.arguments import DocumentValues, Mask, ScoredDocs, TermArrays
from germane.rank.scoring.document_parts import DocumentParts, PartsMemory, Statistics, Values
from germane.rank.scoring.exact import best_of, score_documents
from germane.rank.scoring.exact import scores_of as plain_scores
from germane.rank.scoring.hits import NO_HITS, Hits, distinct, ids_of, in_total_order, kth_best
from germane.rank.scoring.local_statistics import LocalStatistics
from germane.rank.scoring.memory import remember
from germane.rank.scoring.priors import Prior
from germane.rank.scoring.scorers import Scorers
from germane.rank.scoring.statistics import CollectionStatistics, Need, Pair
from germane.rank.scoring.term_cache import TermCache

Weights = Mapping[str, float]
REMEMBERED_MODELS = 16
REMEMBERED_EVERYWHERE = 16
LEAST_MASKS, MASK_BYTES = 8, 16 << 20
"""Masks of conditions that are remembered: so many at least, and as many as take so much room."""
MOST_HINTED = 256
"""Documents of a hint: more are not scored beforehand."""
FIRST_LOOK, FURTHER_LOOK = 64, 8
"""How many documents are looked at for a phrase: so many and so many times k, then so many times as many."""


class Searcher:
    """Ranks the documents of one snapshot. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot, previous: "Searcher | None" = None) -> None:
        self.snapshot = snapshot
        self.texts = TextFields(snapshot.manifest.analyzer, snapshot.manifest.text_fields)
        self._terms = TermCache(snapshot)
        self._local = LocalStatistics(snapshot, self.texts, self._terms)
        self.statistics: Statistics = self._local
        self.collection = Collection(snapshot.n_docs, snapshot.n_tokens)
        self.parts: PartsMemory = PartsMemory(snapshot, previous.parts if previous else None)
        self._live = [live.deletions.mask for live in snapshot.segments]
        self._scorers: Scorers = Scorers(previous._scorers if previous else None)
        self._values: dict[RankingModel, Values] = {}
        self._everywhere: dict[Hashable, list[Floats]] = {}
        self._masks: dict[tuple[int, Condition], Mask] = {}

    def within(self, statistics: CollectionStatistics | None) -> "Searcher":
        """Rank as a part of a larger collection: whatever is taken from the whole is taken from these statistics.

        What does not depend on them is shared. None: the snapshot is the collection.
        """
        if statistics is None:
            return self
        view = copy(self)
        view.statistics = statistics
        view.collection = Collection(statistics.n_docs, statistics.n_tokens)
        return view

    def remembered(self, key: Hashable, make: Callable[[], list[Floats]]) -> list[Floats]:
        """What `make` gives for every document of the snapshot, made once."""
        found = self._everywhere.get(key)
        if found is None:
            found = make()
            remember(self._everywhere, key, found, REMEMBERED_EVERYWHERE)
        return found

    def log_priors(self, priors: Sequence[Prior]) -> list[Floats] | None:
        """Return the sum of log-priors, one array a segment; None without priors. Remembered by the priors."""
        if not priors:
            return None
        if self.statistics is self._local:
            for prior in priors:
                prior.check(self.snapshot.filterable, self.snapshot.numeric.__contains__)
        told = [(prior, self.statistics.least_prior(prior)) for prior in priors]

        def summed() -> list[Floats]:
            parts = (prior.of(self.snapshot, least) for prior, least in told)
            return [reduce(np.add, own) for own in zip(*parts, strict=True)]

        return self.remembered(("priors", *told), summed)

    def count(self, need: Need) -> CollectionStatistics:
        """Count what is needed of this snapshot."""
        return self._local.count(need)

    def pair_counts(self, pair: Pair) -> list[PairCounts]:
        """For each segment the documents that hold a pair of terms, deleted ones too."""
        return self._local.pair_counts(pair)

    def parts_of(self, i: int, model: RankingModel) -> DocumentParts:
        """What the model says of the documents of segment i."""
        return self.parts.of(i, model, self.statistics)

    def frequencies(self, terms: Sequence[str]) -> tuple[Integers, Integers]:
        """Return df and cf of terms in the whole collection; 0 for one that it does not hold."""
        stats = self.statistics.term_stats(terms)
        return np.array([own.df for own in stats], np.int64), np.array([own.cf for own in stats], np.int64)

    def frequencies_of(self, i: int, numbers: Integers) -> tuple[Integers, Integers]:
        """Return the same of terms by their numbers in segment i."""
        if self.statistics is self._local:
            return self.snapshot.frequencies_of(i, numbers)
        return self.frequencies(self.snapshot.segments[i].segment.terms(numbers))

    def homes_of(self, terms: Sequence[str]) -> list[tuple[int, int]]:
        """Return, for each of the terms that live documents hold, the first segment with it and its number there."""
        return [
            next((i, number) for i, number in enumerate(known.numbers) if number >= 0)
            for known in self._terms.known(terms)
            if known.stats.df > 0
        ]

    def known_terms(self, weights: Mapping[str, float]) -> list[QueryTerm]:
        """The query's terms that the collection holds, with their statistics."""
        return [
            query_term((term, weight, df, cf))
            for (term, weight), (df, cf) in self._counted(weights)
            if df > 0 and weight > 0.0
        ]

    def _counted(self, weights: Mapping[str, float]) -> Iterator[tuple[tuple[str, float], TermStats]]:
        """Terms and their weights, each with its statistics."""
        return zip(weights.items(), self.statistics.term_stats(checked(weights)), strict=True)

    def plan(self, weights: Mapping[str, float], model: RankingModel) -> Plan | None:
        """The work of a query, as plain data; None if the collection holds none of its terms."""
        terms = self.known_terms(weights)
        if not terms:
            return None
        if model.needs_entropy:
            return model.plan(terms, self.collection._replace(entropy=self.statistics.entropy))
        return model.plan(terms, self.collection)

    def search(
        self,
        weights: Mapping[str, float],
        model: RankingModel,
        k: int,
        *,
        filters: Sequence[Condition] = (),
        priors: Sequence[Floats] | None = None,
        prune: bool = True,
        hint: Hits | None = None,
        wordless: bool = False,
        threshold: float = -np.inf,
    ) -> Hits:
        """The best k documents that hold at least one of the terms and pass all filters.

        `weights`: the topic model α as term -> weight. `priors`: log-priors, one array a segment. `prune=False` takes
        the exact scorer; the result is the same. `hint`: documents that pass all filters and are likely to be among the
        best, such as those of the query before feedback: k of them are a threshold. `wordless`: documents that pass all
        filters are found even if they hold none of the terms. Their score is then what the formula gives without
        impacts and, if the collection holds no term, their prior alone. `threshold`: a score that k documents elsewhere
        reach; those below may be left out.
        """
        k = self._at_most(k)
        if isinstance(model, EvidenceModel):
            evidence = model.evidence(self, checked(weights))
            if evidence:
                return self._search_evidence(evidence, k, filters, priors, wordless=wordless)
        plan = None if isinstance(model, EvidenceModel) else self.plan(weights, model)
        if plan is None:
            return self._unranked(k, filters, priors) if wordless else NO_HITS
        values = self._document_values(model, priors)
        required, phrases, rest = _words_and_phrases(filters) if prune and filters else ({}, (), filters)
        if hint is not None and k <= len(hint.docs) <= MOST_HINTED:
            threshold = max(threshold, reached(self._scores_of(hint, plan, values), k))
        results: dict[int, ScoredDocs] = {}
        for i, live in enumerate(self.snapshot.segments):
            look()
            terms = self.terms_in(i, plan)
            numbers = self._terms.numbers(i, [*required]) if required else []
            if -1 in numbers or not (wordless or len(terms.numbers)):
                continue
            own = np.array(numbers, np.int64) if required else None
            asked = SegmentSearch(live.segment, terms, values[i], self.mask(i, rest), own, wordless, prune)
            best = self._best_with_phrases(asked, phrases, k, threshold) if phrases else self._best(asked, k, threshold)
            if len(best[0]):
                results[i] = best
                if len(self.snapshot.segments) > 1:
                    threshold = max(threshold, kth_best(results, k))
        return in_total_order(self.snapshot, results, k)

    def _at_most(self, k: int) -> int:
        """k, or the number of documents if that is less: a kernel makes room for all k."""
        if type(k) is not int and (not isinstance(k, (int, np.integer)) or isinstance(k, bool)):
            raise ParameterError(f"k must be a whole number, not {k!r}")
        if k < 1:
            raise ParameterError(f"k must be at least 1, not {k}")
        return int(k) if k < self.snapshot.n_docs else max(self.snapshot.n_docs, 1)

    def _search_evidence(
        self,
        evidence: Sequence[CountedEvidence],
        k: int,
        filters: Sequence[Condition],
        priors: Sequence[Floats] | None,
        *,
        wordless: bool,
    ) -> Hits:
        """The best k documents by what a model found that makes its own counts."""
        results = {}
        for i, scored in enumerate(score_evidence(self, evidence)):
            docs = self._passing_docs(i, self.mask(i, filters))
            if not wordless:
                docs = docs[scored.held[docs]]
            scores = scored.scores(None if priors is None else priors[i])[docs]
            results[i] = best_of(self.snapshot.segments[i].segment, scores, docs, k)
        return in_total_order(self.snapshot, results, k)

    def _best(self, asked: "SegmentSearch", k: int, threshold: float) -> ScoredDocs:
        """The best k documents of a segment."""
        segment, terms, values, mask, required, wordless, prune = asked
        given = segment, terms, values, mask, k, threshold, required
        return self._scorers.top_k(*given, wordless=wordless, prune=prune)

    def _best_with_phrases(
        self, asked: "SegmentSearch", phrases: Sequence[Phrase], k: int, threshold: float
    ) -> ScoredDocs:
        """The same of those that hold the phrases: ever more of the best that hold their terms are looked at."""
        n = FIRST_LOOK + FURTHER_LOOK * k
        while True:
            scores, docs = self._best(asked, n, threshold)
            passing = np.sort(docs)
            for phrase in phrases:
                numbers = asked.segment.find_terms(phrase.terms).tolist()
                passing = phrase_among(asked.segment, passing, numbers, phrase.slop, self.texts, phrase.field)
            if len(passing) >= k or len(docs) < n:
                among = _are_among(docs, passing)
                return scores[among][:k], docs[among][:k]
            n *= FURTHER_LOOK

    def _unranked(self, k: int, filters: Sequence[Condition], priors: Sequence[Floats] | None) -> Hits:
        """The first k documents that pass all filters, by their priors, then by id."""
        results = {}
        for i, live in enumerate(self.snapshot.segments):
            docs = self._passing_docs(i, self.mask(i, filters))
            scores = priors[i][docs] if priors is not None else np.zeros(len(docs))
            results[i] = best_of(live.segment, scores, docs, k)
        return in_total_order(self.snapshot, results, k)

    def _passing_docs(self, i: int, mask: Mask) -> Integers:
        return np.flatnonzero(mask) if len(mask) else np.arange(self.snapshot.segments[i].segment.n_docs)

    def joined(self, scored: Sequence[tuple[Floats, Integers]], k: int) -> Hits:
        """The best k of documents that were scored elsewhere, given segment by segment."""
        best = (best_of(live.segment, *own, k) for live, own in zip(self.snapshot.segments, scored, strict=True))
        return in_total_order(self.snapshot, dict(enumerate(best)), k)

    def scores_by(
        self, hits: Hits, weights: Mapping[str, float], model: RankingModel, priors: Sequence[Floats] | None
    ) -> Floats:
        """The scores of given documents by any model, also of one that holds none of the words."""
        if isinstance(model, EvidenceModel):
            found = model.evidence(self, checked(weights))
            if found:
                everywhere = enumerate(score_evidence(self, found))
                all_scores = [scored.scores(None if priors is None else priors[i]) for i, scored in everywhere]
                places = zip(hits.segments.tolist(), hits.docs.tolist(), strict=True)
                return np.array([all_scores[i][doc] for i, doc in places])
            return self.scores_without_words(hits, None, model, priors)
        plan = self.plan(weights, model)
        without = self.scores_without_words(hits, plan, model, priors)
        if plan is None:
            return without
        scores = self.scores_of(hits, plan, model, priors)
        return np.where(np.isneginf(scores), without, scores)

    def scores_without_words(
        self, hits: Hits, plan: Plan | None, model: RankingModel, priors: Sequence[Floats] | None
    ) -> Floats:
        """What given documents would score if they held none of the words."""
        scores = np.zeros(len(hits.docs))
        values = self._document_values(model, priors)
        for i in distinct(hits.segments):
            chosen = hits.segments == i
            if plan is not None:
                scores[chosen] = plain_scores(plan, values[i], hits.docs[chosen], scores[chosen])
            elif priors is not None:
                scores[chosen] = priors[i][hits.docs[chosen]]
        return scores

    def scores_of(
        self,
        hits: Hits,
        plan: Plan,
        model: RankingModel,
        priors: Sequence[Floats] | None,
    ) -> Floats:
        """The scores of given documents; -inf for one without any of the terms."""
        return self._scores_of(hits, plan, self._document_values(model, priors))

    def _scores_of(self, hits: Hits, plan: Plan, values: Mapping[int, DocumentValues]) -> Floats:
        scores = np.full(len(hits.docs), -np.inf)
        for i in distinct(hits.segments):
            chosen = hits.segments == i
            segment = self.snapshot.segments[i].segment
            scores[chosen] = score_documents(segment, self.terms_in(i, plan), values[i], hits.docs[chosen])
        return scores

    def terms_in(self, i: int, plan: Plan) -> TermArrays:
        """The plan's terms that segment i holds; their lists are verified."""
        return TermArrays.of(plan, self._terms.numbers(i, [term.term for term in plan.terms]))

    def _document_values(self, model: RankingModel, priors: Sequence[Floats] | None) -> Values:
        """For each segment what its documents are given beside their postings; without priors remembered."""
        if priors is not None or not (self.statistics is self._local or model.word_sums() is None):
            return Values(self.parts, model, self.statistics, priors)
        values = self._values.get(model)
        if values is None:
            values = Values(self.parts, model, self._local)
            remember(self._values, model, values, REMEMBERED_MODELS)
        return values

    def ids(self, hits: Hits) -> list[str]:
        """The ids of the documents found."""
        return ids_of(self.snapshot, hits)

    def mask(self, i: int, filters: Sequence[Condition]) -> Mask:
        """1 for each live document of segment i that passes all filters; empty: all documents do."""
        mask = self._live[i]
        segment = self.snapshot.segments[i].segment
        for condition in filters:
            allowed = self._allowed(i, condition, segment)
            mask = allowed & mask if len(mask) else allowed
        return mask

    def _allowed(self, i: int, condition: Condition, segment: Segment) -> Mask:
        """1 for each document of segment i that satisfies the condition: a search, its count and its facets ask alike,
        so that what one answer needs is remembered."""
        found = self._masks.get((i, condition))
        if found is None:
            found = mask_of(condition, segment, self.texts).view(np.uint8)
            remember(self._masks, (i, condition), found, max(LEAST_MASKS, MASK_BYTES // max(segment.n_docs, 1)))
        return found


class SegmentSearch(NamedTuple):
    """What is asked of one segment. `required`: numbers of terms that a document must hold."""

    segment: Segment
    terms: TermArrays
    values: DocumentValues
    mask: Mask
    required: Integers | None
    wordless: bool
    prune: bool


def _words_and_phrases(
    filters: Sequence[Condition],
) -> tuple[dict[str, None], Sequence[Phrase], Sequence[Condition]]:
    """The terms that a document must hold, the phrases that it must hold, and the other conditions."""
    required: dict[str, None] = {}
    phrases, rest = [], []
    for part in filters:
        if type(part) is HoldsAny and part.field is None and len(part.terms) == 1:  # `is_word`, without a call
            required[part.terms[0]] = None
        elif isinstance(part, Phrase):
            required.update(dict.fromkeys(part.terms))
            phrases.append(part)
        else:
            rest.append(part)
    return required, phrases, rest


def _are_among(docs: Integers, sorted_docs: Integers) -> npt.NDArray[np.bool_]:
    """Whether each document is one of those; what `np.isin` says, in a tenth of its time."""
    if not len(sorted_docs):
        return np.zeros(len(docs), np.bool_)
    nearest = np.minimum(np.searchsorted(sorted_docs, docs), len(sorted_docs) - 1)
    among: npt.NDArray[np.bool_] = sorted_docs[nearest] == docs
    return among

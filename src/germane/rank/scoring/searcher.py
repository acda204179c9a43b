"""From a weighted query to its best documents: the plan of the model, the scorer on each segment, one total order."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import ParameterError
from germane.index.recent import Recent, TermStats
from germane.index.segment import Segment
from germane.index.sequences import PairCounts, TextFields, documents_with_any, phrase_among
from germane.index.snapshot import Snapshot
from germane.lazy import compiler_is_loaded
from germane.rank.maxscore.term_table import KnownTerms, TermTable, WeighedTerms
from germane.rank.models.base import RankingModel, TermwiseModel
from germane.rank.models.evidence import CountedEvidence, EvidenceModel, score_evidence
from germane.rank.plan import Collection, Plan, QueryTerm, checked, query_term
from germane.rank.query.conditions import Condition, HoldsAny, Phrase, mask_of
from germane.rank.scoring.arguments import DocumentValues, RecentDocuments, TermArrays
from germane.rank.scoring.document_parts import DocumentParts, PartsMemory, Statistics, Values
from germane.rank.scoring.exact import NONE_FOUND, best_of
from germane.rank.scoring.exact import scores_of as plain_scores
from germane.rank.scoring.hits import NO_HITS, Hits, by_id_where_tied, distinct, ids_of, in_total_order, kth_best
from germane.rank.scoring.local_statistics import LocalStatistics
from germane.rank.scoring.memory import remember
from germane.rank.scoring.priors import Prior
from germane.rank.scoring.segment_search import (
    NO_HINT,
    Mask,
    join_recent,
    reached,
    score_recent,
    scores_of,
    terms_in,
    top_k,
    top_k_with_all,
)
from germane.rank.scoring.small_segments import MOST_TERMS, ScoredDocs, best_of_each, documents_of
from germane.rank.scoring.statistics import CollectionStatistics, Need, Pair

Weights = Mapping[str, float]
REMEMBERED_MODELS = 16
REMEMBERED_EVERYWHERE = 16
LEAST_MASKS, MASK_BYTES = 8, 16 << 20
"""Masks of conditions that are remembered: so many at least, and as many as take so much room."""
FIRST_LOOK, FURTHER_LOOK = 64, 8
"""How many documents are looked at for a phrase: so many and so many times k, then so many times as many."""
_new = tuple.__new__


class Searcher:
    """Ranks the documents of one snapshot. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot, previous: "Searcher | None" = None) -> None:
        self.snapshot = snapshot
        self.texts = TextFields(snapshot.manifest.analyzer, snapshot.manifest.text_fields)
        self._local = LocalStatistics(snapshot, self.texts)
        self.statistics: Statistics = self._local
        self.collection = Collection(snapshot.n_docs, snapshot.n_tokens)
        self.parts: PartsMemory = PartsMemory(snapshot, previous.parts if previous else None)
        self._live = [live.deletions.mask for live in snapshot.segments]
        self._memories: dict[RankingModel, _ModelMemory] = {}
        self._latest: _ModelMemory | None = None
        self._everywhere: dict[Hashable, list[Floats]] = {}
        self._masks: dict[tuple[int, Condition], Mask] = {}
        self._words_before: KnownTerms | None = None
        if previous is not None:
            words = vars(previous).get("_words") or previous._words_before
            self._words_before = words if words is not None and words.shares_large(snapshot) else None
            snapshot.make_ready_after(previous.snapshot)

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
        lying = zip(*(live.segment.numbers_of(terms) for live in self.snapshot.segments), strict=True)
        return [
            next((i, number) for i, number in enumerate(numbers) if number >= 0)
            for stats, numbers in zip(self.snapshot.term_stats(terms), lying, strict=False)
            if stats.df > 0
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
        table = self._table(self._memory(model))
        if table is not None:
            planned = table.plan(weights)
            return None if planned is None else planned.plan
        terms = self.known_terms(weights)
        if not terms:
            return None
        if model.needs_entropy:
            return model.plan(terms, self.collection._replace(entropy=self.statistics.entropy))
        return model.plan(terms, self.collection)

    def _memory(self, model: RankingModel) -> "_ModelMemory":
        """What is remembered of a model; most searches ask for that of the search before, by the very same model."""
        latest = self._latest
        if latest is not None and latest.model is model:
            return latest
        found = self._memories.get(model)
        if found is None:
            found = _ModelMemory(model, Values(self.parts, model, self._local))
            remember(self._memories, model, found, REMEMBERED_MODELS)
        self._latest = found
        return found

    @cached_property
    def _words(self) -> KnownTerms:
        """What queries asked for; that of the snapshot before, if it still holds."""
        before, self._words_before = self._words_before, None
        return before if before is not None and before.serve(self.snapshot) else KnownTerms(self.snapshot)

    def _table(self, memory: "_ModelMemory") -> TermTable | None:
        """The terms as the model sees them, where kernels can be used and weigh them, by the snapshot's statistics."""
        if self.statistics is not self._local:
            return None
        if memory.table is None and isinstance(memory.model, TermwiseModel) and compiler_is_loaded():
            memory.table = TermTable(self.snapshot, self._words, memory.model, self.collection)
        return memory.table

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

        `weights`: the topic model α as term -> weight; the rest: see `search_plan`.
        """
        memory, numbers = self._memory(model), None
        if memory.by_evidence:
            assert isinstance(model, EvidenceModel)
            found = model.evidence(self, checked(weights))
            return self._search_evidence(found, k, filters, priors, wordless=wordless)
        table = self._table(memory)
        if table is not None:
            plan, numbers = table.plan(weights) or (None, None)
        else:
            plan = self.plan(weights, model)
        return self.search_plan(
            plan,
            model,
            k,
            filters=filters,
            priors=priors,
            prune=prune,
            hint=hint,
            wordless=wordless,
            threshold=threshold,
            numbers=numbers,
        )

    def search_plan(
        self,
        plan: Plan | None,
        model: RankingModel,
        k: int,
        *,
        filters: Sequence[Condition] = (),
        priors: Sequence[Floats] | None = None,
        prune: bool = True,
        hint: Hits | None = None,
        wordless: bool = False,
        threshold: float = -np.inf,
        numbers: Integers | None = None,
    ) -> Hits:
        """The best k documents of a plan that `model` made; none for no plan.

        `priors`: log-priors, one array a segment. `prune=False` scores every matching document; the result is the same.
        `hint`: documents that pass all filters and are likely to be among the best, such as those of the query before
        feedback: k of them, scored first, tell what a result must reach, so that more can be skipped. The result is the
        same. `wordless`: documents that pass all filters are found even if they hold none of the terms. Their score is
        then what the formula gives without impacts and, without a plan, their prior alone. `threshold`: a score that k
        documents elsewhere reach; those below may be left out. `numbers`: those of the plan's terms, if they are at
        hand.
        """
        k = self._at_most(k)
        if plan is None:
            return self._unranked(k, filters, priors) if wordless else NO_HITS
        segments = self.snapshot.segments
        results: dict[int, ScoredDocs] = {}
        values = self._document_values(model, priors)
        required, phrases, rest = _words_and_phrases(filters) if prune and filters else ({}, (), filters)
        likely = NO_HINT
        if hint is not None and len(hint.docs) >= k:
            if len(segments) == 1 and not required and not wordless:
                likely = hint.docs
            else:
                threshold = max(threshold, reached(self._scores_of(hint, plan, values, numbers), k))
        recent = self.snapshot.recent if prune and not required and not wordless else None
        if recent is not None and (len(plan.terms) > MOST_TERMS or model.word_sums() is not None):
            recent = None
        for i in range(len(segments)) if recent is None else self.snapshot.large:
            look()
            terms = self.terms_in(i, plan, numbers)
            own = self._required_in(i, required, terms) if required else None
            if required and own is None:
                continue
            if own is not None and (phrases or wordless):
                found = self._best_with_all(i, own, phrases, rest, terms, values[i], k, threshold, wordless=wordless)
            elif wordless:
                found = self._best_with_or_without(i, rest, terms, values[i], k, threshold, prune=prune)
            elif len(terms.numbers):
                mask = self.mask(i, rest) if rest else self._live[i]
                segment = segments[i].segment
                found = top_k(segment, terms, values[i], mask, k, threshold, own, prune=prune, hint=likely)
            else:
                continue
            if len(found[0]):
                results[i] = found
                if len(segments) > 1:
                    threshold = max(threshold, kth_best(results, k))
        if recent is not None:
            look()
            documents = self._recent_documents(recent, plan, values, rest)
            asked = np.array(recent.numbers(term.term for term in plan.terms)) if numbers is None else numbers[-1]
            among_recent = score_recent(plan, recent, asked, documents, threshold)
            if len(among_recent[0]):
                hits = in_total_order(self.snapshot, results, k)
                among_recent = best_of_each(recent, *among_recent, k)
                joined, tied = join_recent(hits, among_recent, recent, np.array(self.snapshot.small))
                return by_id_where_tied(self.snapshot, Hits(*joined), k) if tied else Hits(*joined).part(0, k)
        return in_total_order(self.snapshot, results, k)

    def _recent_documents(
        self, recent: Recent, plan: Plan, values: Values, filters: Sequence[Condition]
    ) -> RecentDocuments:
        """What the kernel is told of the documents of the small segments; without filters remembered."""
        made = values.recent.get(plan.sized_by_unique)
        if made is None or filters:
            small, priors = self.snapshot.small, values.priors
            own = None if priors is None else [priors[i] for i in small]
            made = documents_of(recent, plan, values.model, own, [self.mask(i, filters) for i in small])
            if not filters:
                values.recent[plan.sized_by_unique] = made
        return made

    def _at_most(self, k: int) -> int:
        """k, or the number of documents if that is less: a kernel makes room for all k."""
        if type(k) is not int and (not isinstance(k, (int, np.integer)) or isinstance(k, bool)):
            raise ParameterError(f"k must be a whole number, not {k!r}")
        if k < 1:
            raise ParameterError(f"k must be at least 1, not {k}")
        return int(k) if k < self.snapshot.n_docs else max(self.snapshot.n_docs, 1)

    def _search_evidence(
        self,
        found: Sequence[CountedEvidence],
        k: int,
        filters: Sequence[Condition],
        priors: Sequence[Floats] | None,
        *,
        wordless: bool,
    ) -> Hits:
        """The best k documents by what a model found that makes its own counts."""
        k = self._at_most(k)
        if not found:
            return self._unranked(k, filters, priors) if wordless else NO_HITS
        results = {}
        for i, scored in enumerate(score_evidence(self, found)):
            docs = self._passing_docs(i, self.mask(i, filters))
            if not wordless:
                docs = docs[scored.held[docs]]
            scores = scored.scores(None if priors is None else priors[i])[docs]
            results[i] = best_of(self.snapshot.segments[i].segment, scores, docs, k)
        return in_total_order(self.snapshot, results, k)

    def _best_with_or_without(
        self,
        i: int,
        filters: Sequence[Condition],
        terms: TermArrays,
        values: DocumentValues,
        k: int,
        threshold: float,
        *,
        prune: bool,
    ) -> tuple[Floats, Integers]:
        """The best k documents of a segment that hold one of the terms or none."""
        segment, mask = self.snapshot.segments[i].segment, self.mask(i, filters)
        found = top_k(segment, terms, values, mask, k, threshold, prune=prune) if len(terms.numbers) else NONE_FOUND
        others = self._passing_docs(i, mask)
        others = others[~np.isin(others, documents_with_any(segment, terms.numbers.tolist()))]
        scores = np.concatenate([found[0], plain_scores(terms.plan, values, others, np.zeros(len(others)))])
        return best_of(segment, scores, np.concatenate([found[1], others]), k)

    def _required_in(self, i: int, required: dict[str, None], terms: TermArrays) -> Integers | None:
        """The numbers of required terms in segment i, whose lists are verified; None if it lacks one."""
        named = terms.plan.terms
        if type(named) is WeighedTerms and len(terms.numbers) == len(named) and required.keys() == named.weights.keys():
            return terms.numbers
        segment = self.snapshot.segments[i].segment
        numbers = segment.numbers_of([*required])
        if -1 in numbers:
            return None
        segment.verify_lists(numbers)
        return np.array(numbers, np.int64)

    def _best_with_all(
        self,
        i: int,
        required: Integers,
        phrases: Sequence[Phrase],
        filters: Sequence[Condition],
        terms: TermArrays,
        values: DocumentValues,
        k: int,
        threshold: float,
        *,
        wordless: bool,
    ) -> ScoredDocs:
        """The best k documents of a segment that hold all the required terms, and the phrases.

        Of the best that hold the terms those with the phrases are chosen; ever more are looked at, until k are found.
        """
        segment, mask = self.snapshot.segments[i].segment, self.mask(i, filters)
        n = FIRST_LOOK + FURTHER_LOOK * k if phrases else k
        while True:
            if wordless:
                scores, docs = top_k_with_all(segment, terms, values, mask, n, required, wordless=True)
            else:
                scores, docs = top_k(segment, terms, values, mask, n, threshold, required)
            if not phrases:
                return scores, docs
            found = np.sort(docs)
            for phrase in phrases:
                own = segment.find_terms(phrase.terms).tolist()
                found = phrase_among(segment, found, own, phrase.slop, self.texts, phrase.field)
            if len(found) >= k or len(docs) < n:
                held = _are_among(docs, found)
                return scores[held][:k], docs[held][:k]
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

    def _scores_of(
        self, hits: Hits, plan: Plan, values: Mapping[int, DocumentValues], numbers: Integers | None = None
    ) -> Floats:
        if len(self.snapshot.segments) == 1:
            segment = self.snapshot.segments[0].segment
            return scores_of(segment, self.terms_in(0, plan, numbers), values[0], hits.docs)
        scores = np.full(len(hits.docs), -np.inf)
        for i in distinct(hits.segments):
            chosen = hits.segments == i
            segment = self.snapshot.segments[i].segment
            scores[chosen] = scores_of(segment, self.terms_in(i, plan, numbers), values[i], hits.docs[chosen])
        return scores

    def terms_in(self, i: int, plan: Plan, numbers: Integers | None = None) -> TermArrays:
        """The plan's terms that segment i holds; their lists are verified. `numbers`: of large segments, if known."""
        if numbers is not None and len(self.snapshot.segments) == 1:  # which holds all that is known
            return _new(TermArrays, (np.asarray(numbers[0], np.int64), plan.weight, plan.scale, plan))
        if numbers is not None and i in self.snapshot.large:
            return terms_in(plan, numbers[self.snapshot.large.index(i)])
        segment = self.snapshot.segments[i].segment
        own = segment.numbers_of([term.term for term in plan.terms])
        segment.verify_lists(own)
        return terms_in(plan, own)

    def _document_values(self, model: RankingModel, priors: Sequence[Floats] | None) -> Values:
        """For each segment what its documents are given beside their postings; without priors remembered."""
        if priors is None and (self.statistics is self._local or model.word_sums() is None):
            return self._memory(model).values
        return Values(self.parts, model, self.statistics, priors)

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


class _ModelMemory:
    """What is remembered of a model in a snapshot: its table of terms, and what it gives the documents."""

    def __init__(self, model: RankingModel, values: Values) -> None:
        self.model, self.by_evidence = model, isinstance(model, EvidenceModel)
        self.table: TermTable | None = None
        self.values = values


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

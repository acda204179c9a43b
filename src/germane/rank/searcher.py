"""From a weighted query to its best documents: the plan of the model, the kernel over each segment, one total order."""

import math
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.index.kernels import BLOCK
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.rank import document_kernels, hinted_kernels, kernels, long_kernels
from germane.rank.kinds import BY_COUNT
from germane.rank.models import NOTHING, Collection, Documents, Plan, QueryTerm, RankingModel

Mask = npt.NDArray[np.uint8]
NO_MASK = np.empty(0, np.uint8)


class Hits(NamedTuple):
    """The best documents, best first: scores, and where each document lies."""

    scores: Floats
    segments: npt.NDArray[np.int64]
    docs: npt.NDArray[np.int64]


class DocumentPart(NamedTuple):
    """A number for each document of a segment, and its maximum in each window of the kernel."""

    values: Floats
    maxima: Floats


class DocumentParts(NamedTuple):
    """The model's term, norm and base of each document of a segment."""

    term: DocumentPart
    norm: DocumentPart
    base: Floats


Weights = Mapping[str, float]
PartsMemory = dict[tuple[str, RankingModel], DocumentParts]
REMEMBERED = 256
REMEMBERED_EVERYWHERE = 16
LONG, LONGEST = 12, 4096
"""A query of more than LONG terms (and at most LONGEST) is one for `long_kernels`."""
HINT_MARGIN = 1e-12
"""Sums in another order may differ by so much of their value."""
EMPTY_PART = DocumentPart(NOTHING, NOTHING)


def with_maxima(values: Floats) -> DocumentPart:
    """Prepare document values for the kernel."""
    if len(values) == 0:
        return EMPTY_PART
    maxima = np.empty(((len(values) - 1) >> kernels.FINE_BITS) + 1)
    kernels.window_maxima(values, maxima)
    return DocumentPart(values, maxima)


class _Scratch(threading.local):
    """Buffers of one thread, grown and never shrunk."""

    def __init__(self) -> None:
        self.acc = np.zeros(1 << kernels.LONG_BITS)
        self.units = np.zeros(long_kernels.WINDOW, np.uint16)
        self.docs = np.empty(1 << 16, np.uint32)
        self.extras = np.empty(1 << 16, np.uint32)

    def reserve(self, postings: int) -> None:
        if postings > len(self.docs):
            room = 1 << (postings - 1).bit_length()
            self.docs, self.extras = np.empty(room, np.uint32), np.empty(room, np.uint32)


class Searcher:
    """Ranks the documents of one snapshot. Safe to use from many threads."""

    def __init__(self, snapshot: Snapshot, previous: "Searcher | None" = None) -> None:
        self.snapshot = snapshot
        self.collection = Collection(snapshot.n_docs, snapshot.n_tokens, snapshot.entropy)
        names = {live.entry.name for live in snapshot.segments}
        known = previous._lasting if previous else {}
        self._lasting: PartsMemory = {key: parts for key, parts in known.items() if key[0] in names}
        self._passing: PartsMemory = {}
        self._live = [
            (~live.deletions.deleted).astype(np.uint8) if live.deletions.n_docs else NO_MASK
            for live in snapshot.segments
        ]
        self._scratch = _Scratch()
        self._everywhere: dict[Hashable, list[Floats]] = {}

    def remembered(self, key: Hashable, make: Callable[[], list[Floats]]) -> list[Floats]:
        """What `make` gives for every document of the snapshot, made once."""
        found = self._everywhere.get(key)
        if found is None:
            if len(self._everywhere) >= REMEMBERED_EVERYWHERE:
                self._everywhere.clear()
            self._everywhere[key] = found = make()
        return found

    def known_terms(self, weights: Mapping[str, float]) -> list[QueryTerm]:
        """The query's terms that the collection holds, with their statistics."""
        for term, weight in weights.items():
            if not 0.0 <= weight < np.inf:
                raise ParameterError(f"the weight of '{term}' must be a finite number not below 0, not {weight}")
        stats = self.snapshot.term_stats(list(weights))
        return [
            QueryTerm(term, weight, found.df, found.cf)
            for (term, weight), found in zip(weights.items(), stats, strict=True)
            if found.df > 0 and weight > 0.0
        ]

    def strongest(self, weights: Mapping[str, float], n: int) -> dict[str, float]:
        """The n terms with the largest weight · log(|C|/cf), known terms only."""
        terms = self.known_terms(weights)
        terms.sort(key=lambda term: (-term.weight * math.log(self.collection.n_tokens / term.cf), term.term))
        return {term.term: term.weight for term in terms[:n]}

    def search(
        self,
        weights: Mapping[str, float],
        model: RankingModel,
        k: int,
        *,
        filters: Sequence[Callable[[Segment], npt.NDArray[np.bool_]]] = (),
        priors: Sequence[Floats] | None = None,
        prune: bool = True,
        hint: Hits | None = None,
    ) -> Hits:
        """The best k documents that hold at least one of the terms and pass all filters.

        `weights`: the topic model α as term -> weight. `filters`: each maps a segment to a mask. `priors`: log-priors,
        one array a segment. `prune=False` scores every matching document; the result is the same. `hint`: documents
        that pass all filters and are likely to be among the best, such as those of the query before feedback: k of
        them, scored first, tell what a result must reach, so that more can be skipped. The result is the same.
        """
        if k < 1:
            raise ParameterError(f"k must be at least 1, not {k}")
        terms = self.known_terms(weights)
        if not terms:
            return Hits(NOTHING, np.empty(0, np.int64), np.empty(0, np.int64))
        plan = model.plan(terms, self.collection)
        results: list[tuple[Floats, npt.NDArray[np.int64]]] = []
        threshold, hinted = -np.inf, False
        if hint is not None and len(hint.docs) >= k:
            sure = np.partition(self.scores_of(hint, plan, model, priors), len(hint.docs) - k)[len(hint.docs) - k]
            threshold = float(sure) - HINT_MARGIN * abs(float(sure))
            hinted = threshold > -np.inf
        for i in range(len(self.snapshot.segments)):
            mask = self._mask(i, filters)
            own = priors[i] if priors is not None else NOTHING
            results.append(self._search_segment(i, plan, model, k, mask, own, threshold, prune, hinted))
            if i + 1 < len(self.snapshot.segments):
                threshold = max(threshold, _kth_best(results, k))
        return self._in_total_order(results, k)

    def scores_of(self, hits: Hits, plan: Plan, model: RankingModel, priors: Sequence[Floats] | None) -> Floats:
        """The scores of given documents; -inf for one without any of the terms."""
        scores = np.full(len(hits.docs), -np.inf)
        numbers = [stats.numbers for stats in self.snapshot.term_stats([term.term for term in plan.terms])]
        for i in np.unique(hits.segments).tolist():
            chosen = hits.segments == i
            segment = self.snapshot.segments[i].segment
            doc, norm, base = self.document_parts(i, model)
            found = np.empty(int(chosen.sum()))
            f = segment.forward_arrays
            document_kernels.score_documents(
                np.array([own[i] for own in numbers], np.int64), f.words, f.at, f.term_bits, f.tf_bits, f.n_unique,
                plan.weight, plan.scale,
                plan.kind, plan.delta, plan.x0, plan.x1, segment.n_unique if plan.sized_by_unique else segment.doc_len,
                norm.values, plan.constant, plan.mass, doc.values,
                _sum(base, priors[i] if priors is not None else NOTHING), hits.docs[chosen], found,
            )  # fmt: skip
            scores[chosen] = found
        return scores

    def _mask(self, i: int, filters: Sequence[Callable[[Segment], npt.NDArray[np.bool_]]]) -> Mask:
        mask = self._live[i]
        segment = self.snapshot.segments[i].segment
        for passes in filters:
            allowed = passes(segment).astype(np.uint8)
            mask = allowed & mask if len(mask) else allowed
        return mask

    def _search_segment(
        self,
        i: int,
        plan: Plan,
        model: RankingModel,
        k: int,
        mask: Mask,
        own: Floats,
        threshold: float,
        prune: bool,
        hinted: bool,
    ) -> tuple[Floats, npt.NDArray[np.int64]]:
        segment = self.snapshot.segments[i].segment
        numbers = [stats.numbers[i] for stats in self.snapshot.term_stats([term.term for term in plan.terms])]
        present = [j for j, number in enumerate(numbers) if number >= 0]
        if not present:
            return NOTHING, np.empty(0, np.int64)
        held = np.array([numbers[j] for j in present], np.int64)
        weight, scale = plan.weight, plan.scale
        if len(present) < len(numbers):
            weight, scale = weight[present], scale[present]
        df = segment.df[held].astype(np.int64)
        doc, norm, base = self.document_parts(i, model)
        mass = plan.mass
        if mass < 0.0 and len(doc.values):  # the kernel bounds mass · doc by the maximum of doc
            mass, doc = -mass, with_maxima(-doc.values)
        prior = with_maxima(_sum(base, own)) if len(base) or len(own) else EMPTY_PART
        best = min(k, segment.n_docs)
        room = 4 * best + 64  # the kernels collect more than k before they select
        scores, docs = np.empty(room), np.empty(room, np.int64)
        scratch = self._scratch
        scratch.reserve(int(df.sum()) + BLOCK * (len(present) + 1))
        b = segment.blocks
        sizes = segment.n_unique if plan.sized_by_unique else segment.doc_len
        long = prune and LONG < len(held) <= LONGEST and segment.n_docs > long_kernels.WINDOW
        if hinted and long and plan.kind not in BY_COUNT:
            n = hinted_kernels.top_k_above(
                b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, b.min_len, segment.first_block[held], df, held,
                weight, scale, plan.kind, plan.delta, plan.x0, plan.x1, sizes, not plan.sized_by_unique,
                norm.values, norm.maxima, plan.constant, mass, doc.values, doc.maxima, prior.values, prior.maxima,
                mask, segment.id_rank, *segment.forward_arrays, segment.most_unique,
                best, threshold, scratch.acc, scratch.docs, scratch.extras, scores, docs,
            )  # fmt: skip
            return scores[:n], docs[:n]
        if long and plan.kind in BY_COUNT:
            n = long_kernels.top_k_long(
                b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, segment.first_block[held], df, held, weight,
                scale, plan.kind, norm.values, norm.maxima, plan.constant, mass, doc.values, doc.maxima, prior.values,
                prior.maxima, mask, segment.id_rank, *segment.forward_arrays, segment.most_unique,
                best, threshold, scratch.units, scratch.docs, scratch.extras, scores, docs,
            )  # fmt: skip
            if n != long_kernels.FALL_BACK:
                return scores[:n], docs[:n]
        n = kernels.top_k(
            b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, b.min_len,
            segment.first_block[held], df, weight, scale, plan.kind, plan.delta, plan.x0, plan.x1,
            sizes, not plan.sized_by_unique,
            norm.values, norm.maxima, plan.constant, mass, doc.values, doc.maxima, prior.values, prior.maxima,
            mask, segment.id_rank, best, threshold, prune, scratch.acc, scratch.docs, scratch.extras, scores, docs,
        )  # fmt: skip
        return scores[:n], docs[:n]

    def document_parts(self, i: int, model: RankingModel) -> DocumentParts:
        """What the model says of the segment's documents, remembered.

        Sums over a document's words depend on the whole collection and are forgotten with the snapshot.
        """
        segment = self.snapshot.segments[i].segment
        asked = model.word_sums()
        memory = self._lasting if asked is None else self._passing
        key = segment.name, model
        parts = memory.get(key)
        if parts is None:
            sums = NOTHING
            if asked is not None:
                df, cf = self.snapshot.live_frequencies(i)
                weight = asked.weight(np.maximum(df, 1), np.maximum(cf, 1), self.collection)
                sums, b = np.empty(segment.n_docs), segment.blocks
                document_kernels.word_sums(
                    b.words, b.last, b.at, b.doc_bits, b.tf_bits, b.max_tf, segment.first_block, segment.df, weight,
                    asked.squared_log, sums,
                )  # fmt: skip
            documents = Documents(segment.doc_len, segment.n_unique, sums)
            parts = DocumentParts(
                with_maxima(model.document_term(documents)),
                with_maxima(model.document_norm(documents)),
                model.document_base(documents),
            )
            if len(memory) >= REMEMBERED:  # many parameters were tried: start anew
                memory.clear()
            memory[key] = parts
        return parts

    def _in_total_order(self, results: list[tuple[Floats, npt.NDArray[np.int64]]], k: int) -> Hits:
        """Join the segments' results: score descending, then id ascending."""
        filled = [i for i, (scores, _) in enumerate(results) if len(scores)]
        if len(filled) == 1:
            scores, docs = results[filled[0]]
            return Hits(scores, np.full(len(docs), filled[0], np.int64), docs)
        rows = [
            (-score, doc_id, i, doc)
            for i in filled
            for score, doc, doc_id in zip(
                results[i][0].tolist(),
                results[i][1].tolist(),
                self.snapshot.segments[i].segment.doc_ids(results[i][1]),
                strict=True,
            )
        ]
        rows.sort()
        rows = rows[:k]
        return Hits(
            np.array([-row[0] for row in rows]),
            np.array([row[2] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.int64),
        )

    def ids(self, hits: Hits) -> list[str]:
        """The ids of the documents found."""
        if len(self.snapshot.segments) == 1:
            return self.snapshot.segments[0].segment.doc_ids(hits.docs)
        ids = [""] * len(hits.docs)
        for i in np.unique(hits.segments).tolist():
            at = np.flatnonzero(hits.segments == i)
            for position, doc_id in zip(
                at.tolist(), self.snapshot.segments[i].segment.doc_ids(hits.docs[at]), strict=True
            ):
                ids[position] = doc_id
        return ids


def _sum(base: Floats, own: Floats) -> Floats:
    """The sum of two arrays, either of which may be empty for zero."""
    return base + own if len(base) and len(own) else base if len(base) else own


def _kth_best(results: list[tuple[Floats, npt.NDArray[np.int64]]], k: int) -> float:
    """The score that k documents found so far reach, or -inf."""
    scores = np.concatenate([scores for scores, _ in results])
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf

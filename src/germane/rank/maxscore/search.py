"""The pruned scorer's door: arrays for the kernels, and memory that each thread keeps for them."""

import math
import threading
from typing import TYPE_CHECKING

import numpy as np

from germane.arrays import AnyArray, Floats, Integers
from germane.index.segment import Segment
from germane.lazy import LazyModule
from germane.rank.maxscore.posting_cache import PostingCache
from germane.rank.maxscore.records import CANDIDATE, CHUNK, HISTOGRAM, RESULT, SEARCH, TERM
from germane.rank.plan import Plan
from germane.rank.scoring.arguments import DocumentValues, Mask, TermArrays, with_extremes

if TYPE_CHECKING:
    from germane.rank.maxscore import document_kernels, search_kernels
else:
    document_kernels = LazyModule("germane.rank.maxscore.document_kernels")
    search_kernels = LazyModule("germane.rank.maxscore.search_kernels")

MOST_TERMS = 2000
"""Sums of more terms may not fit 16 bits."""


class Memory(threading.local):
    """The buffers of one thread, grown and never shrunk."""

    def __init__(self) -> None:
        self.search = np.zeros(1, SEARCH)
        self.acc, self.histogram = np.zeros(CHUNK, np.uint16), np.zeros(HISTOGRAM + 1, np.int32)
        self.candidates, self.hits = np.zeros(CHUNK, CANDIDATE), np.zeros(CHUNK, np.int64)
        self.terms, self.suffix = np.zeros(0, TERM), np.zeros(0)
        self.results = self.best = np.zeros(0, RESULT)

    def work(self, n_terms: int, n_results: int, order: Integers, segment: Segment) -> tuple[AnyArray, ...]:
        """The arrays of `records.Work` for a query."""
        if n_terms > len(self.terms):
            self.terms, self.suffix = np.zeros(2 * n_terms, TERM), np.zeros(2 * n_terms + 1)
        if n_results > len(self.results):
            self.results, self.best = np.zeros(n_results, RESULT), np.zeros(n_results, RESULT)
        shared = self.acc, self.suffix, self.candidates, self.results, self.histogram, self.hits, self.best
        return *shared, order, segment.id_rank


_memory = Memory()


def top_k(
    cache: PostingCache,
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    threshold: float,
    required: Integers | None = None,
) -> tuple[Floats, Integers]:
    """The best k documents that the mask lets pass (empty: all do): scores and document numbers, in the total order.

    `threshold`: documents below it may be left out. There is at least one term, and at most MOST_TERMS; documents that
    hold none are never found. `required`: numbers of terms of the query that a document must hold.
    """
    plan = terms.plan
    postings = cache.postings(segment, plan, terms.numbers)
    order = np.arange(len(terms.numbers))
    if required is not None:
        rarity = np.where(np.isin(terms.numbers, required), segment.df[terms.numbers], np.iinfo(np.int64).max)
        order = np.argsort(rarity, kind="stable")
    mass, values = _with_positive_mass(plan, values)
    norm, background, prior = values
    settings = np.array(
        (
            *(plan.kind, plan.delta, plan.x0, plan.x1, plan.constant, mass, threshold, k),
            *(background.highest, prior.highest, norm.highest if len(norm.values) else 1.0),
            *(plan.constant + mass * background.typical + prior.typical, postings.inflation, postings.lowest),
        ),
        np.float64,
    )
    size = segment.n_unique if plan.sized_by_unique else segment.doc_len
    docs = size, norm.values, background.values, prior.values, mask
    work = _memory.work(len(terms.numbers), 2 * CHUNK + 4 * k, order, segment)
    query = terms.weight, terms.scale, settings
    lists = postings.decoded, postings.rows, 0 if required is None else len(required)
    n = search_kernels.top_k(query, docs, *lists, _memory.terms, _memory.search, work)
    best = _memory.best[:n]
    return best["score"].copy(), best["doc"].copy()


def _with_positive_mass(plan: Plan, values: DocumentValues) -> tuple[float, DocumentValues]:
    """The plan's mass and what it multiplies, so that mass · value is bounded by the value's maximum."""
    if plan.mass < 0.0 and len(values.background.values):
        return -plan.mass, values._replace(background=with_extremes(-values.background.values))
    return plan.mass, values


def impact_sums(segment: Segment, terms: TermArrays) -> Floats:
    """The sum of impacts of every document of the segment, 0 for one without any of the terms."""
    plan, sums, term = terms.plan, np.empty(segment.n_docs), np.zeros(1, TERM)
    settings = np.array((plan.kind, plan.delta, plan.x0, plan.x1), np.float64)
    size = segment.n_unique if plan.sized_by_unique else segment.doc_len
    lists = segment.first_block, segment.df
    query = terms.weight, terms.scale, settings, terms.numbers
    document_kernels.impact_sums(*query, *segment.blocks, *lists, size, term, _memory.search, sums)
    return sums


def word_sums(segment: Segment, weight: Floats, *, squared_log: bool) -> Floats:
    """What `rank.scoring.exact.word_sums` returns."""
    sums = np.empty(segment.n_docs)
    document_kernels.word_sums(*segment.blocks, segment.first_block, segment.df, weight, squared_log, sums)
    return sums


def reached(scores: Floats, k: int) -> float:
    """The score that k of these documents reach: a threshold; -inf where it is infinite, as by priors, or no number."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    sure = float(np.partition(known, len(known) - k)[len(known) - k])
    return sure if sure < math.inf else -math.inf

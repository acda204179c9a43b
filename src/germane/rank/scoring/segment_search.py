"""The seam between a ranking and its kernels: the best documents of one segment, and the scores of given ones.

A searcher says what to score (`TermArrays`, `DocumentValues`, a mask); how the kernels are told is decided here alone.
"""

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Integers
from germane.index.blocks import BLOCK
from germane.index.recent import Recent
from germane.index.segment import Segment
from germane.index.sequences import documents_with_all, documents_with_any
from germane.lazy import LazyModule, is_few
from germane.rank.maxscore.posting_cache import MOST_TERMS, FoundLists, decoded_lists
from germane.rank.maxscore.records import (
    CHUNK,
    DECODED_TERM,
    HINT_MARGIN,
    HISTOGRAM,
    MODEL,
    RESULT,
    SUMMED,
    TERM,
    Records,
)
from germane.rank.plan import NOTHING, Plan
from germane.rank.scoring import exact
from germane.rank.scoring.arguments import DocumentPart, DocumentValues, RecentDocuments, TermArrays

if TYPE_CHECKING:
    from germane.index import kernels as index_kernels
    from germane.rank.maxscore import (
        candidate_kernels,
        conjunction_kernels,
        document_kernels,
        evidence_kernels,
        forward_kernels,
        hinted_kernels,
        search_kernels,
        small_kernels,
    )
else:
    candidate_kernels, conjunction_kernels, document_kernels, evidence_kernels = (
        LazyModule(f"germane.rank.maxscore.{name}_kernels")
        for name in ("candidate", "conjunction", "document", "evidence")
    )
    forward_kernels, hinted_kernels, search_kernels, small_kernels = (
        LazyModule(f"germane.rank.maxscore.{name}_kernels") for name in ("forward", "hinted", "search", "small")
    )
    index_kernels = LazyModule("germane.index.kernels")

Mask = npt.NDArray[np.uint8]
NO_MASK: Mask = np.empty(0, np.uint8)
NOT_ROUNDED = np.empty(0, np.uint16)
NO_PART = DocumentPart(NOTHING, 0.0, 0.0, NOT_ROUNDED)
NO_VALUES = DocumentValues(NO_PART, NO_PART, NO_PART)
MANY, FEW = 16, 64
"""For a query of so many terms and so few documents, where it is known what these must reach, those that may be among
the best are scored by their forward lists."""
FEW_RECENT = 64
"""So many recent documents are brought into their order one by one."""
STEPS = (1 << 16) - 4
"""Between the least and the highest background, which are rounded to find candidates: less memory is read."""
LEAST_STEP = 1e-300
"""Smaller steps have fewer digits, so that there may be more of them."""
NO_HINT: Integers = np.empty(0, np.int64)


Group: TypeAlias = tuple[AnyArray, ...]
"""The arrays of a named tuple of `records` as a plain one: so kernels take them, and make the named one again."""


class DecodedMemory(NamedTuple):
    """Of a pass over decoded lists. `sums`: those of `Sums` that are no segment's; `scores`, `docs`: of its `best`;
    `order`: a number for each term."""

    terms: Records
    model: Records
    sums: Group
    results: Records
    scores: Floats
    docs: Integers
    order: Integers

    @classmethod
    def of(cls, n_terms: int, n_results: int) -> "DecodedMemory":
        results, best = np.zeros(n_results, RESULT), np.zeros(n_results, RESULT)
        histogram, hits = np.zeros(HISTOGRAM + 1, np.int32), np.zeros(CHUNK, np.int64)
        acc, suffix, candidates = np.zeros(CHUNK, np.uint16), np.zeros((MOST_TERMS + 1, 4)), np.zeros(CHUNK, SUMMED)
        sums = acc, suffix, candidates, results, histogram, hits, best
        terms, order = np.zeros(n_terms, DECODED_TERM), np.zeros(n_terms, np.int64)
        return cls(terms, np.zeros(1, MODEL), sums, results, best["score"], best["doc"], order)


class ThreadBuffers(threading.local):
    """The buffers of one thread, grown and never shrunk."""

    def __init__(self) -> None:
        self.terms, self.model = np.zeros(16, TERM), np.zeros(1, MODEL)
        self.recent = np.empty(0, np.int64), np.zeros((0, 2)), np.empty(0)
        self.decoded: DecodedMemory | None = None

    def reserve_terms(self, n_terms: int) -> tuple[Records, Records]:
        """Memory for a query of so many terms: their records, and that of the model."""
        if n_terms > len(self.terms):
            self.terms = np.zeros(2 * n_terms, TERM)
        return self.terms, self.model

    def reserve_recent(self, n_docs: int) -> tuple[Integers, Floats, Floats]:
        """Memory for so many recent documents, as `rank.maxscore.small_kernels` takes it."""
        if n_docs > len(self.recent[0]):
            self.recent = np.empty(2 * n_docs, np.int64), np.zeros((2 * n_docs, 2)), np.empty(2 * n_docs)
        return self.recent

    def reserve_decoded(self, n_terms: int, n_results: int) -> "DecodedMemory":
        """Memory for a query of so many terms over decoded lists."""
        memory = self.decoded
        if memory is None or n_terms > len(memory.terms) or n_results > len(memory.docs):
            known = (0, 0) if memory is None else (len(memory.terms), len(memory.docs))
            self.decoded = memory = DecodedMemory.of(max(2 * n_terms, known[0]), max(n_results, known[1]))
        return memory


_memory = ThreadBuffers()


def with_extremes(values: Floats, *, rounded: bool = False) -> DocumentPart:
    """Prepare document values for the kernel; `rounded`: a background, whose values are looked at rounded first."""
    if len(values) == 0:
        return NO_PART
    highest, least, typical = float(values.max()), float(values.min()), float(values.mean())
    part = DocumentPart(values, highest, typical if math.isfinite(typical) else 0.0, NOT_ROUNDED)
    step = (highest - least) / STEPS
    if not rounded or not LEAST_STEP < step < np.inf:
        return part
    steps = np.ceil((values - least) / step) + 1.0  # whatever a division and a product may lose
    return part._replace(rounded=steps.astype(np.uint16), least=least, step=step)


def terms_in(plan: Plan, numbers: Sequence[int] | Integers) -> TermArrays:
    """The plan's terms that a segment holds; `numbers`: those of the plan's terms there, -1 for one it lacks.

    Their lists were verified (`Segment.verify_lists`).
    """
    held = np.asarray(numbers, np.int64)
    if -1 not in (numbers.tolist() if numbers is held else numbers):
        return TermArrays(held, plan.weight, plan.scale, plan)
    present = held >= 0
    return TermArrays(held[present], plan.weight[present], plan.scale[present], plan)


def _asked(terms: TermArrays, *settings: float) -> Group:
    """The query as the kernels take it (`Asked`); `settings`: those of `records.SETTINGS` from the mass on."""
    numbers, weight, scale, (kind, _, _, _, constant, _, delta, x0, x1, _) = terms
    return numbers, weight, scale, np.array((kind, delta, x0, x1, constant, *settings), np.float64)


def _lists(segment: Segment) -> Group:
    return segment.first_block, segment.df


def _documents(segment: Segment, plan: Plan, values: DocumentValues, mask: Mask) -> Group:
    size = segment.n_unique if plan.sized_by_unique else segment.doc_len
    norm, background, prior = values
    return size, norm.values, background.values, prior.values, mask


def top_k(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    threshold: float,
    required: Integers | None = None,
    *,
    prune: bool = True,
    hint: Integers = NO_HINT,
) -> tuple[Floats, Integers]:
    """The best k documents that the mask lets pass (empty: all do): scores and document numbers, in the total order.

    `threshold`: a score that k documents elsewhere reach already. There is at least one term. Documents that hold none
    of them are never found. `required`: numbers of terms that a document must hold, whose lists are verified. `hint`:
    documents that the mask lets pass, none or k of them or more, which are likely to be among the best.
    """
    if prune and exact.suits(segment, terms):
        return exact.top_k(segment, terms, values, mask, k, threshold, required)
    k = min(k, segment.n_docs)
    found = decoded_lists(segment, terms.plan, terms.numbers) if prune else None
    given = segment, terms, values, mask, k, threshold
    best = None if found is None else _top_k_decoded(*given, found, required, hint)
    if best is not None:
        return best
    if required is not None:
        return top_k_with_all(segment, terms, values, mask, k, required)
    return _top_k_of_all(segment, terms, values, mask, k, threshold)


def _top_k_of_all(
    segment: Segment, terms: TermArrays, values: DocumentValues, mask: Mask, k: int, threshold: float
) -> tuple[Floats, Integers]:
    """What `top_k` gives, by scoring every document."""
    found = documents_with_any(segment, terms.numbers.tolist())
    if len(mask):
        found = found[mask[found] != 0]
    scores = exact.scores_of(terms.plan, values, found, impacts_everywhere(segment, terms)[found])
    among = scores >= threshold
    return exact.best_of(segment, scores[among], found[among], k)


def _with_positive_mass(plan: Plan, values: DocumentValues) -> tuple[float, DocumentValues]:
    """The plan's mass and what it multiplies, so that mass · value is bounded by the value's maximum."""
    if plan.mass < 0.0 and len(values.background.values):
        return -plan.mass, values._replace(background=with_extremes(-values.background.values, rounded=True))
    return plan.mass, values


def _top_k_decoded(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    threshold: float,
    found: FoundLists,
    required: Integers | None,
    hint: Integers,
) -> tuple[Floats, Integers] | None:
    """What `top_k` gives, over decoded lists; None if a required term is none of the query's."""
    plan, n_terms = terms.plan, len(terms.numbers)
    few_of_many = n_terms >= MANY and k <= FEW and required is None and plan.mass >= 0.0 and not plan.sized_by_unique
    if len(hint) and not few_of_many:
        threshold = max(threshold, reached(scores_of(segment, terms, values, hint), k))
    mass, values = _with_positive_mass(plan, values)
    norm, background, prior = values
    memory = _memory.reserve_decoded(n_terms, 2 * CHUNK + 4 * k)
    settings = k, background.highest, plan.constant + mass * background.typical + prior.typical
    highest = norm.highest if len(norm.values) else 1.0, prior.highest
    given = (
        _documents(segment, plan, values, mask),
        (*highest, found.inflation, float(found.lowest), background.least, background.step),
        found.decoded,
        found.rows,
        memory.terms,
        memory.model,
        (*memory.sums, segment.id_rank, background.rounded),
    )
    n, asked = -1, _asked(terms, mass, threshold, *settings)
    if required is not None:
        n = conjunction_kernels.top_k_with_all(asked, *given, required, memory.order)
        return None if n < 0 else (memory.scores[:n].copy(), memory.docs[:n].copy())
    if few_of_many and (len(hint) or threshold > -math.inf):
        n = _top_k_above(segment, n_terms, hint, memory, asked, *given)
        if n < 0:  # what the hint told still holds
            asked = _asked(terms, mass, memory.model["threshold"].item(), *settings)
    if n < 0:
        n = search_kernels.top_k(asked, *given)
    return memory.scores[:n].copy(), memory.docs[:n].copy()


def _top_k_above(segment: Segment, n_terms: int, hint: Integers, memory: DecodedMemory, *given: Any) -> int:
    """How many are found that are above what the hint tells; less than 0: too many may be."""
    lookup, scores = _lookup(n_terms), np.empty(hinted_kernels.MOST_LEFT)
    more = tuple(segment.forward_arrays), lookup, scores, hint[: hinted_kernels.MOST_LEFT]
    while (n := hinted_kernels.top_k_above(*given, *more)) == index_kernels.UNVERIFIED:
        segment.verify_forward(memory.results["doc"][: memory.model["found"][0]])
    return int(n)


def reached(scores: Floats, k: int) -> float:
    """What k of these documents surely reach: sums in another order may differ by HINT_MARGIN of their value.

    -inf where they are infinite, as by priors, or no numbers: then nothing is skipped.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    sure = float(np.partition(known, len(known) - k)[len(known) - k])
    return sure - HINT_MARGIN * abs(sure) if sure < math.inf else -math.inf


def top_k_with_all(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    required: Integers,
    *,
    wordless: bool = False,
) -> tuple[Floats, Integers]:
    """What `top_k` gives, by scoring all documents that hold the required terms; with `wordless` those too that hold
    none of the weighted ones."""
    if exact.suits(segment, terms):
        return exact.top_k(segment, terms, values, mask, k, required=required, wordless=wordless)
    found = documents_with_all(segment, required.tolist())
    if len(mask):
        found = found[mask[found] != 0]
    n, (docs, counts) = len(found), np.empty((2, BLOCK), np.uint32)
    scores = np.empty(n)
    records = _memory.reserve_terms(len(terms.numbers))
    asked = _asked(terms, terms.plan.mass, -np.inf, 0, 0.0, 0.0)
    documents = _documents(segment, terms.plan, values, NO_MASK)
    lists = _lists(segment), *segment.blocks
    candidate_kernels.scores_among(asked, *lists, documents, *records, found, docs, counts, wordless, scores)
    return exact.best_of(segment, scores[held := scores > -np.inf], found[held], k)


def scores_of(segment: Segment, terms: TermArrays, values: DocumentValues, docs: Integers) -> Floats:
    """The scores of given documents; -inf for one without any of the terms, which a search would not find."""
    n_terms, scores = len(terms.numbers), np.empty(len(docs))
    asked = _asked(terms, terms.plan.mass, -np.inf, 0, 0.0, 0.0)
    documents = _documents(segment, terms.plan, values, NO_MASK)
    groups = asked, _lists(segment), documents, tuple(segment.forward_arrays)
    given = *groups, *_memory.reserve_terms(n_terms), *_lookup(n_terms), docs, scores
    if not forward_kernels.score_documents(*given):
        segment.verify_forward(docs)
        forward_kernels.score_documents(*given)
    return scores


def _lookup(n_terms: int) -> tuple[Integers, Integers]:
    """Memory to look so many terms up in forward lists: slots of a hash table, and counts."""
    return np.empty(max(64, 1 << (8 * n_terms - 1).bit_length()), np.int64), np.empty(n_terms, np.int64)


def score_recent(
    plan: Plan, recent: Recent, numbers: Integers, documents: RecentDocuments, threshold: float
) -> tuple[Integers, Floats]:
    """The recent documents that hold a term, pass the mask and reach the threshold, in any order, and their scores.

    `numbers`: those of the plan's terms (`Recent.numbers`). What comes back is used before the thread's next search.
    """
    kind, _, weight, scale, constant, mass, delta, x0, x1, _ = plan
    asked = np.array((kind, delta, x0, x1, constant, mass, threshold), np.float64)
    found, work, scores = _memory.reserve_recent(len(documents.size))
    given = asked, numbers, weight, scale, *documents, recent.lists, recent.postings
    n = small_kernels.score_lists(*given, found, work, scores)
    return found[:n], scores[:n]


def join_recent(
    hits: tuple[Floats, Integers, Integers], found: tuple[Integers, Floats], recent: Recent, small: Integers
) -> tuple[tuple[Floats, Integers, Integers], bool]:
    """Documents in order and recent ones, as `score_recent` gives them, by their scores: these, segments and documents;
    whether ids decide which come first. See `small_kernels.join`."""
    if len(found[0]) > FEW_RECENT:
        order = np.argsort(-found[1])
        found = found[0][order], found[1][order]
    n = len(hits[0]) + len(found[0])
    scores, places = np.empty(n), np.empty((2, n), np.int64)
    tied = small_kernels.join(*hits, *found, recent.starts, small, scores, places)
    return (scores, places[0], places[1]), tied


def impacts_everywhere(segment: Segment, terms: TermArrays) -> Floats:
    """The sum of impacts of every document of the segment, 0 for one without any of the terms."""
    sums, size = np.empty(segment.n_docs), _documents(segment, terms.plan, NO_VALUES, NO_MASK)[0]
    groups = _asked(terms), _lists(segment)
    document_kernels.impact_sums(*groups, *segment.blocks, size, _memory.terms, _memory.model, sums)
    return sums


def add_impacts(plan: Plan, i: int, docs: Integers, counts: Floats, size: npt.NDArray[np.uint32], sums: Floats) -> None:
    """Add to the documents' sums the impacts of item i of the plan, which they hold so often."""
    terms = TermArrays(np.empty(0, np.int64), plan.weight, plan.scale, plan)
    evidence_kernels.add_impacts(_asked(terms), i, docs, counts, size, _memory.terms, _memory.model, sums)


def impacts_of(plan: Plan, size: float, counts: Floats) -> Floats:
    """The impacts of the plan's terms in a document of this size that holds each so often."""
    if is_few(len(counts)):
        return exact.impacts_of(plan, size, counts)
    impacts, terms = np.empty(len(counts)), TermArrays(np.empty(0, np.int64), plan.weight, plan.scale, plan)
    document_kernels.impacts_of(_asked(terms), size, _memory.terms, _memory.model, counts, impacts)
    return impacts

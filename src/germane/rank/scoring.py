"""The seam between a ranking and its kernels: the best documents of one segment, and the scores of given ones.

A searcher says what to score (`TermArrays`, `DocumentValues`, a mask); which kernel does it is decided here alone.
"""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.kernels import BLOCK
from germane.index.segment import Segment
from germane.rank import document_kernels, hinted_kernels, kernels, long_kernels
from germane.rank.arguments import NOTHING, DocumentPart, DocumentValues, TermArrays
from germane.rank.kinds import BY_COUNT
from germane.rank.plan import Plan

Mask = npt.NDArray[np.uint8]
NO_MASK: Mask = np.empty(0, np.uint8)
NO_PART = DocumentPart(NOTHING, NOTHING)
LONGEST = 4096
"""A query of more than `kernels.SHORT` terms, and at most so many, is one for `long_kernels`."""


class Memory(threading.local):
    """Buffers of one thread, grown and never shrunk."""

    def __init__(self) -> None:
        self.acc = np.zeros(1 << kernels.LONG_BITS)
        self.units = np.zeros(long_kernels.WINDOW, np.uint16)
        self.docs = np.empty(1 << 16, np.uint32)
        self.tf_minus_one = np.empty(1 << 16, np.uint32)

    def reserve(self, postings: int) -> None:
        """Make room for so many decoded postings."""
        if postings > len(self.docs):
            room = 1 << (postings - 1).bit_length()
            self.docs, self.tf_minus_one = np.empty(room, np.uint32), np.empty(room, np.uint32)


_memory = Memory()


def with_maxima(values: Floats) -> DocumentPart:
    """Prepare document values for the kernel."""
    if len(values) == 0:
        return NO_PART
    maxima = np.empty(((len(values) - 1) >> kernels.FINE_BITS) + 1)
    kernels.window_maxima(values, maxima)
    return DocumentPart(values, maxima)


def terms_in(segment: Segment, plan: Plan, numbers: Sequence[int]) -> TermArrays:
    """The plan's terms that the segment holds; `numbers`: those of the plan's terms there, -1 for one it lacks."""
    held = np.array(numbers, np.int64)
    weight, scale = plan.weight, plan.scale
    if -1 in numbers:
        present = held >= 0
        held, weight, scale = held[present], weight[present], scale[present]
    return TermArrays(
        segment.first_block[held],
        segment.df[held],
        held,
        weight,
        scale,
        plan.kind,
        plan.delta,
        plan.x0,
        plan.x1,
        segment.n_unique if plan.sized_by_unique else segment.doc_len,
        not plan.sized_by_unique,
        plan.constant,
        plan.mass,
    )


def top_k(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    threshold: float,
    *,
    prune: bool = True,
    hinted: bool = False,
) -> tuple[Floats, Integers]:
    """The best k documents that the mask lets pass (empty: all do): scores and document numbers, in the total order.

    `threshold`: a score that k documents elsewhere reach already; with `hinted`, that k documents of the index reach.
    There is at least one term. Documents that hold none of them are never found.
    """
    if terms.mass < 0.0 and len(values.background):  # the kernel bounds mass · value by the value's maximum
        terms, turned = terms._replace(mass=-terms.mass), with_maxima(-values.background)
        values = values._replace(background=turned.values, background_maxima=turned.maxima)
    k = min(k, segment.n_docs)
    room = 4 * k + 64  # the kernels collect more than k before they select
    scores, docs = out = np.empty(room), np.empty(room, np.int64)
    _memory.reserve(sum(terms.df.tolist()) + BLOCK * (len(terms.df) + 1))
    scratch = _memory.acc, _memory.docs, _memory.tf_minus_one
    blocks, id_rank, given, of_docs = tuple(segment.blocks), segment.id_rank, tuple(terms), tuple(values)
    found = long_kernels.FALL_BACK
    if prune and kernels.SHORT < len(terms.df) <= LONGEST and segment.n_docs > long_kernels.WINDOW:
        forward, most = tuple(segment.forward_arrays), segment.most_unique
        if terms.kind in BY_COUNT:
            coarse = _memory.units, *scratch[1:]
            found = long_kernels.top_k_long(
                blocks, id_rank, forward, most, given, of_docs, mask, k, threshold, coarse, out
            )
        elif hinted:
            found = hinted_kernels.top_k_above(
                blocks, id_rank, forward, most, given, of_docs, mask, k, threshold, scratch, out
            )
    if found == long_kernels.FALL_BACK:
        found = kernels.top_k(blocks, id_rank, given, of_docs, mask, k, threshold, prune, scratch, out)
    return scores[:found], docs[:found]


def scores_of(segment: Segment, terms: TermArrays, values: DocumentValues, docs: Integers) -> Floats:
    """The scores of given documents; -inf for one without any of the terms, which a search would not find."""
    scores = np.empty(len(docs))
    document_kernels.score_documents(segment.forward_arrays, terms, values, docs, scores)
    return scores


def impacts_everywhere(segment: Segment, terms: TermArrays) -> Floats:
    """The sum of impacts of every document of the segment, 0 for one without any of the terms."""
    sums = np.empty(segment.n_docs)
    document_kernels.impact_sums(segment.blocks, terms, sums)
    return sums

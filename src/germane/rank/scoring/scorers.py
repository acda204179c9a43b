"""The two scorers, and which of them searches a segment.

| scorer | for | cost |
|---|---|---|
| `rank.scoring.exact`: NumPy, every matching document | every query; small segments, no compiler | 20 ns a posting |
| `rank.maxscore.search`: MaxScore over decoded lists | words, also required ones | 1 ns a posting |

Both return the same documents and scores, to the last bit.
"""

import math

import numpy as np

from germane.arrays import Floats, Integers
from germane.index.segment import Segment
from germane.lazy import compiler_is_loaded, search_is_early
from germane.rank.kinds import LOG_SIZE_RATIO
from germane.rank.maxscore import search
from germane.rank.maxscore.posting_cache import PostingCache
from germane.rank.scoring import exact
from germane.rank.scoring.arguments import DocumentValues, Mask, ScoredDocs, TermArrays

SMALL, FEW_TERMS = 1024, 16
"""In a segment of this many documents, a query of this many terms is scored before a kernel has begun."""
NEVER_COMPILED = 20_000
"""No compiler is loaded for a segment of fewer documents."""
MOST_POSTINGS = 1 << 21
"""Postings that a process scores without a compiler when it searches a segment first."""
MOST_LOGARITHMS = 1 << 17
"""The same where each impact takes a logarithm."""


def impact_sums(segment: Segment, terms: TermArrays) -> Floats:
    """The sum of impacts of every document of the segment, 0 for one without any of the terms."""
    return search.impact_sums(segment, terms) if has_kernels(segment) else exact.accumulate(segment, terms)[0]


def word_sums(segment: Segment, weight: Floats, *, squared_log: bool) -> Floats:
    """Σ_w f(c_wd) · weight(w) over all words of each document, f(c) = (1 + log c)² or c."""
    segment.verify_lists()
    one_of_both = search.word_sums if has_kernels(segment) else exact.word_sums
    return one_of_both(segment, weight, squared_log=squared_log)


def has_kernels(segment: Segment) -> bool:
    """Whether kernels look at all documents of a segment."""
    return compiler_is_loaded() or segment.n_docs > NEVER_COMPILED


class Scorers:
    """Searches segments. `postings`: the decoded lists of the pruned scorer, which outlive a snapshot."""

    def __init__(self, previous: "Scorers | None" = None) -> None:
        self.postings: PostingCache = PostingCache() if previous is None else previous.postings
        self._searched: set[Segment] = set()

    def top_k(
        self,
        segment: Segment,
        terms: TermArrays,
        values: DocumentValues,
        mask: Mask,
        k: int,
        threshold: float = -math.inf,
        required: Integers | None = None,
        *,
        wordless: bool = False,
        prune: bool = True,
    ) -> ScoredDocs:
        """The best k documents; see `exact.top_k`."""
        k = min(k, segment.n_docs)
        weighed = required is None or bool(np.isin(required, terms.numbers).all())
        if not prune or wordless or not weighed or not self._prunes(segment, terms):
            return exact.top_k(segment, terms, values, mask, k, threshold, required, wordless=wordless)
        return search.top_k(self.postings, segment, terms, values, mask, k, threshold, required)

    def _prunes(self, segment: Segment, terms: TermArrays) -> bool:
        """Whether the pruned scorer answers sooner."""
        if not 0 < len(terms.numbers) <= search.MOST_TERMS:
            return False
        if compiler_is_loaded():
            return segment.n_docs > SMALL or len(terms.numbers) > FEW_TERMS
        if segment.n_docs <= NEVER_COMPILED:
            return False
        n_postings = int(segment.df[terms.numbers].sum())
        if segment in self._searched:
            return not search_is_early(n_postings)
        self._searched.add(segment)
        return n_postings > (MOST_LOGARITHMS if terms.plan.kind == LOG_SIZE_RATIO else MOST_POSTINGS)

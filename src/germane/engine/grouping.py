"""Groups of results: what a list holds, each group named by a few words.

A mixture of Smoothed Dirichlets (`lm.distributions.mixtures`, rule "ce") that begins with the clusters of the
information bottleneck. Which start and which λ: docs/classification.md.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Integers
from germane.engine.candidates import Gathered, gathered
from germane.engine.result_groups import GROUPED, ResultGroup
from germane.lm.distributions.mixtures import SmoothedDirichlets, cluster
from germane.lm.distributions.smoothed_documents import SmoothedDocuments
from germane.rank.retriever import Refs, Retriever
from germane.rank.retrievers.surfaces import written
from germane.refine.clustering import information_bottleneck
from germane.refine.weighting import ResultList

LAM = 0.1
WORDS = 5
LEAST_DOCUMENTS = 2
"""A word of fewer results says nothing of a group."""


def grouped(
    refs: Refs, retriever: Retriever, n: int, query: Collection[str], offset: int = 0
) -> tuple[ResultGroup, ...]:
    """At most `n` groups of the results, the largest first; those that share no word with another are in none."""
    found = gathered(retriever, refs, {})
    counts, words = _counts(found)
    rows = np.flatnonzero(np.diff(counts.indptr))
    if not len(rows):
        return ()
    labels = clusters(counts[rows], min(n, len(rows)))
    ids = retriever.ids(refs)
    mean = _mean_shares(counts[rows])
    groups = []
    for label in np.unique(labels):
        members = rows[labels == label]
        telling = _telling(counts[members], mean)
        strongest = np.argsort(-telling, kind="stable")[: 4 * WORDS + len(query)]  # some are no words for a name
        terms = [found.terms[word] for word in words[strongest[telling[strongest] > 0]].tolist()]
        named = [term for term in terms if term not in query and _is_word(term)][:WORDS]
        ranks = tuple((members + offset + 1).tolist())
        groups.append(ResultGroup(tuple(written(retriever, named)), tuple(ids[i] for i in members), ranks))
    return tuple(sorted(groups, key=lambda group: (-len(group.ids), group.ranks)))


def clusters(counts: Any, n: int) -> Integers:
    """The cluster of each row, of at most `n`: of the bottleneck for the first `GROUPED` rows, then of the mixture.

    Each row holds a word. p_C is the model of all rows, so that what all of them have in common counts for little.
    """
    total = np.asarray(counts.sum(axis=0)).ravel()
    ratios = SmoothedDocuments.of(counts, total / total.sum(), LAM).log_ratios
    start = information_bottleneck(ResultList(counts[:GROUPED]).weights).cut(n)
    if counts.shape[0] > GROUPED:
        first = SmoothedDirichlets(ratios[:GROUPED], total / total.sum())
        shares = np.eye(n)[start]
        first.m_step(shares, shares.sum(axis=0))
        start = first.log_density(ratios).argmax(axis=1)
    components = SmoothedDirichlets(ratios, total / total.sum())
    return cluster(start, n, components.m_step, components.log_density).labels


def _counts(found: Gathered) -> tuple[sparse.csr_array, Integers]:
    """Documents × words of `LEAST_DOCUMENTS`, and which words these are."""
    shape = (len(found.lengths), len(found.terms))
    counts = sparse.csr_array((found.counts, found.words, found.starts), shape)
    words = np.flatnonzero(np.bincount(found.words, minlength=shape[1]) >= LEAST_DOCUMENTS)
    return counts[:, words], words


def _mean_shares(counts: Any) -> Floats:
    """The mean of f_w/|d| over documents."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    return np.asarray((1.0 / lengths) @ counts / len(lengths))


def _telling(counts: Any, mean: Floats) -> Floats:
    """p(w|group)·log(p(w|group)/p(w|list)); below 0 for words of too few members."""
    own = _mean_shares(counts)
    held = np.bincount(counts.indices, minlength=len(mean))
    known = held >= min(LEAST_DOCUMENTS, counts.shape[0])
    ratio = np.divide(own, mean, out=np.ones_like(own), where=known)
    return np.where(known, own * np.log(ratio), -np.inf)


def _is_word(term: str) -> bool:
    return sum(map(str.isalpha, term)) > 1

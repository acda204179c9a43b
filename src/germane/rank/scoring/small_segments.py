"""The small segments of a snapshot, searched as one (`index.recent`)."""

from collections.abc import Sequence

import numpy as np

from germane.arrays import Floats, Integers
from germane.index.recent import Recent
from germane.rank.models.base import Documents, RankingModel
from germane.rank.plan import NOTHING, Plan
from germane.rank.scoring.arguments import RecentDocuments
from germane.rank.scoring.segment_search import FEW_RECENT, NO_MASK, Mask

ScoredDocs = tuple[Floats, Integers]
MOST_TERMS = 128
"""The kernel keeps the interpreter to itself (`jit.brief`), for some milliseconds at most; for more terms it may be too
long."""


def documents_of(
    recent: Recent, plan: Plan, model: RankingModel, priors: Sequence[Floats] | None, masks: Sequence[Mask]
) -> RecentDocuments:
    """What the model says of the documents, whose words it does not sum; `priors`, `masks`: by small segment."""
    told = Documents(recent.doc_len, recent.n_unique, NOTHING)
    prior = model.document_base(told)
    if priors is not None:
        own = np.concatenate(priors)
        prior = prior + own if len(prior) else own
    parts = (model.document_norm(told), 1.0), (model.document_background(told), 0.0), (prior, 0.0)
    values = np.empty((len(recent.doc_len) if any(len(part) for part, _ in parts) else 0, 3))
    for column, (part, otherwise) in enumerate(parts):
        values[:, column] = part if len(part) else otherwise
    return RecentDocuments(recent.n_unique if plan.sized_by_unique else recent.doc_len, values, _joined(recent, masks))


def _joined(recent: Recent, masks: Sequence[Mask]) -> Mask:
    """The masks of the small segments, some of which may be empty, as one."""
    if not any(map(len, masks)):
        return NO_MASK
    sizes = np.diff(recent.starts).tolist()
    return np.concatenate([mask if len(mask) else np.ones(n, np.uint8) for mask, n in zip(masks, sizes, strict=True)])


def best_of_each(recent: Recent, found: Integers, scores: Floats, k: int) -> tuple[Integers, Floats]:
    """Of more than k documents those among the best k, and of many that equal the last one k of each segment."""
    if len(found) > k:
        among = scores >= np.partition(scores, len(found) - k)[len(found) - k]
        found, scores = found[among], scores[among]
    if len(found) <= k + FEW_RECENT:
        return found, scores
    kept = []
    for start, end, segment in zip(recent.starts, recent.starts[1:], recent.segments, strict=False):
        own = np.flatnonzero((start <= found) & (found < end))
        kept.append(own[np.lexsort((segment.id_rank[found[own] - start], -scores[own]))[:k]])
    places = np.concatenate(kept)
    return found[places], scores[places]

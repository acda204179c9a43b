"""The small segments of a snapshot, searched as one (`index.recent`)."""

from collections.abc import Sequence

import numpy as np

from germane.arrays import Floats, Integers
from germane.index.recent import Recent
from germane.rank.arguments import RecentDocuments
from germane.rank.models import Documents, RankingModel
from germane.rank.plan import NOTHING, Plan
from germane.rank.scoring import NO_MASK, Mask, score_recent

Found = tuple[Floats, Integers]


def documents_of(
    recent: Recent, plan: Plan, model: RankingModel, priors: Sequence[Floats] | None, masks: Sequence[Mask]
) -> RecentDocuments:
    """What the model says of the documents, whose words it does not sum; `priors`, `masks`: by small segment."""
    told, n = Documents(recent.doc_len, recent.n_unique, NOTHING), len(recent.doc_len)
    prior = model.document_base(told)
    if priors is not None:
        own = np.concatenate(priors)
        prior = prior + own if len(prior) else own
    parts = (model.document_norm(told), 1.0), (model.document_background(told), 0.0), (prior, 0.0)
    columns = [part if len(part) else np.full(n, otherwise) for part, otherwise in parts]
    values = np.stack(columns, axis=1) if any(len(part) for part, _ in parts) else np.empty((0, 3))
    return RecentDocuments(recent.n_unique if plan.sized_by_unique else recent.doc_len, values, _joined(recent, masks))


def _joined(recent: Recent, masks: Sequence[Mask]) -> Mask:
    """The masks of the small segments, some of which may be empty, as one."""
    if not any(map(len, masks)):
        return NO_MASK
    sizes = np.diff(recent.starts).tolist()
    return np.concatenate([mask if len(mask) else np.ones(n, np.uint8) for mask, n in zip(masks, sizes, strict=True)])


def top_k(recent: Recent, plan: Plan, documents: RecentDocuments, k: int, threshold: float) -> dict[int, Found]:
    """By the place of a small segment its documents among the best k of all: what `rank.scoring.top_k` gives of it."""
    found, scores = score_recent(plan, recent, documents, threshold)
    if not len(found):
        return {}
    if len(found) > k:  # ties with the last one stay in
        among = scores >= np.partition(scores, len(found) - k)[len(found) - k]
        found, scores = found[among], scores[among]
    places = np.searchsorted(recent.starts, found, "right") - 1
    results = {}
    for i in set(places.tolist()):
        docs, own = found[places == i] - recent.starts[i], scores[places == i]
        order = np.lexsort((recent.segments[i].id_rank[docs], -own))[:k] if len(docs) > 1 else slice(None)
        results[i] = own[order], docs[order]
    return results

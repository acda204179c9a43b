"""The small segments of a snapshot, searched as one (`index.recent`)."""

from collections.abc import Sequence

import numpy as np

from germane.arrays import Floats, Integers
from germane.index.recent import Recent
from germane.rank.arguments import RecentDocuments
from germane.rank.models import Documents, RankingModel
from germane.rank.plan import NOTHING, Plan
from germane.rank.scoring import NO_MASK, Mask

Found = tuple[Floats, Integers]


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

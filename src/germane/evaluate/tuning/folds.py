"""Splitting queries, so that none is tuned on and tested."""

from collections.abc import Sequence

import numpy as np

from germane.errors import ParameterError


def folds_by_query(query_ids: Sequence[str], k: int = 2, *, random_state: int = 0) -> list[tuple[str, ...]]:
    """k disjoint parts of the queries, as even as can be, drawn with a seed (2-fold as in Clicks 5.1).

    The split depends on the ids and the seed alone, not on the order of the ids.
    """
    unique = sorted(set(query_ids))
    if not 2 <= k <= len(unique):
        raise ParameterError(f"{len(unique)} queries cannot be split in {k} parts; 2 to {len(unique)} would do")
    order = np.random.default_rng(random_state).permutation(len(unique))
    return [tuple(sorted(unique[i] for i in order[part::k].tolist())) for part in range(k)]

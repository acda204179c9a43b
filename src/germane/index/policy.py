"""Which segments to merge: sizes in powers of FANOUT, and a full tier becomes one segment of the next."""

import math
from collections.abc import Sequence

FANOUT = 8
MOSTLY_DELETED = 0.5


def choose_merge(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """Positions of segments to merge now, ascending; empty when all is well.

    `sizes` holds (live documents, all documents). A segment more than half deleted is rewritten by itself; otherwise
    the smallest tier [FANOUT^i, FANOUT^(i+1)) with FANOUT segments is merged.
    """
    for i, (live, everything) in enumerate(sizes):
        if everything and live < everything * (1 - MOSTLY_DELETED):
            return [i]
    tiers: dict[int, list[int]] = {}
    for i, (live, _) in enumerate(sizes):
        tiers.setdefault(int(math.log(max(live, 1), FANOUT) + 1e-9), []).append(i)
    for tier in sorted(tiers):
        if len(tiers[tier]) >= FANOUT:
            return tiers[tier]
    return []

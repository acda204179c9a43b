"""Shares in words: as counts where there are few, from ten on with a percentage and its interval too."""

from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from germane.stream.responses import TopicResponse

FEWEST = 10
"""Of fewer judgements no percentage is told: one more would change it by ten points and more."""


def wilson(n: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a share: (p + z²/2m ± z·√(p(1-p)/m + z²/4m²)) / (1 + z²/m), Wilson (1927).

    >>> low, high = wilson(3, 10)
    >>> round(low, 3), round(high, 3)
    (0.108, 0.603)
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, square = n / of, z * z / of
    middle, half = p + square / 2, z * sqrt(p * (1 - p) / of + square / (4 * of))
    return max((middle - half) / (1 + square), 0.0), min((middle + half) / (1 + square), 1.0)


def share_told(share: float, of: int) -> str:
    """A share of so many that were judged.

    >>> share_told(1.0, 2), share_told(0.3, 10)
    ('2 of 2', '3 of 10 (30%, 95% interval 11% to 60%)')
    """
    n = round(share * of)
    if of < FEWEST:
        return f"{n:,} of {of:,}"
    low, high = wilson(n, of)
    return f"{n:,} of {of:,} ({share:.0%}, 95% interval {low:.0%} to {high:.0%})"


def missed_told(topic: "TopicResponse") -> str:
    """What a topic is estimated to miss of the relevant documents; empty where too few were judged to say."""
    if topic.p_miss is None or topic.judged_on + topic.judged_off < FEWEST:
        return ""
    estimate, low, high = topic.p_miss
    return f"{estimate:.0%} of the relevant documents (90% interval {low:.0%} to {high:.0%})"

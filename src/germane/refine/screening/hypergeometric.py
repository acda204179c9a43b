"""Could so many relevant documents still be unread? The silence since the last find, and the level it is tested at.

If k relevant documents are among U unread ones and reading is no better than drawing at random, n draws find none with
probability P₀(k) = Π_{i<n} (1 - k/(U - i)). A long silence speaks against k.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats, Integers, Mask
from germane.lazy import on_first_use

with on_first_use(__name__):
    from scipy import special

BISECTIONS = 60


class Silence(NamedTuple):
    """`drawn` documents without a find, out of `unread` that were left at the last one.

    `known`: relevant ones among them that were found otherwise than by these draws.
    """

    unread: int
    drawn: int
    known: int = 0


def silence(n_docs: int, decisions: Mask, start: int = 0) -> Silence:
    """The silence since the last relevant document, or since `start` documents had been read if that is later."""
    finds = np.flatnonzero(decisions)
    last = max(start, int(finds[-1]) + 1 if len(finds) else 0)
    return Silence(n_docs - last, max(0, len(decisions) - last))


def p_none(unread: Integers, relevant: Integers, drawn: Integers, omega: float = 1.0) -> Floats:
    """P(no relevant one among `drawn` of `unread` documents that hold `relevant` ones); 0 if they cannot hold them.

    omega = 1: drawing at random, C(U - n, K)/C(U, K). omega > 1: a relevant document is drawn with omega times the odds
    of another (Wallenius), by its mean-field form q^(ω·K) with (U - K)·q + K·q^ω = U - n, q being the share of
    irrelevant documents still unread.
    """
    U, K, n = (np.asarray(x, np.float64) for x in np.broadcast_arrays(unread, relevant, drawn))
    possible = U - n >= K
    K = np.minimum(K, U)  # what cannot be has p = 0 below

    left = np.maximum(U - n, K)
    log_p = (
        special.gammaln(left + 1) - special.gammaln(left - K + 1) - special.gammaln(U + 1) + special.gammaln(U - K + 1)
    )
    if omega > 1.0:
        low, high = np.zeros(K.shape), np.ones(K.shape)
        for _ in range(BISECTIONS):
            q = (low + high) / 2.0
            above = (U - K) * q + K * q**omega > U - n
            low, high = np.where(above, low, q), np.where(above, q, high)
        log_p = np.minimum(log_p, omega * K * np.log(np.maximum((low + high) / 2.0, 1e-300)))
    p: Floats = np.where(possible, np.exp(np.minimum(log_p, 0.0)), 0.0)
    return np.where(K > 0, p, 1.0)


@lru_cache(maxsize=4096)
def level(k: int, alpha: float) -> float:
    """The level at which "k are left" is tested, so that all silences together err with probability `alpha` at most.

    The level is (1 - f)^k where (1 - f)^k = alpha·f. Say R are relevant in all. The rule may stop too early after the
    last find at which R would still be too many, where k would be left, or after one of the m = 1, 2, ... finds before
    it, where k + m are left and k or fewer are tested. A silence that has P₀(k) = (1 - f)^k has P₀(k + m) ≤
    P₀(k)^((k + m)/k) = (1 - f)^(k + m), by Bernoulli's inequality. Summed over m that is (1 - f)^k/f = alpha.
    """
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        f = (low + high) / 2.0
        if (1.0 - f) ** k > alpha * f:
            low = f
        else:
            high = f
    return alpha * high


def draws_needed(unread: Integers, relevant: Integers, levels: Floats, omega: float = 1.0) -> Integers:
    """The fewest draws without a find after which P₀ ≤ level; `unread` of them at the most."""
    low, high = np.full(np.shape(unread), -1, np.int64), np.asarray(unread, np.int64)
    while (high - low > 1).any():  # all of `unread` are always enough
        middle = (low + high + 1) // 2
        enough = p_none(unread, relevant, middle, omega) <= levels
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def most_left(past: Silence, n_unread: int, alpha: float, omega: float = 1.0) -> int:
    """The largest number of relevant unread documents that the silence does not reject: P₀(k) > level(k, alpha).

    What rejects k rejects every larger number, since P₀(k) ≤ (1 - f)^k means that a share f or more was read.
    """
    low, high = 0, n_unread
    while low < high:
        middle = (low + high + 1) // 2
        p = p_none(np.array(past.unread), np.array(middle + past.known), np.array(past.drawn), omega)
        if float(p) > level(middle, alpha):
            low = middle
        else:
            high = middle - 1
    return low

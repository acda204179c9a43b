"""Could so many relevant documents still be unread? A hypergeometric test over windows of the reading.

Callaghan & Müller-Hansen 2020 (Systematic Reviews 9:273). Write r_t for the relevant documents among the first t that
were read of N. If K relevant ones were unread when s had been read, and reading from then on were no better than
drawing at random, the number found in t - s draws would be X ~ Hypergeometric(N - s, K, t - s). Finding as few as
r_t - r_s speaks against K.
"""

from typing import NamedTuple

import numpy as np

from germane.arrays import Floats, Integers, Mask

BISECTIONS = 40


class Windows(NamedTuple):
    """Windows that end after `read` documents: unread at the start, drawn since, relevant ones found by then, since."""

    unread: Integers
    drawn: Integers
    before: Integers
    found: Integers


def windows(n_docs: int, decisions: Mask) -> Windows:
    """A window from the first document on, and one from each relevant document (without it) on.

    Others would hold the same finds in fewer draws, and can only have a larger p. `decisions` are those made so far, in
    the order of reading.
    """
    n_read = len(decisions)
    starts = np.concatenate([[0], np.flatnonzero(decisions) + 1]).astype(np.int64)
    starts = starts[starts < n_read]
    hits = np.concatenate([[0], np.cumsum(decisions)]).astype(np.int64)
    before = hits[starts]
    return Windows(n_docs - starts, n_read - starts, before, hits[-1] - before)


def p_at_most(found: Integers, unread: Integers, relevant: Integers, drawn: Integers, omega: float = 1.0) -> Floats:
    """P(X ≤ found), X the relevant among `drawn` of `unread` documents that hold `relevant` ones; 0 if they cannot.

    omega = 1: the hypergeometric distribution. omega > 1: a relevant document is drawn with omega times the odds of
    another (Wallenius), by its mean-field form X ~ Binomial(K, 1 - q^ω) with (U - K)·q + K·q^ω = U - n, q being the
    share of irrelevant documents still unread.
    """
    from scipy import stats  # half a second, which a list without decisions does without

    possible = relevant <= unread
    K = np.minimum(relevant, unread)
    if omega == 1.0:
        p = stats.hypergeom.cdf(found, unread, K, drawn)
    else:
        low, high = np.zeros(K.shape), np.ones(K.shape)
        for _ in range(BISECTIONS):
            q = (low + high) / 2.0
            above = (unread - K) * q + K * q**omega > unread - drawn
            low, high = np.where(above, low, q), np.where(above, q, high)
        p = stats.binom.cdf(found, K, 1.0 - ((low + high) / 2.0) ** omega)
    answer: Floats = np.where(possible, p, 0.0)
    return answer


def least_p(past: Windows, remaining: int, omega: float = 1.0) -> float:
    """The smallest p of all windows against "`remaining` relevant documents are unread now"; 1 without a window."""
    if not len(past.unread):
        return 1.0
    return float(p_at_most(past.found, past.unread, past.found + remaining, past.drawn, omega).min())


def largest_compatible(past: Windows, n_unread: int, level: float, omega: float = 1.0) -> int:
    """The largest number of relevant unread documents that no window rejects at `level`; p falls as it grows."""
    low, high = 0, n_unread
    while low < high:
        middle = (low + high + 1) // 2
        if least_p(past, middle, omega) >= level:
            low = middle
        else:
            high = middle - 1
    return low

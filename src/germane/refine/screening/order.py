"""Which documents to read next: the likeliest, and now and then one that is uncertain and unlike all that were read."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Integers, Labels
from germane.errors import ParameterError
from germane.types import Mark

EXPLORE = 0.0
"""The share of places given to exploration unless it is asked for; docs/screening.md has what it costs and buys."""
UNCERTAIN_SHARE, UNCERTAIN_LEAST = 0.1, 50
"""Exploration chooses among the tenth of the unread whose log-odds are nearest to 0, and among 50 at least."""


def next_to_read(
    scores: Floats,
    labels: Labels,
    rows: sparse.csr_array,
    n: int,
    explore: float = EXPLORE,
    first: Sequence[int] = (),
) -> list[tuple[int, bool]]:
    """(document, was it chosen to explore?) of the next n to read, fewer if fewer are unread.

    By falling score, ties in the order of the documents; a share `explore` of the places, evenly spread over the whole
    reading, goes to `most_different` instead. While no relevant document is known all scores are equal, and the most
    typical of the unread come first (`typicality`); before them `first`, in its order, where it is given.
    """
    if not 0.0 <= explore <= 1.0:
        raise ParameterError(f"explore is a share between 0 and 1, not {explore}")
    if n < 0:
        raise ParameterError(f"the number of documents to read must not be negative, but it is {n}")
    unread = np.flatnonzero(labels == Mark.UNMARKED)
    n = min(n, len(unread))
    key = scores if (labels == Mark.RELEVANT).any() else typicality(rows, labels)
    ahead = np.array([i for i in first if labels[i] == Mark.UNMARKED], np.int64)
    rest = unread[~np.isin(unread, ahead)]
    ranked = np.concatenate([ahead, rest[_first(-key[rest], n)]])[:n]
    n_read = len(labels) - len(unread)
    places = n_read + np.arange(1, n + 1)
    exploring = np.floor(explore * places) > np.floor(explore * (places - 1))
    if not exploring.any():
        return [(int(i), False) for i in ranked]
    different = most_different(scores, labels, rows, int(exploring.sum()))
    taken = set(different)
    likeliest = (int(i) for i in ranked if int(i) not in taken)
    others = iter(different)
    return [(next(others), True) if here else (next(likeliest), False) for here in exploring]


def most_different(scores: Floats, labels: Labels, rows: sparse.csr_array, n: int) -> list[int]:
    """The n uncertain unread documents that are farthest from all read ones and from one another, greedily.

    argmin_i max_j cos(x_i, x_j) over the candidates i, j being read or chosen already.
    """
    unread = np.flatnonzero(labels == Mark.UNMARKED)
    pool = max(UNCERTAIN_LEAST, n, int(UNCERTAIN_SHARE * len(unread)))
    candidates = unread[_first(np.abs(scores[unread]), min(pool, len(unread)))]
    own, read = rows[candidates], rows[np.flatnonzero(labels != Mark.UNMARKED)]
    near = np.zeros(len(candidates))
    if read.shape[0]:
        near = np.asarray((own @ read.T).max(axis=1).todense(), np.float64).ravel()
    chosen: list[int] = []
    for _ in range(min(n, len(candidates))):
        best = int(np.argmin(near))
        chosen.append(int(candidates[best]))
        near = np.maximum(near, np.asarray((own @ own[[best]].T).todense(), np.float64).ravel())
        near[best] = np.inf
    return chosen


def typicality(rows: sparse.csr_array, labels: Labels) -> Floats:
    """Cosine with the mean of the unread, less that with the mean of the irrelevant: where to look for a first find."""
    direction = np.zeros(rows.shape[1])
    for side, sign in ((Mark.UNMARKED, 1.0), (Mark.NOT_RELEVANT, -1.0)):
        members = np.flatnonzero(labels == side)
        if len(members):
            direction += sign * np.asarray(rows[members].sum(axis=0)).ravel() / len(members)
    answer: Floats = rows @ direction
    return answer


def _first(keys: Floats, n: int) -> Integers:
    """The places of the n smallest keys in order, ties by place."""
    order: Integers = np.argsort(keys, kind="stable")[:n]
    return order

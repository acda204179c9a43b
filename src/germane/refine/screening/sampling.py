"""A random sample of what is unread: a stop that assumes nothing about the order.

While reading finds relevant documents, the likeliest come first. When it has gone quiet (`quiet_after`), the rest is
read in an order drawn at random, and only that reading is tested. Whatever relevant documents are like, and wherever
the ranking put them, a random sample finds them in proportion.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from germane.arrays import Integers, Mask
from germane.refine.screening.hypergeometric import Silence

QUIET_SHARE, QUIET_LEAST = 0.1, 50
"""Reading is judged by its last tenth of the list, and by 50 documents at least."""
QUIET_RATE = 0.5
"""It is quiet when at that rate the unread would hold at most half of what may be missed."""


class Sample(NamedTuple):
    """The documents unread when the sample began, in the order in which they are drawn, and those drawn so far.

    `found` says which of the `drawn` first are relevant, `known` how many of the others are known to be.
    """

    places: Integers
    found: Mask
    known: int

    @property
    def drawn(self) -> int:
        """How many were drawn."""
        return len(self.found)

    @property
    def silence(self) -> Silence:
        """The draws since the last find."""
        finds = np.flatnonzero(self.found)
        since = int(finds[-1]) + 1 if len(finds) else 0
        return Silence(len(self.places) - since, self.drawn - since, self.known)


def may_be_missed(found: int, target: float) -> int:
    """The most relevant documents that may be unread at this recall: ⌊found/target⌋ - found."""
    return math.floor(found / target + 1e-9) - found


def quiet_after(n_docs: int, decisions: Mask, target: float) -> int | None:
    """After how many documents reading was quiet first: finds in the last w of them · unread/w ≤ may be missed/2.

    w is a tenth of the list, or 50. An order that finds relevant documents at least as readily as random reading leaves
    no more than that; the sample will show whether it was one. None while it is not quiet, or nothing was found.
    """
    width = max(QUIET_LEAST, int(QUIET_SHARE * n_docs))
    hits = np.concatenate([[0], np.cumsum(decisions)])
    ends = np.arange(width, len(decisions) + 1)
    found = hits[ends]
    missed = np.floor(found / target + 1e-9) - found
    expected = (found - hits[ends - width]) * (n_docs - ends) / width
    quiet = np.flatnonzero((found > 0) & (expected <= QUIET_RATE * missed))
    return int(ends[quiet[0]]) if len(quiet) else None


def shuffled(n_docs: int, random_state: int) -> Integers:
    """The order of drawing, of all documents: it knows nothing of them."""
    order: Integers = np.random.default_rng([random_state, n_docs, 18]).permutation(n_docs)
    return order


def sample_of(n_docs: int, read: Iterable[int], decisions: Mask, target: float, random_state: int) -> Sample | None:
    """The sample that the decisions have drawn so far; None before reading went quiet.

    `read`: the places of the documents in the order of reading. Documents read otherwise since the sample began do not
    count as drawn until their turn comes, but what was found among them is `known`.
    """
    begun = quiet_after(n_docs, decisions, target)
    if begun is None:
        return None
    label = np.full(n_docs, -1, np.int64)
    before = np.zeros(n_docs, bool)
    for at, (place, relevant) in enumerate(zip(read, decisions.tolist(), strict=True)):
        label[place] = relevant
        before[place] = at < begun
    order = shuffled(n_docs, random_state)
    places = order[~before[order]]
    open_ones = np.flatnonzero(label[places] < 0)
    drawn = int(open_ones[0]) if len(open_ones) else len(places)
    return Sample(places, label[places[:drawn]] == 1, int((label[places[drawn:]] == 1).sum()))

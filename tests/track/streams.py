"""Random streams: bags over a few words, of which the background knows all but the last."""

import numpy as np
from hypothesis import strategies as st

from germane.track import Background, Bag

N_WORDS = 12


def bag_of(counts):
    """The bag of a dense list of counts."""
    counts = np.asarray(counts, np.float64)
    terms = np.flatnonzero(counts)
    return Bag(terms, counts[terms])


def dense(bag, size=N_WORDS):
    """The counts of a bag, word by word."""
    counts = np.zeros(size)
    counts[bag.terms] = bag.counts
    return counts


documents = st.lists(st.integers(0, 5), min_size=N_WORDS, max_size=N_WORDS).filter(any).map(bag_of)
streams = st.lists(documents, min_size=1, max_size=8)


@st.composite
def backgrounds(draw):
    """Every word but the last occurs: so θ^GE sums to 1 over the twelve."""
    counts = draw(st.lists(st.integers(1, 30), min_size=N_WORDS - 1, max_size=N_WORDS - 1))
    others = draw(st.lists(documents, max_size=3))
    known = [Bag(each.terms[each.terms < N_WORDS - 1], each.counts[each.terms < N_WORDS - 1]) for each in others]
    return Background.of([bag_of([*counts, 0]), *known], draw(st.sampled_from([0.05, 0.5, 2.0])))

# mypy: ignore-errors
"""A Numba kernel that counts two words beside each other and near each other, in the order of words."""

import numpy as np

from germane.index.block_kernels import bits_needed
from germane.index.segment_arrays import ForwardArrays, SequenceArrays
from germane.index.sequence_kernels import ask_ahead, find_places, find_spots
from germane.jit import inner, kernel


@inner
def count_near(spots, first_begin, first_end, second_begin, second_end, window):
    """How often a spot of the second term is the next one, and how often one is less than `window` from the first's.

    The terms differ; the spots of each ascend.
    """
    beside, near, low, high = 0, 0, second_begin, second_begin
    for i in range(first_begin, first_end):
        at = np.int64(spots[i])
        while low < second_end and np.int64(spots[low]) <= at - window:
            low += 1
        high = max(high, low)
        while high < second_end and np.int64(spots[high]) < at + window:
            high += 1
        near += high - low
        for j in range(low, high):
            beside += np.int64(spots[j]) == at + 1
    return beside, near


@inner
def count_repeated(spots, begin, end, window):
    """The same for a term and itself: each two spots count once."""
    beside, near = 0, 0
    for i in range(begin, end):
        j = i + 1
        while j < end and np.int64(spots[j]) - np.int64(spots[i]) < window:
            beside += np.int64(spots[j]) - np.int64(spots[i]) == 1
            near += 1
            j += 1
    return beside, near


@kernel
def count_pair(forward, gaps, sequences, docs, terms, first, second, window, spots, scratch, out):
    """out[c] = how often document docs[c] holds the pair side by side in this order, and near each other in any.

    The pair is `terms[first]`, `terms[second]`; `terms` are ascending, each once. Near is less than `window` places
    apart in one field. `gaps`: the forward lists as bytes. `spots` has room for the longest sequence, `scratch` for two
    numbers a term. The rule in Python: `index.sequences.count_pair`.
    """
    forward, sequences = ForwardArrays(*forward), SequenceArrays(*sequences)
    n, places, ends = len(terms), scratch[0], scratch[1]
    for c in range(len(docs)):
        ask_ahead(docs, c, forward, sequences)
        out[c, 0], out[c, 1] = 0, 0
        if not find_places(forward, gaps, docs[c], terms, places):
            continue
        at, bits = sequences.at[docs[c]], bits_needed(np.int64(forward.n_unique[docs[c]]) - 1)
        end = np.int64(0)
        for f in range(sequences.n_fields):
            begin = end
            end += np.int64(sequences.field_len[docs[c] * sequences.n_fields + f])
            if end - begin < 2:
                continue
            find_spots(sequences, at, bits, begin, end, places, n, spots, ends)
            if n == 1:
                beside, near = count_repeated(spots, 0, ends[0], window)
            else:
                first_begin, second_begin = (0, ends[0]) if first == 0 else (ends[0], 0)
                beside, near = count_near(spots, first_begin, ends[first], second_begin, ends[second], window)
            out[c, 0] += beside
            out[c, 1] += near

# mypy: ignore-errors
"""Documents against topics through an inverted index over topic words; as `method.linear_score`, all at once."""

import math

from germane.jit import kernel


@kernel
def percolate(terms, values, ends, starts, topics, weights, scores):
    """scores[d, t] += Σ_{w∈d} α_w(t)·x_w(d), word by word in the order of a document's words.

    Words and x of all documents lie one after another, document d ends at ends[d]; word w is of the topics
    topics[starts[w]:starts[w+1]] with those weights, and words beyond `starts` of none.
    """
    begin = 0
    for d in range(len(ends)):
        row = scores[d]
        for at in range(begin, ends[d]):
            word, x = terms[at], values[at]
            if word + 1 < len(starts):
                for place in range(starts[word], starts[word + 1]):
                    row[topics[place]] += weights[place] * x
        begin = ends[d]


@kernel
def count_scores(scores, decision, width, reach, tally):
    """tally[t, bin] += 1 for each score, with the bins of `missed.depths_of` turned round: those from `reach` on are
    at or above the decision threshold, and the outermost take what is beyond."""
    for d in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            depth = math.floor((decision[t] - scores[d, t]) / width)
            depth = min(depth, -1) if scores[d, t] >= decision[t] else max(depth, 0)
            tally[t, min(max(reach - 1 - depth, 0), 2 * reach - 1)] += 1

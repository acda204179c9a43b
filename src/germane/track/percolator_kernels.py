"""Documents against topics through an inverted index over topic words; as `method.linear_score`, all at once."""

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

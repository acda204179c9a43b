# mypy: ignore-errors
"""The scores of given documents, such as those that hold all of some terms.

`rank.maxscore.impact_kernels` tells the shape of a score, `rank.maxscore.records` what the groups of arguments hold.
"""

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK, BlockTable
from germane.index.simd_kernels import prefetch
from germane.jit import inner, kernel
from germane.rank.maxscore.impact_kernels import begin, impact, score_of
from germane.rank.maxscore.records import Asked, DocumentArrays, Lists

AHEAD = 8
"""Documents between asking for a length and reading it."""


@inner
def block_from(table, b, end, d):
    """The first block from b on whose last document is not before d, `end` if there is none; in growing steps."""
    step = 1
    while b + step < end and np.int64(table.last[b + step - 1]) < d:
        b += step
        step *= 2
    while b < end and np.int64(table.last[b]) < d:
        b += 1
    return b


@inner
def before(table, b, first):
    """The last document before block b of a list that begins with block `first`."""
    return np.int64(table.last[b - 1]) if b > first else np.int64(-1)


@kernel
def scores_among(asked, lists, words, table, documents, terms, model, found, docs, counts, wordless, scores):
    """scores[c] = the score of document found[c] (ascending), impacts added in the terms' order.

    -inf for one that holds none of the terms, unless `wordless`. `docs`, `counts`: room for a block.
    """
    asked, lists, documents, m = Asked(*asked), Lists(*lists), DocumentArrays(*documents), model[0]
    begin(asked, lists, terms, m, len(documents.size))
    table, n = BlockTable(*table), len(found)
    for c in range(n):
        scores[c] = -1.0
    for i in range(m.n_terms):
        t = terms[i]
        first, end, df = np.int64(t.first), np.int64(t.end), np.int64(t.df)
        b, decoded, j = first, np.int64(-1), 0
        for c in range(n):
            if i == 0 and c + AHEAD < n:
                prefetch(documents.size, found[c + AHEAD])
            d = found[c]
            b = block_from(table, b, end, d)
            if b == end:
                break
            if b != decoded:
                size = min(BLOCK, df - (b - first) * BLOCK)
                decode_block(words, table, b, size, before(table, b, first), docs, counts, 0)
                decoded, j = b, 0
            while np.int64(docs[j]) < d:
                j += 1
            if np.int64(docs[j]) == d:
                by = m.x0 + m.x1 * np.float64(documents.size[d])
                own = impact(t, m, np.float64(counts[j]) + 1.0, by)
                scores[c] = own if scores[c] < 0.0 else scores[c] + own
    for c in range(n):
        if scores[c] < 0.0 and not wordless:
            scores[c] = -np.inf
        else:
            scores[c] = score_of(documents, m, found[c], max(scores[c], 0.0))

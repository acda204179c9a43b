"""The documents that hold all of some terms, and the scores of these alone.

`rank.impact_kernels` tells the shape of a score, `rank.records` what the groups of arguments hold.
"""

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK
from germane.index.simd import prefetch
from germane.jit import inner, kernel
from germane.rank.impact_kernels import begin, impact, score_of
from germane.rank.records import Asked, Documents, Lists

LONG = 16
"""A list this many times as long as the documents found so far is searched, not read."""

AHEAD = 8
"""Documents between asking for a length and reading it."""


@inner
def block_from(table, b, end, d):
    """The first block from b on whose last document is not before d, `end` if there is none; in growing steps."""
    step = 1
    while b + step < end and np.int64(table[b + step - 1].last) < d:
        b += step
        step *= 2
    while b < end and np.int64(table[b].last) < d:
        b += 1
    return b


@inner
def before(table, b, first):
    """The last document before block b of a list that begins with block `first`."""
    return np.int64(table[b - 1].last) if b > first else np.int64(-1)


@inner
def keep_by_marks(words, table, first, df, docs, counts, found, n, marks):
    """Those of the n documents found that the list holds, by marks on every document (0, and 0 again afterwards)."""
    for c in range(n):
        marks[found[c]] = 1
    for b in range(first, first + (df + BLOCK - 1) // BLOCK):
        size = min(BLOCK, df - (b - first) * BLOCK)
        decode_block(words, table, b, size, before(table, b, first), docs, counts, 0)
        for j in range(size):
            marks[docs[j]] <<= 1
    kept = 0
    for c in range(n):
        d = found[c]
        found[kept] = d
        kept += np.int64(marks[d] >> 1)
        marks[d] = 0
    return kept


@inner
def keep_by_search(words, table, first, df, docs, counts, found, n):
    """The same for few documents and a long list, most of whose blocks are passed over."""
    kept, b, decoded, j = 0, first, np.int64(-1), 0
    end = first + (df + BLOCK - 1) // BLOCK
    for c in range(n):
        d = found[c]
        b = block_from(table, b, end, d)
        if b == end:
            break
        if b != decoded:
            decode_block(
                words, table, b, min(BLOCK, df - (b - first) * BLOCK), before(table, b, first), docs, counts, 0
            )
            decoded, j = b, 0
        while np.int64(docs[j]) < d:
            j += 1
        if np.int64(docs[j]) == d:
            found[kept] = d
            kept += 1
    return kept


@kernel
def documents_with_all(words, table, lists, required, mask, docs, counts, marks, found):
    """Those of the first term's documents that the others hold too and the mask lets pass, into `found`; how many.

    `required`: the terms' numbers, rarest first. `docs`, `counts`: room for a block. `marks`: a zero for each document.
    NumPy: `functools.reduce(np.intersect1d, lists)`.
    """
    lists = Lists(*lists)
    first, df, n = lists.first_block[required[0]], np.int64(lists.df[required[0]]), 0
    for b in range(first, first + (df + BLOCK - 1) // BLOCK):
        size = min(BLOCK, df - (b - first) * BLOCK)
        decode_block(words, table, b, size, before(table, b, first), docs, counts, 0)
        for j in range(size):
            if len(mask) == 0 or mask[docs[j]] != 0:
                found[n] = docs[j]
                n += 1
    for i in range(1, len(required)):
        first, df = lists.first_block[required[i]], np.int64(lists.df[required[i]])
        if df < LONG * n:
            n = keep_by_marks(words, table, first, df, docs, counts, found, n, marks)
        else:
            n = keep_by_search(words, table, first, df, docs, counts, found, n)
    return n


@kernel
def scores_among(asked, lists, words, table, documents, terms, model, found, docs, counts, wordless, scores):
    """scores[c] = the score of document found[c] (ascending), impacts added in the terms' order.

    -inf for one that holds none of the terms, unless `wordless`. `docs`, `counts`: room for a block.
    """
    asked, lists, documents, m = Asked(*asked), Lists(*lists), Documents(*documents), model[0]
    begin(asked, lists, terms, m, len(documents.size))
    n = len(found)
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

# mypy: ignore-errors
"""Impacts and scores.

A score is   norm_D · Σ_t impact_t(c_tD, size_D) + (constant + mass · background_D + prior_D)   over the query's terms
t, where the impact is of one of five kinds (w = `weight`, s = `scale`):

| kind | impact | models |
|---|---|---|
| LOG_COUNT_RATIO | w · log(1 + s·c) | Dirichlet query likelihood, T-cross-entropy: s = 1/(μ p_C) |
| LOG_SIZE_RATIO | w · log(1 + s·(c - δ)/(x0 + x1·size)) | Jelinek-Mercer, two-stage, absolute discounting |
| SATURATION | w · c/(c + x0 + x1·size) | BM25 |
| LOG_COUNT | w · (1 + log c) | TF-IDF cosine |
| COUNT | w · c | D-cross-entropy |
"""

import math

import numpy as np

from germane.index.blocks import BLOCK
from germane.jit import inner
from germane.rank.kinds import LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, SATURATION


@inner
def impact(t, m, count, by):
    """The impact of `count` occurrences, as in the table above; `by` = x0 + x1·size."""
    if m.kind == SATURATION:
        return t.weight * (count / (count + by))
    if m.kind == LOG_SIZE_RATIO:
        return t.weight * math.log1p(t.scale * (count - m.delta) / by)
    if m.kind == LOG_COUNT_RATIO:
        return t.weight * math.log1p(t.scale * count)
    if m.kind == LOG_COUNT:
        return t.weight * (1.0 + math.log(count))
    return t.weight * count


@inner
def score_of(docs, m, d, impacts):
    """The score of document d whose impacts add up to `impacts`."""
    rest = m.constant
    if len(docs.background) > 0:
        rest += m.mass * docs.background[d]
    return with_rest(docs, d, impacts, rest)


@inner
def with_rest(docs, d, impacts, rest):
    """norm_D · impacts + (rest + prior_D)."""
    if len(docs.prior) > 0:
        rest += docs.prior[d]
    if len(docs.norm) > 0:
        impacts *= docs.norm[d]
    return impacts + rest


@inner
def begin_model(settings, n_terms, n_docs, m):
    """Fill the record of the model."""
    m.kind, m.delta, m.x0, m.x1 = np.int64(settings[0]), settings[1], settings[2], settings[3]
    m.sized = m.kind == SATURATION or m.kind == LOG_SIZE_RATIO
    m.constant, m.mass, m.threshold = settings[4], settings[5], settings[6]
    m.k, m.top = np.int64(settings[7]), settings[8]
    m.n_docs, m.n_terms, m.found = n_docs, n_terms, 0


@inner
def begin(asked, lists, terms, m, n_docs):
    """Fill the records of the terms and of the model."""
    begin_model(asked.settings, len(asked.numbers), n_docs, m)
    for i in range(m.n_terms):
        t, number = terms[i], asked.numbers[i]
        t.number, t.first, t.df = number, lists.first_block[number], lists.df[number]
        t.end = t.first + (t.df + BLOCK - 1) // BLOCK
        t.weight, t.scale = asked.weight[i], asked.scale[i]
